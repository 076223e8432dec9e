//@ expect: deadlock
//@ message: lost wake-up: strand 0.1 woke
//@ preemptions: 1
//@ pair: notify wait
// A wait without a condition: a notification that comes first is gone.
use std::sync::{Condvar, Mutex};
use std::thread;

static LOCK: Mutex<()> = Mutex::new(());
static READY: Condvar = Condvar::new();

fn main() {
    let strand = thread::spawn(|| {
        let _guard = LOCK.lock().unwrap();
        READY.notify_one(); //~ notify
    });
    let guard = LOCK.lock().unwrap();
    drop(READY.wait(guard).unwrap()); //~ wait
    strand.join().unwrap();
}
