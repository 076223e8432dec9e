//! Vector clocks.
//!
//! Time is the run's event count. A clock holds for each strand the last event of it that happens before whatever the
//! clock belongs to; so an access is named by its strand and event, and no strand counts epochs of its own.

use alloc::vec::Vec;

/// For each strand, the last of its events that is known.
#[derive(Debug, Default)]
pub struct Clock {
    times: Vec<u64>,
}

impl Clock {
    /// Nothing is known.
    pub const fn new() -> Self {
        Clock { times: Vec::new() }
    }

    /// The last event of a strand that is known.
    #[inline(always)]
    pub fn get(&self, strand: usize) -> u64 {
        if strand < self.times.len() { self.times[strand] } else { 0 }
    }

    /// The strand is known up to this event.
    #[inline]
    pub fn raise(&mut self, strand: usize, event: u64) {
        if strand >= self.times.len() {
            self.times.resize(strand + 1, 0);
        }
        let time = &mut self.times[strand];
        *time = (*time).max(event);
    }

    /// All that the other knows is known.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        if other.times.len() > self.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// What the other knows is known, and nothing else.
    #[inline]
    pub fn assign(&mut self, other: &Clock) {
        self.times.clear();
        self.times.extend_from_slice(&other.times);
    }

    /// All of `strands` strands are known up to this event.
    pub fn raise_all(&mut self, strands: usize, event: u64) {
        self.times.clear();
        self.times.resize(strands, event);
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}
