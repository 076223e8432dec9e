//! A raw place of the runtime's state: how code reaches what it shares with all other code of the one kernel thread.
//!
//! That one kernel thread runs all strands answers data races. It does not answer two references to one value that live at the same time: a function that
//! holds `&mut Engine` and calls another that makes one of its own is wrong, however much in order they go. A [`Raw`] is an address; each use of it makes a
//! reference that ends with the expression it stands in, so it may be kept in a variable while others change the value.
//!
//! What is left to the reader: no reference that is *taken out of* a `Raw` (`let list = &mut engine.enabled`) lives across a call that reaches the same value.

use core::ops::{Deref, DerefMut};

/// The address of a value that lives as long as the process, or as the run.
pub(crate) struct Raw<T: ?Sized>(*mut T);

impl<T: ?Sized> Clone for Raw<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Raw<T> {}

impl<T: ?Sized> Raw<T> {
    /// The place at an address.
    ///
    /// # Safety
    /// A value lies there for as long as the place is used; only the one kernel thread of a controlled run touches it, or whoever holds the lock that guards it.
    #[inline(always)]
    pub(crate) const unsafe fn new(at: *mut T) -> Self {
        Raw(at)
    }

    /// The same for an address that may be null.
    ///
    /// # Safety
    /// As for [`Raw::new`], if it is not null.
    #[inline(always)]
    pub(crate) unsafe fn at(at: *mut T) -> Option<Self>
    where
        T: Sized,
    {
        (!at.is_null()).then_some(Raw(at))
    }

    /// A look at the value that outlives the expression.
    ///
    /// # Safety
    /// Nobody changes what is looked at for as long as the reference lives.
    #[inline(always)]
    pub(crate) const unsafe fn look<'a>(self) -> &'a T {
        // SAFETY: the contract of `new`, and the caller's word.
        unsafe { &*self.0 }
    }

    /// A part of the value.
    #[inline(always)]
    pub(crate) fn part<U: ?Sized>(mut self, of: impl FnOnce(&mut T) -> &mut U) -> Raw<U> {
        Raw(of(&mut self))
    }
}

impl<T: ?Sized> Deref for Raw<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the contract of `new`; the reference ends with the expression.
        unsafe { &*self.0 }
    }
}

impl<T: ?Sized> DerefMut for Raw<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0 }
    }
}
