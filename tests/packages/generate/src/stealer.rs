//! A list of work that one strand has, and others steal from by what a method of it gives.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The strand that has the work.
pub struct Worker<T> {
    items: Arc<Mutex<VecDeque<T>>>,
}

/// Who takes from it.
pub struct Stealer<T> {
    items: Arc<Mutex<VecDeque<T>>>,
}

impl<T> Worker<T> {
    pub fn new() -> Worker<T> {
        Worker { items: Arc::default() }
    }
    pub fn push(&mut self, item: T) {
        self.items.lock().unwrap().push_back(item);
    }
    pub fn pop(&mut self) -> Option<T> {
        self.items.lock().unwrap().pop_back()
    }
    pub fn stealer(&self) -> Stealer<T> {
        Stealer { items: Arc::clone(&self.items) }
    }
}

impl<T> Stealer<T> {
    pub fn steal(&mut self) -> Option<T> {
        self.items.lock().unwrap().pop_front()
    }
}

/// The strand that has the work.
pub struct BadWorker<T> {
    items: Arc<Mutex<VecDeque<T>>>,
}

/// Who takes from it, and looks first, without the lock in between.
pub struct BadStealer<T> {
    items: Arc<Mutex<VecDeque<T>>>,
}

impl<T> BadWorker<T> {
    pub fn new() -> BadWorker<T> {
        BadWorker { items: Arc::default() }
    }
    pub fn push(&mut self, item: T) {
        self.items.lock().unwrap().push_back(item);
    }
    pub fn pop(&mut self) -> Option<T> {
        self.items.lock().unwrap().pop_back()
    }
    pub fn stealer(&self) -> BadStealer<T> {
        BadStealer { items: Arc::clone(&self.items) }
    }
}

impl<T> BadStealer<T> {
    pub fn steal(&mut self) -> Option<T> {
        if self.items.lock().unwrap().is_empty() {
            return None;
        }
        let item = self.items.lock().unwrap().pop_front();
        Some(item.expect("somebody looked"))
    }
}
