// Two atomics that belong together; a test of libtest.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: set_low get_low
//@ pair: set_high get_high
//@ pattern: torn-pair
//@ object: LOW|HIGH|atomics::LOW|atomics::HIGH
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;

static LOW: AtomicI32 = AtomicI32::new(1);
static HIGH: AtomicI32 = AtomicI32::new(2);

#[test]
fn low_is_below_high() {
    let mover = thread::spawn(|| {
        LOW.store(11, SeqCst); //~ set_low
        HIGH.store(12, SeqCst); //~ set_high
    });
    let low = LOW.load(SeqCst); //~ get_low
    let high = HIGH.load(SeqCst); //~ get_high
    assert!(low < high); //~ end
    mover.join().unwrap();
}
