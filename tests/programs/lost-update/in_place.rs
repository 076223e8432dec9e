//@ expect: assertion
//@ flags: -Copt-level=3
//@ message: lost a deposit
// One expression reads and writes. In optimised code the read has a call of its own only if that is asked for.
use std::thread;

static mut TOTAL: u64 = 0;

#[inline(never)]
fn deposit(amount: u64) {
    unsafe { TOTAL += amount };
}

fn main() {
    let other = thread::spawn(|| deposit(3));
    deposit(4);
    other.join().unwrap();
    assert_eq!(unsafe { TOTAL }, 7, "lost a deposit"); //~ here
}
