//! Two threads that have something to do with each other.

use std::sync::Mutex;

/// What two threads have added.
pub fn two() -> u32 {
    let sum = Mutex::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| *sum.lock().unwrap() += 1);
        scope.spawn(|| *sum.lock().unwrap() += 1);
    });
    sum.into_inner().unwrap()
}
