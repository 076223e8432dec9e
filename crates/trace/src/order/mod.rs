//! What came before what in a recorded run.
//!
//! There are two orders. *Happens-before* ([`happens_before`]) is the language's: what locks, atomics, creations and joins order. Two accesses
//! that it does not order race ([`unordered`]). It joins the clocks that the run's own check joined, so both say the same. The
//! *dependence order* ([`dependence`]) is the planners': steps are ordered if they belong to one strand, or if swapping them could change
//! anything ([`depends`]). Runs with the same dependence order are one class.

pub mod clock;
mod dependence;
mod grains;
mod happens_before;
#[cfg(test)]
mod tests;
mod unordered;
mod word;

pub use dependence::{dependence, op_of};
pub use grains::{GRAIN, SIGNALS, grains, is_large};
pub use happens_before::happens_before;
pub use threadbare_strategy::conflict::depends;
pub use unordered::unordered;

use clock::Clock;

/// Where an entry stands in the order.
#[derive(Clone, Copy, Debug, Default)]
struct Stand {
    strand: u16,
    /// Its number among its strand's entries, from 1.
    ordinal: u32,
    /// A row of the clocks.
    clock: u32,
}

/// An order of a run's entries.
#[derive(Clone, Debug, Default)]
pub struct RunOrder {
    stands: Vec<Stand>,
    /// How much of other strands comes before; entries of a strand share one until it learns more.
    clocks: Vec<Clock>,
}

impl RunOrder {
    /// Whether the first entry comes before the second.
    pub fn precedes(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.stands[first], self.stands[second]);
        match a.strand == b.strand {
            true => a.ordinal < b.ordinal,
            false => clock::get(&self.clocks[b.clock as usize], a.strand) >= a.ordinal,
        }
    }

    /// Whether nothing orders the two.
    pub fn concurrent(&self, first: usize, second: usize) -> bool {
        first != second && !self.precedes(first, second) && !self.precedes(second, first)
    }

    /// Entries that are in it.
    pub fn len(&self) -> usize {
        self.stands.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stands.is_empty()
    }
}
