// Two mutexes in opposite orders; a test of libtest.
//@ expect: deadlock
//@ flags: --test
//@ pair: a_then a_wants
//@ pair: b_then b_wants
//@ pair: a_then b_wants
//@ pair: b_then a_wants
//@ pattern: lock-order-cycle
//@ object: any
use std::sync::Mutex;
use std::thread;

static A: Mutex<i32> = Mutex::new(0);
static B: Mutex<i32> = Mutex::new(0);

#[test]
fn both_orders() {
    let other = thread::spawn(|| {
        let mut a = A.lock().unwrap(); //~ a_then
        let b = B.lock().unwrap(); //~ b_wants
        *a += *b;
    });
    {
        let mut b = B.lock().unwrap(); //~ b_then
        let a = A.lock().unwrap(); //~ a_wants
        *b += *a;
    }
    other.join().unwrap();
}
