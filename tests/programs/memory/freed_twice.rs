//@ expect: double-free
//@ preemptions: 1
//@ pair: look set
// Both strands find the flag unset and drop the box.
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread;

static DROPPED: AtomicBool = AtomicBool::new(false);
static NUMBER: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());

fn cleanup() {
    if !DROPPED.load(Ordering::SeqCst) { //~ look
        DROPPED.store(true, Ordering::SeqCst); //~ set
        drop(unsafe { Box::from_raw(NUMBER.load(Ordering::SeqCst)) });
    }
}

fn main() {
    NUMBER.store(Box::into_raw(Box::new(5)), Ordering::SeqCst);
    let other = thread::spawn(cleanup);
    cleanup();
    other.join().unwrap();
}
