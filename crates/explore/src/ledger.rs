//! The campaign's books: which run is next, what is known, what came out. Pure state, no threads, no processes.

use crate::advice::{Advice, Assignment};
use crate::campaign::{Ending, Progress, Summary};
use crate::digest::Digest;
use crate::error::Error;
use crate::futures::Order;
use crate::idioms;
use crate::journal::Log;
use crate::outcome::{Outcome, Shown};
use crate::pairs;
use crate::planner::{Reason, Status};
use crate::predict::{Prediction, Predictions, Tried, Unproved};
use crate::search::Search;
use crate::task_ledger::TaskLedger;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{FACTS_CAPACITY, MemoryModel};
use threadbare_abi::verdict::VerdictKind;
use threadbare_coverage::Books;
use threadbare_coverage::tasks::Seen;
use threadbare_strategy::{Spec, StrategyId};
use threadbare_trace::hash::Fnv;
use threadbare_trace::report::{Module, Warning};
use threadbare_trace::run::RunFacts;

/// The longest epoch of the first runs, and of all.
const LONGEST_EPOCH: u64 = 64;
const LONGEST_LATER: u64 = 1024;
/// An epoch beyond these has so small a part of all runs before it: what it shows changes little, and jobs wait for each other seldom.
const PART_LATER: u64 = 64;

/// A run to make.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub(crate) run: u64,
    pub(crate) known: Arc<[u64]>,
    pub(crate) estimates: (u64, u64),
    pub(crate) assignment: Assignment,
    /// What earlier free runs covered.
    pub(crate) tasks: Arc<Seen>,
    /// Noise goes where that has gaps, if it is to.
    pub(crate) guided: bool,
    /// It is no run of the campaign's own: these tries are to be made instead.
    pub(crate) prediction: Option<Arc<Prediction>>,
}

/// Something a run showed: its failure, or a data race.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The run; of a predicted deadlock, the run it was predicted from.
    pub run: u64,
    /// Whether it was predicted: a run of its own showed it then.
    pub predicted: bool,
    /// The same for what is surely the same.
    pub key: u64,
    /// Whether the run has failed by it; else it is only told.
    pub fails: bool,
    /// Whether nobody is to hear of it.
    pub hidden: bool,
    /// The run's own verdict.
    pub verdict: VerdictKind,
    /// What is known of it; `None` when an earlier run had the same key.
    pub facts: Option<Box<RunFacts>>,
    /// The pcs the run knew.
    pub known: Arc<[u64]>,
    /// Choices and strands the strategy was told of.
    pub estimates: (u64, u64),
    /// The strategy; of a predicted deadlock, the one that decides when nothing is held back.
    pub strategy: Spec,
    /// What it was told besides.
    pub guide: Arc<[u64]>,
}

/// Why a campaign is to end.
#[derive(Debug)]
pub(crate) enum Stop {
    Time,
    Failure,
    Enough,
    Covered,
    Interrupt,
    Complete,
    Internal(Box<RunFacts>, String),
    Error(Error),
}

/// The books.
#[derive(Debug)]
pub(crate) struct Ledger {
    limit: u64,
    keep_going: bool,
    predict: bool,
    /// The campaign ends when there is no other run to make.
    pub(crate) ends_complete: bool,
    /// What is proved by the runs taken so far.
    complete: Option<Status>,
    /// A planner chooses every run.
    planned: bool,
    next: u64,
    taken: u64,
    under_way: u64,
    epoch_end: u64,
    epoch_size: u64,
    waiting: BTreeMap<u64, Outcome>,
    known: Arc<[u64]>,
    /// All pcs learnt, in the order of the runs: servers take over what is new at the end.
    learnt: Vec<u64>,
    learnt_set: HashSet<u64>,
    estimates: (u64, u64),
    /// Choices of this epoch's runs, and the most strands of any run.
    choices: Vec<u64>,
    strands: u64,
    digest: Digest,
    advice: Advice,
    /// What the runs that are not in the books yet were to do.
    assigned: HashMap<u64, Assignment>,
    /// What tries do when nothing is held back.
    plain: Spec,
    keys: HashMap<u64, u64>,
    /// Whether what has this key is hidden, by the first run that showed it.
    hidden: HashMap<u64, bool>,
    failures: Vec<Failure>,
    counts: Progress,
    first_failure: Option<u64>,
    trace: Fnv,
    replays: u64,
    warnings: Vec<Warning>,
    warned: BTreeSet<Warning>,
    modules: Vec<Module>,
    predictions: Predictions,
    /// What tries came to that is not taken yet, and the number of the next to take.
    tried: BTreeMap<u64, Tried>,
    tries_taken: u64,
    unproved: Vec<Unproved>,
    coverage: Books,
    pub(crate) tasks: TaskLedger,
    until: Option<f64>,
    stop: Option<Stop>,
    /// Where what goes into the books is written.
    pub(crate) log: Log,
}

impl Ledger {
    pub(crate) fn new(limit: u64, keep_going: bool, search: Search, seed: u64, predict: bool) -> Ledger {
        Ledger {
            ends_complete: search.is_planner(),
            complete: None,
            planned: search.is_planner(),
            limit,
            keep_going,
            predict,
            next: 0,
            taken: 0,
            under_way: 0,
            epoch_end: 1.min(limit),
            epoch_size: 1,
            waiting: BTreeMap::new(),
            known: Arc::from([]),
            learnt: Vec::new(),
            learnt_set: HashSet::new(),
            estimates: (0, 0),
            choices: Vec::new(),
            strands: 0,
            digest: Digest::default(),
            advice: Advice::new(search, seed),
            assigned: HashMap::new(),
            plain: search.plain(),
            keys: HashMap::new(),
            hidden: HashMap::new(),
            failures: Vec::new(),
            counts: Progress::default(),
            first_failure: None,
            trace: Fnv::new(),
            replays: 0,
            warnings: Vec::new(),
            warned: BTreeSet::new(),
            modules: Vec::new(),
            predictions: Predictions::default(),
            tried: BTreeMap::new(),
            tries_taken: 0,
            unproved: Vec::new(),
            coverage: Books::default(),
            tasks: TaskLedger::default(),
            until: None,
            stop: None,
            log: Log::default(),
        }
    }

    /// The same books, of runs whose atomic loads may see this.
    pub(crate) fn with_model(mut self, model: MemoryModel) -> Ledger {
        self.advice.set_model(model);
        self
    }

    /// The same books, which end when something new is less likely than this.
    pub(crate) fn until(self, chance: Option<f64>) -> Ledger {
        Ledger { until: chance, ..self }
    }

    /// These pcs are known before the first run.
    pub(crate) fn know(&mut self, pcs: Vec<u64>) {
        self.learnt.extend(pcs.into_iter().filter(|&pc| self.learnt_set.insert(pc)));
        self.known = self.learnt[..self.learnt.len().min(FACTS_CAPACITY)].into();
    }

    /// The same books, for reads that are to see certain writes.
    pub(crate) fn order(&mut self, search: Search, seed: u64, order: &Arc<Order>) {
        self.advice = Advice::with_futures(search, seed, order);
        self.know(order.known.clone());
        if !order.goals.is_empty() {
            (self.planned, self.ends_complete) = (true, true);
        }
    }

    /// The same books, for calls that are looked at or run against each other.
    pub(crate) fn pair(&mut self, search: Search, seed: u64, order: &Arc<pairs::Order>) {
        self.advice = Advice::with_pairs(search, seed, order);
        self.know(order.known.clone());
        if !order.tests.is_empty() {
            (self.planned, self.ends_complete) = (true, true);
        }
    }

    /// The same books, for iroots that are looked at or forced.
    pub(crate) fn look_for(&mut self, search: Search, seed: u64, order: &Arc<idioms::Order>) {
        self.advice = Advice::with_idioms(search, seed, order);
        self.know(order.known.clone());
        if order.force || order.once {
            (self.planned, self.ends_complete) = (true, true);
        }
    }

    /// These faults may happen.
    pub(crate) fn allow(&mut self, faults: Faults) {
        if !Faults::SPURIOUS.has(faults) {
            self.advice.withdraw(Reason::FailingCalls);
        }
    }

    /// The next run of this epoch; of the next epoch when this one is complete.
    pub(crate) fn take_ticket(&mut self) -> Option<Ticket> {
        if self.at_border() {
            if let Some(prediction) = self.predictions.take() {
                self.under_way += 1;
                return Some(self.ticket(prediction.run, Some(prediction)));
            }
            if self.predictions.are_open() {
                return None;
            }
            self.open_epoch();
        }
        if self.next >= self.epoch_end {
            return None;
        }
        let run = self.next;
        self.next += 1;
        self.under_way += 1;
        let assignment = self.advice.assign(run);
        self.assigned.insert(run, assignment.clone());
        Some(Ticket { assignment, ..self.ticket(run, None) })
    }

    fn ticket(&self, run: u64, prediction: Option<Arc<Prediction>>) -> Ticket {
        let (known, tasks) = (Arc::clone(&self.known), self.tasks.table());
        let assignment = Assignment::of(self.plain);
        let guided = self.tasks.guides(run);
        Ticket { run, known, estimates: self.estimates, assignment, tasks, guided, prediction }
    }

    /// Runs of the epoch that nobody has taken yet.
    pub(crate) fn left_of_epoch(&self) -> u64 {
        self.epoch_end.saturating_sub(self.next)
    }

    /// Whether all runs of the epoch are in the books.
    pub(crate) fn at_border(&self) -> bool {
        self.taken == self.epoch_end
    }

    fn open_epoch(&mut self) {
        self.advice.open_epoch();
        // 1, 1, 2, 4, …: as long as all epochs before it together.
        let longest = (self.epoch_end / PART_LATER).clamp(LONGEST_EPOCH, LONGEST_LATER);
        self.epoch_size = self.epoch_end.clamp(1, self.advice.longest_epoch().unwrap_or(longest));
        self.epoch_end = (self.epoch_end + self.epoch_size).min(self.limit);
        self.estimates = (long_run(&mut self.choices), self.strands);
        self.choices.clear();
        if self.known.len() < self.learnt.len().min(FACTS_CAPACITY) {
            self.known = self.learnt[..self.learnt.len().min(FACTS_CAPACITY)].into();
        }
    }

    /// Whether the details of what a run showed are needed, by their keys: not when an earlier run has them.
    pub(crate) fn wants(&mut self, keys: &[u64], run: u64) -> Vec<bool> {
        let wants = |key: &u64| {
            let first = self.keys.entry(*key).or_insert(run);
            let wanted = run <= *first;
            *first = run.min(*first);
            wanted
        };
        keys.iter().map(wants).collect()
    }

    /// A run has ended.
    pub(crate) fn finish(&mut self, run: u64, outcome: Outcome) {
        self.under_way -= 1;
        self.waiting.insert(run, outcome);
        while self.stop.is_none()
            && let Some(outcome) = self.waiting.remove(&self.taken)
        {
            self.take(self.taken, outcome);
            self.taken += 1;
        }
    }

    /// A run was given up.
    pub(crate) fn abandon(&mut self) {
        self.under_way -= 1;
    }

    /// A prediction was tried. Like runs, tries are taken in their order.
    pub(crate) fn tried(&mut self, number: u64, tried: Tried) {
        self.under_way -= 1;
        self.predictions.done();
        self.tried.insert(number, tried);
        while self.stop.is_none()
            && let Some(tried) = self.tried.remove(&self.tries_taken)
        {
            self.tries_taken += 1;
            self.take_tried(tried);
        }
    }

    /// Takes a try that an earlier sitting made; false if there is no such prediction.
    pub(crate) fn feed_tried(&mut self, number: u64, tries: u64, outcome: Option<Box<Outcome>>) -> bool {
        let Some(prediction) = self.predictions.take().filter(|next| next.number == number) else {
            return false;
        };
        self.under_way += 1;
        self.tried(number, Tried { prediction, tries, outcome });
        true
    }

    fn take_tried(&mut self, tried: Tried) {
        self.log.tried(&tried);
        let Tried { prediction, tries, outcome } = tried;
        match outcome {
            Some(outcome) => {
                let keys: Vec<u64> = outcome.shown.iter().map(|shown| shown.key).collect();
                self.wants(&keys, prediction.run);
                self.take_shown(prediction.run, true, *outcome);
            }
            None => self.unproved.push(Unproved { cycle: prediction.cycle.clone(), tries }),
        }
    }

    fn take(&mut self, run: u64, mut outcome: Outcome) {
        self.digest.take(&mut outcome.lessons);
        outcome.lessons.news = outcome.learnt.iter().any(|pc| !self.learnt_set.contains(pc));
        // A run that knew less than is known by now tells nothing of classes, nor does one that others did not come to the end of.
        let knew_all = self.known.len() == self.learnt.len().min(FACTS_CAPACITY);
        let whole = outcome.verdict.kind == VerdictKind::None;
        self.advice.witness(knew_all && whole, &mut outcome.lessons);
        self.log.run(run, &outcome);
        self.counts.runs += 1;
        self.counts.points += outcome.counters.points;
        self.counts.switches += outcome.counters.switches;
        self.choices.push(outcome.counters.choices);
        self.strands = self.strands.max(outcome.counters.strands);
        let is_new = |shown: &&Shown| !self.hidden.contains_key(&shown.key);
        outcome.lessons.findings = outcome.shown.iter().filter(is_new).count() as u32;
        // The verdict comes first; races are in most runs of a program that has one, and say nothing of this one.
        let fails = outcome.shown.first().filter(|shown| whole_fails(&outcome, shown));
        outcome.lessons.shown = fails.map(|shown| shown.key).into_iter().collect();
        let told = outcome.shown.iter().filter(|shown| shown.fails && !shown.hidden);
        outcome.lessons.races = told.map(|shown| shown.key).collect();
        self.trace.write(&outcome.counters.trace_hash.to_le_bytes());
        self.learnt.extend(outcome.learnt.drain(..).filter(|&pc| self.learnt_set.insert(pc)));
        let strategy = StrategyId::from_code(outcome.strategy).unwrap_or(StrategyId::Directed);
        self.coverage.learnt(self.known.len(), self.learnt.len());
        self.coverage.take(strategy, &outcome.contribution);
        self.advice.learn(run, std::mem::take(&mut outcome.lessons));
        self.replays += u64::from(outcome.replayed);
        for warning in outcome.warnings.drain(..) {
            if self.warned.insert(warning.clone()) {
                self.warnings.push(warning);
            }
        }
        self.see_modules(std::mem::take(&mut outcome.modules));
        if let Some(seen) = outcome.tasks.take() {
            self.tasks.take(run, &seen);
        }
        for cycle in outcome.cycles.drain(..).filter(|_| self.predict) {
            self.predictions.see(run, cycle);
        }
        if self.advice.leaves_out() && !outcome.verdict.is_internal() && outcome.mismatch.is_none() {
            // What it showed is told by a run that counts.
            for shown in outcome.shown.drain(..) {
                self.keys.retain(|key, first| *key != shown.key || *first != run);
            }
        }
        self.take_shown(run, false, outcome);
        // A later run may show that there is more: what is claimed is asked anew after each.
        let done = self.advice.is_done();
        self.complete = done.then(|| self.advice.status()).flatten().filter(Status::is_complete);
        self.coverage.set_complete(self.complete.as_ref().map(|status| status.classes));
        if done && self.ends_complete && (self.complete.is_some() || self.planned) {
            self.stop(Stop::Complete);
        }
        self.see_whether_enough();
        if self.tasks.is_enough() {
            self.stop(Stop::Covered);
        }
    }

    /// The modules of a run; the longest list stays.
    pub(crate) fn see_modules(&mut self, modules: Vec<Module>) {
        if self.modules.len() < modules.len() {
            self.modules = modules;
            self.tasks.see_modules(&self.modules);
        }
    }

    /// Looks every few runs, so that the end does not depend on the jobs.
    fn see_whether_enough(&mut self) {
        const EVERY: u64 = 16;
        let Some(until) = self.until.filter(|_| self.counts.runs.is_multiple_of(EVERY)) else { return };
        if self.coverage.estimate().is_some_and(|estimate| estimate.high < until) {
            self.stop(Stop::Enough);
        }
    }

    /// Takes what a run showed.
    fn take_shown(&mut self, run: u64, predicted: bool, outcome: Outcome) {
        if let Some((facts, why)) = outcome.mismatch {
            self.stop(Stop::Internal(facts, format!("run {run} and its replay differ: {why}")));
        }
        if outcome.verdict.is_internal() {
            if let Some(facts) = outcome.shown.into_iter().find_map(|shown| shown.facts) {
                let why = format!("{}: {}", outcome.verdict.kind.name(), outcome.verdict.message);
                self.stop(Stop::Internal(facts, why));
            }
            return;
        }
        let mut failed = false;
        let assigned = if predicted { None } else { self.assigned.remove(&run) };
        let Assignment { strategy, guide, .. } = assigned.unwrap_or_else(|| Assignment::of(self.plain));
        for Shown { key, fails, hidden, facts, recording } in outcome.shown {
            // The first run that showed it has the facts, and decides for all.
            let hidden = *self.hidden.entry(key).or_insert(hidden);
            failed |= fails && !hidden;
            let guide = recording.unwrap_or_else(|| Arc::clone(&guide));
            let (known, estimates) = (Arc::clone(&self.known), self.estimates);
            let verdict = outcome.verdict.kind;
            self.failures.push(Failure {
                run,
                predicted,
                key,
                fails,
                hidden,
                verdict,
                facts,
                known,
                estimates,
                strategy,
                guide,
            });
        }
        if failed {
            self.counts.failed += 1;
            self.first_failure.get_or_insert(run);
            if !self.keep_going {
                self.stop(Stop::Failure);
            }
        }
    }

    /// Ends the campaign; the first reason stays.
    pub(crate) fn stop(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether no run is under way and none will be.
    pub(crate) fn is_finished(&self) -> bool {
        self.under_way == 0
            && (self.stop.is_some() || self.taken >= self.limit && !self.predictions.are_open())
    }

    /// Whether the main thread has something to do.
    pub(crate) fn has_news(&self) -> bool {
        !self.failures.is_empty() || self.is_finished()
    }

    /// Writes what may be written: what is new to the user is to be on disk before it.
    pub(crate) fn write_log(&mut self) {
        if self.failures.iter().all(|failure| failure.facts.is_none()) {
            self.log.flush();
        }
    }

    pub(crate) fn take_failures(&mut self) -> Vec<Failure> {
        std::mem::take(&mut self.failures)
    }

    pub(crate) fn progress(&self, elapsed: Duration) -> Progress {
        Progress { elapsed, estimate: self.coverage.estimate(), tasks: self.tasks.counts(), ..self.counts }
    }

    pub(crate) fn summary(self, elapsed: Duration) -> Result<Summary, Error> {
        let progress = self.progress(elapsed);
        let ending = match self.stop {
            None => Ending::Runs,
            Some(Stop::Time) => Ending::Time,
            Some(Stop::Failure) => Ending::Failure,
            Some(Stop::Enough) => Ending::Enough,
            Some(Stop::Covered) => Ending::Covered,
            Some(Stop::Complete) => Ending::Complete,
            Some(Stop::Interrupt) => Ending::Interrupt,
            Some(Stop::Internal(facts, why)) => Ending::Internal(facts, why),
            Some(Stop::Error(error)) => return Err(error),
        };
        Ok(Summary {
            progress,
            first_failure: self.first_failure,
            ending,
            known: self.learnt.into(),
            strands: self.strands,
            trace_hash: self.trace.finish(),
            replays: self.replays,
            warnings: self.warnings,
            modules: self.modules,
            unproved: self.unproved,
            coverage: self.coverage,
            tasks: self.tasks.into_books(),
            // Runs that were under way beyond the last that counts may have begun the search anew.
            planner: self.complete.or_else(|| self.advice.status()),
            futures: self.advice.futures(),
            idioms: self.advice.idioms(),
            pairs: self.advice.pairs(),
        })
    }
}

/// Whether a run has failed by its verdict, and this is it.
fn whole_fails(outcome: &Outcome, shown: &Shown) -> bool {
    outcome.verdict.kind != VerdictKind::None && shown.fails && !shown.hidden
}

/// The most choices of a run, but for the longest eighth: one that spun for long says nothing of the others.
fn long_run(choices: &mut [u64]) -> u64 {
    choices.sort_unstable();
    let shorter = choices.len() - choices.len() / 8;
    choices[..shorter].last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_trace::locks::LockOrder;
    use threadbare_trace::run::{Counters, Verdict};

    fn clean(run: u64) -> Outcome {
        let counters = Counters { points: run + 1, trace_hash: run, ..Counters::default() };
        Outcome::clean(counters, vec![run])
    }

    fn shown(key: u64, fails: bool, hidden: bool) -> Shown {
        Shown { key, fails, hidden, facts: None, recording: None }
    }

    fn failing(run: u64) -> Outcome {
        let verdict = Verdict { kind: VerdictKind::Exit, ..Verdict::clean() };
        Outcome { verdict, shown: vec![shown(9, true, false)], ..clean(run) }
    }

    /// Makes runs with so many under way at once, ending in the order `pick` says.
    fn campaign(
        jobs: usize,
        limit: u64,
        fails: u64,
        pick: impl Fn(usize) -> usize,
    ) -> (Summary, Vec<(u64, usize)>) {
        // A planner's runs are an epoch each.
        let search = Search::parse("random").unwrap();
        let mut ledger = Ledger::new(limit, false, search, 0, true);
        let mut under_way: Vec<Ticket> = Vec::new();
        let mut tickets = Vec::new();
        while !ledger.is_finished() {
            while under_way.len() < jobs && !ledger.is_stopping() {
                let Some(ticket) = ledger.take_ticket() else { break };
                tickets.push((ticket.run, ticket.known.len()));
                under_way.push(ticket);
            }
            let ticket = under_way.remove(pick(under_way.len()));
            let outcome = if ticket.run == fails { failing(ticket.run) } else { clean(ticket.run) };
            ledger.finish(ticket.run, outcome);
        }
        tickets.sort_unstable();
        (ledger.summary(Duration::ZERO).unwrap(), tickets)
    }

    #[test]
    fn the_result_does_not_depend_on_the_jobs() {
        let (one, tickets) = campaign(1, 300, u64::MAX, |_| 0);
        let known: Vec<usize> = [0, 1, 2, 3, 4, 7, 8].map(|run| tickets[run].1).into();
        assert_eq!(known, [0, 1, 2, 2, 4, 4, 8]);
        assert_eq!(tickets[299].1, 256);
        for jobs in [2, 5, 100] {
            let (many, others) = campaign(jobs, 300, u64::MAX, |count| count - 1);
            assert_eq!((many.progress, many.trace_hash), (one.progress, one.trace_hash));
            assert_eq!(others, tickets);
        }
    }

    #[test]
    fn the_first_failure_in_run_order_ends_it() {
        for jobs in [1, 3, 64] {
            let (summary, _) = campaign(jobs, 1000, 37, |count| count / 2);
            assert_eq!(summary.first_failure, Some(37));
            assert_eq!((summary.progress.runs, summary.progress.failed), (38, 1));
            assert_eq!(summary.ending, Ending::Failure);
        }
    }

    #[test]
    fn details_are_wanted_from_the_earliest_run() {
        let mut ledger = Ledger::new(10, true, Search::default(), 0, true);
        assert_eq!(ledger.wants(&[5, 6], 7), [true, true]);
        assert_eq!(ledger.wants(&[5], 8), [false]);
        assert_eq!(ledger.wants(&[5], 3), [true]);
        assert_eq!(ledger.wants(&[5, 6], 7), [false, true]);
    }

    fn with_cycle(run: u64) -> Outcome {
        let order = |strand, held, taken| LockOrder { strand, held, taken, ..LockOrder::default() };
        Outcome { cycles: vec![vec![order(1, 1, 2), order(2, 2, 1)]], ..clean(run) }
    }

    #[test]
    fn predictions_are_tried_between_epochs() {
        for (fails, runs) in [(true, 1), (false, 3)] {
            let mut ledger = Ledger::new(3, false, Search::default(), 0, true);
            let first = ledger.take_ticket().unwrap();
            ledger.finish(first.run, with_cycle(0));
            let ticket = ledger.take_ticket().unwrap();
            let prediction = ticket.prediction.unwrap();
            assert_eq!((ticket.run, prediction.number), (0, 0));
            // The next epoch waits for what comes out.
            assert!(ledger.take_ticket().is_none() && !ledger.is_finished());
            let outcome = fails.then(|| Box::new(failing(0)));
            ledger.tried(0, Tried { prediction, tries: 20, outcome });
            while let Some(ticket) = ledger.take_ticket().filter(|_| !ledger.is_stopping()) {
                assert!(ticket.prediction.is_none(), "a cycle is tried once");
                ledger.finish(ticket.run, with_cycle(ticket.run));
            }
            let failures = ledger.take_failures();
            assert!(failures.iter().all(|failure| failure.predicted));
            let summary = ledger.summary(Duration::ZERO).unwrap();
            assert_eq!((summary.progress.runs, failures.len()), (runs, usize::from(fails)));
            assert_eq!(
                (summary.first_failure, summary.unproved.len()),
                (fails.then_some(0), usize::from(!fails))
            );
        }
    }

    #[test]
    fn what_is_only_told_or_hidden_fails_no_run() {
        let mut ledger = Ledger::new(4, false, Search::default(), 0, true);
        let runs: [Vec<Shown>; 4] = [
            vec![shown(1, false, false), shown(2, true, true)],
            // What the first run has hidden stays hidden.
            vec![shown(2, true, false), shown(1, false, false)],
            vec![shown(2, true, false), shown(3, true, false), shown(1, false, false)],
            vec![],
        ];
        for list in runs {
            if let Some(ticket) = ledger.take_ticket() {
                ledger.finish(ticket.run, Outcome { shown: list, ..clean(ticket.run) });
            }
        }
        let told: Vec<_> = ledger.take_failures().iter().map(|it| (it.run, it.key, it.hidden)).collect();
        assert_eq!(told[..4], [(0, 1, false), (0, 2, true), (1, 2, true), (1, 1, false)]);
        assert_eq!(told[4..], [(2, 2, true), (2, 3, false), (2, 1, false)]);
        let summary = ledger.summary(Duration::ZERO).unwrap();
        assert_eq!((summary.progress.failed, summary.first_failure), (1, Some(2)));
        assert_eq!(summary.ending, Ending::Failure);
    }
}
