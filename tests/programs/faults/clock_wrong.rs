// Measures by the wall clock, which somebody may set.
//@ expect: panic
//@ max-runs: 200
//@ faults: clock
//@ bare: any
use std::time::SystemTime;

fn main() {
    let before = SystemTime::now();
    SystemTime::now().duration_since(before).unwrap();
}
