//! Strategies: which strand goes on at a point.
//!
//! A strategy decides inside the tested process, at every point, without a system call and without allocating. It is
//! a pure function of its seed and of what it is shown, so a run can be made again. One file a strategy; the
//! [`registry`] names them.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod directed;
pub mod random;
pub mod registry;
pub mod rng;
pub mod round_robin;
pub mod uniform;

use threadbare_abi::op::Op;
use threadbare_abi::strand::StrandId;

pub use registry::{Any, StrategyId};

/// What a strategy knows when a run begins.
#[derive(Clone, Copy, Debug)]
pub struct RunInfo {
    /// The seed of this run.
    pub seed: u64,
    /// Points an earlier run made, 0 if unknown.
    pub estimate_points: u64,
    /// Strands an earlier run made, 0 if unknown.
    pub estimate_strands: u64,
    /// The strategy's own parameters; the last one is [`IN_ORDER`] for all of them.
    pub params: [u64; 8],
}

/// The parameter that keeps deadlines from firing while a strand can go on: 1 in the last place.
pub const IN_ORDER: usize = 7;

/// What a strategy sees at a point: the strands that can go on, each with the operation it stands before.
pub trait View {
    /// Strands that can go on, in no particular but deterministic order; at least one.
    fn enabled(&self) -> &[StrandId];
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
}

/// A decision at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// This enabled strand goes on.
    Run(StrandId),
    /// This strand's timed wait ends by its deadline.
    Timeout(StrandId),
}

/// One way to search.
pub trait Strategy {
    /// A run begins.
    fn begin(&mut self, info: &RunInfo);
    /// Which strand goes on. Called only when there is more than one option.
    fn pick<V: View>(&mut self, view: &V) -> Pick;
    /// One of `options` (at least 2) for a choice that is no strand: which waiter, which value.
    fn choose(&mut self, options: u32) -> u32;
    /// A strand was created.
    fn created(&mut self, strand: StrandId) {
        let _ = strand;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;
    use threadbare_abi::op::OpKind;

    /// A view in which every strand can always go on.
    pub(crate) struct Fake {
        enabled: Vec<StrandId>,
        pub(crate) current: StrandId,
    }

    impl Fake {
        pub(crate) fn new(strands: u16) -> Self {
            Fake { enabled: (0..strands).map(StrandId).collect(), current: StrandId(0) }
        }
    }

    impl View for Fake {
        fn enabled(&self) -> &[StrandId] {
            &self.enabled
        }
        fn current(&self) -> StrandId {
            self.current
        }
        fn current_enabled(&self) -> bool {
            true
        }
        fn op(&self, strand: StrandId) -> Op {
            Op::new(OpKind::Yield, strand.0 as u64, 0)
        }
        fn any_yields(&self) -> bool {
            false
        }
        fn yields(&self, _strand: StrandId) -> bool {
            false
        }
        fn timed(&self) -> &[StrandId] {
            &[]
        }
    }

    #[test]
    fn round_robin_gives_each_its_turn() {
        let mut strategy = round_robin::RoundRobin::new();
        let mut params = [0; 8];
        params[0] = 2;
        strategy.begin(&RunInfo { seed: 0, estimate_points: 0, estimate_strands: 0, params });
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
