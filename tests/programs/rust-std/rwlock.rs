//@ expect: pass
// Many readers or one writer; a downgraded writer keeps out other writers.
use std::sync::RwLock;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;

fn main() {
    let lock = RwLock::new((0, 0));
    let inside = AtomicI32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut pair = lock.write().unwrap();
                assert_eq!(inside.swap(-1, SeqCst), 0);
                pair.0 += 1;
                pair.1 += 1;
                inside.store(0, SeqCst);
            });
            scope.spawn(|| {
                let pair = lock.read().unwrap();
                assert!(inside.fetch_add(1, SeqCst) >= 0);
                assert_eq!(pair.0, pair.1);
                inside.fetch_sub(1, SeqCst);
            });
        }
    });
    assert_eq!(lock.into_inner().unwrap(), (2, 2));
}
