//! Each of these fails in some order; a plain run passes.

use checks::{Loose, Mistake, Slot};
use std::mem::ManuallyDrop;
use std::sync::Mutex;
use std::thread;
use threadbare::{Check, Drops};

#[test]
fn loses_an_update() {
    let loose = Loose::default();
    threadbare::check(|| {
        threadbare::strands(2, |_| loose.add());
        assert_eq!(loose.get(), 2);
    });
}

#[test]
fn loses_an_update_with_options() {
    let loose = Loose::default();
    Check::new().strategy("dpor").run(|| {
        threadbare::strands(2, |_| loose.add());
        assert_eq!(loose.get(), 2);
    });
}

#[threadbare::test(runs = 5000)]
fn depends_on_a_value() {
    let size = threadbare::choose(4);
    let loose = Loose::default();
    threadbare::strands(2, |_| loose.add());
    assert!(loose.get() == 2 || size != 3);
}

#[threadbare::test(runs = 300)]
fn fails_behind_a_result() -> Result<(), &'static str> {
    let loose = Loose::default();
    threadbare::strands(2, |_| loose.add());
    if loose.get() == 2 { Ok(()) } else { Err("an update is lost") }
}

/// The future keeps the waker of its first poll.
#[threadbare::test(runs = 300)]
fn keeps_the_first_waker() {
    let slot = Slot::new(Mistake::KeepsFirstWaker);
    let other = slot.clone();
    let sender = thread::spawn(move || other.send(1));
    assert_eq!(threadbare::block_on_with_changing_wakers(slot.receive()), 1);
    sender.join().unwrap();
}

/// The receiver has taken the value and is dropped before it gives it.
#[threadbare::test(runs = 300)]
fn loses_what_a_dropped_future_has() {
    let drops = Drops::new();
    let slot = Slot::new(Mistake::LosesWhenDropped);
    slot.send(drops.payload());
    let got = threadbare::cancel_anywhere(slot.receive(), 2);
    assert!(got.or_else(|| slot.try_take()).is_some());
}

/// Both strands take the same payload out, if they look before the other has marked it.
#[threadbare::test(runs = 300)]
fn drops_twice() {
    let drops = Drops::new();
    let payload = ManuallyDrop::new(drops.payload());
    let taken = Mutex::new(false);
    threadbare::strands(2, |_| {
        let was_taken = *taken.lock().unwrap();
        if !was_taken {
            *taken.lock().unwrap() = true;
            // SAFETY: none, which is the mistake.
            drop(unsafe { std::ptr::read(&*payload) });
        }
    });
}
