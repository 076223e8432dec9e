//@ expect: pass
// try_lock, try_read and try_write say WouldBlock when they should, and work otherwise.
use std::sync::{Mutex, RwLock, TryLockError};
use std::thread;

fn main() {
    let mutex = Mutex::new(0);
    let rwlock = RwLock::new(0);
    {
        let _held = mutex.lock().unwrap();
        let _shared = rwlock.read().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock))));
            scope.spawn(|| assert!(rwlock.try_read().is_ok()));
            scope.spawn(|| assert!(matches!(rwlock.try_write(), Err(TryLockError::WouldBlock))));
        });
    }
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    if let Ok(mut value) = mutex.try_lock() {
                        *value += 1;
                        break;
                    }
                    thread::yield_now();
                }
                *rwlock.write().unwrap() += 1;
            });
        }
    });
    assert_eq!((mutex.into_inner().unwrap(), rwlock.into_inner().unwrap()), (3, 3));
}
