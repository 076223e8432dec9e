//@ expect: deadlock
// Two unparks before the first park are one token; the second park never ends.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static UNPARKS: AtomicU32 = AtomicU32::new(0);

fn main() {
    let sleeper = thread::spawn(|| {
        thread::park();
        thread::park();
    });
    sleeper.thread().unpark();
    UNPARKS.fetch_add(1, SeqCst);
    sleeper.thread().unpark();
    sleeper.join().unwrap();
}
