//! A lock that spins, with a default parameter. The fault: it is given back without an order.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a lock does on giving back.
pub trait Order {
    const GIVES: Ordering;
}

/// The right one.
pub struct Released;
/// The one with the fault.
pub struct Unordered;

impl Order for Released {
    const GIVES: Ordering = Ordering::Release;
}
impl Order for Unordered {
    const GIVES: Ordering = Ordering::Relaxed;
}

/// A right one.
pub struct Spin<T, R = Released> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
    order: PhantomData<R>,
}

// SAFETY: one strand at a time has the value.
unsafe impl<T: Send, R> Sync for Spin<T, R> {}
// SAFETY: the parameter is a name alone.
unsafe impl<T: Send, R> Send for Spin<T, R> {}

pub struct SpinGuard<'a, T, R: Order>(&'a Spin<T, R>);

impl<T, R: Order> Spin<T, R> {
    pub fn new(value: T) -> Spin<T, R> {
        Spin { taken: AtomicBool::new(false), value: UnsafeCell::new(value), order: PhantomData }
    }
    pub fn lock(&self) -> SpinGuard<'_, T, R> {
        while self.taken.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        SpinGuard(self)
    }
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T, R>> {
        if self.taken.swap(true, Ordering::Acquire) { None } else { Some(SpinGuard(self)) }
    }
}

impl<T, R: Order> Deref for SpinGuard<'_, T, R> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard says that nobody else has it.
        unsafe { &*self.0.value.get() }
    }
}
impl<T, R: Order> DerefMut for SpinGuard<'_, T, R> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard says that nobody else has it.
        unsafe { &mut *self.0.value.get() }
    }
}
impl<T, R: Order> Drop for SpinGuard<'_, T, R> {
    fn drop(&mut self) {
        self.0.taken.store(false, R::GIVES);
    }
}

/// One that gives back without an order.
pub struct BadSpin<T, R = Unordered> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
    order: PhantomData<R>,
}

// SAFETY: one strand at a time has the value.
unsafe impl<T: Send, R> Sync for BadSpin<T, R> {}
// SAFETY: the parameter is a name alone.
unsafe impl<T: Send, R> Send for BadSpin<T, R> {}

pub struct BadSpinGuard<'a, T, R: Order>(&'a BadSpin<T, R>);

impl<T, R: Order> BadSpin<T, R> {
    pub fn new(value: T) -> BadSpin<T, R> {
        BadSpin { taken: AtomicBool::new(false), value: UnsafeCell::new(value), order: PhantomData }
    }
    pub fn lock(&self) -> BadSpinGuard<'_, T, R> {
        while self.taken.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        BadSpinGuard(self)
    }
    pub fn try_lock(&self) -> Option<BadSpinGuard<'_, T, R>> {
        if self.taken.swap(true, Ordering::Acquire) { None } else { Some(BadSpinGuard(self)) }
    }
}

impl<T, R: Order> Deref for BadSpinGuard<'_, T, R> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard says that nobody else has it.
        unsafe { &*self.0.value.get() }
    }
}
impl<T, R: Order> DerefMut for BadSpinGuard<'_, T, R> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard says that nobody else has it.
        unsafe { &mut *self.0.value.get() }
    }
}
impl<T, R: Order> Drop for BadSpinGuard<'_, T, R> {
    fn drop(&mut self) {
        self.0.taken.store(false, R::GIVES);
    }
}
