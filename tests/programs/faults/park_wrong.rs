// Takes the end of `park` for the event.
//@ expect: assertion|panic
//@ max-runs: 200
//@ bare: any
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

fn main() {
    let flag = Arc::new(AtomicBool::new(false));
    let (other, waiter) = (Arc::clone(&flag), thread::current());
    let setter = thread::spawn(move || {
        other.store(true, SeqCst);
        waiter.unpark();
    });
    if !flag.load(SeqCst) {
        thread::park();
    }
    assert!(flag.load(SeqCst));
    setter.join().unwrap();
}
