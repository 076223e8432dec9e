//@ expect: crash|exit
//@ max-runs: 100
// Main returns without its strands.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static DONE: AtomicU32 = AtomicU32::new(0);

fn main() {
    thread::spawn(|| (1..=7).for_each(|at| DONE.store(at, SeqCst)));
    thread::spawn(|| {
        if DONE.load(SeqCst) == 7 {
            std::process::abort();
        }
    });
}
