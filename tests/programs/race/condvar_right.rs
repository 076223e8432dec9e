//@ expect: pass
// A condition variable with its mutex hands data over.
use std::cell::UnsafeCell;
use std::sync::{Condvar, Mutex};
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));
static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn main() {
    let data = DATA.0.get();
    let strand = thread::spawn(|| {
        let data = DATA.0.get();
        unsafe { *data = 1 };
        *READY.lock().unwrap() = true;
        CHANGED.notify_one();
    });
    let mut ready = READY.lock().unwrap();
    while !*ready {
        ready = CHANGED.wait(ready).unwrap();
    }
    drop(ready);
    let seen = unsafe { *data };
    std::hint::black_box(seen);
    strand.join().unwrap();
}
