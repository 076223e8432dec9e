//@ expect: pass
// A panic under a lock poisons it; the data can still be had, and the poison cleared.
use std::panic;
use std::sync::{Arc, Mutex, RwLock, TryLockError};
use std::thread;

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mutex = Arc::new(Mutex::new(1));
    let rwlock = Arc::new(RwLock::new(1));
    let strands: Vec<_> = (0..2)
        .map(|i| {
            let (mutex, rwlock) = (Arc::clone(&mutex), Arc::clone(&rwlock));
            thread::spawn(move || {
                if i == 0 {
                    let mut guard = mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    *guard += 1;
                    panic!("with the mutex held");
                } else {
                    let mut guard = rwlock.write().unwrap();
                    *guard += 1;
                    panic!("with the write lock held");
                }
            })
        })
        .collect();
    for strand in strands {
        let payload = strand.join().unwrap_err();
        assert!(payload.downcast_ref::<&str>().unwrap().ends_with("held"));
    }
    assert!(mutex.is_poisoned() && rwlock.is_poisoned());
    assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 2);
    mutex.clear_poison();
    assert_eq!(*mutex.lock().unwrap(), 2);
    // A panicking reader poisons nothing.
    rwlock.clear_poison();
    let reader = Arc::clone(&rwlock);
    assert!(thread::spawn(move || { let _guard = reader.read().unwrap(); panic!() }).join().is_err());
    assert_eq!(*rwlock.read().unwrap(), 2);
}
