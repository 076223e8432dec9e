//@ expect: exit
//@ bare: any
// A poll with a bound, and a wait without one on the same flag: the loads of both are one function's.
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);

fn poll(times: u32) -> bool {
    for _ in 0..times {
        if READY.load(Ordering::Acquire) {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

fn main() {
    let patient = thread::spawn(|| {
        while !READY.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
    });
    let hasty = thread::spawn(|| assert!(poll(12), "it took too long"));
    READY.store(true, Ordering::Release);
    patient.join().unwrap();
    hasty.join().unwrap();
}
