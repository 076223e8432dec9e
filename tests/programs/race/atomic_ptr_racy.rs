//@ expect: race
//@ race: fill use
// A pointer published with relaxed order.
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

static PUBLISHED: AtomicPtr<u32> = AtomicPtr::new(null_mut());

fn main() {
    let strand = thread::spawn(|| {
        let data: *mut u32 = Box::leak(Box::new(0));
        unsafe { *data = 1 }; //~ fill
        PUBLISHED.store(data, Ordering::Relaxed);
    });
    let mut found;
    loop {
        found = PUBLISHED.load(Ordering::Acquire);
        if !found.is_null() {
            break;
        }
        thread::yield_now();
    }
    let seen = unsafe { *found }; //~ use
    std::hint::black_box(seen);
    strand.join().unwrap();
}
