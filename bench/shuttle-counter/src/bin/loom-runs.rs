//! Another peer of `cargo xtask bench page`: two threads add one to a counter under a lock, under Loom, which goes through all orders; again and again for
//! a second. Prints runs per second.

use loom::sync::{Arc, Mutex};
use loom::thread;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

static RUNS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        loom::model(|| {
            RUNS.fetch_add(1, Ordering::Relaxed);
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
        });
    }
    println!("{:.0}", RUNS.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64());
}
