//! The default: several strategies share the runs of a campaign, by what each has lately brought.
//!
//! The rules, none of which knows a program:
//!
//! 1. *Opening.* The first run stays near the plain order: it finds what is shallow, and shows what the program does. The next ones
//!    go to the members that ask for what it has not shown.
//! 2. *Shares.* At every border of epochs a member's share is made of what its runs have lately brought: pairs of write and read,
//!    and combinations of such pairs, that no run before showed, and findings. What is long ago counts less. Before a
//!    member has had runs, it is taken to bring what [`MEMBERS`] promises, and no share falls below [`FLOOR`]: what
//!    brought nothing may still hold the one order that matters.
//! 3. *Turns.* Within an epoch the shares are given out as evenly as they can be: a member with a tenth of the runs has
//!    every tenth one.
//! 4. *All learn from all.* Every run tells who read from whom and what its strands do, so what one member has shown is not
//!    asked for by another, and weights are known whoever went first.
//!
//! 5. *Planners have turns.* After a few runs `hapset` and the members take turns of two runs, a little later `dpor` has a few, and
//!    each again whenever the number of runs has doubled, a quarter of the runs so far, until it is done: a pair that nobody asks for by
//!    chance is there soon by plan.
//! 6. *Small programs are finished.* When few runs of an epoch show a combination that is new, `dpor` gets as many runs as all
//!    members have had: if the program is small, it comes to an end with them, and nothing is left to look for. An order that it
//!    cannot make is no reason to leave it: what it says in the end is another matter.
//! 7. *Long campaigns are even.* After [`LONG`] runs without an end, who brings new pairs is no longer who finds: the bug that is left is one that
//!    new pairs do not lead to. No member has less than [`FLOOR_LATER`] of the runs then, and planners, which bring something new with every run and
//!    have not come to an end, have smaller turns.
//!
//! `rff` is three members, one for each of its manners: bugs that need a certain pair, bugs that need a strand to stand still for
//! long, and bugs that need many strands half-way at once are different ones, and a run can ask for a pair in each manner, where a mere
//! mixture would need two. The others are for what constraints on pairs keep out of sight.

use crate::advice::{Assignment, Lessons};
use crate::fuzz::{Fuzz, News};
use crate::planner::{Planner, Reason, Status};
use crate::profile::Profile;
use std::collections::BTreeMap;
use threadbare_abi::layout::{MemoryModel, flags};
use threadbare_abi::op::OpKind;
use threadbare_abi::step::flags::RESUMED;
use threadbare_abi::step::{STEP_WORDS, Step, StepKind};
use threadbare_strategy::rff::Manner;
use threadbare_strategy::{Adviser, Spec, StrategyId};

/// A member as it begins.
struct Entry {
    id: StrategyId,
    param: u64,
    /// What a run of it is taken to bring before it has made any, in the measure of [`worth`].
    promise: f64,
}

const fn entry(id: StrategyId, param: u64, promise: f64) -> Entry {
    Entry { id, param, promise }
}

const MEMBERS: [Entry; 9] = [
    entry(StrategyId::Rff, Manner::Operations as u64, 6.0),
    entry(StrategyId::Rff, Manner::Strands as u64, 6.0),
    entry(StrategyId::Rff, Manner::Weights as u64, 6.0),
    entry(StrategyId::Surw, 0, 4.0),
    entry(StrategyId::Urw, 0, 1.0),
    entry(StrategyId::Pct, 2, 1.0),
    entry(StrategyId::Random, 0, 1.0),
    entry(StrategyId::Delay, 0, 1.0),
    entry(StrategyId::Stall, 0, 0.0),
];

/// The members of the first runs, by their place in [`MEMBERS`].
const OPENING: [usize; 4] = [7, 2, 1, 2];

/// Runs that a promise weighs as much as.
const TRUST: f64 = 16.0;
/// The part of all runs that a member gets at least.
const FLOOR: f64 = 0.02;
/// Runs after which a campaign is long, and what a member gets at least from then on.
const LONG: u64 = 4096;
const FLOOR_LATER: f64 = 0.06;
/// What a run of [`LONG_AGO`] runs before counts, against one of now.
const FADE: f64 = 0.8;
const LONG_AGO: f64 = 64.0;

/// Runs after which `hapset` and `dpor` have their first turns, and the least runs of a turn.
const FIRST_PAIRS: u64 = 8;
const LEAST_PAIRS: u64 = 2;
/// Up to so many runs, `hapset` and the members take turns of [`LEAST_PAIRS`].
const IN_TURNS: u64 = 24;
const FIRST_ORDERS: u64 = 16;
const LEAST_ORDERS: u64 = 8;
/// The part of the runs so far that a later turn has.
const PART: u64 = 4;
const PART_LATER: u64 = 16;
/// Runs after which the program may turn out to be small.
const LOOK: u64 = 32;
/// Of so many runs of an epoch at most one shows something new if the program is small.
const FEW: usize = 4;
/// Records of a run's steps, at the most, if the program is small.
const SMALL: usize = 2048;

/// Strands wait much if more than one of so many steps comes after being woken.
const MUCH: u64 = 16;

/// Of so many runs one may be long before the program is taken to be large.
const FEW_LONG: u64 = 4;

/// What a new pair is worth, how many of one run count, and what a finding is worth; a new combination is worth 1.
const PAIR: f64 = 4.0;
const PAIRS_MOST: u32 = 4;
const FINDING: f64 = 16.0;

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
    planner: Planner,
    /// The planner for pairs of statements.
    pairs: Planner,
    /// Whose turn it is.
    plans: Plans,
    /// The program is too large for planners.
    large: bool,
    /// Runs so far, and how many there have to be before each planner has its turn.
    made: u64,
    look: u64,
    look_for_pairs: u64,
    look_whether_small: u64,
    /// Few runs of the members' last epoch showed a combination that is new.
    small: bool,
    /// Member runs that were too long to be looked at, and whether their steps are told in this epoch.
    long: u64,
    told: bool,
    /// Steps that were told, and those that came after being woken.
    steps: u64,
    woken: u64,
}

/// Who plans the next runs, and how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Plans {
    /// Nobody: they are the members'.
    None,
    Pairs(u64),
    Orders(u64),
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
            planner: Planner::new(StrategyId::Dpor, 0),
            pairs: Planner::new(StrategyId::Hapset, 0),
            plans: Plans::None,
            large: false,
            made: 0,
            look: FIRST_ORDERS,
            look_for_pairs: FIRST_PAIRS,
            look_whether_small: LOOK,
            small: false,
            long: 0,
            told: true,
            steps: 0,
            woken: 0,
        };
        portfolio.divide();
        portfolio
    }

    /// What atomic loads may see in the runs.
    pub(crate) fn set_model(&mut self, model: MemoryModel) {
        self.planner.set_model(model);
        self.pairs.set_model(model);
    }

    /// What a run of this epoch is to do. Runs come in their order.
    pub(crate) fn assign(&mut self, run: u64) -> Assignment {
        let planner = match self.plans {
            Plans::None => None,
            Plans::Pairs(_) => Some((StrategyId::Hapset, &self.pairs)),
            Plans::Orders(_) => Some((StrategyId::Dpor, &self.planner)),
        };
        if let Some((id, planner)) = planner {
            let flags = flags::READS | flags::STEPS;
            return Assignment { guide: planner.guide(), flags, ..Assignment::of(Spec::of(id)) };
        }
        let turn = self.turn(run);
        self.epoch.insert(run, (turn, 0));
        let spec = self.members[turn].spec;
        let assignment = match spec.id.row().adviser {
            Adviser::Profile => Assignment { guide: self.profile.guide(), ..Assignment::of(spec) },
            Adviser::Fuzz => Assignment::steered(spec, run, &mut self.fuzz, &self.profile),
            // Its planners are no members.
            Adviser::None | Adviser::Planner | Adviser::Idioms => Assignment::of(spec),
        };
        let steps = if self.told { flags::STEPS } else { 0 };
        Assignment { flags: flags::READS | steps, ..assignment }
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

    /// A run of this epoch has ended, and is not in the books yet. The planner looks at the classes of all runs.
    pub(crate) fn witness(&mut self, comparable: bool, lessons: &mut Lessons) {
        let long = lessons.steps.len() > SMALL * STEP_WORDS || lessons.steps_lost > 0;
        self.large |= long && self.is_planning();
        self.long += u64::from(long);
        self.see_waits(&lessons.steps);
        let taught = match self.plans {
            _ if self.large || long => false,
            Plans::Orders(_) => true,
            Plans::Pairs(_) => {
                self.planner.witness(comparable, lessons);
                true
            }
            Plans::None => self.planner.witness(comparable, lessons),
        };
        // Only what a planner learns from has to be in the books.
        if !taught {
            lessons.steps.clear();
        }
    }

    /// A run of this epoch has ended. Runs come in their order.
    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons) {
        let own = matches!(self.plans, Plans::Pairs(_));
        match self.plans {
            Plans::None => {
                if let Some((_, findings)) = self.epoch.get_mut(&run) {
                    *findings = lessons.findings;
                }
                self.profile.learn(&lessons.notes);
            }
            _ if self.large => {}
            Plans::Pairs(_) => self.pairs.learn(&lessons),
            Plans::Orders(_) => self.planner.learn(&lessons),
        }
        if lessons.news && !own {
            self.pairs.begin_anew();
        }
        self.fuzz.learn(run, lessons);
    }

    /// How much strands wait to be woken.
    fn see_waits(&mut self, steps: &[u64]) {
        let (steps, _) = steps.as_chunks();
        for step in steps.iter().map(|words| Step::from_words(*words)) {
            let wait = matches!(
                OpKind::from_code(step.op),
                Some(OpKind::CondWait | OpKind::CondTimedWait | OpKind::FutexWait | OpKind::BarrierWait)
            );
            let is_step = step.kind == StepKind::Step as u8;
            self.steps += u64::from(is_step);
            self.woken += u64::from(is_step && wait && step.flags & RESUMED != 0);
        }
    }

    /// The longest epoch, if it is not the usual one: a plan depends on the run before it.
    pub(crate) fn longest_epoch(&self) -> Option<u64> {
        let in_turns = (FIRST_PAIRS..IN_TURNS).contains(&self.made) && !self.large && !self.pairs.is_done();
        if self.is_planning() { Some(1) } else { in_turns.then_some(LEAST_PAIRS) }
    }

    /// Whether the planner chooses the next run, by the one before it.
    pub(crate) fn is_planning(&self) -> bool {
        self.plans != Plans::None
    }

    /// How far the planner is, once it has had a turn.
    pub(crate) fn status(&self) -> Option<Status> {
        (!self.large && (self.look > FIRST_ORDERS || matches!(self.plans, Plans::Orders(_))))
            .then(|| self.planner.status())
    }

    /// Nothing is proved, for this reason.
    pub(crate) fn withdraw(&mut self, reason: Reason) {
        self.planner.withdraw(reason, 0);
    }

    /// Whether every order that makes a difference was run.
    pub(crate) fn is_complete(&self) -> bool {
        !self.large && self.planner.status().is_complete()
    }

    /// Who has the next turn, by what the last epoch's runs brought.
    fn take_turns(&mut self, news: &BTreeMap<u64, News>) {
        self.made += news.len() as u64;
        self.plans = match self.plans {
            Plans::Pairs(left) if left > 1 && !self.pairs.is_done() && !self.large => Plans::Pairs(left - 1),
            Plans::Orders(left) if left > 1 && !self.planner.is_done() && !self.large => {
                Plans::Orders(left - 1)
            }
            Plans::Orders(_) => Plans::None,
            Plans::Pairs(_) => self.next_orders(),
            Plans::None => {
                let new = news.values().filter(|news| news.combination).count();
                self.small = self.made >= LOOK && new * FEW <= news.len();
                self.next_pairs().unwrap_or_else(|| self.next_orders())
            }
        };
    }

    fn next_pairs(&mut self) -> Option<Plans> {
        if self.large || self.pairs.is_done() || self.made < self.look_for_pairs {
            return None;
        }
        let next = if self.made < IN_TURNS { self.made + 2 * LEAST_PAIRS } else { self.made * 2 };
        self.look_for_pairs = next;
        Some(Plans::Pairs(self.part().max(LEAST_PAIRS)))
    }

    fn is_long(&self) -> bool {
        self.made >= LONG
    }

    /// The runs of a planner's turn.
    fn part(&self) -> u64 {
        self.made / if self.is_long() { PART_LATER } else { PART }
    }

    fn next_orders(&mut self) -> Plans {
        if self.large || self.planner.is_done() {
            return Plans::None;
        }
        if self.small && self.made >= self.look_whether_small {
            // The members go on when it has had as many.
            self.look_whether_small = self.made * 4;
            return Plans::Orders(if self.is_long() { self.part() } else { self.made });
        }
        if self.made >= self.look {
            self.look = self.made * 2;
            return Plans::Orders(self.part().max(LEAST_ORDERS));
        }
        Plans::None
    }

    /// Divides the runs anew.
    pub(crate) fn open_epoch(&mut self) {
        self.profile.open_epoch();
        let news = self.fuzz.open_epoch();
        let made = self.made + news.len() as u64;
        self.large |= self.long * FEW_LONG > made.max(FEW_LONG);
        self.take_turns(&news.iter().copied().collect());
        self.told = !self.large;
        let fade = FADE.powf(news.len() as f64 / LONG_AGO);
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
        let waits = self.woken * MUCH > self.steps;
        let promise = |it: &Member| match it.spec.id {
            // It counts what strands do, and who waits does nothing.
            StrategyId::Surw if waits => it.promise / 2.0,
            _ => it.promise,
        };
        let rate = |it: &Member| (it.gain + TRUST * promise(it)) / (it.runs + TRUST);
        let total: f64 = self.members.iter().map(rate).sum();
        let floor = if self.is_long() { FLOOR_LATER } else { FLOOR };
        let free = 1.0 - floor * self.members.len() as f64;
        for member in &mut self.members {
            member.share = floor + free * rate(member) / total;
        }
    }
}

/// What a run has brought.
fn worth(news: News, findings: u32) -> f64 {
    PAIR * f64::from(news.pairs.min(PAIRS_MOST))
        + f64::from(u8::from(news.combination))
        + FINDING * f64::from(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_strategy::reads::{RECORD_WORDS, STRAND_SHIFT};

    /// Makes runs in epochs of 64 and counts those of each member; `pairs` tells how many new pairs a run of it shows.
    fn runs_of(epochs: u64, pairs: impl Fn(&Spec) -> u64) -> BTreeMap<String, u64> {
        let mut portfolio = Portfolio::new(7);
        let mut counts = BTreeMap::new();
        let mut next = 0x1000;
        for run in 0..epochs * 64 {
            let spec = portfolio.assign(run).strategy;
            *counts.entry(spec.to_string()).or_default() += 1;
            let reads: Vec<u64> = (0..pairs(&spec))
                .flat_map(|_| -> [u64; RECORD_WORDS] {
                    next += 8;
                    [next, next + 1, next + 1, next + 2, next + 2, 1 << STRAND_SHIFT]
                })
                .collect();
            portfolio.learn(run, Lessons { reads, ..Lessons::default() });
            if run % 64 == 63 || portfolio.is_planning() {
                portfolio.open_epoch();
            }
        }
        counts
    }

    #[test]
    fn every_member_has_its_share() {
        let mut counts = runs_of(10, |_| 0);
        // Nothing is new, and nothing was done: one run is all that a planner needs.
        assert_eq!((counts.remove("dpor"), counts.remove("hapset")), (Some(1), Some(1)));
        assert_eq!(counts.len(), MEMBERS.len());
        // 640 runs: nobody below the floor, but for the rounding of turns.
        assert!(counts.values().all(|&count| count >= 11), "{counts:?}");
    }

    #[test]
    fn long_campaigns_are_even() {
        // Somebody goes on bringing pairs; of the runs after the first 4,096 nobody has less than 6 of 100 nevertheless.
        let of = |epochs| runs_of(epochs, |spec| u64::from(spec.to_string() == "rff:1"));
        let (early, late) = (of(LONG / 64), of(4 * LONG / 64));
        for (name, count) in &late {
            let since = count - early.get(name).copied().unwrap_or(0);
            let planner = name == "dpor" || name == "hapset";
            assert!(planner || since * 100 >= 3 * LONG * 5, "{name}: {since} of {}", 3 * LONG);
        }
        assert!(late["rff:1"] > late["stall"], "{late:?}");
    }

    #[test]
    fn who_brings_something_new_gets_more_runs() {
        for name in ["pct:2", "surw", "rff:2"] {
            let counts = runs_of(10, |spec| u64::from(spec.to_string() == name));
            let best = counts.values().max();
            assert_eq!(counts.get(name), best, "{name}: {counts:?}");
        }
    }

    #[test]
    fn the_first_run_is_near_the_plain_order() {
        let mut portfolio = Portfolio::new(1);
        let first: Vec<String> = (0..5).map(|run| portfolio.assign(run).strategy.to_string()).collect();
        assert_eq!(first, ["delay", "rff:3", "rff:2", "rff:3", "rff:1"]);
    }

    #[test]
    fn turns_depend_on_earlier_epochs_only() {
        let turns = |learns: bool| {
            let mut portfolio = Portfolio::new(3);
            let mut turn = |run| {
                let spec = portfolio.assign(run).strategy;
                if learns {
                    portfolio.learn(run, Lessons { findings: 3, ..Lessons::default() });
                }
                spec
            };
            (0..64).map(&mut turn).collect::<Vec<_>>()
        };
        assert_eq!(turns(true), turns(false));
    }
}
