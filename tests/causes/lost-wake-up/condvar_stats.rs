// The same without a flag at all, with counters on both sides.
//@ expect: deadlock
//@ pair: notify wait
//@ pattern: lost-wake-up
//@ object: any
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::thread;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LOCK: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

fn count() {
    CALLS.fetch_add(1, Relaxed);
}

fn main() {
    let waiter = thread::spawn(|| {
        count();
        let guard = LOCK.lock().unwrap(); //~ locks
        count();
        drop(CHANGED.wait(guard).unwrap()); //~ wait
        count();
    });
    count();
    *LOCK.lock().unwrap() += 1; //~ change
    count();
    CHANGED.notify_all(); //~ notify
    count();
    waiter.join().unwrap();
}
