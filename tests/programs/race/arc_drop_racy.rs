//@ expect: race
//@ race: touch drop
// A hand-made count of owners with relaxed order: the last owner drops what it was never handed.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Values([UnsafeCell<u32>; 2]);

unsafe impl Sync for Values {}
unsafe impl Send for Values {}

impl Drop for Values {
    fn drop(&mut self) {
        for value in &mut self.0 {
            *value.get_mut() += 1; //~ drop
        }
    }
}

struct Shared {
    owners: AtomicUsize,
    values: Values,
}

#[derive(Clone, Copy)]
struct Owner(*mut Shared);

unsafe impl Send for Owner {}

fn work(owner: Owner, slot: usize) {
    let value = unsafe { (&(*owner.0).values.0)[slot].get() };
    unsafe { *value = 1 }; //~ touch
    if unsafe { &(*owner.0).owners }.fetch_sub(1, Ordering::Relaxed) == 1 {
        unsafe { std::ptr::drop_in_place(&mut (*owner.0).values) };
    }
}

fn main() {
    let values = Values([UnsafeCell::new(0), UnsafeCell::new(0)]);
    let owner = Owner(Box::leak(Box::new(Shared { owners: AtomicUsize::new(2), values })));
    let strands = [0, 1].map(|slot| thread::spawn(move || work(owner, slot)));
    for strand in strands {
        strand.join().unwrap();
    }
}
