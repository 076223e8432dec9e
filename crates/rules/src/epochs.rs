//! Vector clocks of free runs, in which strands run in parallel.
//!
//! A strand that runs has a *slot*, and its slot counts *epochs*: the number grows whenever others may hear of what the strand
//! did. A clock holds for each slot the last epoch that is known. There are few slots, so that a shadow cell has room for one
//! ([`crate::cells`]), and a clock is a short list of numbers that is copied and not shared: no two threads touch one
//! without a lock.
//!
//! A slot that one strand leaves another one takes over, and goes on counting: whoever knows the later strand is taken to know the
//! earlier one as well. That orders more than need be, never less.

use crate::sequence::Known;
use alloc::vec::Vec;

/// Slots there are.
pub const SLOTS: usize = 256;

/// For each slot, the last of its epochs that is known.
#[derive(Debug, Default)]
pub struct Times(Vec<u32>);

impl Times {
    /// Nothing is known.
    pub const fn new() -> Times {
        Times(Vec::new())
    }

    /// Nothing is known, and there is room for all slots: it never moves in memory, so that a signal handler may meet it in any state.
    pub fn with_room() -> Times {
        Times(Vec::with_capacity(SLOTS))
    }

    /// The last epoch of a slot that is known.
    #[inline(always)]
    pub fn get(&self, slot: usize) -> u32 {
        if slot < self.0.len() { self.0[slot] } else { 0 }
    }

    /// The slot is known up to this epoch.
    #[inline]
    pub fn raise(&mut self, slot: usize, epoch: u32) {
        if slot >= SLOTS {
            return;
        }
        if slot >= self.0.len() {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] = self.0[slot].max(epoch);
    }
}

impl Known for Times {
    #[inline]
    fn join(&mut self, other: &Times) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    #[inline]
    fn assign(&mut self, other: &Times) {
        self.0.clear();
        self.0.extend_from_slice(&other.0);
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_slot_that_is_not_there_is_not_known() {
        let mut times = Times::new();
        times.raise(SLOTS, 4);
        assert_eq!((times.get(0), times.get(SLOTS), times.get(SLOTS + 9)), (0, 0, 0));
    }

    #[test]
    fn one_with_room_does_not_move() {
        let mut times = Times::with_room();
        let before = times.0.as_ptr();
        for slot in 0..SLOTS {
            times.raise(slot, 1);
        }
        let mut other = Times::with_room();
        other.join(&times);
        other.assign(&times);
        assert_eq!((times.0.as_ptr(), times.0.len()), (before, SLOTS));
    }

    proptest! {
        /// Clocks are maps from slots to the last epoch known.
        #[test]
        fn times_are_maps(steps in prop::collection::vec((0usize..2, 0usize..SLOTS, 1u32..50, 0u8..8), 1..60)) {
            let mut clocks = [Times::new(), Times::new()];
            let mut maps: [BTreeMap<usize, u32>; 2] = Default::default();
            for (one, slot, epoch, what) in steps {
                let theirs = maps[1 - one].clone();
                let mut copy = Times::new();
                copy.assign(&clocks[1 - one]);
                match what {
                    0..=4 => {
                        clocks[one].raise(slot, epoch);
                        let known = maps[one].entry(slot).or_default();
                        *known = epoch.max(*known);
                    }
                    5 | 6 => {
                        clocks[one].join(&copy);
                        for (slot, epoch) in theirs {
                            let known = maps[one].entry(slot).or_default();
                            *known = epoch.max(*known);
                        }
                    }
                    _ => {
                        clocks[one].assign(&copy);
                        maps[one] = theirs;
                    }
                }
            }
            for (clock, map) in clocks.iter().zip(&maps) {
                for slot in 0..SLOTS {
                    prop_assert_eq!(clock.get(slot), map.get(&slot).copied().unwrap_or(0));
                }
            }
        }
    }
}
