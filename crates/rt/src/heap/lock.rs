//! The lock of an arena while several kernel threads may run: a bare program, or a child the program forked.
//!
//! Under control there is one kernel thread and the lock is always free. Holders never block, so spinning is short; a
//! holder that died by `fork` or a fault inside the allocator must not hang the process, so spinning is bounded.

use core::sync::atomic::{AtomicBool, Ordering};

const PATIENCE: u32 = 1 << 22;

/// A spin lock that gives up waiting for a dead holder.
pub struct SpinLock(AtomicBool);

/// Holds the lock until dropped.
pub struct Held<'a>(&'a SpinLock);

impl SpinLock {
    /// A free lock.
    pub const fn new() -> Self {
        SpinLock(AtomicBool::new(false))
    }

    /// Takes the lock.
    #[inline]
    pub fn hold(&self) -> Held<'_> {
        let mut spins = 0;
        while self.0.swap(true, Ordering::Acquire) {
            while self.0.load(Ordering::Relaxed) && spins < PATIENCE {
                spins += 1;
                core::hint::spin_loop();
            }
            if spins >= PATIENCE {
                break;
            }
        }
        Held(self)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}
