//@ expect: race
//@ race: fill use
// The data come behind the notification.
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
        *READY.lock().unwrap() = true;
        CHANGED.notify_one();
        unsafe { *data = 1 }; //~ fill
    });
    let mut ready = READY.lock().unwrap();
    while !*ready {
        ready = CHANGED.wait(ready).unwrap();
    }
    drop(ready);
    let seen = unsafe { *data }; //~ use
    std::hint::black_box(seen);
    strand.join().unwrap();
}
