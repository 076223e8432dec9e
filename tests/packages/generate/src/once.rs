//! A cell that is written once. The fault: two writers may both find it empty.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};

const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const FULL: u8 = 2;

/// A right cell.
pub struct Once<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
}
/// One that two may write.
pub struct BadOnce<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: it is written by whoever took it from empty, and read when full.
unsafe impl<T: Send + Sync> Sync for Once<T> {}
// SAFETY: the same, or so its writer thought.
unsafe impl<T: Send + Sync> Sync for BadOnce<T> {}

impl<T> Once<T> {
    pub fn new() -> Once<T> {
        Once { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) }
    }
    pub fn set(&self, value: T) -> Result<(), T> {
        loop {
            match self.state.compare_exchange(EMPTY, BUSY, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => break,
                Err(FULL) => return Err(value),
                // Somebody is at it: it will be full.
                Err(_) => std::thread::yield_now(),
            }
        }
        // SAFETY: nobody else took it from empty.
        unsafe { *self.value.get() = Some(value) };
        self.state.store(FULL, Ordering::Release);
        Ok(())
    }
    pub fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) != FULL {
            return None;
        }
        // SAFETY: it is not written any more.
        unsafe { (*self.value.get()).as_ref() }
    }
}

impl<T> BadOnce<T> {
    pub fn new() -> BadOnce<T> {
        BadOnce { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) }
    }
    pub fn set(&self, value: T) -> Result<(), T> {
        if self.state.load(Ordering::Acquire) != EMPTY {
            return Err(value);
        }
        self.state.store(BUSY, Ordering::Relaxed);
        // SAFETY: the state says so, but two may have read it.
        unsafe { *self.value.get() = Some(value) };
        self.state.store(FULL, Ordering::Release);
        Ok(())
    }
    pub fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) != FULL {
            return None;
        }
        // SAFETY: it is not written any more.
        unsafe { (*self.value.get()).as_ref() }
    }
}
