//! The locks that a strand holds: one list, which the strand alone writes. The watchdog and verdicts read it from other threads.
//!
//! A lock of the program's own making is a word that an atomic operation took. Noise goes by it, as by those of libraries; what is told as held
//! are the latter alone, of which it is known.

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Locks that are remembered of each strand.
const LOCKS: usize = 64;

/// A lock, and where it was taken.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    pub addr: usize,
    pub pc: u64,
    /// Held for reading only.
    pub shared: bool,
}

#[derive(Debug)]
struct Slot {
    /// 0 for none.
    addr: AtomicUsize,
    pc: AtomicU64,
    shared: AtomicBool,
    /// A word that an atomic operation took.
    presumed: AtomicBool,
}

impl Slot {
    fn is(&self, addr: usize, presumed: bool) -> bool {
        self.addr.load(Ordering::Relaxed) == addr && self.presumed.load(Ordering::Relaxed) == presumed
    }
}

/// The list.
#[derive(Debug)]
pub struct Held {
    slots: [Slot; LOCKS],
    /// Slots from here on are free. The strand's own.
    end: usize,
}

impl Held {
    /// The strand has taken a lock of a library's.
    pub fn take(&mut self, lock: Lock) {
        self.put(lock, false);
    }

    /// The strand has taken a lock by an atomic operation.
    pub fn presume(&mut self, addr: u64) {
        self.put(Lock { addr: addr as usize, pc: 0, shared: false }, true);
    }

    fn put(&mut self, lock: Lock, presumed: bool) {
        let Some(at) = self.slots.iter().position(|slot| slot.addr.load(Ordering::Relaxed) == 0) else {
            return;
        };
        let slot = &self.slots[at];
        slot.pc.store(lock.pc, Ordering::Relaxed);
        slot.shared.store(lock.shared, Ordering::Relaxed);
        slot.presumed.store(presumed, Ordering::Relaxed);
        slot.addr.store(lock.addr, Ordering::Release);
        self.end = self.end.max(at + 1);
    }

    /// The strand gives back a lock of a library's.
    pub fn give_back(&mut self, addr: usize) {
        self.remove(addr, false);
    }

    /// The strand writes to a word; whether it gives back a lock by that.
    pub fn release(&mut self, addr: u64) -> bool {
        self.remove(addr as usize, true)
    }

    fn remove(&mut self, addr: usize, presumed: bool) -> bool {
        let Some(at) = self.slots[..self.end].iter().rposition(|slot| addr != 0 && slot.is(addr, presumed))
        else {
            return false;
        };
        self.slots[at].addr.store(0, Ordering::Release);
        while self.end > 0 && self.slots[self.end - 1].addr.load(Ordering::Relaxed) == 0 {
            self.end -= 1;
        }
        true
    }

    /// The lock that it took first, 0 for none.
    pub fn first(&self) -> u64 {
        let mut taken = self.slots[..self.end].iter().map(|slot| slot.addr.load(Ordering::Relaxed));
        taken.find(|addr| *addr != 0).unwrap_or(0) as u64
    }

    /// Those of libraries.
    pub fn known(&self) -> impl Iterator<Item = Lock> {
        self.slots.iter().filter_map(|slot| {
            let addr = slot.addr.load(Ordering::Acquire);
            let is_known = addr != 0 && !slot.presumed.load(Ordering::Relaxed);
            let shared = slot.shared.load(Ordering::Relaxed);
            is_known.then(|| Lock { addr, pc: slot.pc.load(Ordering::Relaxed), shared })
        })
    }
}
