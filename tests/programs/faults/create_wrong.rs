// `spawn` panics where a strand cannot be created.
//@ expect: panic
//@ max-runs: 200
//@ faults: threads
//@ bare: any
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let made = thread::spawn(|| COUNT.fetch_add(1, SeqCst));
    made.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 1);
}
