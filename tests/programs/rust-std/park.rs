//@ expect: pass
// park and unpark: the token may come first, and a loop over the condition makes up for spurious wakes.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

fn main() {
    let stage = Arc::new(AtomicU32::new(0));
    let (seen, main) = (Arc::clone(&stage), thread::current());
    let worker = thread::spawn(move || {
        while seen.load(Acquire) == 0 {
            thread::park();
        }
        seen.store(2, Release);
        main.unpark();
    });
    stage.store(1, Release);
    worker.thread().unpark();
    while stage.load(Acquire) != 2 {
        thread::park();
    }
    worker.join().unwrap();
    thread::current().unpark();
    thread::park();
}
