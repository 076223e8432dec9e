// Both look whether the work was done, and both do it; a test of libtest.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: look mark
//@ pattern: check-then-act|lost-update
//@ object: DONE|once::DONE
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

static DONE: AtomicBool = AtomicBool::new(false);
static TIMES: AtomicUsize = AtomicUsize::new(0);

fn once() {
    if !DONE.load(SeqCst) { //~ look
        DONE.store(true, SeqCst); //~ mark
        TIMES.fetch_add(1, SeqCst); //~ work
    }
}

#[test]
fn it_is_done_once() {
    let others = [thread::spawn(once), thread::spawn(once)];
    for other in others {
        other.join().unwrap();
    }
    assert_eq!(TIMES.load(SeqCst), 1); //~ end
}
