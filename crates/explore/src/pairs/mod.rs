//! Calls that run against each other: which there are, seen in runs, and tests of two at a time.
//!
//! A campaign without tests looks: each run that tells its steps is kept with the functions they were made in ([`Found::runs`]). A campaign with tests makes the runs of each ([`trials`]) by the strategy
//! `paired`: two strands stand before their calls, everyone else is held, and the two run on in many orders. Each of them is a run of the whole program, so what it shows is true of it.
//!
//! A run that learnt of shared memory is not looked at: some of its accesses were out of sight.
//!
//! With `FUNCTIONS`, steps tell which functions
//! a strand has come into (`planner::functions`). `crates/pairs` makes calls of them, inlined functions included, finds
//! accesses of two strands to the same bytes that no creation, join or barrier orders, and with them the calls that may
//! meet (`meet`); locks that one call has from beginning to end and the other takes keep them apart. `choose` is a
//! cover: every conflict, and every two that a pair brings together, is in one test. The code's part is
//! `code::terms::dependence`, lifted over calls. A test is runs of the strategy `paired`: strands come to their calls
//! as the run did that showed them (a schedule prefix), or in other ways, are held there, and run on alone in orders
//! that `trials` lists; `atomic` compares what they left. Nothing is rebuilt, so a finding needs no second look.

mod atomic;
mod closely;
mod trials;
mod view;

use crate::advice::{Advice, Assignment, Lessons};
use crate::planner;
use crate::planner::trace::Trace;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use threadbare_abi::layout::flags;
use threadbare_pairs::{Meeting, RunSteps};
use threadbare_strategy::{Spec, StrategyId};
use trials::{Trial, Trials};

pub use closely::{Allocation, Close, allocations, closely, look};

/// What a campaign is to do about calls.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Tests, each with the meetings that it may be made by; none to look only.
    pub tests: Vec<Vec<Meeting>>,
    /// What earlier runs learnt of shared memory.
    pub known: Vec<u64>,
    /// Runs of one test, at the most.
    pub each: u64,
}

/// What came of a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Its runs.
    pub runs: u64,
    /// Runs in which both strands stood before their calls at the same time.
    pub met: u64,
    /// Runs in which both calls came to their ends.
    pub done: u64,
    /// Runs in which others had to go on, because both waited.
    pub helped: u64,
    /// What failed, by key, and in which run first.
    pub shown: BTreeMap<u64, u64>,
    /// What ended runs in which both calls had come to their ends, by key, and how many.
    after: BTreeMap<u64, u64>,
    /// What ended runs in the midst of the calls.
    during: BTreeSet<u64>,
    /// The first run that left something that neither order leaves.
    pub torn: Option<u64>,
    /// Whether it was compared.
    pub compared: bool,
    /// The first runs in which one call came after the other, by which of them began, in the same way of coming to them, with the number of the meeting.
    pub plain: [Option<u64>; 2],
    /// The meeting of those.
    pub meeting: Option<usize>,
}

/// What came of it all.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Runs that were looked at.
    pub runs: Vec<Arc<RunSteps>>,
    /// Those that could have been, and were too many.
    pub more: u64,
    /// What came of each test.
    pub tests: Vec<Progress>,
    /// Runs in which one call came after the other, of all tests, and what ended them.
    plain: (u64, BTreeMap<u64, u64>),
}

impl Found {
    /// Whether a failure that a test's runs showed comes of its two calls. The rest of the program runs on when they have ended: what fails then as often where one call came
    /// after the other has another cause.
    pub fn is_of(&self, test: usize, key: u64) -> bool {
        let progress = &self.tests[test];
        let Some(&after) = progress.after.get(&key).filter(|_| !progress.during.contains(&key)) else {
            return true;
        };
        let (runs, plain) = (self.plain.0, self.plain.1.get(&key).copied().unwrap_or(0));
        plain == 0 || after * runs > OFTENER * plain * progress.done
    }
}

/// Runs that are kept, and how much of them.
const KEPT: usize = 48;
const WEIGHT: usize = 1 << 20;
/// How much oftener a failure has to come than elsewhere, to be a test's.
const OFTENER: u64 = 2;
/// Who decides what is left open, in turn.
const RESTS: [StrategyId; 3] = [StrategyId::Random, StrategyId::Pos, StrategyId::Pct];

/// A test under way.
#[derive(Debug)]
struct Test {
    trials: Trials,
    outcomes: atomic::Outcomes,
}

/// The adviser.
#[derive(Debug)]
pub(crate) struct Chooser {
    inner: Advice,
    order: Arc<Order>,
    found: Found,
    weight: usize,
    at: usize,
    test: Option<Test>,
    next: Option<Trial>,
    /// The steps of the run that comes into the books.
    trace: Option<Trace>,
}

impl Chooser {
    pub(crate) fn new(inner: Advice, order: Arc<Order>) -> Chooser {
        let tests = vec![Progress::default(); order.tests.len()];
        let found = Found { tests, ..Found::default() };
        let (test, next, trace) = (None, None, None);
        let mut chooser = Chooser { inner, order, found, weight: 0, at: 0, test, next, trace };
        chooser.advance();
        chooser
    }

    /// Whether every run depends on the one before it.
    pub(crate) fn tests(&self) -> bool {
        !self.order.tests.is_empty()
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
            Some(trial) => {
                let mut spec = Spec::of(StrategyId::Paired);
                // What is compared is to differ in the order of the two calls alone.
                spec.params[0] = RESTS[run as usize % RESTS.len()] as u64;
                let meeting = &self.order.tests[self.at][trial.meeting];
                Assignment { guide: trial.words(meeting), ..Assignment::of(spec) }
            }
            None => self.inner.assign(run),
        };
        // Without the second, steps of a strand that goes on alone are not told.
        assignment.flags |= flags::STEPS | flags::READS | flags::FUNCTIONS;
        assignment
    }

    /// A run has ended, and is not in the books yet.
    pub(crate) fn witness(&mut self, comparable: bool, lessons: &mut Lessons) {
        let whole = !lessons.news && lessons.steps_lost == 0;
        self.trace = whole.then(|| Trace::read(&planner::steps(lessons)));
        if self.next.is_none() {
            self.inner.witness(comparable, lessons);
        }
    }

    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons) {
        let trace = self.trace.take();
        match self.next.take() {
            Some(trial) => {
                self.tried(run, &trial, &lessons, trace.as_ref());
                self.advance();
            }
            None => {
                if let Some(trace) = trace {
                    self.look(run, &trace);
                }
                self.inner.learn(run, lessons);
            }
        }
    }

    fn look(&mut self, run: u64, trace: &Trace) {
        if self.found.runs.len() >= KEPT || self.weight >= WEIGHT {
            self.found.more += 1;
            return;
        }
        let run = view::of(run, trace);
        self.weight += run.weight();
        self.found.runs.push(Arc::new(run));
    }

    fn tried(&mut self, run: u64, trial: &Trial, lessons: &Lessons, trace: Option<&Trace>) {
        let note = |at: usize| lessons.notes.get(at).copied().unwrap_or(0);
        let (met, done, helped) = (note(0) != 0, note(1) == 3, note(2) > 0);
        if met && done && trial.is_plain() {
            self.found.plain.0 += 1;
            for &key in &lessons.shown {
                *self.found.plain.1.entry(key).or_default() += 1;
            }
        }
        let progress = &mut self.found.tests[self.at];
        progress.runs += 1;
        progress.met += u64::from(met);
        progress.done += u64::from(met && done);
        progress.helped += u64::from(met && helped);
        if met {
            for &key in &lessons.races {
                progress.shown.entry(key).or_insert(run);
            }
            for &key in &lessons.shown {
                if done {
                    *progress.after.entry(key).or_default() += 1;
                } else {
                    progress.during.insert(key);
                }
            }
        }
        // Calls that are held late have begun.
        if met && done && !helped && trial.is_plain() && trial.state().2 == 0 {
            let same = *progress.meeting.get_or_insert(trial.meeting) == trial.meeting;
            if same {
                progress.plain[trial.begins() as usize].get_or_insert(run);
            }
        }
        let Some(test) = &mut self.test else { return };
        if met {
            test.trials.met();
        }
        let meeting = &self.order.tests[self.at][trial.meeting];
        if met
            && done
            && !helped
            && trial.is_fixed()
            && lessons.shown.is_empty()
            && let Some((left, in_turn)) = trace.and_then(|trace| atomic::left(trace, meeting))
        {
            let begins = (trial.is_plain() && in_turn).then(|| trial.begins());
            test.outcomes.add(trial.state(), begins, run, left);
        }
    }

    /// Works out what the next run is for.
    fn advance(&mut self) {
        while let Some(meetings) = self.order.tests.get(self.at) {
            let test = self
                .test
                .get_or_insert_with(|| Test { trials: Trials::new(meetings), outcomes: Default::default() });
            if self.found.tests[self.at].runs < self.order.each
                && let Some(trial) = test.trials.next(meetings)
            {
                self.next = Some(trial);
                return;
            }
            let progress = &mut self.found.tests[self.at];
            (progress.torn, progress.compared) = test.outcomes.judge();
            self.test = None;
            self.at += 1;
        }
    }
}
