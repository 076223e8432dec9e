//! Futures: which write each read sees, seen in runs and made to order.
//!
//! Every run that tells its steps shows what its reads saw ([`reads`]). A wish asks for one pair of read and write: a run in which both were made
//! says which steps have to wait for which ([`wish`]), the strategy `ordered` holds strands back accordingly, and its run shows whether the wish
//! came true; if not, it is the next one to plan by. What did not come true so is searched for by `dpor`: where that comes to its end, no order of the
//! program has it.
//!
//! A run that learnt of shared memory shows nothing here: some of its writes were out of sight.
//!
//! A wish for a pair is planned by a run in which both were made (`wish`): of all writes to those bytes each
//! comes before the write or after the read, which is one or two holds a strand, before the outermost lock
//! (`sections`). A hold is a step that waits for another, each named by strand, instruction and number; the strategy
//! `ordered` keeps them and leaves the rest to another strategy. `simulate` goes through the run's steps under the
//! holds first: where that gets stuck, the circle of waits is the reason that users read. What was not made is left to
//! `dpor`. `cli::futures::join` puts pairs and the code's terms together.

pub(crate) mod gates;
mod goal;
mod order;
mod reads;
pub(crate) mod sections;
pub(crate) mod simulate;
mod watch;
pub(crate) mod wish;

use crate::advice::{Advice, Assignment, Lessons};
use crate::planner::trace::Trace;
use crate::planner::{self, Planner};
use goal::{Goal, Plan};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use threadbare_abi::layout::{MemoryModel, flags};
use threadbare_strategy::{Spec, StrategyId, ordered};
use wish::Reference;

pub use goal::{Made, Progress};
pub use order::Obstacle;
pub use reads::Origin;
pub use simulate::{Stand, Stuck, Waits, Why};
pub use watch::{Example, Moment, Sample, Seen};
pub use wish::{Against, Source, Wish, WishedStep};

/// What a campaign is to make come true.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Each a set of wishes for one run; none to look only.
    pub goals: Vec<Vec<Wish>>,
    /// What earlier runs learnt of shared memory.
    pub known: Vec<u64>,
    /// Runs that only look, before the first that is to make something.
    pub looks: u64,
    /// Runs that try one goal.
    pub tries: u32,
    /// Runs of a search through all orders for what did not come true, at the most.
    pub search: u64,
    /// So many runs are to have a goal, if it is the only one.
    pub again: u64,
    /// A run that has the goals, to plan by.
    pub example: Option<Example>,
    /// Wishes of which it is told which run has which.
    pub watch: Vec<Wish>,
}

/// A pair that was seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pair {
    /// In which runs.
    pub runs: BTreeSet<u64>,
    /// Which of them failed.
    pub failed: BTreeSet<u64>,
    /// In which of them a load saw it although there was a newer store.
    pub stale: BTreeSet<u64>,
    /// Where it read, for its name.
    pub addr: u64,
    /// How many bytes.
    pub size: u64,
}

/// Runs whose pairs are kept one by one.
const LISTED: u64 = 4096;

/// Which memory an instruction touched.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// Addresses and bytes, the first few different ones.
    pub ranges: Vec<(u64, u64)>,
    /// There were more.
    pub many: bool,
    /// Which strands did, by path.
    pub strands: BTreeSet<u64>,
}

/// Different addresses of one instruction that are kept.
const RANGES: usize = 64;

impl Touched {
    fn add(&mut self, range: (u64, u64), strand: u64) {
        if self.strands.len() < RANGES {
            self.strands.insert(strand);
        }
        if self.ranges.contains(&range) {
            return;
        }
        match self.ranges.len() < RANGES {
            true => self.ranges.push(range),
            false => self.many = true,
        }
    }

    /// Takes what others saw of the same instruction.
    fn join(&mut self, other: &Touched) {
        for &range in &other.ranges {
            if !self.ranges.contains(&range) && self.ranges.len() < RANGES {
                self.ranges.push(range);
            }
        }
        self.many |= other.many || other.ranges.iter().any(|range| !self.ranges.contains(range));
        self.strands.extend(&other.strands);
    }

    /// Whether a strand made both, as far as runs went, and whether two did.
    pub fn is_of_one_and_two(&self, other: &Touched) -> (bool, bool) {
        let full = self.strands.len().max(other.strands.len()) >= RANGES;
        let one = full || self.strands.intersection(&other.strands).next().is_some();
        let two = full || self.strands.union(&other.strands).nth(1).is_some();
        (one, two)
    }

    /// Whether two instructions never touched the same byte, as far as runs went.
    pub fn is_apart_from(&self, other: &Touched) -> bool {
        let meet = |a: &(u64, u64), b: &(u64, u64)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
        !self.many && !other.many && !self.ranges.iter().any(|a| other.ranges.iter().any(|b| meet(a, b)))
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The pairs that were seen, by the read's site.
    pub pairs: BTreeMap<(u64, Origin), Pair>,
    /// Which memory was touched at sites.
    pub touched: BTreeMap<u64, Touched>,
    /// Instruction and callers of sites, innermost first.
    pub sites: BTreeMap<u64, [u64; 4]>,
    /// Runs that showed pairs.
    pub runs: u64,
    /// Runs that had more steps than are kept, and show nothing.
    pub cut: u64,
    /// What runs failed by, by key.
    pub failures: BTreeMap<u64, u64>,
    /// What came of each goal.
    pub goals: Vec<Progress>,
    /// Every order that makes a difference was run.
    pub complete: bool,
    /// What each run has of the wishes that are watched.
    pub samples: Vec<Sample>,
    /// Instructions that runs came to, and their callers.
    pub reached: BTreeSet<u64>,
    /// Reads, each with a write that the same strand made before it in some run; both are sites.
    pub after_own: BTreeSet<(u64, u64)>,
    /// What all reads of runs saw, as long as there is room.
    pub whole: Vec<Whole>,
    /// The steps of some runs.
    kept: Vec<Arc<Reference>>,
}

/// All that the reads of a run saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Whole {
    /// The run.
    pub run: u64,
    /// Whether it failed.
    pub failed: bool,
    /// What its reads saw, in the order of the run.
    pub seen: Vec<Seen>,
}

/// What reads saw that is kept, of all runs together, and of one.
const KEPT: usize = 1 << 18;
const KEPT_OF_RUN: usize = 1 << 13;

/// Runs of which it is kept what they have of the wishes that are watched.
const SAMPLES: usize = 1 << 14;

impl Found {
    /// Takes what the reads of a run saw that no campaign of this made.
    pub fn take(&mut self, run: u64, example: &Example, failed: bool) {
        self.see(run, &example.0, failed);
    }

    /// Takes what another campaign found, whose first run counts as this one; but for its goals. Whether it came to other places, or to other memory.
    pub fn join(&mut self, other: &Found, first: u64) -> bool {
        let counted = |runs: &BTreeSet<u64>| -> Vec<u64> { runs.iter().map(|run| run + first).collect() };
        for (key, theirs) in &other.pairs {
            let new = Pair { addr: theirs.addr, size: theirs.size, ..Pair::default() };
            let pair = self.pairs.entry(*key).or_insert(new);
            pair.runs.extend(counted(&theirs.runs));
            pair.failed.extend(counted(&theirs.failed));
            pair.stale.extend(counted(&theirs.stale));
        }
        let known = (self.touched.clone(), self.reached.len());
        for (site, theirs) in &other.touched {
            self.touched.entry(*site).or_default().join(theirs);
        }
        for (site, pcs) in &other.sites {
            self.sites.entry(*site).or_insert(*pcs);
        }
        self.runs += other.runs;
        self.cut += other.cut;
        self.failures.extend(other.failures.iter().map(|(run, key)| (run + first, *key)));
        self.reached.extend(&other.reached);
        self.after_own.extend(&other.after_own);
        let mut kept: usize = self.whole.iter().map(|whole| whole.seen.len()).sum();
        for whole in &other.whole {
            kept += whole.seen.len();
            if kept <= KEPT {
                self.whole.push(Whole { run: whole.run + first, ..whole.clone() });
            }
        }
        for reference in &other.kept {
            self.keep(reference);
        }
        known != (self.touched.clone(), self.reached.len())
    }

    /// Takes which writes strands made before their own reads.
    fn see_own(&mut self, reference: &Reference) {
        let mut written: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        // A strand that has written nothing new since has nothing new before the same read.
        let mut asked: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        for access in &reference.reads.accesses {
            let strand = reference.trace.events[access.event].path;
            let before = written.entry(strand).or_default();
            let news = asked.insert((strand, access.site), before.len()) != Some(before.len());
            if access.reads && news {
                self.after_own.extend(before.iter().map(|&write| (access.site, write)));
            }
            if access.writes {
                before.insert(access.site);
            }
        }
    }

    fn see(&mut self, run: u64, reference: &Reference, failed: bool) {
        self.runs += 1;
        let (reads, trace) = (&reference.reads, &reference.trace);
        let mut seen = BTreeMap::new();
        for access in &reads.accesses {
            let strand = trace.events[access.event].path;
            self.sites.entry(access.site).or_insert_with(|| {
                let context = trace.events[access.event].context;
                let [one, two, three] = trace.callers.get(&context).copied().unwrap_or_default();
                [access.pc, one, two, three]
            });
            let touched = self.touched.entry(access.site).or_default();
            touched.add((access.addr, access.size), strand);
            for origin in reads.origins(trace, access) {
                let (_, _, stale) =
                    seen.entry((access.site, origin)).or_insert((access.addr, access.size, true));
                *stale &= access.stale;
            }
        }
        for event in &trace.events {
            let callers = trace.callers.get(&event.context).into_iter().flatten();
            let pcs = event.touches.iter().map(|touch| touch.op.pc).chain([event.op.pc]);
            self.reached.extend(pcs.chain(callers.copied()).filter(|&pc| pc != 0));
        }
        self.see_own(reference);
        let saw = reference.seen();
        let kept: usize = self.whole.iter().map(|whole| whole.seen.len()).sum();
        if saw.len() <= KEPT_OF_RUN && kept + saw.len() <= KEPT {
            self.whole.push(Whole { run, failed, seen: saw });
        }
        for (key, (addr, size, stale)) in seen {
            let new = Pair { addr, size, ..Pair::default() };
            let pair = self.pairs.entry(key).or_insert(new);
            if run < LISTED {
                pair.runs.insert(run);
                pair.failed.extend(failed.then_some(run));
                pair.stale.extend(stale.then_some(run));
            }
        }
    }
}

/// Why the next run is made.
#[derive(Clone, Debug)]
enum Next {
    Look,
    Goal(usize, Plan),
    Search,
}

/// The adviser.
#[derive(Debug)]
pub(crate) struct Chooser {
    inner: Advice,
    /// Who decides the rest; one after another if the user has not said.
    rest: Option<Spec>,
    model: MemoryModel,
    order: Arc<Order>,
    goals: Vec<Goal>,
    found: Found,
    planner: Option<Box<Planner>>,
    next: Option<Next>,
    looked: u64,
    searched: u64,
    /// Steps of the longest run.
    longest: usize,
    /// The steps of the run that comes into the books: other advisers leave them out there.
    trace: Option<Trace>,
}

/// Who decides what is left open, in turn.
const RESTS: [StrategyId; 4] = [StrategyId::Delay, StrategyId::Pos, StrategyId::Random, StrategyId::Pct];
/// Steps of a run, at the most, if all orders of the program are to be gone through.
const SMALL: usize = 200;
/// Runs that look for a write or a read that was not reached yet, beyond those that were asked for.
const MORE_LOOKS: u64 = 24;

impl Chooser {
    pub(crate) fn new(inner: Advice, rest: Option<Spec>, order: Arc<Order>) -> Chooser {
        let rest = rest.filter(|rest| ordered::can_have_the_rest(rest.id));
        let goals = order.goals.iter().map(|goal| Goal::new(goal.clone(), order.example.as_ref())).collect();
        let mut chooser = Chooser {
            inner,
            rest,
            model: MemoryModel::Sc,
            order,
            goals,
            found: Found::default(),
            planner: None,
            next: None,
            looked: 0,
            searched: 0,
            longest: 0,
            trace: None,
        };
        chooser.advance();
        chooser
    }

    /// Whether every run depends on the one before it.
    pub(crate) fn plans(&self) -> bool {
        !self.goals.is_empty()
    }

    /// What atomic loads may see in the runs.
    pub(crate) fn set_model(&mut self, model: MemoryModel) {
        self.model = model;
        self.inner.set_model(model);
        for goal in &mut self.goals {
            goal.weak = model != MemoryModel::Sc;
        }
    }

    pub(crate) fn inner(&self) -> &Advice {
        &self.inner
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Advice {
        &mut self.inner
    }

    /// Whether the last run is none of those that were asked for.
    pub(crate) fn leaves_out(&self) -> bool {
        self.order.again > 0 && !self.goals.iter().any(|goal| goal.granted_now)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.next.is_none()
    }

    pub(crate) fn found(&self) -> Found {
        let goals = self.goals.iter().map(|goal| goal.progress.clone()).collect();
        let complete = self.planner.as_ref().is_some_and(|planner| planner.status().is_complete());
        Found { goals, complete, ..self.found.clone() }
    }

    pub(crate) fn assign(&mut self, run: u64) -> Assignment {
        let mut assignment = match &self.next {
            Some(Next::Goal(_, plan)) => {
                let rest = self.rest.unwrap_or(Spec::of(RESTS[run as usize % RESTS.len()]));
                let mut spec = Spec::of(StrategyId::Ordered);
                spec.params[0] = rest.id as u64 | rest.params[0] << ordered::REST_SHIFT;
                Assignment { guide: plan.words(), ..Assignment::of(spec) }
            }
            Some(Next::Search) => {
                let guide = self.planner.as_ref().map(|planner| planner.guide()).unwrap_or_default();
                Assignment { guide, ..Assignment::of(Spec::of(StrategyId::Dpor)) }
            }
            Some(Next::Look) | None => self.inner.assign(run),
        };
        // Without the second, steps of a strand that goes on alone are not told.
        assignment.flags |= flags::STEPS | flags::READS | flags::CALLERS;
        assignment
    }

    /// A run has ended, and is not in the books yet.
    pub(crate) fn witness(&mut self, comparable: bool, lessons: &mut Lessons) {
        // What is behind a step that was lost is not known, and neither are the strands.
        let whole = lessons.steps_lost == 0;
        self.found.cut += u64::from(!whole);
        self.trace = (!lessons.news && whole).then(|| Trace::read(&planner::steps(lessons)));
        if matches!(self.next, Some(Next::Look)) {
            self.inner.witness(comparable, lessons);
        }
    }

    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons) {
        for goal in &mut self.goals {
            goal.granted_now = false;
        }
        if let Some(trace) = self.trace.take() {
            self.see(run, trace, &lessons);
        }
        match self.next.take() {
            Some(Next::Search) => {
                self.searched += 1;
                if let Some(planner) = &mut self.planner {
                    planner.learn(&lessons);
                }
            }
            Some(Next::Goal(at, plan)) => self.goals[at].tried(plan, !lessons.news),
            Some(Next::Look) | None => {
                self.looked += 1;
                self.inner.learn(run, lessons);
            }
        }
        self.advance();
    }

    /// Takes what a run's reads saw.
    fn see(&mut self, run: u64, trace: Trace, lessons: &Lessons) {
        self.longest = self.longest.max(trace.events.len());
        let reference = Arc::new(Reference::of(trace));
        self.found.see(run, &reference, !lessons.shown.is_empty());
        self.found.keep(&reference);
        if let Some(&key) = lessons.shown.first().filter(|_| run < LISTED) {
            self.found.failures.insert(run, key);
        }
        for goal in &mut self.goals {
            goal.see(run, &reference, &lessons.shown);
        }
        if !self.order.watch.is_empty() && self.found.samples.len() < SAMPLES {
            let sample = Sample::of(run, &reference, &self.order.watch, &lessons.races);
            self.found.samples.push(sample);
        }
    }

    /// Works out what the next run is for.
    fn advance(&mut self) {
        self.next = self.work_out();
    }

    fn work_out(&mut self) -> Option<Next> {
        if self.goals.is_empty() || self.looked < self.order.looks {
            return Some(Next::Look);
        }
        if let [goal] = &mut self.goals[..]
            && let Some(made) = &goal.progress.made
            && made.runs < self.order.again
        {
            return Some(goal.again().map_or(Next::Look, |plan| Next::Goal(0, plan)));
        }
        let may_look = self.looked < self.order.looks + MORE_LOOKS;
        for (at, goal) in self.goals.iter_mut().enumerate().filter(|(_, goal)| goal.is_open()) {
            if goal.progress.tries < self.order.tries
                && let Some(plan) = goal.plan()
            {
                return Some(Next::Goal(at, plan));
            }
            if goal.lacks_a_reference() && may_look {
                return Some(Next::Look);
            }
            goal.exhaust();
        }
        if self.goals.iter().all(|goal| goal.progress.made.is_some()) || self.searched >= self.order.search {
            return None;
        }
        if self.longest > SMALL {
            return None;
        }
        let model = self.model;
        let planner = self.planner.get_or_insert_with(|| {
            let mut planner = Planner::new(StrategyId::Dpor, 0);
            planner.set_model(model);
            Box::new(planner)
        });
        (!planner.is_done()).then_some(Next::Search)
    }
}
