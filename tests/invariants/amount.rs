//! A withdrawal of an amount that its caller says, in two steps.
use std::sync::Mutex;

static BALANCE: Mutex<i64> = Mutex::new(1000);

#[inline(never)]
fn withdraw(amount: i64) {
    let now = *BALANCE.lock().unwrap(); //~ first
    *BALANCE.lock().unwrap() = now - amount; //~ last
}

fn main() {
    let small = std::thread::spawn(|| [30, 20].map(withdraw));
    let large = std::thread::spawn(|| [200, 150].map(withdraw));
    small.join().unwrap();
    large.join().unwrap();
    assert_eq!(*BALANCE.lock().unwrap(), 600);
}
