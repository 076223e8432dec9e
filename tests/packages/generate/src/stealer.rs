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
