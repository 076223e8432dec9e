//! One processor for a job: its thread, its fork server and the runs.
//!
//! They work in turns, never at once, so going from one to the next is a plain switch on one processor; with several,
//! each turn would wake an idle one, which costs more than the fork. The program still sees the processors it would see
//! without Threadbare: the runtime answers with the set that is passed on to it.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::RefCell;

thread_local! {
    /// What this thread was allowed to use before it was bound.
    static ALLOWED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Binds the calling thread, and what it starts, to the processor for job `job`. Where that is not possible everything
/// works without.
pub(crate) fn bind(job: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    let Some(&mine) = usable.get(job % usable.len().max(1)) else { return };
    let mut one = CpuSet::new();
    one.set(mine);
    if sched_setaffinity(None, &one).is_ok() {
        ALLOWED.set(Some(mask(&allowed, usable.last().copied().unwrap_or(0))));
    }
}

/// The set this thread was allowed before it was bound, or is allowed when it is not, in the runtime's notation. The
/// program finds it in its environment, above its stack: a replay without it would have other addresses.
pub(crate) fn allowed() -> Option<String> {
    let bound = ALLOWED.with_borrow(Clone::clone);
    bound.or_else(|| {
        let allowed = sched_getaffinity(None).ok()?;
        let last = (0..CpuSet::MAX_CPU).rev().find(|&cpu| allowed.is_set(cpu))?;
        Some(mask(&allowed, last))
    })
}

/// Whole words, lowest byte first, as the kernel writes them.
fn mask(set: &CpuSet, last: usize) -> String {
    let bytes = (last / 64 + 1) * 8;
    (0..bytes)
        .map(|byte| (0..8).filter(|bit| set.is_set(byte * 8 + bit)).map(|bit| 1u8 << bit).sum::<u8>())
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_thread_tells_what_a_free_one_does() {
        let free = allowed();
        let bound = std::thread::spawn(|| {
            bind(0);
            allowed()
        });
        assert_eq!(bound.join().unwrap(), free);
        assert!(free.is_none_or(|mask| mask.len().is_multiple_of(16)));
    }

    #[test]
    fn masks_are_whole_words() {
        let mut set = CpuSet::new();
        set.set(0);
        set.set(9);
        assert_eq!(mask(&set, 9), "0102000000000000");
    }
}
