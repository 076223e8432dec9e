//@ expect: deadlock
//@ preemptions: 1
//@ pair: check open
//@ pair: here notify
// Two strands wait for the same event; only one of them is woken.
use std::sync::{Condvar, Mutex};
use std::thread;

fn main() {
    let (open, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut open = open.lock().unwrap();
                while !*open { //~ check
                    open = changed.wait(open).unwrap(); //~ here
                }
            });
        }
        *open.lock().unwrap() = true; //~ open
        changed.notify_one(); //~ notify
    });
}
