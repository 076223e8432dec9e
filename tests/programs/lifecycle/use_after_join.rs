//@ expect: panic
//@ message: the pool is gone
// A job's helper keeps only a weak reference to the pool and takes for granted that it lives.
use std::sync::{Arc, Weak, mpsc};
use std::thread;

struct Pool {
    size: usize,
}

fn main() {
    let pool = Arc::new(Pool { size: 2 });
    let (done, finished) = mpsc::channel();
    let weak: Weak<Pool> = Arc::downgrade(&pool);
    let worker = thread::spawn(move || {
        thread::spawn(move || {
            let size = weak.upgrade().expect("the pool is gone").size; //~ here
            done.send(size).unwrap();
        })
    });
    let helper = worker.join().unwrap();
    drop(pool);
    helper.join().unwrap();
    assert_eq!(finished.recv(), Ok(2));
}
