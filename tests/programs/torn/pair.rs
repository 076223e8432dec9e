//@ expect: panic
//@ max-runs: 1000
//@ message: an empty range
//@ preemptions: 1
//@ pair: to seen
//@ pair: from seen
// Two atomics that belong together, updated one after the other.
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

struct Range {
    from: AtomicU32,
    to: AtomicU32,
}

fn main() {
    let range = Range { from: AtomicU32::new(0), to: AtomicU32::new(10) };
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            range.from.store(20, SeqCst); //~ from
            range.to.store(30, SeqCst); //~ to
        });
        start.wait();
        let (from, to) = (range.from.load(SeqCst), range.to.load(SeqCst)); //~ seen
        assert!(from <= to, "an empty range: {from}..{to}"); //~ here
    });
}
