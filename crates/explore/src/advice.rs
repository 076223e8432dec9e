//! What the driver tells a strategy of earlier runs.
//!
//! The guide of a run depends on the runs of earlier epochs only, taken in their order, so it is the same whatever the
//! number of jobs.

use crate::fuzz::Fuzz;
use crate::profile::Profile;
use std::sync::Arc;
use threadbare_strategy::StrategyId;

/// The adviser of a campaign's strategy.
#[derive(Debug)]
pub(crate) enum Advice {
    /// The strategy needs none.
    None,
    /// What each strand does.
    Profile(Profile),
    /// Abstract schedules.
    Fuzz(Box<Fuzz>),
}

impl Advice {
    /// The adviser for a strategy.
    pub(crate) fn new(strategy: StrategyId, seed: u64) -> Advice {
        match strategy {
            StrategyId::Urw | StrategyId::Surw => Advice::Profile(Profile::default()),
            StrategyId::Rff => Advice::Fuzz(Box::new(Fuzz::new(seed))),
            _ => Advice::None,
        }
    }

    /// The guide of a run of this epoch.
    pub(crate) fn guide(&mut self, run: u64) -> Arc<[u64]> {
        match self {
            Advice::None => Arc::default(),
            Advice::Profile(profile) => profile.guide(),
            Advice::Fuzz(fuzz) => fuzz.guide(run),
        }
    }

    /// A run of this epoch has ended: what its strategy noted, and who read from whom. Runs come in their order.
    pub(crate) fn learn(&mut self, run: u64, notes: Vec<u64>, reads: Vec<u64>) {
        match self {
            Advice::None => {}
            Advice::Profile(profile) => profile.learn(&notes),
            Advice::Fuzz(fuzz) => fuzz.learn(run, reads),
        }
    }

    /// All runs so far count for the guides from now on.
    pub(crate) fn open_epoch(&mut self) {
        match self {
            Advice::None => {}
            Advice::Profile(profile) => profile.open_epoch(),
            Advice::Fuzz(fuzz) => fuzz.open_epoch(),
        }
    }
}
