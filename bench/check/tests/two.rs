//! What `shuttle-runs` does.

use std::sync::{Arc, Mutex};
use std::thread;

#[threadbare::test]
fn two() {
    let counter = Arc::new(Mutex::new(0));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || *counter.lock().unwrap() += 1)
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(*counter.lock().unwrap(), 2);
}
