// One of the values, in one order, fails: both are choices of the schedule.
//@ expect: assertion|panic
//@ max-runs: 500
#[path = "../../../crates/threadbare/src/lib.rs"]
#[expect(dead_code, reason = "a part of it is used")]
mod threadbare;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

fn main() {
    let seen = AtomicU32::new(0);
    let size = *threadbare::one_of(&[4, 8, 15, 16, 23, 42]);
    let flag: bool = threadbare::any();
    threadbare::assume(size != 42);
    threadbare::strands(2, |number| {
        if number == 0 {
            seen.fetch_add(1, SeqCst);
        } else {
            assert!(seen.load(SeqCst) == 0 || size != 23 || !flag);
        }
    });
}
