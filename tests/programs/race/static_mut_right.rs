//@ expect: pass
// Two strands write a static, the second behind the join of the first.
use std::thread;

static mut X: u32 = 0;

fn main() {
    let strand = thread::spawn(|| {
        unsafe { X = 1 };
    });
    strand.join().unwrap();
    unsafe { X = 2 };
}
