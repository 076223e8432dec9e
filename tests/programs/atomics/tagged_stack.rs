//@ expect: pass
// The same pool with a version beside the head: every slot has at most one owner.
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::thread;

const NONE: u32 = u32::MAX;

struct Pool {
    head: AtomicU64,
    next: [AtomicU32; 3],
    used: [AtomicBool; 3],
}

fn pack(version: u32, slot: u32) -> u64 {
    u64::from(version) << 32 | u64::from(slot)
}

impl Pool {
    fn take(&self) -> Option<u32> {
        let mut head = self.head.load(SeqCst);
        loop {
            let (version, top) = ((head >> 32) as u32, head as u32);
            if top == NONE {
                return None;
            }
            let below = self.next[top as usize].load(SeqCst);
            match self.head.compare_exchange_weak(head, pack(version + 1, below), SeqCst, SeqCst) {
                Ok(_) => {
                    assert!(!self.used[top as usize].swap(true, SeqCst));
                    return Some(top);
                }
                Err(now) => head = now,
            }
        }
    }

    fn give_back(&self, slot: u32) {
        self.used[slot as usize].store(false, SeqCst);
        let mut head = self.head.load(SeqCst);
        loop {
            self.next[slot as usize].store(head as u32, SeqCst);
            let version = (head >> 32) as u32;
            match self.head.compare_exchange_weak(head, pack(version + 1, slot), SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }
}

fn main() {
    let pool = Pool {
        head: AtomicU64::new(pack(0, 0)),
        next: [AtomicU32::new(1), AtomicU32::new(2), AtomicU32::new(NONE)],
        used: Default::default(),
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2 {
                    if let Some(slot) = pool.take() {
                        pool.give_back(slot);
                    }
                }
            });
        }
    });
    let mut slots: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
    slots.sort_unstable();
    assert_eq!(slots, [0, 1, 2]);
}
