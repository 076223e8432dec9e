// `park` may return without a token: the flag is to be looked at again.
//@ expect: pass
//@ runs: 300
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
    while !flag.load(SeqCst) {
        thread::park();
    }
    assert!(flag.load(SeqCst));
    setter.join().unwrap();
}
