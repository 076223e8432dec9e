//@ expect: pass
//@ flags: -Copt-level=3
// in_place.rs with a lock.
use std::sync::Mutex;
use std::thread;

static TOTAL: Mutex<u64> = Mutex::new(0);

#[inline(never)]
fn deposit(amount: u64) {
    *TOTAL.lock().unwrap() += amount;
}

fn main() {
    let other = thread::spawn(|| deposit(3));
    deposit(4);
    other.join().unwrap();
    assert_eq!(*TOTAL.lock().unwrap(), 7);
}
