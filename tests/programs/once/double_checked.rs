//@ expect: assertion
//@ preemptions: 1
//@ pair: fill read
// A hand-made once: the strand that loses the race does not wait for the winner.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;

static STARTED: AtomicBool = AtomicBool::new(false);
static VALUE: AtomicU32 = AtomicU32::new(0);

fn value() -> u32 {
    if !STARTED.swap(true, SeqCst) { //~ first
        VALUE.store(6 * 7, SeqCst); //~ fill
    }
    VALUE.load(SeqCst) //~ read
}

fn main() {
    let other = thread::spawn(value);
    let mine = value();
    assert_eq!((mine, other.join().unwrap()), (42, 42)); //~ here
}
