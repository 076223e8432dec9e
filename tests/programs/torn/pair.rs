//@ expect: panic
//@ max-runs: 3000
// Two atomics that belong together, updated one after the other.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

#[derive(Default)]
struct Range {
    from: AtomicU32,
    to: AtomicU32,
}

fn main() {
    let range = Range { from: AtomicU32::new(0), to: AtomicU32::new(10) };
    thread::scope(|scope| {
        scope.spawn(|| {
            range.from.store(20, SeqCst);
            range.to.store(30, SeqCst);
        });
        scope.spawn(|| {
            let (from, to) = (range.from.load(SeqCst), range.to.load(SeqCst));
            assert!(from <= to, "an empty range: {from}..{to}"); //~ here
        });
    });
}
