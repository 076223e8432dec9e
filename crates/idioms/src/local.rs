//! What follows what within a strand: the next access to the same bytes, and pairs of accesses that follow each other closely.

use crate::run::{Access, RunAccesses};
use std::collections::HashMap;

/// Bytes that share a list.
pub(crate) const GRAIN: u64 = 8;
/// Bytes of an access that are looked at.
const LONGEST: u64 = 4096;

/// The lists that an access belongs to: locks have lists of their own.
pub(crate) fn grains(access: &Access) -> impl Iterator<Item = (bool, u64)> + use<> {
    let sync = access.does.is_sync();
    let end = access.end.min(access.start.saturating_add(LONGEST));
    let last = if sync { access.start / GRAIN } else { end.saturating_sub(1) / GRAIN };
    (access.start / GRAIN..=last).map(move |grain| (sync, grain))
}

/// Two accesses of a strand, by their place in the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The earlier.
    pub first: usize,
    /// The later.
    pub second: usize,
}

/// What follows what within strands.
#[derive(Debug, Default)]
pub struct Local {
    /// The next access of the strand that has a byte of this one.
    pub next: Vec<Option<usize>>,
    /// The one before.
    pub prev: Vec<Option<usize>>,
    /// Pairs on common bytes, nothing of the strand on them in between.
    pub same: Vec<Pair>,
    /// Pairs on different bytes, within the window, nothing of the strand on either in between.
    pub other: Vec<Pair>,
}

impl Local {
    /// Of a run; `window` is how many accesses of the strand the second of a pair may come after the first.
    pub fn of(run: &RunAccesses, window: usize) -> Local {
        let count = run.accesses.len();
        let mut local = Local { next: vec![None; count], prev: vec![None; count], ..Local::default() };
        let mut last: HashMap<(u32, bool, u64), usize> = HashMap::new();
        let mut recent: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, access) in run.accesses.iter().enumerate() {
            for (sync, grain) in grains(access) {
                if let Some(before) = last.insert((access.strand, sync, grain), at)
                    && run.accesses[before].common(access).is_some()
                {
                    local.next[before].get_or_insert(at);
                    local.prev[at] = local.prev[at].max(Some(before));
                }
            }
            if access.does.is_sync() {
                continue;
            }
            if let Some(before) = local.prev[at] {
                local.same.push(Pair { first: before, second: at });
            }
            let recent = recent.entry(access.strand).or_default();
            for (index, &before) in recent.iter().enumerate().rev().take(window) {
                let earlier = &run.accesses[before];
                if earlier.common(access).is_some() {
                    break;
                }
                // The last on its bytes: nothing after it has them.
                let again = recent[index + 1..].iter().any(|&it| run.accesses[it].common(earlier).is_some());
                if !again {
                    local.other.push(Pair { first: before, second: at });
                }
            }
            recent.push(at);
            if recent.len() > 2 * window {
                recent.drain(..window);
            }
        }
        local
    }
}
