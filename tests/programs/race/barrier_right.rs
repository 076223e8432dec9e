//@ expect: pass
// What was written before a barrier is read behind it.
use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::thread;

struct Data([UnsafeCell<u32>; 2]);

unsafe impl Sync for Data {}

static DATA: Data = Data([UnsafeCell::new(0), UnsafeCell::new(0)]);
static BOTH: Barrier = Barrier::new(2);

fn work(own: usize) {
    let (mine, other) = (DATA.0[own].get(), DATA.0[1 - own].get());
    unsafe { *mine = 1 };
    BOTH.wait();
    let seen = unsafe { *other };
    std::hint::black_box(seen);
}

fn main() {
    let strands = [0, 1].map(|own| thread::spawn(move || work(own)));
    for strand in strands {
        strand.join().unwrap();
    }
}
