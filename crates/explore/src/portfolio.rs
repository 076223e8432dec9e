//! The default: several strategies share the runs of a campaign, by what each has lately brought.
//!
//! The rules, none of which knows a program:
//!
//! 1. *Opening.* The first runs go to the members in a fixed order, those first that find shallow bugs: orders near the plain
//!    one, then those that need what the first runs have taught.
//! 2. *Shares.* At every border of epochs a member's share is made of what its runs have lately brought: pairs of write and read,
//!    and combinations of such pairs, that no run before showed, and findings. What is long ago counts less. Before a
//!    member has had runs, it is taken to bring what [`MEMBERS`] says, and no share falls below [`FLOOR`]: what
//!    brought nothing may still hold the one order that matters.
//! 3. *Turns.* Within an epoch the shares are given out as evenly as they can be, so that a member with a tenth of the runs has
//!    every tenth one.
//! 4. *All learn from all.* Every run tells who read from whom, so the pairs that one member has shown are not asked for by another,
//!    and counts what its strands do.

use crate::advice::{Assignment, Lessons};
use crate::fuzz::{Fuzz, News};
use crate::profile::Profile;
use std::collections::BTreeMap;
use threadbare_abi::layout::flags;
use threadbare_strategy::{Spec, StrategyId};

/// A member as it begins.
struct Entry {
    id: StrategyId,
    param: u64,
    /// What a run of it is taken to bring before it has made any.
    promise: f64,
}

const fn entry(id: StrategyId, param: u64, promise: f64) -> Entry {
    Entry { id, param, promise }
}

const MEMBERS: [Entry; 8] = [
    entry(StrategyId::Rff, 0, 8.0),
    entry(StrategyId::Surw, 0, 4.0),
    entry(StrategyId::Pos, 0, 2.0),
    entry(StrategyId::Urw, 0, 2.0),
    entry(StrategyId::Random, 0, 2.0),
    entry(StrategyId::Pct, 2, 1.0),
    entry(StrategyId::Pct, 3, 1.0),
    entry(StrategyId::Delay, 0, 1.0),
];

/// The members of the first runs, by their place in [`MEMBERS`].
const OPENING: [usize; 4] = [7, 1, 0, 1];

/// Runs that a promise weighs as much as.
const TRUST: f64 = 16.0;
/// The part of all runs that a member gets at least.
const FLOOR: f64 = 0.04;
/// What a run of 64 runs ago counts, against one of now.
const FADE: f64 = 0.8;

#[derive(Debug)]
struct Member {
    spec: Spec,
    promise: f64,
    /// Runs and what they brought, lately.
    runs: f64,
    gain: f64,
    share: f64,
    /// What it is behind its share.
    credit: f64,
}

/// The members' state.
#[derive(Debug)]
pub(crate) struct Portfolio {
    members: Vec<Member>,
    profile: Profile,
    fuzz: Fuzz,
    /// Whose run it is, and its findings, for the runs of this epoch.
    epoch: BTreeMap<u64, (usize, u32)>,
}

impl Portfolio {
    pub(crate) fn new(seed: u64) -> Portfolio {
        let member = |entry: &Entry| {
            let mut spec = Spec::of(entry.id);
            spec.params[0] = entry.param;
            Member { spec, promise: entry.promise, runs: 0.0, gain: 0.0, share: 0.0, credit: 0.0 }
        };
        let mut portfolio = Portfolio {
            members: MEMBERS.iter().map(member).collect(),
            profile: Profile::default(),
            fuzz: Fuzz::new(seed),
            epoch: BTreeMap::new(),
        };
        portfolio.divide();
        portfolio
    }

    /// What a run of this epoch is to do. Runs come in their order.
    pub(crate) fn assign(&mut self, run: u64) -> Assignment {
        let turn = self.turn(run);
        self.epoch.insert(run, (turn, 0));
        let spec = self.members[turn].spec;
        let guide = match spec.id {
            StrategyId::Urw | StrategyId::Surw => self.profile.guide(),
            StrategyId::Rff => self.fuzz.guide(run),
            _ => Default::default(),
        };
        Assignment { guide, flags: flags::READS, ..Assignment::of(spec) }
    }

    /// The member whose turn it is: the one furthest behind its share.
    fn turn(&mut self, run: u64) -> usize {
        for member in &mut self.members {
            member.credit += member.share;
        }
        let opening = usize::try_from(run).ok().and_then(|run| OPENING.get(run)).copied();
        let furthest = || {
            let credits = self.members.iter().map(|member| member.credit).enumerate();
            credits.fold((0, f64::MIN), |best, other| if other.1 > best.1 { other } else { best }).0
        };
        let turn = opening.unwrap_or_else(furthest);
        self.members[turn].credit -= 1.0;
        turn
    }

    /// A run of this epoch has ended.
    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons) {
        if let Some((_, findings)) = self.epoch.get_mut(&run) {
            *findings = lessons.findings;
        }
        self.profile.learn(&lessons.notes);
        self.fuzz.learn(run, lessons.reads);
    }

    /// Divides the runs anew.
    pub(crate) fn open_epoch(&mut self) {
        self.profile.open_epoch();
        let news = self.fuzz.open_epoch();
        let fade = FADE.powf(news.len() as f64 / 64.0);
        for member in &mut self.members {
            member.runs *= fade;
            member.gain *= fade;
        }
        let epoch = std::mem::take(&mut self.epoch);
        for (run, news) in news {
            let Some(&(turn, findings)) = epoch.get(&run) else { continue };
            let member = &mut self.members[turn];
            member.runs += 1.0;
            member.gain += worth(news, findings);
        }
        self.divide();
    }

    fn divide(&mut self) {
        let rates = self.members.iter().map(|it| (it.gain + TRUST * it.promise) / (it.runs + TRUST));
        let rates: Vec<f64> = rates.collect();
        let total: f64 = rates.iter().sum();
        let free = 1.0 - FLOOR * rates.len() as f64;
        for (member, rate) in self.members.iter_mut().zip(rates) {
            member.share = FLOOR + free * rate / total;
        }
    }
}

/// What a run has brought.
fn worth(news: News, findings: u32) -> f64 {
    4.0 * f64::from(news.pairs.min(4)) + f64::from(u8::from(news.combination)) + 16.0 * f64::from(findings)
}
