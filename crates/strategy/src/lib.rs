//! Strategies: which strand goes on at a point.
//!
//! A strategy decides inside the tested process, at every point, without a system call and without allocating. It is
//! a pure function of its seed and of what it is shown, so a run can be made again. One file a strategy, beside the
//! [`registry`] that names them.
//!
//! What a strategy keeps for each strand lies in a [`Room`] that the runtime gives it once; what earlier runs have
//! taught the driver comes as a guide ([`RunInfo::guide`]), and what this run teaches goes back as notes
//! ([`Strategy::finish`]) or as reads-from pairs ([`reads`]).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod apart;
pub mod classes;
pub mod conflict;
mod constraints;
pub mod counts;
pub mod guided;
pub mod reads;
pub mod registry;
pub mod rng;
pub mod spec;
mod table;
pub mod weights;

#[cfg(test)]
mod sim;

use threadbare_abi::op::Op;
use threadbare_abi::strand::{StrandId, StrandPath};

pub use registry::*;
pub use spec::Spec;

/// Words of memory a strategy has for itself.
pub const ROOM_WORDS: usize = 1 << 17;

/// Zeroed memory for what a strategy keeps of each strand.
pub type Room = &'static mut [u64; ROOM_WORDS];

/// What a strategy knows when a run begins.
#[derive(Clone, Copy, Debug)]
pub struct RunInfo<'a> {
    /// The seed of this run.
    pub seed: u64,
    /// Choices an earlier run had, 0 if unknown.
    pub estimate_choices: u64,
    /// Strands an earlier run made, 0 if unknown.
    pub estimate_strands: u64,
    /// The strategy's own parameters; the last one is [`IN_ORDER`] for all of them.
    pub params: [u64; 8],
    /// What the driver has to say to this strategy in this run: see the strategy.
    pub guide: &'a [u64],
}

/// The parameter that keeps deadlines from firing while a strand can go on: 1 in the last place.
pub const IN_ORDER: usize = 7;

/// What a strategy sees at a point: the strands that can go on, each with the operation it stands before.
pub trait View {
    /// Strands that can go on, in no particular but deterministic order; at least one.
    fn enabled(&self) -> &[StrandId];
    /// How many they are.
    fn enabled_count(&self) -> usize {
        self.enabled().len()
    }
    /// One of them, by its place in the list, which need not be made for that.
    fn enabled_nth(&self, nth: usize) -> StrandId {
        self.enabled()[nth]
    }
    /// The strand that ran last, whether or not it can go on.
    fn current(&self) -> StrandId;
    /// Whether `current` is among the enabled.
    fn current_enabled(&self) -> bool;
    /// The operation the strand stands before.
    fn op(&self, strand: StrandId) -> Op;
    /// Whether any strand yields: most points need not ask for each.
    fn any_yields(&self) -> bool;
    /// Whether the strand asked to give way, and nobody else has moved since.
    fn yields(&self, strand: StrandId) -> bool;
    /// The strand whose timed wait could end now, if there is one: the one whose deadline comes first. Time jumps to it
    /// when it is chosen.
    fn timed(&self) -> &[StrandId];
    /// The instruction that last wrote this place, 0 if none did; asked only by strategies that want
    /// [`reads`](Strategy::wants_reads).
    fn last_writer(&self, addr: u64) -> u64;
    /// What is in memory there; asked only of places that a strand has loaded at this size, or stands before an access to.
    fn value(&self, addr: u64, size: u8) -> u64 {
        let _ = (addr, size);
        0
    }
    /// Whether an atomic load of the strand there could see another store than the newest.
    fn may_see_older(&self, strand: StrandId, addr: u64, size: u8) -> bool {
        let _ = (strand, addr, size);
        false
    }
    /// Stands for what a strand that stands before an atomic operation has in registers and on its stack; asked only for planners.
    fn local(&self, strand: StrandId) -> u64 {
        let _ = strand;
        0
    }
    /// Stands for the innermost callers of a strand; asked only for planners.
    fn context(&self, strand: StrandId) -> u64 {
        let _ = strand;
        0
    }
}

/// A decision at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// This enabled strand goes on.
    Run(StrandId),
    /// This strand's timed wait ends by its deadline.
    Timeout(StrandId),
}

/// A strand that was created.
#[derive(Clone, Copy, Debug)]
pub struct Born {
    /// The strand.
    pub strand: StrandId,
    /// Who created it; [`StrandId::NONE`] for the main strand.
    pub parent: StrandId,
    /// Its name, the same in every run.
    pub path: StrandPath,
}

/// An atomic load that may see another store than the newest.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Whose it is.
    pub strand: StrandId,
    /// The instruction.
    pub pc: u64,
}

/// One way to search.
pub trait Strategy {
    /// Takes the memory for what is kept of each strand; once, before the first run. It is zeroed.
    fn furnish(&mut self, room: Room) {
        let _ = room;
    }
    /// A run begins. The strands that exist are told by [`Strategy::created`] afterwards.
    fn begin(&mut self, info: &RunInfo<'_>);
    /// Which strand goes on. Called only when there is more than one option.
    fn pick<V: View>(&mut self, view: &V) -> Pick;
    /// One of `options` (at least 2) for a choice that is no strand: which waiter, which value.
    fn choose(&mut self, options: u32) -> u32;
    /// A strand was created.
    fn created(&mut self, born: Born) {
        let _ = born;
    }
    /// Whether the strategy is told of points without a choice ([`Strategy::alone`]).
    fn wants_alone(&self) -> bool {
        false
    }
    /// The only strand that can goes on, while others exist.
    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        let _ = (strand, view);
    }
    /// Whether it says which store an atomic load sees ([`Strategy::store`]); one that does not is never asked.
    fn names_stores(&self) -> bool {
        false
    }
    /// Which of the stores that a load may see it sees, 0 for the newest. `made` says of each which strand made it, and at which instruction.
    fn store(&mut self, load: Load, options: u32, made: &dyn Fn(u32) -> (StrandId, u64)) -> u32 {
        let _ = (load, options, made);
        0
    }
    /// Whether the run is to keep track of who reads from whom.
    fn wants_reads(&self) -> bool {
        false
    }
    /// The run ends: what the driver should know, and how many words that is.
    fn finish(&self, notes: &mut [u64]) -> usize {
        let _ = notes;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Fake;
    use std::vec::Vec;

    #[test]
    fn round_robin_gives_each_its_turn() {
        let mut strategy = round_robin::RoundRobin::new();
        strategy.begin(&sim::info(0, 2));
        let mut fake = Fake::new(3);
        let order: Vec<u16> = (0..8)
            .map(|_| {
                let Pick::Run(strand) = strategy.pick(&fake) else { unreachable!() };
                fake.current = strand;
                strand.0
            })
            .collect();
        assert_eq!(order, [0, 1, 1, 2, 2, 0, 0, 1]);
    }
}
