//@ expect: pass
//@ runs: 5
//@ strands: 1001
//@ timeout: 60s
// A thousand strands, all alive until the last has come.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;

fn main() {
    let barrier = Arc::new(Barrier::new(1000));
    let sum = Arc::new(AtomicU32::new(0));
    let strands: Vec<_> = (0..1000)
        .map(|i| {
            let (barrier, sum) = (Arc::clone(&barrier), Arc::clone(&sum));
            thread::spawn(move || {
                sum.fetch_add(i, SeqCst);
                barrier.wait();
                assert_eq!(sum.load(SeqCst), 999 * 1000 / 2);
            })
        })
        .collect();
    for strand in strands {
        strand.join().unwrap();
    }
}
