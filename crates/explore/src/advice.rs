//! What the driver tells a strategy of earlier runs.
//!
//! The guide of a run depends on the runs of earlier epochs only, taken in their order, so it is the same whatever the
//! number of jobs.

use crate::fuzz::Fuzz;
use crate::planner::{Planner, Status};
use crate::profile::Profile;
use crate::run::Lessons;
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
    /// Whole plans.
    Planner(Box<Planner>),
}

impl Advice {
    /// The adviser for a strategy.
    pub(crate) fn new(strategy: StrategyId, params: &[u64; 8], seed: u64) -> Advice {
        match strategy {
            planner if planner.is_planner() => Advice::Planner(Box::new(Planner::new(planner, params[0]))),
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
            Advice::Planner(planner) => planner.guide(),
        }
    }

    /// A run of this epoch has ended: what it teaches, and whether it learnt of more shared memory. Runs come in their
    /// order.
    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons, news: bool) {
        let Lessons { notes, reads, steps, steps_lost } = lessons;
        match self {
            Advice::None => {}
            Advice::Profile(profile) => profile.learn(&notes),
            Advice::Fuzz(fuzz) => fuzz.learn(run, reads),
            Advice::Planner(planner) => planner.learn(&steps, steps_lost, &notes, news),
        }
    }

    /// Whether there is no other run to make.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Advice::Planner(planner) if planner.is_done())
    }

    /// The longest epoch, if it is not the usual one: a plan depends on the run before it.
    pub(crate) fn longest_epoch(&self) -> Option<u64> {
        matches!(self, Advice::Planner(_)).then_some(1)
    }

    /// How far the planner is, if there is one.
    pub(crate) fn status(&self) -> Option<Status> {
        match self {
            Advice::Planner(planner) => Some(planner.status()),
            _ => None,
        }
    }

    /// All runs so far count for the guides from now on.
    pub(crate) fn open_epoch(&mut self) {
        match self {
            Advice::None | Advice::Planner(_) => {}
            Advice::Profile(profile) => profile.open_epoch(),
            Advice::Fuzz(fuzz) => fuzz.open_epoch(),
        }
    }
}
