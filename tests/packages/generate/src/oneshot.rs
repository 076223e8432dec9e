//! A channel for one value. The fault: a sender that is dropped wakes nobody.

use std::sync::{Arc, Condvar, Mutex};

struct Slot<T> {
    state: Mutex<(Option<T>, bool)>,
    changed: Condvar,
}

fn slot<T>() -> Arc<Slot<T>> {
    Arc::new(Slot { state: Mutex::new((None, false)), changed: Condvar::new() })
}

impl<T> Slot<T> {
    fn put(&self, value: T) {
        self.state.lock().unwrap().0 = Some(value);
        self.changed.notify_one();
    }
    fn take(&self) -> Option<T> {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(value) = state.0.take() {
                return Some(value);
            }
            if state.1 {
                return None;
            }
            state = self.changed.wait(state).unwrap();
        }
    }
}

/// The sending half.
pub struct Sender<T>(Arc<Slot<T>>);
/// The receiving half.
pub struct Receiver<T>(Arc<Slot<T>>);

/// A right channel.
pub fn oneshot<T>() -> (Sender<T>, Receiver<T>) {
    let slot = slot();
    (Sender(Arc::clone(&slot)), Receiver(slot))
}

impl<T> Sender<T> {
    pub fn send(self, value: T) {
        self.0.put(value);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().1 = true;
        self.0.changed.notify_one();
    }
}

impl<T> Receiver<T> {
    pub fn recv(self) -> Option<T> {
        self.0.take()
    }
    pub fn try_recv(&mut self) -> Option<T> {
        self.0.state.lock().unwrap().0.take()
    }
}

/// The sending half of the one that loses a wake-up.
pub struct BadSender<T>(Arc<Slot<T>>);
/// The receiving half of it.
pub struct BadReceiver<T>(Arc<Slot<T>>);

/// A channel that loses a wake-up.
pub fn bad_oneshot<T>() -> (BadSender<T>, BadReceiver<T>) {
    let slot = slot();
    (BadSender(Arc::clone(&slot)), BadReceiver(slot))
}

impl<T> BadSender<T> {
    pub fn send(self, value: T) {
        self.0.put(value);
    }
}

impl<T> Drop for BadSender<T> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().1 = true;
    }
}

impl<T> BadReceiver<T> {
    pub fn recv(self) -> Option<T> {
        self.0.take()
    }
    pub fn try_recv(&mut self) -> Option<T> {
        self.0.state.lock().unwrap().0.take()
    }
}
