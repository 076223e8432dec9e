//! A number in an `Option` that is counted up in two steps.
use std::sync::Mutex;

static NEWEST: Mutex<Option<u32>> = Mutex::new(Some(7));

fn count() {
    let now = NEWEST.lock().unwrap().unwrap_or(0); //~ first
    *NEWEST.lock().unwrap() = Some(now + 1); //~ last
}

fn main() {
    let all: Vec<_> = (0..2).map(|_| std::thread::spawn(count)).collect();
    for one in all {
        one.join().unwrap();
    }
    assert_eq!(*NEWEST.lock().unwrap(), Some(9)); //~ look
}
