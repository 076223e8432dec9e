//@ expect: panic
//@ max-runs: 6000
//@ message: handed out twice
// The stack of free slots of a pool, without a version in its head.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

const NONE: usize = usize::MAX;

struct Pool {
    head: AtomicUsize,
    next: [AtomicUsize; 3],
}

impl Pool {
    fn take(&self) -> Option<usize> {
        let mut top = self.head.load(SeqCst);
        while top != NONE {
            let below = self.next[top].load(SeqCst);
            match self.head.compare_exchange(top, below, SeqCst, SeqCst) {
                Ok(_) => return Some(top),
                Err(now) => top = now,
            }
        }
        None
    }

    fn give_back(&self, slot: usize) {
        let mut top = self.head.load(SeqCst);
        loop {
            self.next[slot].store(top, SeqCst);
            match self.head.compare_exchange(top, slot, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }
}

fn main() {
    let pool = Pool {
        head: AtomicUsize::new(0),
        next: [AtomicUsize::new(1), AtomicUsize::new(2), AtomicUsize::new(NONE)],
    };
    thread::scope(|scope| {
        let slow = scope.spawn(|| [pool.take(), pool.take()]);
        let (first, kept) = (pool.take(), pool.take());
        if let Some(slot) = first {
            pool.give_back(slot);
        }
        let others = slow.join().unwrap();
        assert!(kept.is_none() || !others.contains(&kept), "{kept:?} was handed out twice"); //~ here
    });
}
