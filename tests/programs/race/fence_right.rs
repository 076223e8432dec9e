//@ expect: pass
// A fence on each side of relaxed accesses.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let strand = thread::spawn(|| {
        let data = DATA.0.get();
        unsafe { *data = 1 };
        compiler_fence(Ordering::SeqCst);
        fence(Ordering::Release);
        READY.store(true, Ordering::Relaxed);
    });
    while !READY.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    fence(Ordering::Acquire);
    let data = DATA.0.get();
    let seen = unsafe { *data };
    std::hint::black_box(seen);
    strand.join().unwrap();
}
