// A wait may end without a signal: the condition is to be looked at again.
//@ expect: pass
//@ runs: 300
use std::sync::{Arc, Condvar, Mutex};

fn main() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let other = Arc::clone(&shared);
    let setter = std::thread::spawn(move || {
        *other.0.lock().unwrap() = 42;
        other.1.notify_one();
    });
    let mut data = shared.0.lock().unwrap();
    while *data == 0 {
        data = shared.1.wait(data).unwrap();
    }
    assert_eq!(*data, 42);
    drop(data);
    setter.join().unwrap();
}
