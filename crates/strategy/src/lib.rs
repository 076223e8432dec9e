//! Strategies: which strand goes on at a point.
//!
//! A strategy decides inside the tested process, at every point, without a system call and without allocating. It is
//! a pure function of its seed and of what it is shown, so a run can be made again. One file a strategy; the
//! [`registry`] names them.
#![no_std]

pub mod random;
pub mod registry;
pub mod rng;
pub mod round_robin;

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
    /// The strategy's own parameters.
    pub params: [u64; 8],
}

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
    /// Whether the strand asked to give way, and nobody else has moved since.
    fn yields(&self, strand: StrandId) -> bool;
    /// Strands whose timed wait could end now; time jumps to the deadline of the one chosen.
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
