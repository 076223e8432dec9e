//! Futures in tests: polled by hand, dropped at any await, woken by a waker that is not the last one.

use super::{any, choose};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes a strand that parks.
struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Runs a future to its end on this strand, which parks while there is nothing to do. One that nobody wakes is a deadlock.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark { thread: thread::current(), woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !unpark.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

/// Polls a future once and drops it, as `select!` and a timeout do with one that is not ready. What it gave, if it was.
pub fn poll_once_and_drop<F: Future>(future: F) -> Option<F::Output> {
    poll_at_most(future, 1)
}

/// Polls a future up to so many times, each time once the last poll's waker was woken, and drops it then. How often is a choice, so that it is dropped at any of its
/// awaits, or comes to its end. `None` if it was dropped.
///
/// A future that is dropped must leave everything as if it had not been, or as if it had come to its end.
pub fn cancel_anywhere<F: Future>(future: F, most: usize) -> Option<F::Output> {
    let polls = choose(most + 1);
    poll_at_most(future, most - polls)
}

fn poll_at_most<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for poll in 0..polls {
        let (flag, waker) = flag();
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        if poll + 1 < polls {
            flag.wait();
        }
    }
    None
}

/// Runs a future to its end and gives it another waker at each poll. Whether it is polled again before it was woken is a choice. A future
/// must wake the waker of its last poll: one that keeps an earlier one is never polled again, which is a deadlock.
pub fn block_on_with_changing_wakers<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        let (first, waker) = flag();
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        if !any::<bool>() {
            first.wait();
            continue;
        }
        let (second, waker) = flag();
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        second.wait();
    }
}

/// Whether a waker was woken.
#[derive(Default)]
struct Flag {
    woken: Mutex<bool>,
    changed: Condvar,
}

fn flag() -> (Arc<Flag>, Waker) {
    let flag = Arc::new(Flag::default());
    (Arc::clone(&flag), Waker::from(flag))
}

impl Flag {
    fn wait(&self) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        while !*woken {
            woken = self.changed.wait(woken).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }
}

/// A waker that counts how often it was woken.
///
/// ```
/// let (count, waker) = threadbare::counting_waker();
/// waker.wake_by_ref();
/// assert_eq!(count.get(), 1);
/// ```
pub fn counting_waker() -> (Arc<WakeCount>, Waker) {
    let count = Arc::new(WakeCount(AtomicUsize::new(0)));
    (Arc::clone(&count), Waker::from(count))
}

/// See [`counting_waker`].
#[derive(Debug)]
pub struct WakeCount(AtomicUsize);

impl WakeCount {
    /// How often the waker was woken.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a future once with this waker.
pub fn poll_with<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}
