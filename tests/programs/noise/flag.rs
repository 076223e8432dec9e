//@ expect: assertion
//@ bare: any
// Three strands ask whether they are the first; between question and answer another may ask too.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

static FIRST: AtomicBool = AtomicBool::new(true);
static CLAIMS: AtomicU32 = AtomicU32::new(0);

fn claim() {
    if FIRST.load(Relaxed) {
        FIRST.store(false, Relaxed);
        CLAIMS.fetch_add(1, Relaxed);
    }
}

fn main() {
    let strands: Vec<_> = (0..3).map(|_| thread::spawn(claim)).collect();
    for strand in strands {
        strand.join().unwrap();
    }
    assert_eq!(CLAIMS.load(Relaxed), 1);
}
