// An index is kept while its slot goes to somebody else; a test of libtest.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: owner give
//@ pair: give bill
//@ pattern: check-then-act|torn-pair
//@ object: any
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread;

#[derive(Default)]
struct Slot {
    owner: AtomicU32,
    bill: AtomicU32,
    visits: AtomicUsize,
}

#[test]
fn nobody_pays_for_others() {
    let slots = Arc::new([Slot::default(), Slot::default()]);
    slots[1].owner.store(5, SeqCst);
    let theirs = Arc::clone(&slots);
    let other = thread::spawn(move || {
        theirs[1].visits.fetch_add(1, SeqCst);
        theirs[1].bill.store(0, SeqCst); //~ clear
        theirs[1].owner.store(6, SeqCst); //~ give
    });
    if slots[1].owner.load(SeqCst) == 5 { //~ owner
        slots[1].visits.fetch_add(1, SeqCst);
        slots[1].bill.fetch_add(10, SeqCst); //~ bill
    }
    other.join().unwrap();
    let paid_by_other = slots[1].owner.load(SeqCst) == 6 && slots[1].bill.load(SeqCst) != 0; //~ pays
    assert!(!paid_by_other); //~ end
}
