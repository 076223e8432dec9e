//! An integration test beside the unit tests.

use buggy::Tight;
use std::thread;

#[test]
fn tight_from_outside() {
    let counter = Tight::default();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| counter.add());
        }
    });
    assert_eq!(counter.get(), 3);
}
