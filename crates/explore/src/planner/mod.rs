//! Planners: which run comes next, by what all runs before it did.
//!
//! A planner makes plans, one at a time, and learns from what came of each; the strategy `planned` in the process carries
//! them out. Runs differ in what they know of the program (which instructions touch shared memory, which loops wait), and
//! a plan is good only for what was known when it was made: when a run has learnt something new, the planner begins anew.
//!
//! Planners read what each step of a run did (`engine/steps.rs`,
//! `abi::step`), work out which steps depend on each other and which pairs could have come otherwise, and give the
//! strategy `planned` the whole beginning of the next run, with the strands that are to stay back after it. Their
//! epochs have one run. What a planner's end shows is its *promise*, and every reason why it does not is typed
//! (`planner::claim`): its own, the campaign's (runs showed more classes than the planner made
//! orders), or what the runtime tells with an instruction (`abi::step::Doubt`); the cli gives it its place in the
//! source. A planner begins anew when a run has learnt of shared memory or of a loop that waits, since plans count
//! decisions.

mod claim;
mod dfs;
mod dpor;
mod functions;
mod graph;
mod hapset;
mod holds;
mod pcb;
mod states;
pub(crate) mod trace;
mod waits;

use crate::advice::Lessons;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use threadbare_abi::layout::MemoryModel;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::step::{Doubt, Step};
use threadbare_strategy::StrategyId;
use threadbare_strategy::planned::{Guide, Notes, Sleeper, Stretch};
use trace::{Analysis, Event, Trace};
use waits::Waits;

pub use claim::{Promise, Reason, Withdrawal};

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
    fn words(&self, first: &[(u32, u32)], waits: &Waits) -> Option<Vec<u64>> {
        let mut plan: Vec<Stretch> = Vec::new();
        for &Pick { path, by_deadline, .. } in &self.picks {
            match plan.last_mut() {
                Some(last) if (last.path, last.by_deadline) == (path, by_deadline) => last.decisions += 1,
                _ => plan.push(Stretch { path, decisions: 1, by_deadline }),
            }
        }
        let of_pick = |(at, pick): (usize, &Pick)| -> Vec<(u64, u32)> {
            pick.options.iter().map(|&option| (at as u64 + 1, option)).collect()
        };
        let mut options: Vec<(u64, u32)> = first.iter().map(|&(taken, _)| (0, taken)).collect();
        options.extend(self.picks.iter().enumerate().flat_map(of_pick));
        let mut sleepers = Vec::new();
        for event in &self.sleepers {
            let path = event.path;
            if event.touches.is_empty() {
                sleepers.push(Sleeper { path, kind: OpKind::Start, size: 0, addr: 0 });
            }
            let sleeper = |op: &Op| Sleeper { path, kind: op.kind, size: op.size, addr: op.addr };
            sleepers.extend(event.touches.iter().map(|touch| sleeper(&touch.op)));
        }
        let mut words = Vec::new();
        Guide { plan: &plan, options: &options, sleepers: &sleepers }.encode(&mut words);
        waits.tell(&mut words);
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
    /// What is true of the program's orders when all is done.
    fn promise(&self) -> Promise {
        Promise::Everything
    }
    /// Why that is not true.
    fn withdrawal(&self) -> Option<Reason> {
        None
    }
}

/// How far a planner is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// What is true when it is done.
    pub promise: Promise,
    /// Whether there is no other run to make.
    pub finished: bool,
    /// Runs since the planner last began anew.
    pub runs: u64,
    /// Runs before that: they taught it what the program shares and where it waits.
    pub learning: u64,
    /// Different orders of dependent steps among the runs.
    pub classes: u64,
    /// Runs whose class another run had shown.
    pub repeated: u64,
    /// Why the promise is not kept.
    pub withdrawn: Vec<Withdrawal>,
    /// What atomic loads could see in the runs.
    pub model: MemoryModel,
}

impl Status {
    /// Whether the promise is kept.
    pub fn holds(&self) -> bool {
        self.finished && self.withdrawn.is_empty()
    }

    /// Whether every order that makes a difference was run.
    pub fn is_complete(&self) -> bool {
        self.holds() && self.promise == Promise::Everything
    }
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
    /// Classes of runs that others chose, knowing the same of the program.
    witnessed: HashSet<u64>,
    next: Option<Arc<[u64]>>,
    /// What is chosen before the second strand: a search of its own for each.
    first: Vec<(u32, u32)>,
    /// Why less is true than was promised.
    withdrawn: Vec<Withdrawal>,
    /// What atomic loads may see.
    model: MemoryModel,
    /// How much was known of waiting loops when the search began.
    known: usize,
    /// The search was made once more with what it had taught.
    again: bool,
    /// Runs that are made when all else is done: in each a step that failed comes after whatever the others do. What it touches
    /// and they touch too may be known only then, since it never came after them.
    checks: Vec<(Vec<(u32, u32)>, Plan)>,
    /// The steps that failed, by strand and instruction.
    failed: HashSet<(u64, u64)>,
    /// The next run is such a one.
    checking: bool,
    /// Steps that others can see (a creation, a write, a lock given back), by strand and instruction; whether every run failed in them.
    seen: HashMap<(u64, u64), bool>,
}

/// The most faults of a run that a planner chooses.
pub const MOST_FAULTS: u32 = 1;

/// The most runs of a search that is made once more.
const MOST_AGAIN: u64 = 256;

/// The most steps of a run that are looked at: the time that takes grows with their square.
const MOST_EVENTS: usize = 1 << 14;

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
            witnessed: HashSet::new(),
            next: None,
            first: Vec::new(),
            withdrawn: Vec::new(),
            model: MemoryModel::Sc,
            known: 0,
            again: false,
            checks: Vec::new(),
            failed: HashSet::new(),
            checking: false,
            seen: HashMap::new(),
        };
        planner.advance();
        planner
    }

    /// What atomic loads may see in the runs.
    pub(crate) fn set_model(&mut self, model: MemoryModel) {
        self.model = model;
        self.waits.weak = model != MemoryModel::Sc;
        // Which store was the newest when depends on the order of stores that have nothing else to do with each other.
        if model == MemoryModel::Tso && self.strategy != StrategyId::Dfs {
            self.withdraw(Reason::Buffers, 0);
        }
    }

    /// The number of a run's class.
    fn class(&self, trace: &Trace, analysis: &Analysis) -> u64 {
        match self.model {
            MemoryModel::Sc => analysis.class(trace),
            _ => graph::class(&trace.clone().without(&self.waits.in_vain(trace))),
        }
    }

    /// The guide of the next run.
    pub(crate) fn guide(&self) -> Arc<[u64]> {
        self.next.clone().unwrap_or_default()
    }

    /// Whether there is no other run to make.
    pub(crate) fn is_done(&self) -> bool {
        self.next.is_none()
    }

    /// What was promised is not true, for this reason; `pc` is the instruction where that shows, or 0.
    pub(crate) fn withdraw(&mut self, reason: Reason, pc: u64) {
        let withdrawal = Withdrawal { reason, pc };
        if !self.withdrawn.contains(&withdrawal) {
            self.withdrawn.push(withdrawal);
        }
    }

    /// How far it is.
    pub(crate) fn status(&self) -> Status {
        let finished = self.is_done();
        let own = self.search.withdrawal();
        let more = self.witnessed.iter().filter(|class| !self.classes.contains(class)).count() as u64;
        let more = (finished && more > 0).then_some(Reason::MoreClasses(more));
        let own = own.into_iter().chain(more).map(|reason| Withdrawal { reason, pc: 0 });
        // Nobody who has seen such a step comes between it and the failure, so what he and the failing strand share was never learnt.
        let failing = self.seen.iter().filter(|(_, fails)| **fails).map(|((_, pc), _)| *pc);
        let mut failing: Vec<u64> = failing.collect();
        failing.sort_unstable();
        let failing = failing.into_iter().map(|pc| Withdrawal { reason: Reason::FailsFirst, pc });
        Status {
            promise: self.search.promise(),
            finished,
            model: self.model,
            withdrawn: own.chain(failing).chain(self.withdrawn.iter().cloned()).collect(),
            ..self.status.clone()
        }
    }

    /// A run has ended that others chose. If it shows a class that the planner does not know when it is done, the planner has
    /// missed something, whatever it is. What the run teaches of loops that wait is learnt; whether there was such a thing.
    pub(crate) fn witness(&mut self, comparable: bool, lessons: &mut Lessons) -> bool {
        if lessons.news {
            self.begin_anew();
        }
        if let Some(class) = lessons.class {
            self.witnessed.insert(class);
            return false;
        }
        let trace = Trace::read(&steps(lessons));
        if trace.events.is_empty() || trace.events.len() > MOST_EVENTS || lessons.steps_lost > 0 {
            return false;
        }
        self.look_for_polls(&trace);
        let taught = self.waits.learn(&trace);
        if taught {
            self.begin_anew();
        }
        // A run that made rounds of a loop in one step has fewer steps than a planned one of the same order.
        let apart = trace.doubts.iter().all(|(doubt, _)| *doubt != Doubt::Rounds);
        if comparable && apart && !lessons.news {
            let void = self.waits.void(&trace);
            let trace = trace.without(&void);
            let class = named(self.class(&trace, &trace.analyse(&self.waits)), &trace.first);
            lessons.class = Some(class).filter(|_| !taught);
            self.witnessed.insert(class);
        }
        taught
    }

    /// A loop that is taken to wait may end by itself.
    fn look_for_polls(&mut self, trace: &Trace) {
        for spin in trace.spins.iter().filter(|spin| spin.ends) {
            self.withdraw(Reason::LongPoll, spin.places.first().map_or(0, |place| place.pc));
        }
    }

    /// A run has ended.
    pub(crate) fn learn(&mut self, lessons: &Lessons) {
        self.status.runs += 1;
        let steps = steps(lessons);
        let trace = Trace::read(&steps);
        let merges = |&&(doubt, _): &&(Doubt, u64)| doubt == Doubt::Merge;
        for &(doubt, pc) in trace.doubts.iter().filter(|it| !merges(it)) {
            self.withdraw(Reason::Seen(doubt), pc);
        }
        self.look_for_polls(&trace);
        let most = steps.len().min(MOST_EVENTS);
        if lessons.steps_lost > 0 || trace.events.len() > MOST_EVENTS {
            self.withdraw(Reason::LongRun(most), 0);
            self.advance();
            return;
        }
        if self.waits.learn(&trace) || lessons.news {
            self.begin_anew();
            return;
        }
        if std::mem::take(&mut self.checking) {
            // It taught nothing.
            self.status.runs -= 1;
            self.status.learning += 1;
            self.advance();
            return;
        }
        self.see_failure(&trace);
        let notes = Notes::read(&lessons.notes);
        let void = self.waits.void(&trace);
        let whole = self.search.takes_waits().then(|| trace.clone());
        let trace = trace.without(&void);
        let analysis = trace.analyse(&self.waits);
        for &(doubt, pc) in trace.doubts.iter().filter(merges) {
            if analysis.races_at(&trace, pc) {
                self.withdraw(Reason::Seen(doubt), pc);
            }
        }
        for pc in analysis.torn(&trace) {
            self.withdraw(Reason::Seen(Doubt::Torn), pc);
        }
        // The creation of the second strand is no step.
        let seen = trace.events.iter().filter(|event| event.is_seen());
        let seen = seen.map(|event| ((event.path, event.op.pc), event.fails));
        for (step, fails) in seen.chain([((0, 0), trace.is_cut_at_once())]) {
            *self.seen.entry(step).or_insert(true) &= fails;
        }
        self.first.clone_from(&trace.first);
        if self.classes.insert(named(self.class(&trace, &analysis), &trace.first)) {
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

    /// If the run has failed, the step that did is tried behind all others, once for each.
    fn see_failure(&mut self, trace: &Trace) {
        let Some((last, before)) = trace.events.split_last().filter(|(last, _)| last.fails) else { return };
        if self.strategy == StrategyId::Dpor && self.failed.insert((last.path, last.op.pc)) {
            // Who may end the process stays back, too.
            let main = trace.paths.first().filter(|path| **path != last.path);
            let main = main.map(|&path| Event { path, touches: Vec::new(), ..last.clone() });
            let sleepers = [last.clone()].into_iter().chain(main).collect();
            let picks = before.iter().map(Pick::of).collect();
            self.checks.push((trace.first.clone(), Plan { picks, sleepers }));
        }
    }

    /// What is known of the program has changed.
    pub(crate) fn begin_anew(&mut self) {
        self.witnessed.clear();
        if self.status.runs == 0 {
            return;
        }
        self.search = search(self.strategy, self.parameter);
        self.first.clear();
        self.classes.clear();
        self.seen.clear();
        self.checks.clear();
        self.failed.clear();
        self.checking = false;
        // A loop that was not known to wait yet may have seen an older store again and again.
        self.withdrawn.retain(|it| it.reason != Reason::Seen(Doubt::Stale));
        self.known = self.waits.known();
        let learning = self.status.learning + self.status.runs;
        self.status = Status { learning, ..Status::default() };
        self.advance();
    }

    fn advance(&mut self) {
        self.next = None;
        loop {
            while let Some(plan) = self.search.next() {
                match plan.words(&self.first, &self.waits) {
                    Some(words) => {
                        self.next = Some(words.into());
                        return;
                    }
                    None => self.withdraw(Reason::LongPlan, 0),
                }
            }
            if self.begin_otherwise() {
                continue;
            }
            let Some((first, plan)) = self.checks.pop() else { return self.make_again() };
            if let Some(words) = plan.words(&first, &self.waits) {
                (self.next, self.checking) = (Some(words.into()), true);
                return;
            }
        }
    }

    /// Small searches in which runs looked in vain are made once more: now it is known when strands wait.
    fn make_again(&mut self) {
        let taught = self.status.repeated > 0 && self.waits.known() > self.known;
        if taught && self.status.runs <= MOST_AGAIN && !self.again {
            self.again = true;
            self.begin_anew();
        }
    }

    /// The next options of what is chosen before the second strand; false if there are no others.
    fn begin_otherwise(&mut self) -> bool {
        while self.first.pop_if(|(taken, options)| *taken + 1 >= *options).is_some() {}
        let Some(last) = self.first.last_mut() else { return false };
        last.0 += 1;
        if let Some(reason) = self.search.withdrawal() {
            self.withdraw(reason, 0);
        }
        self.search = search(self.strategy, self.parameter);
        true
    }
}

/// The name of a class of runs that began with these choices.
fn named(class: u64, first: &[(u32, u32)]) -> u64 {
    first.iter().fold(class, |class, &(taken, options)| {
        threadbare_strategy::rng::mix(class ^ u64::from(taken) << 32 ^ u64::from(options))
    })
}

pub(crate) fn steps(lessons: &Lessons) -> Vec<Step> {
    let (words, _) = lessons.steps.as_chunks();
    words.iter().map(|words| Step::from_words(*words)).collect()
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

/// The same step with other options, for the choices from this one on. `faults` happened before it.
fn options(event: &Event, from: usize, faults: u32) -> Vec<Pick> {
    let mut picks = Vec::new();
    let mut faults = faults;
    let taken: Vec<u32> = event.choices.iter().map(|(taken, _)| *taken).collect();
    for (at, &(first, options)) in event.choices.iter().enumerate() {
        let fault = event.is_fault(at);
        let enough = fault && faults >= MOST_FAULTS && first == 0;
        faults += if fault { first } else { 0 };
        if at < from || enough {
            continue;
        }
        for option in (0..options).filter(|&option| option != first) {
            let mut others = taken[..=at].to_vec();
            others[at] = option;
            picks.push(Pick { path: event.path, by_deadline: event.by_deadline, options: others });
        }
    }
    picks
}
