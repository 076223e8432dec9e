//@ expect: pass
// A pointer published with release order.
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

static PUBLISHED: AtomicPtr<u32> = AtomicPtr::new(null_mut());

fn main() {
    let strand = thread::spawn(|| {
        let data: *mut u32 = Box::leak(Box::new(0));
        unsafe { *data = 1 };
        PUBLISHED.store(data, Ordering::Release);
    });
    let mut found;
    loop {
        found = PUBLISHED.load(Ordering::Acquire);
        if !found.is_null() {
            break;
        }
        thread::yield_now();
    }
    let seen = unsafe { *found };
    std::hint::black_box(seen);
    strand.join().unwrap();
}
