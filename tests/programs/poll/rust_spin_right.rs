//@ expect: pass
// A poll with a bound that yields when it has run out, and looks again.
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
        while !poll(12) {
            thread::yield_now();
        }
        assert!(READY.load(Ordering::Relaxed));
    });
    READY.store(true, Ordering::Release);
    patient.join().unwrap();
}
