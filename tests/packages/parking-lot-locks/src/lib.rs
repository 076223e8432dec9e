//! parking_lot, unmodified, in tests that pass under every schedule.

#[cfg(test)]
mod tests {
    use parking_lot::{
        Condvar, FairMutex, Mutex, MutexGuard, Once, OnceState, ReentrantMutex, RwLock,
        RwLockUpgradableReadGuard, RwLockWriteGuard,
    };
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn mutex_excludes() {
        let (mutex, fair) = (Mutex::new(0), FairMutex::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2 {
                        *mutex.lock() += 1;
                        *fair.lock() += 1;
                    }
                });
            }
        });
        assert_eq!((mutex.into_inner(), fair.into_inner()), (6, 6));
    }

    #[test]
    fn try_lock_for_gives_up() {
        let mutex = Mutex::new(());
        let held = mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(mutex.try_lock().is_none());
                assert!(mutex.try_lock_for(Duration::from_millis(2)).is_none());
            });
        });
        MutexGuard::unlock_fair(held);
        assert!(mutex.try_lock().is_some());
    }

    #[test]
    fn rwlock_shares_and_upgrades() {
        let lock = RwLock::new((0, 0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let pair = lock.upgradable_read();
                    let seen = pair.0;
                    let mut pair = RwLockUpgradableReadGuard::upgrade(pair);
                    assert_eq!(pair.0, seen);
                    pair.0 += 1;
                    pair.1 += 1;
                    let pair = RwLockWriteGuard::downgrade(pair);
                    assert_eq!(pair.0, seen + 1);
                });
                scope.spawn(|| {
                    let pair = lock.read();
                    assert_eq!(pair.0, pair.1);
                });
            }
        });
        assert_eq!(lock.into_inner(), (2, 2));
    }

    #[test]
    fn condvar_wakes_one_and_all() {
        let (stage, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut stage = stage.lock();
                    changed.wait_while(&mut stage, |stage| *stage == 0);
                    *stage += 1;
                    changed.notify_all();
                });
            }
            let mut guard = stage.lock();
            changed.wait_for(&mut guard, Duration::from_millis(1));
            assert_eq!(*guard, 0);
            *guard = 1;
            changed.notify_one();
            drop(guard);
            changed.notify_all();
            let mut guard = stage.lock();
            changed.wait_while(&mut guard, |stage| *stage < 3);
        });
        assert_eq!(stage.into_inner(), 3);
    }

    #[test]
    fn once_runs_once() {
        static ONCE: Once = Once::new();
        static RUNS: AtomicU32 = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    ONCE.call_once(|| {
                        RUNS.fetch_add(1, SeqCst);
                    });
                    assert_eq!(RUNS.load(SeqCst), 1);
                });
            }
        });
        assert_eq!(ONCE.state(), OnceState::Done);
    }

    #[test]
    fn reentrant_mutex_nests() {
        let lock = ReentrantMutex::new(Cell::new(0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let outer = lock.lock();
                    let inner = lock.lock();
                    inner.set(outer.get() + 1);
                });
            }
        });
        assert_eq!(lock.into_inner().get(), 2);
    }
}
