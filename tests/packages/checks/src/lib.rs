//! A channel of one value for futures, with a mistake where the test wants one, and a counter that loses updates.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Counts by load and store.
#[derive(Default)]
pub struct Loose(AtomicU32);

impl Loose {
    /// Adds one, unless another strand comes between.
    pub fn add(&self) {
        let seen = self.0.load(SeqCst);
        self.0.store(seen + 1, SeqCst);
    }

    /// The count.
    pub fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

/// What a channel does wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing.
    None,
    /// It wakes the waker of the first poll.
    KeepsFirstWaker,
    /// A receiver that is dropped between two polls takes the value with it.
    LosesWhenDropped,
}

struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// A channel of one value.
pub struct Slot<T> {
    state: Arc<Mutex<State<T>>>,
    mistake: Mistake,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot { state: Arc::clone(&self.state), mistake: self.mistake }
    }
}

impl<T> Slot<T> {
    /// An empty one.
    pub fn new(mistake: Mistake) -> Slot<T> {
        Slot { state: Arc::new(Mutex::new(State { value: None, waker: None })), mistake }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the value in.
    pub fn send(&self, value: T) {
        let waker = {
            let mut state = self.lock();
            state.value = Some(value);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes it out, if it is there.
    pub fn try_take(&self) -> Option<T> {
        self.lock().value.take()
    }

    /// Waits for it: it is taken at one poll and given at the next.
    pub fn receive(&self) -> Receive<T> {
        Receive { slot: self.clone(), taken: None }
    }
}

/// See [`Slot::receive`].
pub struct Receive<T> {
    slot: Slot<T>,
    taken: Option<T>,
}

impl<T: Unpin> Future for Receive<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if let Some(value) = self.taken.take() {
            return Poll::Ready(value);
        }
        let slot = self.slot.clone();
        let mut state = slot.lock();
        match state.value.take() {
            Some(value) => {
                drop(state);
                self.taken = Some(value);
                context.waker().wake_by_ref();
            }
            None if state.waker.is_some() && slot.mistake == Mistake::KeepsFirstWaker => {}
            None => state.waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl<T> Drop for Receive<T> {
    fn drop(&mut self) {
        if let Some(value) = self.taken.take()
            && self.slot.mistake != Mistake::LosesWhenDropped
        {
            self.slot.send(value);
        }
    }
}
