//@ expect: assertion
//@ flags: -Copt-level=2
//@ message: lost a count
// The same through a pointer, in a loop, among fields that lie in one word.
use std::thread;

struct Counts {
    small: u16,
    wide: u32,
}

struct Shared(*mut Counts);
unsafe impl Send for Shared {}

fn count(shared: Shared) {
    for _ in 0..2 {
        unsafe {
            (*shared.0).wide += 1;
            (*shared.0).small += 1;
        }
    }
}

fn main() {
    let counts = Box::into_raw(Box::new(Counts { small: 0, wide: 0 }));
    let theirs = Shared(counts);
    let other = thread::spawn(move || count(theirs));
    count(Shared(counts));
    other.join().unwrap();
    let counts = unsafe { Box::from_raw(counts) };
    assert_eq!((counts.small, counts.wide), (4, 4), "lost a count"); //~ here
}
