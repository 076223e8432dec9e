//! A future that waits to be notified. The fault: it keeps the first waker that it was polled with.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

#[derive(Default)]
struct State {
    notified: bool,
    wakers: Vec<Waker>,
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
pub struct BadWaiting<'a> {
    of: &'a BadNotify,
    is_known: bool,
}

impl Notify {
    pub fn new() -> Notify {
        Notify::default()
    }
    pub fn notify(&self) {
        let mut state = self.0.lock().unwrap();
        state.notified = true;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
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
        state.wakers.push(context.waker().clone());
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
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
    pub async fn notified(&self) {
        BadWaiting { of: self, is_known: false }.await
    }
}

impl Future for BadWaiting<'_> {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut state = this.of.0.lock().unwrap();
        if state.notified {
            return Poll::Ready(());
        }
        if !this.is_known {
            this.is_known = true;
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}
