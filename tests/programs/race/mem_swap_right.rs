//@ expect: pass
// swap and copy move whole values; another strand looks at the value beside them.
use std::ptr;
use std::thread;

static mut X: [[u64; 16]; 3] = [[0; 16]; 3];

fn main() {
    let strand = thread::spawn(|| {
        let all = &raw mut X as *mut [u64; 16];
        unsafe { ptr::copy_nonoverlapping(all, all.add(1), 1) };
    });
    let all = &raw mut X as *mut u64;
    let seen = unsafe { *all.add(32) };
    std::hint::black_box(seen);
    strand.join().unwrap();
}
