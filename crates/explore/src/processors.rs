//! One processor for a job: its thread, its fork server and the runs.
//!
//! They work in turns, never at once, so going from one to the next is a plain switch on one processor; with several,
//! each turn would wake an idle one, which costs more than the fork. The program still sees the processors it would see
//! without Threadbare: the runtime answers with the set that is passed on to it.
//!
//! Campaigns know nothing of each other, and yet their jobs must not all sit on the first processor. A job claims a place on a
//! processor by a socket with an abstract name, which only one process can have and which goes with the process: the first
//! place of each processor is taken before the second of any.
//!
//! **A job is bound to one processor**: its thread, its fork server and the runs work in turns.

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind as name, socket_with};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;

thread_local! {
    /// What this thread was allowed to use before it was bound.
    static ALLOWED: RefCell<Option<String>> = const { RefCell::new(None) };
    /// The processor that this thread is bound to.
    static MINE: Cell<Option<usize>> = const { Cell::new(None) };
    /// The place that this thread has claimed.
    static CLAIM: RefCell<Option<OwnedFd>> = const { RefCell::new(None) };
}

/// Places on a processor that are told apart.
const PLACES: usize = 64;

/// How many processors this process may use.
pub(crate) fn count() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(count).unwrap_or(1)
}

/// Claims the emptiest of some processors, as far as other campaigns tell; the one for job `job` where that is not possible.
fn claim(usable: &[usize], job: usize) -> Option<(usize, Option<OwnedFd>)> {
    for place in 0..PLACES {
        for turn in 0..usable.len() {
            let cpu = usable[(job + turn) % usable.len()];
            let Ok(address) =
                SocketAddrUnix::new_abstract_name(format!("threadbare/cpu/{cpu}/{place}").as_bytes())
            else {
                break;
            };
            let kind = SocketType::DGRAM;
            let Ok(socket) = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None) else {
                break;
            };
            if name(&socket, &address).is_ok() {
                return Some((cpu, Some(socket)));
            }
        }
    }
    usable.get(job % usable.len().max(1)).map(|&cpu| (cpu, None))
}

/// Binds the calling thread, and what it starts, to a processor for job `job`. Where that is not possible everything
/// works without.
pub(crate) fn bind(job: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    let Some((mine, socket)) = claim(&usable, job) else { return };
    CLAIM.set(socket);
    let mut one = CpuSet::new();
    one.set(mine);
    if sched_setaffinity(None, &one).is_ok() {
        MINE.set(Some(mine));
        ALLOWED.set(Some(mask(&allowed, usable.last().copied().unwrap_or(0))));
    }
}

/// The processor that this thread is bound to, if it is.
pub(crate) fn mine() -> Option<usize> {
    MINE.get()
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
    fn campaigns_at_once_are_spread() {
        // Numbers of no machine's: other campaigns of this one have their own.
        let usable = [100_000, 100_001, 100_002];
        // Each is a campaign with one job, and all go on at once.
        let claims: Vec<_> = (0..6).map(|_| claim(&usable, 0).unwrap()).collect();
        let mut cpus: Vec<usize> = claims.iter().map(|(cpu, _)| *cpu).collect();
        assert_eq!(cpus[..3], usable);
        cpus.sort_unstable();
        assert_eq!(cpus, [100_000, 100_000, 100_001, 100_001, 100_002, 100_002]);
        // The place of one that ends is free again.
        drop(claims);
        assert_eq!(claim(&usable, 0).unwrap().0, 100_000);
        assert!(claim(&[], 3).is_none());
    }

    #[test]
    fn masks_are_whole_words() {
        let mut set = CpuSet::new();
        set.set(0);
        set.set(9);
        assert_eq!(mask(&set, 9), "0102000000000000");
    }
}
