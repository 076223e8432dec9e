//! A cell whose making may fail. The fault: whoever waited for an attempt takes it to have succeeded.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};

const EMPTY: u8 = 0;
const MAKING: u8 = 1;
const FULL: u8 = 2;

struct Cell<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
}

impl<T> Cell<T> {
    /// Makes the value; `again` says whether an attempt of others that failed is made good.
    fn make<E>(&self, make: impl FnOnce() -> Result<T, E>, again: bool) -> Result<&T, E> {
        let mut make = Some(make);
        loop {
            match self.state.compare_exchange(EMPTY, MAKING, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => {
                    let made = make.take().expect("one attempt")();
                    let failed = made.is_err();
                    let value = made.map(|value| {
                        // SAFETY: nobody else is where the state is `MAKING`.
                        unsafe { *self.value.get() = Some(value) };
                    });
                    self.state.store(if failed { EMPTY } else { FULL }, Ordering::Release);
                    value?;
                    break;
                }
                Err(FULL) => break,
                Err(_) => {
                    while self.state.load(Ordering::Acquire) == MAKING {
                        std::hint::spin_loop();
                    }
                    if !again {
                        break;
                    }
                }
            }
        }
        // SAFETY: it is written once.
        Ok(unsafe { &*self.value.get() }.as_ref().expect("a value"))
    }
}

/// A right one.
pub struct Attempt<T>(Cell<T>);

// SAFETY: it is written once, and read then.
unsafe impl<T: Send + Sync> Sync for Attempt<T> {}

impl<T> Attempt<T> {
    pub fn new() -> Attempt<T> {
        Attempt(Cell { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) })
    }
    pub fn try_make<F: FnOnce() -> Result<T, E>, E>(&self, make: F) -> Result<&T, E> {
        self.0.make(make, true)
    }
}

/// One that trusts the attempts of others.
pub struct BadAttempt<T>(Cell<T>);

// SAFETY: it is written once, and read then.
unsafe impl<T: Send + Sync> Sync for BadAttempt<T> {}

impl<T> BadAttempt<T> {
    pub fn new() -> BadAttempt<T> {
        BadAttempt(Cell { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) })
    }
    pub fn try_make<F: FnOnce() -> Result<T, E>, E>(&self, make: F) -> Result<&T, E> {
        self.0.make(make, false)
    }
}
