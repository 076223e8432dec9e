//! Nothing of these fails.

use checks::{Mistake, Slot};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use threadbare::{Check, Drops};

static BEFORE: AtomicU32 = AtomicU32::new(0);

/// What comes before the check is done once, and every run finds it as it was.
#[test]
fn what_comes_before_is_done_once() {
    let list = vec![1, 2, 3];
    assert_eq!(BEFORE.fetch_add(1, SeqCst), 0);
    let total = Mutex::new(0);
    threadbare::check(|| {
        assert_eq!(BEFORE.load(SeqCst), 1);
        threadbare::strands(3, |number| *total.lock().unwrap() += list[number]);
        assert_eq!(*total.lock().unwrap(), 6);
        threadbare::reached("in the check");
    });
    threadbare::reached("behind it");
}

#[test]
fn two_checks_are_one_run() {
    let count = AtomicU32::new(0);
    threadbare::check(|| threadbare::strands(2, |_| _ = count.fetch_add(1, SeqCst)));
    Check::new().runs(3).run(|| threadbare::strands(2, |_| _ = count.fetch_add(1, SeqCst)));
    assert_eq!(count.load(SeqCst), 4);
    threadbare::reached("both");
}

#[threadbare::test(runs = 70, strategy = "random")]
fn with_options() {
    let slot = Slot::new(Mistake::None);
    let sender = {
        let slot = slot.clone();
        thread::spawn(move || slot.send(7))
    };
    assert_eq!(threadbare::block_on(slot.receive()), 7);
    sender.join().unwrap();
}

/// What the test harness does is no part of the run: two stores have two orders.
#[threadbare::test(strategy = "dpor")]
fn with_a_planner() -> Result<(), String> {
    let cell = Arc::new(AtomicU32::new(0));
    let strands = [1, 2].map(|number| {
        let cell = Arc::clone(&cell);
        thread::spawn(move || cell.store(number, SeqCst))
    });
    for strand in strands {
        strand.join().map_err(|_| "a strand panicked")?;
    }
    if cell.load(SeqCst) == 0 { Err("nobody has stored".to_owned()) } else { Ok(()) }
}

#[threadbare::test(runs = 40)]
async fn asynchronous() {
    let slot = Slot::new(Mistake::None);
    let other = slot.clone();
    let sender = thread::spawn(move || other.send("hello"));
    assert_eq!(slot.receive().await, "hello");
    sender.join().unwrap();
}

#[threadbare::test(runs = 100)]
fn another_waker() {
    let slot = Slot::new(Mistake::None);
    let other = slot.clone();
    let sender = thread::spawn(move || other.send(1));
    assert_eq!(threadbare::block_on_with_changing_wakers(slot.receive()), 1);
    sender.join().unwrap();
}

/// Whenever the receiver is dropped, the value is somewhere, once.
#[threadbare::test(runs = 100)]
fn dropped_at_any_await() {
    let drops = Drops::new();
    let slot = Slot::new(Mistake::None);
    let (other, payload) = (slot.clone(), drops.payload());
    let sender = thread::spawn(move || other.send(payload));
    let got = threadbare::cancel_anywhere(slot.receive(), 3);
    sender.join().unwrap();
    assert!(got.or_else(|| slot.try_take()).is_some());
    drop(slot);
    drops.assert_all_dropped();
}

#[test]
fn without_a_check() {
    let count = Arc::new(AtomicU32::new(0));
    threadbare::strands(2, |_| _ = count.fetch_add(1, SeqCst));
    assert_eq!(count.load(SeqCst), 2);
}
