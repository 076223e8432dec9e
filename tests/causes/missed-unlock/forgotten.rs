// A guard is forgotten where the store is closed; a test of libtest.
//@ expect: deadlock
//@ flags: --test
//@ pair: close look
//@ pair: lock test_lock
//@ pattern: order-violation
//@ object: any
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

static STORE: Mutex<u32> = Mutex::new(0);
static CLOSED: AtomicBool = AtomicBool::new(false);

#[test]
fn the_store_is_given_back() {
    let worker = thread::spawn(|| {
        let mut store = STORE.lock().unwrap(); //~ lock
        if CLOSED.load(SeqCst) { //~ look
            std::mem::forget(store);
        } else {
            *store += 1;
        }
    });
    CLOSED.store(true, SeqCst); //~ close
    let seen = *STORE.lock().unwrap(); //~ test_lock
    worker.join().unwrap();
    assert!(seen <= 1);
}
