//! A stock of values that can be closed, after which it holds none. The fault: whether it is closed is asked before the
//! lock is taken, so a value can come in behind the last look, and nobody ever drops it.

use std::mem::ManuallyDrop;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A right stock.
pub struct Stock<T> {
    values: Mutex<(Vec<ManuallyDrop<T>>, bool)>,
}

impl<T> Stock<T> {
    pub fn new() -> Stock<T> {
        Stock { values: Mutex::new((Vec::new(), false)) }
    }
    pub fn put(&self, value: T) -> Result<(), T> {
        let mut values = self.values.lock().unwrap();
        if values.1 {
            return Err(value);
        }
        values.0.push(ManuallyDrop::new(value));
        Ok(())
    }
    pub fn take(&self) -> Option<T> {
        self.values.lock().unwrap().0.pop().map(ManuallyDrop::into_inner)
    }
    pub fn close(&self) {
        let mut values = self.values.lock().unwrap();
        values.1 = true;
        values.0.drain(..).for_each(|value| drop(ManuallyDrop::into_inner(value)));
    }
}

impl<T> Drop for Stock<T> {
    fn drop(&mut self) {
        self.close();
    }
}

/// One that keeps a value for ever.
pub struct BadStock<T> {
    values: Mutex<Vec<ManuallyDrop<T>>>,
    closed: AtomicBool,
}

impl<T> BadStock<T> {
    pub fn new() -> BadStock<T> {
        BadStock { values: Mutex::new(Vec::new()), closed: AtomicBool::new(false) }
    }
    pub fn put(&self, value: T) -> Result<(), T> {
        if self.closed.load(Ordering::Acquire) {
            return Err(value);
        }
        self.values.lock().unwrap().push(ManuallyDrop::new(value));
        Ok(())
    }
    pub fn take(&self) -> Option<T> {
        self.values.lock().unwrap().pop().map(ManuallyDrop::into_inner)
    }
    pub fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.values.lock().unwrap().drain(..).for_each(|value| drop(ManuallyDrop::into_inner(value)));
        }
    }
}

impl<T> Drop for BadStock<T> {
    fn drop(&mut self) {
        self.close();
    }
}
