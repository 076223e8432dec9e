use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*, fence};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

#[test]
fn park_and_unpark() {
    let ready = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ready);
    let sleeper = thread::spawn(move || {
        while !seen.load(Acquire) {
            thread::park();
        }
    });
    ready.store(true, Release);
    sleeper.thread().unpark();
    sleeper.join().unwrap();
    thread::park_timeout(Duration::from_millis(1));
}

#[test]
fn panics_reach_the_joiner() {
    let payload = thread::spawn(|| panic!("number {}", std::hint::black_box(5))).join().unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "number 5");
}

#[test]
fn thread_locals_are_dropped_before_join_returns() {
    static DROPS: AtomicU32 = AtomicU32::new(0);
    struct Noted(Cell<u32>);
    impl Drop for Noted {
        fn drop(&mut self) {
            DROPS.fetch_add(self.0.get(), SeqCst);
        }
    }
    thread_local!(static NOTED: Noted = const { Noted(Cell::new(0)) });
    let strands: Vec<_> = (1..4).map(|n| thread::spawn(move || NOTED.with(|noted| noted.0.set(n)))).collect();
    strands.into_iter().for_each(|strand| strand.join().unwrap());
    assert_eq!(DROPS.load(SeqCst), 6);
}

#[test]
fn scopes_borrow() {
    let words = ["a", "bb", "ccc"].map(String::from);
    let lengths: Vec<_> = thread::scope(|scope| {
        let strands: Vec<_> = words.iter().map(|word| scope.spawn(|| word.len())).collect();
        strands.into_iter().map(|strand| strand.join().unwrap()).collect()
    });
    assert_eq!(lengths, [1, 2, 3]);
}

#[test]
fn weak_upgrades_only_while_alive() {
    let strong = Arc::new(5);
    let weak: Weak<i32> = Arc::downgrade(&strong);
    let reader = thread::spawn(move || weak.upgrade().map(|value| *value));
    drop(strong);
    assert!(matches!(reader.join().unwrap(), None | Some(5)));
}

#[test]
fn fences_publish() {
    let (data, ready) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(7, Relaxed);
            fence(Release);
            ready.store(true, Relaxed);
        });
        while !ready.load(Relaxed) {
            thread::yield_now();
        }
        fence(Acquire);
        assert_eq!(data.load(Relaxed), 7);
    });
}
