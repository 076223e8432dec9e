//! A semaphore. The fault: a permit that is not the first wakes nobody, though two may be waiting.

use std::sync::{Condvar, Mutex};

/// A right semaphore.
#[derive(Default)]
pub struct Semaphore {
    permits: Mutex<u32>,
    more: Condvar,
}

impl Semaphore {
    pub fn new() -> Semaphore {
        Semaphore::default()
    }
    pub fn acquire(&self) {
        let mut permits = self.permits.lock().unwrap();
        while *permits == 0 {
            permits = self.more.wait(permits).unwrap();
        }
        *permits -= 1;
    }
    pub fn try_acquire(&self) -> bool {
        let mut permits = self.permits.lock().unwrap();
        let some = *permits > 0;
        *permits -= u32::from(some);
        some
    }
    pub fn release(&self) {
        *self.permits.lock().unwrap() += 1;
        self.more.notify_one();
    }
}

/// One that loses a wake-up.
#[derive(Default)]
pub struct BadSemaphore {
    permits: Mutex<u32>,
    more: Condvar,
}

impl BadSemaphore {
    pub fn new() -> BadSemaphore {
        BadSemaphore::default()
    }
    pub fn acquire(&self) {
        let mut permits = self.permits.lock().unwrap();
        while *permits == 0 {
            permits = self.more.wait(permits).unwrap();
        }
        *permits -= 1;
    }
    pub fn try_acquire(&self) -> bool {
        let mut permits = self.permits.lock().unwrap();
        let some = *permits > 0;
        *permits -= u32::from(some);
        some
    }
    pub fn release(&self) {
        let mut permits = self.permits.lock().unwrap();
        *permits += 1;
        if *permits == 1 {
            self.more.notify_one();
        }
    }
}
