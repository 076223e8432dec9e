use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock, TryLockError};
use std::thread;
use std::time::Duration;

#[test]
fn mutex_excludes() {
    let total = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..2).for_each(|_| *total.lock().unwrap() += 1));
        }
    });
    assert_eq!(total.into_inner().unwrap(), 6);
}

#[test]
fn mutex_try_lock() {
    let mutex = Mutex::new(());
    let held = mutex.lock().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock))));
    });
    drop(held);
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn poison_travels() {
    let mutex = Arc::new(Mutex::new(3));
    let inner = Arc::clone(&mutex);
    let outcome = thread::spawn(move || {
        let _guard = inner.lock().unwrap();
        panic!("with the lock held");
    })
    .join();
    assert!(outcome.is_err() && mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 3);
    mutex.clear_poison();
    assert!(mutex.lock().is_ok());
}

#[test]
fn condvar_hands_over() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for me in 0..3 {
            let (turn, changed) = (&turn, &changed);
            scope.spawn(move || {
                let mut turn = changed.wait_while(turn.lock().unwrap(), |turn| *turn != me).unwrap();
                *turn += 1;
                changed.notify_all();
            });
        }
    });
    assert_eq!(turn.into_inner().unwrap(), 3);
}

#[test]
fn condvar_times_out_or_not() {
    let (flag, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *flag.lock().unwrap() = true;
            changed.notify_one();
        });
        let (guard, result) =
            changed.wait_timeout_while(flag.lock().unwrap(), Duration::from_millis(1), |set| !*set).unwrap();
        assert_ne!(*guard, result.timed_out());
    });
}

#[test]
fn rwlock_shares() {
    let lock = RwLock::new((0, 0));
    let inside = AtomicI32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut pair = lock.write().unwrap();
                assert_eq!(inside.fetch_sub(100, SeqCst), 0);
                pair.0 += 1;
                pair.1 += 1;
                inside.fetch_add(100, SeqCst);
            });
            scope.spawn(|| {
                let pair = lock.read().unwrap();
                assert!(inside.fetch_add(1, SeqCst) >= 0);
                assert_eq!(pair.0, pair.1);
                inside.fetch_sub(1, SeqCst);
            });
        }
    });
    assert!(lock.try_read().is_ok() && lock.try_write().is_ok());
}

#[test]
fn barrier_has_one_leader() {
    let barrier = Barrier::new(3);
    let leaders: usize = thread::scope(|scope| {
        let strands: Vec<_> =
            (0..3).map(|_| scope.spawn(|| (0..3).filter(|_| barrier.wait().is_leader()).count())).collect();
        strands.into_iter().map(|strand| strand.join().unwrap()).sum()
    });
    assert_eq!(leaders, 3);
}
