//@ expect: pass
// A spin lock and a spinning hand-over, with spin_loop, yield_now and a short sleep.
use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;
use std::time::Duration;

struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` gives out one reference at a time.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            hint::spin_loop();
        }
        // SAFETY: the flag was ours to set.
        let result = body(unsafe { &mut *self.value.get() });
        self.taken.store(false, Release);
        result
    }
}

fn main() {
    let lock = SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(Vec::new()) };
    let stage = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while stage.load(Acquire) < 1 {
                thread::yield_now();
            }
            lock.with(|list| list.push(1));
            stage.fetch_add(1, AcqRel);
        });
        scope.spawn(|| {
            while stage.load(Acquire) < 2 {
                thread::sleep(Duration::from_millis(1));
            }
            lock.with(|list| list.push(2));
        });
        lock.with(|list| list.push(0));
        stage.store(1, Release);
    });
    assert_eq!(lock.value.into_inner(), [0, 1, 2]);
}
