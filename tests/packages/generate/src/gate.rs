//! A gate that is opened once. The fault: it is looked at before the lock is taken, and opened without it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

/// A right gate.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }
    pub fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

/// One that misses its opening.
#[derive(Default)]
pub struct BadGate {
    open: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}

impl BadGate {
    pub fn pass(&self) {
        let mut guard = self.lock.lock().unwrap();
        while !self.open.load(Ordering::Acquire) {
            guard = self.opened.wait(guard).unwrap();
        }
    }
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
        self.opened.notify_all();
    }
}
