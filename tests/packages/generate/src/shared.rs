//! A counted pointer. The fault: the count goes down relaxed, so the last one frees what others may still be reading.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

struct Inner<T> {
    count: AtomicUsize,
    value: T,
}

/// A right pointer.
pub struct Shared<T>(NonNull<Inner<T>>);
/// One whose count does not order.
pub struct BadShared<T>(NonNull<Inner<T>>);

// SAFETY: the value is only read, and freed by the last handle.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}
// SAFETY: as above, or so its writer thought.
unsafe impl<T: Send + Sync> Send for BadShared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for BadShared<T> {}

fn make<T>(value: T) -> NonNull<Inner<T>> {
    NonNull::from(Box::leak(Box::new(Inner { count: AtomicUsize::new(1), value })))
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        // SAFETY: this handle keeps it alive.
        unsafe { self.0.as_ref() }.count.fetch_add(1, Ordering::Relaxed);
        Shared(self.0)
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: this handle keeps it alive.
        if unsafe { self.0.as_ref() }.count.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: it was the last one.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl<T> Clone for BadShared<T> {
    fn clone(&self) -> BadShared<T> {
        // SAFETY: this handle keeps it alive.
        unsafe { self.0.as_ref() }.count.fetch_add(1, Ordering::Relaxed);
        BadShared(self.0)
    }
}

impl<T> Drop for BadShared<T> {
    fn drop(&mut self) {
        // SAFETY: this handle keeps it alive.
        if unsafe { self.0.as_ref() }.count.fetch_sub(1, Ordering::Relaxed) == 1 {
            // SAFETY: it was the last one.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl<T> Shared<T> {
    pub fn new(value: T) -> Shared<T> {
        Shared(make(value))
    }
    pub fn value(&self) -> T
    where
        T: Clone,
    {
        // SAFETY: this handle keeps it alive.
        unsafe { self.0.as_ref() }.value.clone()
    }
}

impl<T> BadShared<T> {
    pub fn new(value: T) -> BadShared<T> {
        BadShared(make(value))
    }
    pub fn value(&self) -> T
    where
        T: Clone,
    {
        // SAFETY: this handle keeps it alive.
        unsafe { self.0.as_ref() }.value.clone()
    }
}
