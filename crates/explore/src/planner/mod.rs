//! Planners: which run comes next, by what all runs before it did.
//!
//! A planner makes plans, one at a time, and learns from what came of each; the strategy `planned` in the process carries
//! them out. Runs differ in what they know of the program (which instructions touch shared memory, which loops wait), and
//! a plan is good only for what was known when it was made: when a run has learnt something new, the planner begins anew.

mod dfs;
mod dpor;
mod hapset;
mod pcb;
mod trace;
mod waits;

use crate::advice::Lessons;
use std::collections::HashSet;
use std::sync::Arc;
use threadbare_abi::step::Step;
use threadbare_strategy::StrategyId;
use threadbare_strategy::planned::Notes;
use trace::{Analysis, Event, Trace};
use waits::Waits;

/// Who goes on at a decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pick {
    path: u64,
    by_deadline: bool,
    options: Vec<u32>,
}

impl Pick {
    fn of(event: &Event) -> Pick {
        let options = event.choices.iter().map(|(taken, _)| *taken).collect();
        Pick { path: event.path, by_deadline: event.by_deadline, options }
    }
}

/// What a run is to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    picks: Vec<Pick>,
    /// Who stays back after that, until a step that depends on its operation.
    sleepers: Vec<Event>,
}

impl Plan {
    /// The words of the guide; `None` if they do not fit.
    fn words(&self, waits: &Waits) -> Option<Vec<u64>> {
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        for pick in &self.picks {
            let flag = u64::from(pick.by_deadline);
            match pairs.last_mut() {
                Some((path, word)) if *path == pick.path && *word & 1 == flag => *word += 2,
                _ => pairs.push((pick.path, 2 | flag)),
            }
        }
        let mut words = vec![pairs.len() as u64];
        words.extend(pairs.iter().flat_map(|(path, word)| [*path, *word]));
        let options: Vec<u64> =
            self.picks.iter().flat_map(|pick| pick.options.iter().map(|&option| u64::from(option))).collect();
        words.push(options.len() as u64);
        words.extend(options);
        let mut sleepers = Vec::new();
        for event in &self.sleepers {
            if event.touches.is_empty() {
                sleepers.extend([event.path, 0, 0]);
            }
            for touch in &event.touches {
                let packed = touch.op.kind as u64 | u64::from(touch.op.size) << 8;
                sleepers.extend([event.path, packed, touch.op.addr]);
            }
        }
        words.push(sleepers.len() as u64 / 3);
        words.extend(sleepers);
        words.extend(waits.words());
        (words.len() < threadbare_abi::layout::WORDS_CAPACITY).then_some(words)
    }
}

/// What came of a plan.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What the run did; without rounds of loops that looked in vain, unless the search wants to see them.
    trace: Trace,
    analysis: Analysis,
    notes: Notes,
    /// The steps that looked in vain, by their place in the whole run.
    void: HashSet<usize>,
}

/// A way to choose plans.
pub(crate) trait Search: std::fmt::Debug + Send {
    /// The next plan; `None` when all is done.
    fn next(&mut self) -> Option<Plan>;
    /// What came of the plan.
    fn learn(&mut self, run: Ran);
    /// Whether it wants to see how often a loop looked in vain.
    fn takes_waits(&self) -> bool {
        false
    }
    /// What it has not looked at, if anything, by a bound of its own.
    fn bound(&self) -> Option<String>;
}

/// How far a planner is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// Whether every run that the planner promises has been made.
    pub complete: bool,
    /// Runs since the planner last began anew.
    pub runs: u64,
    /// Runs before that: they taught it what the program shares and where it waits.
    pub learning: u64,
    /// Different orders of dependent steps among the runs.
    pub classes: u64,
    /// Runs whose class another run had shown.
    pub repeated: u64,
    /// What was left out, in words.
    pub bounds: Vec<String>,
}

/// A planner at work.
#[derive(Debug)]
pub(crate) struct Planner {
    strategy: StrategyId,
    parameter: u64,
    search: Box<dyn Search>,
    waits: Waits,
    status: Status,
    classes: HashSet<u64>,
    next: Option<Arc<[u64]>>,
    /// Why runs are no longer taken into account.
    lost: Option<String>,
    /// Precompiled code looked at something where nobody could come in between.
    blind: bool,
    /// A loop was taken to wait that may end by itself.
    runs_out: bool,
}

/// The most steps of a run that are looked at: the time that takes grows with their square.
const MOST_EVENTS: usize = 1 << 14;
/// What is said of loops that end by themselves after too many rounds.
const RUNS_OUT: &str = "what comes when a loop has looked in vain more than 256 times";
/// What is said of precompiled code that nobody could come in between.
const BLIND: &str = "what others do right before a wait of precompiled code";

impl Planner {
    /// The planner of this name.
    pub(crate) fn new(strategy: StrategyId, parameter: u64) -> Planner {
        let mut planner = Planner {
            strategy,
            parameter,
            search: search(strategy, parameter),
            waits: Waits::default(),
            status: Status::default(),
            classes: HashSet::new(),
            next: None,
            lost: None,
            blind: false,
            runs_out: false,
        };
        planner.advance();
        planner
    }

    /// The guide of the next run.
    pub(crate) fn guide(&self) -> Arc<[u64]> {
        self.next.clone().unwrap_or_default()
    }

    /// Whether there is no other run to make.
    pub(crate) fn is_done(&self) -> bool {
        self.next.is_none()
    }

    /// Whether it can no longer be complete.
    pub(crate) fn is_cut(&self) -> bool {
        self.lost.is_some() || self.blind || self.runs_out || self.search.bound().is_some()
    }

    /// How far it is.
    pub(crate) fn status(&self) -> Status {
        let mut status = self.status.clone();
        status.bounds.extend(self.search.bound());
        status.bounds.extend(self.lost.clone());
        status.bounds.extend(self.blind.then(|| BLIND.to_owned()));
        status.bounds.extend(self.runs_out.then(|| RUNS_OUT.to_owned()));
        status.bounds.dedup();
        status.complete = self.is_done() && status.bounds.is_empty();
        status
    }

    /// A run has ended.
    pub(crate) fn learn(&mut self, lessons: &Lessons) {
        self.status.runs += 1;
        let (words, _) = lessons.steps.as_chunks();
        let steps: Vec<Step> = words.iter().map(|words| Step::from_words(*words)).collect();
        let trace = Trace::read(&steps);
        self.blind |= trace.blind;
        self.runs_out |= trace.spins.iter().any(|spin| spin.ends);
        let most = steps.len().min(MOST_EVENTS);
        if lessons.steps_lost > 0 || trace.events.len() > MOST_EVENTS {
            self.cut(format!("what could come of a run of more than {most} steps"));
            return;
        }
        if self.waits.learn(&trace) || lessons.news {
            self.begin_anew();
            return;
        }
        let notes = Notes::read(&lessons.notes);
        let void = self.waits.void(&trace);
        let whole = self.search.takes_waits().then(|| trace.clone());
        let trace = trace.without(&void);
        let analysis = trace.analyse(&self.waits);
        if self.classes.insert(analysis.class(&trace)) {
            self.status.classes += 1;
        } else {
            self.status.repeated += 1;
        }
        let run = match whole {
            Some(trace) => {
                let analysis = trace.analyse(&Waits::default());
                Ran { trace, analysis, notes, void }
            }
            None => Ran { trace, analysis, notes, void },
        };
        self.search.learn(run);
        self.advance();
    }

    /// What is known of the program has changed.
    pub(crate) fn begin_anew(&mut self) {
        if self.status.runs == 0 {
            return;
        }
        self.search = search(self.strategy, self.parameter);
        self.classes.clear();
        let learning = self.status.learning + self.status.runs;
        self.status = Status { learning, ..Status::default() };
        self.advance();
    }

    fn cut(&mut self, why: String) {
        self.lost.get_or_insert(why);
        self.advance();
    }

    fn advance(&mut self) {
        self.next = None;
        while let Some(plan) = self.search.next() {
            match plan.words(&self.waits) {
                Some(words) => {
                    self.next = Some(words.into());
                    return;
                }
                None => {
                    self.lost.get_or_insert_with(|| "plans with too many switches".to_owned());
                }
            }
        }
    }
}

fn search(strategy: StrategyId, parameter: u64) -> Box<dyn Search> {
    match strategy {
        StrategyId::Dfs => Box::new(dfs::Dfs::default()),
        StrategyId::Pcb => Box::new(pcb::Pcb::new(parameter)),
        StrategyId::Hapset => Box::new(hapset::Hapset::default()),
        _ => Box::new(dpor::Dpor::default()),
    }
}

/// Who could have gone on instead, by its deadline or without.
fn alternatives(event: &Event, paths: &[u64]) -> Vec<Pick> {
    let pick =
        |index: usize, by_deadline: bool| Pick { path: paths[index], by_deadline, options: Vec::new() };
    let mut picks = Vec::new();
    for index in (0..paths.len().min(64)).filter(|&index| event.enabled >> index & 1 == 1) {
        if index != event.index as usize {
            picks.push(pick(index, false));
        }
    }
    if let Some(index) = event.timed.map(usize::from)
        && index < paths.len()
        && !(event.by_deadline && index == event.index as usize)
    {
        picks.push(pick(index, true));
    }
    picks
}

/// The same step with other options, for the choices from this one on.
fn options(event: &Event, from: usize) -> Vec<Pick> {
    let mut picks = Vec::new();
    let taken: Vec<u32> = event.choices.iter().map(|(taken, _)| *taken).collect();
    for (at, &(first, options)) in event.choices.iter().enumerate().skip(from) {
        for option in (0..options).filter(|&option| option != first) {
            let mut others = taken[..=at].to_vec();
            others[at] = option;
            picks.push(Pick { path: event.path, by_deadline: event.by_deadline, options: others });
        }
    }
    picks
}
