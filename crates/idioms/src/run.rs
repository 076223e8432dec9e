//! What the strands of a run did, as far as idioms go.

use crate::iroot::{Does, PlaceEvent};
use std::sync::Arc;

/// A lock that a strand holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Held {
    /// The lock.
    pub lock: u64,
    /// Which time it was taken: a number of its own.
    pub section: u64,
    /// Others may hold it in the same way at the same time.
    pub shared: bool,
}

/// One access.
#[derive(Clone, Debug)]
pub struct Access {
    /// The strand's number in this run.
    pub strand: u32,
    /// The step of the run that it belongs to.
    pub step: usize,
    /// The instruction.
    pub place: u64,
    /// What it does.
    pub does: Does,
    /// The first byte, or the lock.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
    /// The number of the step in its strand, from 1.
    pub ordinal: u32,
    /// How many steps of each strand come before it in every run: by creations, joins and barriers alone.
    pub clock: Arc<[u32]>,
    /// The locks that the strand holds; a lock that it takes or gives back is not among them.
    pub held: Arc<[Held]>,
}

impl Access {
    /// As an event of an iroot.
    pub fn event(&self) -> PlaceEvent {
        PlaceEvent { place: self.place, does: self.does }
    }

    /// The bytes that two have in common.
    pub fn common(&self, other: &Access) -> Option<(u64, u64)> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end && self.does.is_sync() == other.does.is_sync()).then_some((start, end))
    }

    /// Whether it has all of these bytes.
    pub fn covers(&self, (start, end): (u64, u64)) -> bool {
        self.start <= start && self.end >= end
    }

    /// Whether it comes before the other in every run.
    pub fn precedes(&self, other: &Access) -> bool {
        match self.strand == other.strand {
            true => self.ordinal < other.ordinal,
            false => other.clock.get(self.strand as usize).is_some_and(|&count| count >= self.ordinal),
        }
    }

    /// The time it holds this lock, if it does.
    pub fn section(&self, lock: u64) -> Option<&Held> {
        self.held.iter().find(|held| held.lock == lock)
    }
}

/// Of a strand that could not go on when the run ended: it wants a lock.
#[derive(Clone, Debug)]
pub struct Wants {
    /// The strand's number.
    pub strand: u32,
    /// The instruction.
    pub place: u64,
    /// The lock.
    pub lock: u64,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct RunAccesses {
    /// The accesses, in the order in which they were made.
    pub accesses: Vec<Access>,
    /// Who stood before a lock in the end.
    pub wants: Vec<Wants>,
}

impl RunAccesses {
    /// A run that is too long is looked at up to here.
    pub const LONGEST: usize = 1 << 16;
}
