//@ expect: assertion
//@ message: lost an update
//@ preemptions: 1
//@ pair: load store
// Safe Rust rules out the data race, not the lost update.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static COUNTER: AtomicUsize = AtomicUsize::new(0);

fn add() {
    let seen = COUNTER.load(SeqCst); //~ load
    COUNTER.store(seen + 1, SeqCst); //~ store
}

fn main() {
    let other = thread::spawn(add);
    add();
    other.join().unwrap();
    assert_eq!(COUNTER.load(SeqCst), 2, "lost an update"); //~ here
}
