//@ expect: race
//@ race: strand main
// Two strands write a static without anything between them.
use std::thread;

static mut X: u32 = 0;

fn main() {
    let strand = thread::spawn(|| {
        unsafe { X = 1 }; //~ strand
    });
    unsafe { X = 2 }; //~ main
    strand.join().unwrap();
}
