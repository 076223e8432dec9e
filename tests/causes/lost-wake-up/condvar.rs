// The flag is an atomic that is not under the lock; a test of libtest.
//@ expect: deadlock
//@ flags: --test
//@ pair: notify wait
//@ pattern: lost-wake-up
//@ object: any
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Event {
    set: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

#[test]
fn the_waiter_is_told() {
    let event = Arc::new(Event::default());
    let waiter = {
        let event = Arc::clone(&event);
        thread::spawn(move || {
            let mut guard = event.lock.lock().unwrap(); //~ locks
            while !event.set.load(SeqCst) { //~ look
                guard = event.changed.wait(guard).unwrap(); //~ wait
            }
        })
    };
    event.set.store(true, SeqCst); //~ set
    event.changed.notify_one(); //~ notify
    waiter.join().unwrap();
}
