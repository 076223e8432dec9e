//! State of a model that lives outside the program's objects.

use crate::raw::Raw;
use core::cell::UnsafeCell;

/// A value that only the one kernel thread of a controlled run touches.
pub struct Single<T>(UnsafeCell<T>);

// SAFETY: models touch their state under control only, where there is one kernel thread.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Single(UnsafeCell::new(value))
    }

    /// Does something with the value, which nobody else may touch meanwhile: there is no point and no wait in it.
    #[inline(always)]
    pub fn with<R>(&self, what: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: one kernel thread, and the contract above.
        what(unsafe { &mut *self.0.get() })
    }

    /// The value's place.
    #[inline(always)]
    pub fn get(&'static self) -> Raw<T> {
        // SAFETY: a static lives as long as the process; one kernel thread.
        unsafe { Raw::new(self.0.get()) }
    }
}
