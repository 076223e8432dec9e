//! A variable on main's stack that scoped threads borrow.
use std::sync::atomic::{AtomicU32, Ordering};

fn enter(inside: &AtomicU32) {
    let seen = inside.load(Ordering::SeqCst); //~ first
    inside.store(seen + 1, Ordering::SeqCst); //~ last
}

fn main() {
    let inside = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| enter(&inside));
        scope.spawn(|| enter(&inside));
    });
    assert_eq!(inside.load(Ordering::SeqCst), 2);
}
