// `Instant` is never set.
//@ expect: pass
//@ runs: 300
//@ faults: clock
use std::time::Instant;

fn main() {
    let before = Instant::now();
    assert!(Instant::now() >= before);
}
