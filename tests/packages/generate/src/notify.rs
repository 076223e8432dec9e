//! A future that waits to be notified. The fault: it keeps the first waker that it was polled with.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

#[derive(Default)]
struct State {
    notified: bool,
    waker: Option<Waker>,
}

/// A right one.
#[derive(Default)]
pub struct Notify(Mutex<State>);
/// One that does not look at the second waker.
#[derive(Default)]
pub struct BadNotify(Mutex<State>);

/// Waits for a [`Notify`].
pub struct Waiting<'a>(&'a Notify);
/// Waits for a [`BadNotify`].
pub struct BadWaiting<'a>(&'a BadNotify);

impl Notify {
    pub fn new() -> Notify {
        Notify::default()
    }
    pub fn notify(&self) {
        let mut state = self.0.lock().unwrap();
        state.notified = true;
        if let Some(waker) = state.waker.take() {
            drop(state);
            waker.wake();
        }
    }
    pub async fn notified(&self) {
        Waiting(self).await
    }
}

impl Future for Waiting<'_> {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.0.lock().unwrap();
        if state.notified {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl BadNotify {
    pub fn new() -> BadNotify {
        BadNotify::default()
    }
    pub fn notify(&self) {
        let mut state = self.0.lock().unwrap();
        state.notified = true;
        if let Some(waker) = state.waker.take() {
            drop(state);
            waker.wake();
        }
    }
    pub async fn notified(&self) {
        BadWaiting(self).await
    }
}

impl Future for BadWaiting<'_> {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.0.lock().unwrap();
        if state.notified {
            return Poll::Ready(());
        }
        if state.waker.is_none() {
            state.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}
