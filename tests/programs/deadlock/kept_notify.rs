//@ expect: pass
// The condition is kept under the lock.
use std::sync::{Condvar, Mutex};
use std::thread;

static LOCK: Mutex<bool> = Mutex::new(false);
static READY: Condvar = Condvar::new();

fn main() {
    let strand = thread::spawn(|| {
        *LOCK.lock().unwrap() = true;
        READY.notify_one();
    });
    let guard = READY.wait_while(LOCK.lock().unwrap(), |ready| !*ready).unwrap();
    assert!(*guard);
    drop(guard);
    strand.join().unwrap();
}
