//! The paper's figure 9 in Rust: a load and a store of an atomic are no addition.
use std::sync::atomic::{AtomicI32, Ordering};

static SUM: AtomicI32 = AtomicI32::new(0);

fn add() {
    let seen = SUM.load(Ordering::SeqCst); //~ first
    SUM.store(seen + 1, Ordering::SeqCst); //~ last
}

fn main() {
    let all: Vec<_> = (0..3).map(|_| std::thread::spawn(add)).collect();
    for one in all {
        one.join().unwrap();
    }
    assert_eq!(SUM.load(Ordering::SeqCst), 3);
}
