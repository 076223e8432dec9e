// A strand may not be created: its work is done here.
//@ expect: pass
//@ runs: 300
//@ faults: threads
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn main() {
    match thread::Builder::new().spawn(|| COUNT.fetch_add(1, SeqCst)) {
        Ok(made) => made.join().unwrap(),
        Err(_) => COUNT.fetch_add(1, SeqCst),
    };
    assert_eq!(COUNT.load(SeqCst), 1);
}
