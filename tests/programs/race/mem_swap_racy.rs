//@ expect: race
//@ race: swap look
// swap and copy move whole values while another strand looks at one of them.
use std::ptr;
use std::thread;

static mut X: [[u64; 16]; 3] = [[0; 16]; 3];

fn main() {
    let strand = thread::spawn(|| {
        let all = &raw mut X as *mut [u64; 16];
        unsafe { ptr::copy_nonoverlapping(all, all.add(1), 1) }; //~ swap
    });
    let all = &raw mut X as *mut u64;
    let seen = unsafe { *all.add(31) }; //~ look
    std::hint::black_box(seen);
    strand.join().unwrap();
}
