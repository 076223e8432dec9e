//@ expect: pass
// main returns while strands are parked and running.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static COUNTER: AtomicU32 = AtomicU32::new(0);

fn main() {
    thread::spawn(|| {
        loop {
            thread::park();
        }
    });
    thread::spawn(|| {
        for _ in 0..50 {
            COUNTER.fetch_add(1, Relaxed);
        }
    });
    assert!(COUNTER.load(Relaxed) <= 50);
}
