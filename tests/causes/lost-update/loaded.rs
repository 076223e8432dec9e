// A load and a store where an addition is meant; a test of libtest.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: load store
//@ pattern: lost-update
//@ object: COUNT|loaded::COUNT
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn bump() {
    let seen = COUNT.load(SeqCst); //~ load
    COUNT.store(seen + 1, SeqCst); //~ store
}

#[test]
fn both_count() {
    let other = thread::spawn(bump);
    bump();
    other.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 2); //~ end
}
