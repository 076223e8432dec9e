use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

#[test]
fn once_runs_once() {
    let (once, runs) = (Once::new(), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                once.call_once(|| {
                    runs.fetch_add(1, SeqCst);
                });
                assert_eq!(runs.load(SeqCst), 1);
            });
        }
    });
}

#[test]
fn poisoned_once_can_be_forced() {
    let once = Once::new();
    let first = panic::catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("half done"))));
    assert!(first.is_err());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| once.call_once_force(|_| {}));
        }
    });
    once.wait();
    assert!(once.is_completed());
}

#[test]
fn once_lock_keeps_the_first() {
    let cell = OnceLock::new();
    let set: usize = thread::scope(|scope| {
        let strands: Vec<_> = (0..3)
            .map(|n| {
                scope.spawn({
                    let cell = &cell;
                    move || cell.set(n).is_ok()
                })
            })
            .collect();
        let waiter = scope.spawn(|| *cell.wait());
        let set = strands.into_iter().map(|s| usize::from(s.join().unwrap())).sum();
        assert_eq!(Some(&waiter.join().unwrap()), cell.get());
        set
    });
    assert_eq!(set, 1);
}

#[test]
fn lazy_lock_is_made_once() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    static LAZY: LazyLock<String> = LazyLock::new(|| {
        MADE.fetch_add(1, SeqCst);
        "made".to_string()
    });
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(*LAZY, "made"));
        }
    });
    assert_eq!(MADE.load(SeqCst), 1);
}
