//@ expect: deadlock
//@ preemptions: 1
//@ pair: notify here
//@ pair: set check
// The flag changes without the lock: after the waiter's check, before its wait. The precompiled part of Condvar makes
// no points; the last access before it is learnt to be one.
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;

fn main() {
    let (lock, wake, flag) = (Mutex::new(()), Condvar::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.store(true, SeqCst); //~ set
            wake.notify_one(); //~ notify
        });
        let mut guard = lock.lock().unwrap();
        while !flag.load(SeqCst) { //~ check
            guard = wake.wait(guard).unwrap(); //~ here
        }
        drop(guard);
    });
}
