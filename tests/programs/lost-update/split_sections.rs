//@ expect: assertion
//@ preemptions: 1
//@ pair: look write
// The lock is held for the read and for the write, but not between them.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0));
    let strands: Vec<_> = (0..3)
        .map(|_| {
            let total = Arc::clone(&total);
            thread::spawn(move || {
                let seen = *total.lock().unwrap(); //~ look
                *total.lock().unwrap() = seen + 1; //~ write
            })
        })
        .collect();
    for strand in strands {
        strand.join().unwrap();
    }
    assert_eq!(*total.lock().unwrap(), 3); //~ here
}
