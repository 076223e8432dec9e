//! Which strategy a run has, and what the driver tells it of earlier runs.
//!
//! Both depend on the runs of earlier epochs only, taken in their order, so they are the same whatever the number of jobs.

use crate::futures::{Chooser, Found, Order};
use crate::fuzz::Fuzz;
use crate::idioms;
use crate::pairs;
use crate::planner::{Planner, Reason, Status};
use crate::portfolio::Portfolio;
use crate::profile::Profile;
use crate::search::Search;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use threadbare_abi::layout::{MemoryModel, flags};
use threadbare_strategy::rff::{Guide, Manner};
use threadbare_strategy::{Adviser, Spec, StrategyId, rng};

/// What sets the draws of manners apart from other draws.
const MANNERS: u64 = 0x6d61_6e6e;

/// Runs of `idioms` that only look, before the first that forces something.
const LOOKS: u64 = 5;

/// Who decides in a run, and what it is told.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) strategy: Spec,
    pub(crate) guide: Arc<[u64]>,
    /// Bit set of `threadbare_abi::layout::flags`.
    pub(crate) flags: u32,
}

impl Assignment {
    /// A strategy that is told nothing.
    pub(crate) fn of(strategy: Spec) -> Assignment {
        Assignment { strategy, guide: Arc::default(), flags: 0 }
    }

    /// `rff` with an abstract schedule. The manner is drawn if the user has not set it.
    pub(crate) fn steered(mut rff: Spec, run: u64, fuzz: &mut Fuzz, profile: &Profile) -> Assignment {
        let drawn = Manner::ALL[rng::run_seed(MANNERS, run) as usize % Manner::ALL.len()] as u64;
        let manner = if rff.params[0] == 0 { drawn } else { rff.params[0] };
        rff.params[0] = manner;
        let (constraints, profile) = (fuzz.guide(run), profile.guide());
        let weights = if manner == Manner::Weights as u64 { &profile[..] } else { &[] };
        let mut guide = Vec::new();
        Guide { constraints: &constraints, weights }.encode(&mut guide);
        Assignment { guide: guide.into(), ..Assignment::of(rff) }
    }
}

/// What a run has taught.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Lessons {
    /// What its strategy noted.
    pub(crate) notes: Vec<u64>,
    /// Who read from whom: records of `threadbare-strategy`'s `reads`. In the books only those that no run before it had.
    pub(crate) reads: Vec<u64>,
    /// The same for the same pairs of write and read; known in the books.
    pub(crate) combination: Option<u64>,
    /// Its steps, as words. In the books only where a planner learns from them.
    pub(crate) steps: Vec<u64>,
    /// Its class as planners name it, if it is none of a planner's own runs; known in the books.
    pub(crate) class: Option<u64>,
    /// Records of steps that did not fit.
    pub(crate) steps_lost: u64,
    /// Whether it learnt of more shared memory.
    pub(crate) news: bool,
    /// It learnt of more shared memory, and its steps are those of a second making that knew of it.
    pub(crate) remade: bool,
    /// What it showed that no run before it had.
    pub(crate) findings: u32,
    /// What it failed by, by key.
    #[serde(skip)]
    pub(crate) shown: Vec<u64>,
    /// The same with races, which are in most runs of a program that has one.
    #[serde(skip)]
    pub(crate) races: Vec<u64>,
}

/// The adviser of a campaign.
#[derive(Debug)]
pub(crate) enum Advice {
    /// One strategy that needs none.
    None(Spec),
    /// What each strand does.
    Profile(Spec, Profile),
    /// Abstract schedules, and what each strand does.
    Fuzz(Spec, Box<Fuzz>, Profile),
    /// Whole plans.
    Planner(Spec, Box<Planner>),
    /// All of these for several strategies.
    Portfolio(Box<Portfolio>),
    /// Reads that are to see certain writes, and another adviser for the rest.
    Futures(Box<Chooser>),
    /// Iroots that are to be shown, and another adviser for the rest.
    Idioms(Box<idioms::Chooser>),
    /// Calls that are looked at or run against each other, and another adviser for the rest.
    Pairs(Box<pairs::Chooser>),
}

impl Advice {
    /// The adviser for a search.
    pub(crate) fn new(search: Search, seed: u64) -> Advice {
        let spec = match search {
            Search::Portfolio => return Advice::Portfolio(Box::new(Portfolio::new(seed))),
            Search::Strategy(spec) => spec,
        };
        match spec.id.row().adviser {
            Adviser::Idioms => {
                let order =
                    idioms::Order { looks: LOOKS, force: true, deep: true, ..idioms::Order::default() };
                Advice::with_idioms(Search::Strategy(Spec::of(StrategyId::Random)), seed, &Arc::new(order))
            }
            Adviser::Planner => Advice::Planner(spec, Box::new(Planner::new(spec.id, spec.params[0]))),
            Adviser::Profile => Advice::Profile(spec, Profile::default()),
            Adviser::Fuzz => Advice::Fuzz(spec, Box::new(Fuzz::new(seed)), Profile::default()),
            Adviser::None => Advice::None(spec),
        }
    }

    /// The same where reads are to see certain writes.
    pub(crate) fn with_futures(search: Search, seed: u64, order: &Arc<Order>) -> Advice {
        let rest = match search {
            Search::Portfolio => None,
            Search::Strategy(spec) => Some(spec),
        };
        let inner = Advice::new(search, seed);
        Advice::Futures(Box::new(Chooser::new(inner, rest, Arc::clone(order))))
    }

    /// The same where iroots are looked at, or are to be shown.
    pub(crate) fn with_idioms(search: Search, seed: u64, order: &Arc<idioms::Order>) -> Advice {
        let inner = Advice::new(search, seed);
        Advice::Idioms(Box::new(idioms::Chooser::new(inner, Arc::clone(order))))
    }

    /// The same where calls are looked at, or run against each other.
    pub(crate) fn with_pairs(search: Search, seed: u64, order: &Arc<pairs::Order>) -> Advice {
        let inner = Advice::new(search, seed);
        Advice::Pairs(Box::new(pairs::Chooser::new(inner, Arc::clone(order))))
    }

    /// Which calls there were, if somebody looked.
    pub(crate) fn pairs(&self) -> Option<pairs::Found> {
        match self {
            Advice::Pairs(chooser) => Some(chooser.found()),
            _ => None,
        }
    }

    /// Which iroots there were, if somebody looked.
    pub(crate) fn idioms(&self) -> Option<idioms::Found> {
        match self {
            Advice::Idioms(chooser) => Some(chooser.found()),
            _ => None,
        }
    }

    /// What atomic loads may see in the runs.
    pub(crate) fn set_model(&mut self, model: MemoryModel) {
        match self {
            Advice::Planner(_, planner) => planner.set_model(model),
            Advice::Portfolio(portfolio) => portfolio.set_model(model),
            Advice::Futures(chooser) => chooser.set_model(model),
            Advice::Idioms(chooser) => chooser.inner_mut().set_model(model),
            Advice::Pairs(chooser) => chooser.inner_mut().set_model(model),
            Advice::None(_) | Advice::Profile(..) | Advice::Fuzz(..) => {}
        }
    }

    /// Faults may happen that no planner chooses: none proves anything.
    pub(crate) fn withdraw(&mut self, reason: Reason) {
        match self {
            Advice::Planner(_, planner) => planner.withdraw(reason, 0),
            Advice::Portfolio(portfolio) => portfolio.withdraw(reason),
            Advice::Futures(chooser) => chooser.inner_mut().withdraw(reason),
            Advice::Idioms(chooser) => chooser.inner_mut().withdraw(reason),
            Advice::Pairs(chooser) => chooser.inner_mut().withdraw(reason),
            _ => {}
        }
    }

    /// What reads saw, if somebody looked.
    pub(crate) fn futures(&self) -> Option<Found> {
        match self {
            Advice::Futures(chooser) => Some(chooser.found()),
            _ => None,
        }
    }

    /// What a run of this epoch is to do. Runs come in their order.
    pub(crate) fn assign(&mut self, run: u64) -> Assignment {
        match self {
            Advice::None(spec) => Assignment::of(*spec),
            Advice::Profile(spec, profile) => Assignment { guide: profile.guide(), ..Assignment::of(*spec) },
            Advice::Fuzz(spec, fuzz, profile) => Assignment::steered(*spec, run, fuzz, profile),
            Advice::Planner(spec, planner) => {
                Assignment { guide: planner.guide(), flags: flags::STEPS, ..Assignment::of(*spec) }
            }
            Advice::Portfolio(portfolio) => portfolio.assign(run),
            Advice::Futures(chooser) => chooser.assign(run),
            Advice::Idioms(chooser) => chooser.assign(run),
            Advice::Pairs(chooser) => chooser.assign(run),
        }
    }

    /// A run of this epoch has ended, and is not in the books yet: if it is none of the planner's own, its class is compared with
    /// those. Runs come in their order.
    pub(crate) fn witness(&mut self, comparable: bool, lessons: &mut Lessons) {
        match self {
            Advice::Portfolio(portfolio) => portfolio.witness(comparable, lessons),
            Advice::Futures(chooser) => chooser.witness(comparable, lessons),
            Advice::Idioms(chooser) => chooser.witness(comparable, lessons),
            Advice::Pairs(chooser) => chooser.witness(comparable, lessons),
            _ => {}
        }
    }

    /// A run of this epoch has ended. Runs come in their order.
    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons) {
        match self {
            Advice::None(_) => {}
            Advice::Profile(_, profile) => profile.learn(&lessons.notes),
            Advice::Fuzz(_, fuzz, profile) => {
                profile.learn(&lessons.notes);
                fuzz.learn(run, lessons);
            }
            Advice::Planner(_, planner) => planner.learn(&lessons),
            Advice::Portfolio(portfolio) => portfolio.learn(run, lessons),
            Advice::Futures(chooser) => chooser.learn(run, lessons),
            Advice::Idioms(chooser) => chooser.learn(run, lessons),
            Advice::Pairs(chooser) => chooser.learn(run, lessons),
        }
    }

    /// Whether the run that was just learnt from is not one of those that were asked for.
    pub(crate) fn leaves_out(&self) -> bool {
        matches!(self, Advice::Futures(chooser) if chooser.leaves_out())
    }

    /// Whether there is no other run to make.
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Advice::Planner(_, planner) => planner.is_done(),
            Advice::Portfolio(portfolio) => portfolio.is_complete(),
            Advice::Futures(chooser) if chooser.plans() => chooser.is_done(),
            Advice::Futures(chooser) => chooser.inner().is_done(),
            Advice::Idioms(chooser) if chooser.forces() => chooser.is_done(),
            Advice::Idioms(chooser) => chooser.inner().is_done(),
            Advice::Pairs(chooser) if chooser.tests() => chooser.is_done(),
            Advice::Pairs(chooser) => chooser.inner().is_done(),
            _ => false,
        }
    }

    /// The longest epoch, if it is not the usual one: a plan depends on the run before it.
    pub(crate) fn longest_epoch(&self) -> Option<u64> {
        match self {
            Advice::Planner(..) => Some(1),
            Advice::Portfolio(portfolio) => portfolio.longest_epoch(),
            Advice::Futures(chooser) if chooser.plans() => Some(1),
            Advice::Futures(chooser) => chooser.inner().longest_epoch(),
            Advice::Idioms(chooser) if chooser.forces() => Some(1),
            Advice::Idioms(chooser) => chooser.inner().longest_epoch(),
            Advice::Pairs(chooser) if chooser.tests() => Some(1),
            Advice::Pairs(chooser) => chooser.inner().longest_epoch(),
            _ => None,
        }
    }

    /// How far the planner is, if there is one.
    pub(crate) fn status(&self) -> Option<Status> {
        match self {
            Advice::Planner(_, planner) => Some(planner.status()),
            Advice::Portfolio(portfolio) => portfolio.status(),
            Advice::Futures(chooser) if !chooser.plans() => chooser.inner().status(),
            Advice::Idioms(chooser) if !chooser.forces() => chooser.inner().status(),
            Advice::Pairs(chooser) if !chooser.tests() => chooser.inner().status(),
            _ => None,
        }
    }

    /// All runs so far count from now on.
    pub(crate) fn open_epoch(&mut self) {
        match self {
            Advice::None(_) | Advice::Planner(..) => {}
            Advice::Profile(_, profile) => profile.open_epoch(),
            Advice::Fuzz(_, fuzz, profile) => {
                fuzz.open_epoch();
                profile.open_epoch();
            }
            Advice::Portfolio(portfolio) => portfolio.open_epoch(),
            Advice::Futures(chooser) => chooser.inner_mut().open_epoch(),
            Advice::Idioms(chooser) => chooser.inner_mut().open_epoch(),
            Advice::Pairs(chooser) => chooser.inner_mut().open_epoch(),
        }
    }
}
