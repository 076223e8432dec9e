//! Active testing: iroots that runs predict and no run has shown are forced, one after another.
//!
//! Every run that tells its steps shows iroots and predicts others ([`threadbare_idioms`]). For each that was not shown, a run in which its accesses
//! were made says which steps have to wait for which ([`plan`]), and the strategy `ordered` holds strands back accordingly: that is
//! a strand that stands before e1 until another has made e0, with the patience of that strategy. What does not come true in a few
//! different ways counts as infeasible and is not tried again. Simple idioms come first.
//!
//! Of a run that learns of shared memory some accesses are out of sight. It is made a second time from its own schedule, by which they are all told; where that
//! is not possible it shows nothing here.

mod plan;
mod target;
mod values;
pub(crate) mod view;

use crate::advice::{Advice, Assignment, Lessons};
use crate::futures::wish::Reference;
use crate::planner;
use crate::planner::trace::Trace;
use plan::Profile;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use target::Target;
use threadbare_abi::event::ChoiceKind;
use threadbare_abi::layout::flags;
use threadbare_abi::step::{Step, StepKind};
use threadbare_idioms::local::Local;
use threadbare_idioms::{Iroot, Limits, predict, shown};
use threadbare_strategy::{Spec, StrategyId, ordered};
use values::Ways;

/// What a campaign is to do about iroots.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// How much is looked for.
    pub limits: Limits,
    /// What earlier runs learnt of shared memory.
    pub known: Vec<u64>,
    /// Iroots that are not to be forced: others have shown them, or found that they cannot be.
    pub settled: Arc<BTreeSet<Iroot>>,
    /// Runs that only look, before the first that forces something; the first that teaches nothing new of shared memory ends them if this
    /// is 0.
    pub looks: u64,
    /// Iroots are forced; otherwise it is only looked at what runs show.
    pub force: bool,
    /// The first run that can be looked at is the last.
    pub once: bool,
    /// What was shown by chance is forced as well, with all other strands kept away, and then other instances of each iroot.
    pub deep: bool,
    /// Without that, other instances are forced by so many runs, or as many as there are iroots: a place may be in a function that all call, as what locks in a library.
    pub others: usize,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// The iroots that runs predicted or showed.
    pub predicted: BTreeSet<Iroot>,
    /// Those that runs showed, each with the first such run.
    pub shown: BTreeMap<Iroot, u64>,
    /// Those that were tried and did not come true.
    pub infeasible: BTreeSet<Iroot>,
    /// Those that were predicted at first and count so no longer: one of their dependencies is infeasible, or no order of the steps of the runs that predicted them
    /// has them, because strands would wait for each other, or would read values with which they were seen to go other ways; a run has tried that all the same, in vain.
    pub struck: BTreeSet<Iroot>,
    /// Runs that were looked at.
    pub runs: u64,
    /// Runs that were to force something, and those of them that did.
    pub forced: (u64, u64),
    /// A run predicted more than the limit.
    pub cut: bool,
    /// The accesses of the first run that was looked at, by place and what they do, with how many of each: another input that has the same does the same.
    pub counts: BTreeMap<u64, u32>,
    /// The same of every run, each count that some run had, as the next power of two.
    pub all_counts: BTreeSet<(u64, u32)>,
    /// What the program itself chose in it, in its order.
    pub own: Vec<u64>,
}

impl Found {
    /// How many there are of each idiom.
    pub fn by_idiom<'a>(iroots: impl IntoIterator<Item = &'a Iroot>) -> [u64; threadbare_idioms::IDIOMS] {
        let mut counts = [0; threadbare_idioms::IDIOMS];
        for iroot in iroots {
            counts[usize::from(iroot.idiom).clamp(1, counts.len()) - 1] += 1;
        }
        counts
    }
}

/// Why the next run is made.
#[derive(Debug)]
enum Next {
    Look,
    /// Once more, when all is done.
    LookAgain,
    Force(Iroot, Arc<[u64]>),
}

/// Who decides what is left open, in turn.
const RESTS: [StrategyId; 4] = [StrategyId::Delay, StrategyId::Pos, StrategyId::Random, StrategyId::Pct];
/// Runs that look for something to force, beyond those that were asked for.
const MORE_LOOKS: u64 = 16;
/// Runs that are asked for what they predict, although they come to no new place.
const PREDICTING: u64 = 24;

/// Times that all iroots are gone through for another instance of each, those from which on strands may go other ways than they did, and how many iroots.
const ROUNDS: u32 = 12;
const DOUBTFUL: u32 = 9;
const INSTANCES: usize = 4096;

/// Runs that look once more when all is done: until so many one after another come to no new place and predict nothing new.
const LAST_LOOKS: u64 = 48;

/// Iroots that were struck out, which are looked at again by a run that predicts them, at the most.
const REOPENED: u32 = 200;

/// The adviser.
#[derive(Debug)]
pub(crate) struct Chooser {
    inner: Advice,
    order: Arc<Order>,
    found: Found,
    targets: HashMap<Iroot, Target>,
    open: VecDeque<Iroot>,
    /// Iroots with different instances of each, for when all were shown or tried in vain; how often all of them were gone through, and the last of this time.
    instances: BTreeMap<Iroot, Target>,
    round: u32,
    /// Runs that forced other instances.
    others: usize,
    last: Option<Iroot>,
    /// Runs that looked once more at the end, since the last of them that came to a new place or predicted something new.
    in_vain: u64,
    seen: HashSet<u64>,
    /// Where strands went by what they read.
    ways: Ways,
    next: Option<Next>,
    looked: u64,
    /// A run that was looked at did not fail: those that do have not come to their end.
    passed: bool,
    /// Iroots that runs were to force.
    forced: HashSet<Iroot>,
    /// The steps of the run that comes into the books.
    trace: Option<Trace>,
}

impl Chooser {
    pub(crate) fn new(inner: Advice, order: Arc<Order>) -> Chooser {
        Chooser {
            // What was shown by chance is not forced where there are few runs.
            round: u32::from(!order.deep),
            inner,
            order,
            found: Found::default(),
            targets: HashMap::new(),
            open: VecDeque::new(),
            instances: BTreeMap::new(),
            others: 0,
            last: None,
            in_vain: 0,
            seen: HashSet::new(),
            ways: Ways::default(),
            next: Some(Next::Look),
            looked: 0,
            passed: false,
            forced: HashSet::new(),
            trace: None,
        }
    }

    /// Whether every run depends on the one before it.
    pub(crate) fn forces(&self) -> bool {
        self.order.force || self.order.once
    }

    pub(crate) fn inner(&self) -> &Advice {
        &self.inner
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Advice {
        &mut self.inner
    }

    pub(crate) fn is_done(&self) -> bool {
        self.next.is_none()
    }

    pub(crate) fn found(&self) -> Found {
        self.found.clone()
    }

    pub(crate) fn assign(&mut self, run: u64) -> Assignment {
        let mut assignment = match &self.next {
            Some(Next::Force(_, guide)) => {
                Assignment { guide: Arc::clone(guide), ..Assignment::of(with_rest(run)) }
            }
            Some(Next::LookAgain) => Assignment::of(with_rest(run)),
            Some(Next::Look) | None => self.inner.assign(run),
        };
        // Without the second, steps of a strand that goes on alone are not told.
        assignment.flags |= flags::STEPS | flags::READS;
        assignment
    }

    /// A run has ended, and is not in the books yet.
    pub(crate) fn witness(&mut self, comparable: bool, lessons: &mut Lessons) {
        let steps = planner::steps(lessons);
        if self.found.runs == 0 {
            let own = |step: &&Step| step.kind == StepKind::Choice as u8 && step.op == ChoiceKind::Own as u8;
            self.found.own = steps.iter().filter(own).map(|step| step.addr).collect();
        }
        self.trace =
            ((!lessons.news || lessons.remade) && lessons.steps_lost == 0).then(|| Trace::read(&steps));
        if matches!(self.next, Some(Next::Look)) {
            self.inner.witness(comparable, lessons);
        }
    }

    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons) {
        let told = self.trace.take();
        let fair = told.is_some();
        self.passed |= fair && lessons.shown.is_empty();
        let shown = told.map(|trace| self.see(run, trace)).unwrap_or_default();
        match self.next.take() {
            Some(Next::Force(iroot, guide)) => {
                self.found.forced.0 += 1;
                self.forced.insert(iroot);
                self.found.forced.1 += u64::from(shown.contains(&iroot));
                if let Some(target) = self.targets.get_mut(&iroot) {
                    target.tried(&guide, fair);
                }
            }
            Some(Next::LookAgain) => self.in_vain += 1,
            Some(Next::Look) | None => {
                self.looked += 1;
                self.inner.learn(run, lessons);
            }
        }
        self.next = self.work_out();
    }

    /// Takes what a run showed and predicts.
    fn see(&mut self, run: u64, trace: Trace) -> BTreeSet<Iroot> {
        self.ways.learn(&trace);
        let reference = Reference::of(trace);
        let view = view::of(&reference);
        let limits = &self.order.limits;
        let new = view.accesses.iter().filter(|access| self.seen.insert(access.place)).count() > 0;
        let before = self.found.predicted.len();
        let shown: BTreeSet<Iroot> =
            shown(&view, limits).into_iter().filter(|iroot| iroot.idiom <= limits.idioms).collect();
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        for access in &view.accesses {
            *counts.entry(access.place ^ (access.does as u64) << 60).or_default() += 1;
        }
        self.found
            .all_counts
            .extend(counts.iter().map(|(&place, &count)| (place, count.next_power_of_two())));
        if self.found.runs == 0 {
            self.found.counts = counts;
        }
        self.found.runs += 1;
        for &iroot in &shown {
            self.found.shown.entry(iroot).or_insert(run);
            self.found.predicted.insert(iroot);
            self.found.infeasible.remove(&iroot);
            self.found.struck.remove(&iroot);
            self.targets.remove(&iroot);
        }
        let again = matches!(self.next, Some(Next::LookAgain));
        if !new && !again && self.found.runs > PREDICTING {
            return shown;
        }
        let predicted = predict(&view, limits);
        self.found.cut |= predicted.cut;
        let local = Local::of(&view, limits.window);
        let profile = Arc::new(Profile { reference, run: view, local });
        let mut looks = REOPENED;
        for (iroot, instances) in predicted.iroots {
            if self.found.struck.contains(&iroot) {
                if !self.order.force || looks == 0 {
                    continue;
                }
                // What no order of earlier runs had, one of this run may have.
                looks -= 1;
                let mut target = Target::default();
                target.add(&profile, &instances);
                if !target.seems_possible(&iroot, &self.ways) {
                    continue;
                }
                self.found.struck.remove(&iroot);
            }
            let is_new = self.found.predicted.insert(iroot);
            let open = !self.found.shown.contains_key(&iroot) && !self.found.infeasible.contains(&iroot);
            if (self.order.deep || self.order.others > 0)
                && iroot.idiom < 6
                && self.instances.len() < INSTANCES
            {
                self.instances.entry(iroot).or_default().add_others(&profile, &instances);
            }
            if !self.order.force || !open || self.order.settled.contains(&iroot) {
                continue;
            }
            if is_new {
                self.open.push_back(iroot);
            }
            self.targets.entry(iroot).or_default().add(&profile, &instances);
        }
        self.open.make_contiguous().sort_unstable();
        if again && (new || self.found.predicted.len() > before) {
            (self.in_vain, self.round, self.last) = (0, 0, None);
        }
        shown
    }

    /// Works out what the next run is for.
    fn work_out(&mut self) -> Option<Next> {
        if self.order.once && self.found.runs > 0 {
            return None;
        }
        if !self.order.force || self.looked < self.order.looks {
            return Some(Next::Look);
        }
        // Runs that ended early, by a failure or by what is assumed, have not shown what strands share.
        let nothing = self.order.deep && self.found.predicted.is_empty();
        if (!self.passed || nothing) && self.looked < self.order.looks + MORE_LOOKS {
            return Some(Next::Look);
        }
        while let Some(&iroot) = self.open.front() {
            // What has a dependency that cannot be cannot be.
            let not = |it: &Iroot| self.found.infeasible.contains(it) || self.found.struck.contains(it);
            if iroot.dependencies().any(|it| not(&it)) && self.targets.remove(&iroot).is_some() {
                self.found.predicted.remove(&iroot);
                self.found.struck.insert(iroot);
            }
            if let Some(target) = self.targets.get_mut(&iroot) {
                if let Some(guide) = target.plan(&iroot, &self.ways) {
                    return Some(Next::Force(iroot, guide));
                }
                let seems_possible = target.seems_possible(&iroot, &self.ways);
                self.targets.remove(&iroot);
                if seems_possible {
                    self.found.infeasible.insert(iroot);
                } else {
                    self.found.predicted.remove(&iroot);
                    self.found.struck.insert(iroot);
                }
            }
            self.open.pop_front();
        }
        self.another()
    }

    /// What was shown or tried, once more: by chance it was shown with others in between, or with an object with which nothing fails; and what cannot be with one may
    /// be with another.
    fn another(&mut self) -> Option<Next> {
        let enough = !self.order.deep && self.others >= self.order.others.max(self.instances.len());
        while self.round < ROUNDS && !enough {
            let behind = self.last.map_or(Bound::Unbounded, Bound::Excluded);
            let Some((&iroot, target)) = self.instances.range_mut((behind, Bound::Unbounded)).next() else {
                (self.round, self.last) = (self.round + 1, None);
                continue;
            };
            self.last = Some(iroot);
            let guide = match self.round {
                0 if self.forced.contains(&iroot) => None,
                0 => target.plan_first(&iroot, &self.ways),
                round => target.plan_again(&iroot, (round < DOUBTFUL).then_some(&self.ways)),
            };
            if let Some(guide) = guide {
                self.others += 1;
                return Some(Next::Force(iroot, guide));
            }
        }
        // What comes to pass in one run of ten, as a deadline before everybody else, may have come to pass in none so far.
        (self.order.deep && self.in_vain < LAST_LOOKS).then_some(Next::LookAgain)
    }
}

/// Holds, with another strategy for what they leave open in each run.
fn with_rest(run: u64) -> Spec {
    let rest = RESTS[run as usize % RESTS.len()];
    debug_assert!(ordered::can_have_the_rest(rest));
    let mut spec = Spec::of(StrategyId::Ordered);
    spec.params[0] = rest as u64;
    spec
}
