//@ expect: pass
// A lock made of an atomic.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Locked {
    held: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Locked {}

static X: Locked = Locked { held: AtomicBool::new(false), value: UnsafeCell::new(0) };

fn work() {
    while X.held.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
    let value = X.value.get();
    unsafe { *value += 1 };
    X.held.store(false, Ordering::Release);
}

fn main() {
    let strands = [thread::spawn(work), thread::spawn(work)];
    for strand in strands {
        strand.join().unwrap();
    }
}
