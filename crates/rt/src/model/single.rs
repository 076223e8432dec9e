//! State of a model that lives outside the program's objects.

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

    /// The value. The reference must not live across a point or a wait, nor meet a second one.
    #[expect(clippy::mut_from_ref, reason = "one kernel thread; see the contract")]
    #[inline]
    pub fn get(&self) -> &mut T {
        // SAFETY: the contract above.
        unsafe { &mut *self.0.get() }
    }
}
