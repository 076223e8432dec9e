//! Which input next: candidates are drawn and profiled, the one that is farthest from all tests so far is tested, and so on.
//!
//! A *profile* is the first run of an input that teaches nothing new of shared memory: it predicts the iroots that the input could show. A *test* is a
//! campaign that forces them. Inputs are given to forks of one program that stands before its `main` ([`bases`]); where a constructor reads them
//! before that, every input has a program of its own.

mod again;
mod bases;
pub(crate) mod files;
mod one;
pub(crate) mod plot;
pub(crate) mod results;
mod settle;

use crate::conduct::Iroots;
use crate::exit::Trouble;
use again::FRUITLESS;
use files::Corpus;
use one::{Force, Profile, Runner, Tested};
use results::{Outcome, Shown, TestRow};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use threadbare_explore::campaign::Config;
use threadbare_explore::idioms::Found;
use threadbare_explore::interrupt;
use threadbare_explore::store::Store;
use threadbare_findings::Suppressions;
use threadbare_idioms::{Iroot, Limits};
use threadbare_inputs::habits::about;
use threadbare_inputs::{Counts, Habits, Input, Policy, Pool, Rng, Template};

/// When a campaign over inputs ends by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Stop {
    /// When runs, tests or time are used up; candidates without anything new are drawn anew.
    Limit,
    /// When no candidate has anything new.
    Distance,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) template: Template,
    pub(crate) policy: Policy,
    pub(crate) candidates: usize,
    pub(crate) stop: Stop,
    /// Runs of all inputs, profiles included.
    pub(crate) runs: u64,
    pub(crate) tests: u64,
    pub(crate) time: Option<Duration>,
    /// All iroots of an input are forced, not only those that no test has shown.
    pub(crate) retest: bool,
    pub(crate) limits: Limits,
    /// Inputs that come before those that are drawn, and those that earlier campaigns of the folder had use for.
    pub(crate) first: Vec<Input>,
    pub(crate) earlier: Vec<Input>,
    pub(crate) seed: u64,
    pub(crate) keep_going: bool,
    /// Findings' inputs are made smaller.
    pub(crate) shrink: bool,
}

/// Different inputs without any difference, after which the program is taken to ignore them.
const ALIKE: usize = 32;
/// Candidates one after another that could show nothing that others could not, after which no more are drawn for a test.
const ALIKE_CANDIDATES: u32 = 2;
/// Draws for an input that was not there yet: the last of fifty must not be missed by chance.
const DRAWS: u32 = 1024;

/// A campaign at work.
struct AtWork<'a> {
    plan: &'a Plan,
    runner: Runner<'a>,
    rng: Rng,
    pool: Pool,
    inputs: Vec<(Input, Profile)>,
    /// Inputs that were drawn.
    drawn: BTreeSet<Input>,
    first: std::vec::IntoIter<Input>,
    /// Sets of candidates without anything new since the last test, and how many there may be.
    fruitless: (u32, u32),
    /// What whole tests have done, and inputs that did something else when they were looked at.
    habits: Habits,
    others: Vec<usize>,
    /// What the tests showed or found infeasible.
    settled: Arc<BTreeSet<Iroot>>,
    outcome: Outcome,
    started: Instant,
    doings: BTreeSet<Counts>,
}

/// Makes a campaign over inputs.
pub(crate) fn campaign(
    plan: &Plan,
    config: &Config,
    store: &Store,
    suppressions: &Arc<Suppressions>,
) -> Result<Outcome, Trouble> {
    let corpus = Corpus::open(store)?;
    let mut first = plan.first.clone();
    first.extend(plan.earlier.iter().cloned());
    let mut rng = Rng::new(plan.seed);
    first.extend(plan.template.seeds(&mut rng));
    let mut at_work = AtWork {
        runner: Runner::new(plan, config, store, suppressions),
        rng,
        pool: Pool::new(plan.policy, plan.seed),
        inputs: Vec::new(),
        drawn: BTreeSet::new(),
        first: first.into_iter(),
        fruitless: (0, FRUITLESS),
        habits: Habits::default(),
        others: Vec::new(),
        settled: Arc::default(),
        outcome: Outcome::new(plan),
        started: Instant::now(),
        doings: BTreeSet::new(),
        plan,
    };
    at_work.go()?;
    let AtWork { mut runner, mut outcome, doings, drawn, inputs, started, .. } = at_work;
    let tested = runner.runs;
    if plan.shrink && outcome.ended_by != "interrupt" {
        runner.refine(&mut outcome)?;
    }
    (outcome.runs, outcome.runs_to_refine) = (runner.runs, runner.runs - tested);
    outcome.warnings.append(&mut runner.warnings);
    outcome.elapsed = started.elapsed();
    outcome.drawn = drawn.len() as u64;
    let whole = plan.template.count().is_some_and(|count| count == drawn.len() as u128);
    outcome.ignores = doings.len() == 1
        && inputs.len() > 1
        && (inputs.len() >= ALIKE || whole)
        && outcome.findings.is_empty();
    corpus.keep(&outcome, store, &plan.template)?;
    Ok(outcome)
}

impl AtWork<'_> {
    fn go(&mut self) -> Result<(), Trouble> {
        loop {
            if let Some(why) = self.over() {
                self.outcome.ended_by = why.to_owned();
                return Ok(());
            }
            let more = self.fill()?;
            if let Some(why) = self.over() {
                self.outcome.ended_by = why.to_owned();
                return Ok(());
            }
            let failed =
                self.inputs.iter().position(|(_, profile)| profile.failed && profile.tested == Tested::No);
            let exhausted = self.pool.farthest() == 0 && failed.is_none();
            if exhausted && self.plan.stop == Stop::Distance {
                self.outcome.ended_by = "distance".to_owned();
                return Ok(());
            }
            if exhausted && self.plan.policy != Policy::Random {
                // Nothing new in any of them.
                match self.again(more) {
                    Some((at, force)) => self.test(at, force)?,
                    None if more => {}
                    None => {
                        self.outcome.ended_by = "inputs".to_owned();
                        return Ok(());
                    }
                }
                continue;
            }
            // What has failed while it was profiled is a test at once.
            let chosen = match failed {
                Some(at) => Some(at),
                None => self.pool.pick().map(|choice| {
                    self.outcome.fell_back |= choice.cover.is_some_and(|(_, exact)| !exact);
                    choice.id as usize
                }),
            };
            match chosen {
                Some(at) => self.test(at, if self.plan.retest { Force::All } else { Force::Left })?,
                // Chance has come to the end of all inputs.
                None => match self.again(false) {
                    Some((at, force)) => self.test(at, force)?,
                    None => {
                        self.outcome.ended_by = "inputs".to_owned();
                        return Ok(());
                    }
                },
            }
        }
    }

    /// Why it is over, if it is.
    fn over(&self) -> Option<&'static str> {
        let failed = !self.plan.keep_going && self.outcome.has_failed();
        match () {
            () if interrupt::requested() => Some("interrupt"),
            () if failed => Some("failure"),
            () if self.runner.runs >= self.plan.runs => Some("runs"),
            () if self.outcome.tests.len() as u64 >= self.plan.tests => Some("tests"),
            () if self.plan.time.is_some_and(|time| self.started.elapsed() >= time) => Some("time"),
            () => None,
        }
    }

    /// Draws candidates until there are enough; whether there are others to draw.
    fn fill(&mut self) -> Result<bool, Trouble> {
        // Who takes any needs no more than one.
        let wanted = match self.plan.policy == Policy::Random && self.plan.stop == Stop::Limit {
            true => 1,
            false => self.plan.candidates,
        };
        let mut alike = 0;
        while self.pool.len() < wanted {
            // Where the last ones could show nothing that others could not, the best of those there are will do.
            let enough =
                self.plan.stop == Stop::Limit && alike >= ALIKE_CANDIDATES && self.pool.farthest() > 0;
            if enough || self.over().is_some() {
                return Ok(true);
            }
            let Some(input) = self.draw() else { return Ok(false) };
            let profile = self.runner.profile(&input)?;
            // Whether there are different ones is all that is asked.
            if self.doings.len() < 2 {
                self.doings.insert(profile.counts.clone());
            }
            if let Some(number) = self.plan.template.own(&input) {
                if profile.own.is_empty() && self.plan.template.holes.len() == 1 {
                    return Err(asks_nothing());
                }
                self.outcome.own.insert(number, profile.own.clone());
            }
            let id = self.inputs.len() as u64;
            let new = profile.predicted.iter().any(|iroot| !self.outcome.all.found.predicted.contains(iroot));
            alike = if new { 0 } else { alike + 1 };
            self.habits.seen(&profile.counts);
            self.pool.add(id, profile.predicted.iter().map(Iroot::number));
            self.outcome.take_profile(&profile);
            let failed = profile.failed;
            if !profile.predicted.is_empty() {
                self.others.push(self.inputs.len());
            }
            self.inputs.push((input, profile));
            if failed {
                return Ok(true);
            }
        }
        Ok(true)
    }

    fn draw(&mut self) -> Option<Input> {
        if let Some(input) = self.first.find(|input| !self.drawn.contains(input)) {
            self.drawn.insert(input.clone());
            return Some(input);
        }
        let template = &self.plan.template;
        for _ in 0..DRAWS {
            // One in four is near one that had something new.
            let near = !self.outcome.fruitful.is_empty() && self.rng.one_in(4);
            let input = match near {
                true => {
                    let at = self.rng.below(self.outcome.fruitful.len() as u64) as usize;
                    template.mutate(&self.outcome.fruitful[at].clone(), &mut self.rng)
                }
                false => template.draw(&mut self.rng),
            };
            if self.drawn.insert(input.clone()) {
                return Some(input);
            }
        }
        None
    }

    /// Tests an input.
    fn test(&mut self, at: usize, force: Force) -> Result<(), Trouble> {
        self.fruitless.0 = 0;
        let input = self.inputs[at].0.clone();
        self.pool.remove(at as u64);
        let predicted = self.inputs[at].1.predicted.len();
        let all = force != Force::Left;
        let settled = if all { Arc::default() } else { Arc::clone(&self.settled) };
        let left = self.plan.runs.saturating_sub(self.runner.runs).max(1);
        let open = self.inputs[at].1.predicted.iter().filter(|iroot| !settled.contains(*iroot)).count();
        let tested = self.runner.test(&input, settled, open, force == Force::Others, left)?;
        let found = tested.iroots.as_ref().map(|iroots| iroots.found.clone()).unwrap_or_default();
        let whole = all || found.predicted.is_disjoint(&self.settled);
        self.inputs[at].1.tested = match force {
            Force::Others => Tested::Deeply,
            _ if whole => Tested::Wholly,
            _ => Tested::Partly,
        };
        if whole {
            let runs = found.all_counts.iter().map(|&(place, count)| (place, about(count)));
            self.habits.tested(&self.inputs[at].1.counts, runs);
        }
        let new = found.shown.keys().filter(|iroot| !self.settled.contains(*iroot)).count();
        let settles: Vec<Iroot> =
            found.shown.keys().chain(&found.infeasible).chain(&found.struck).copied().collect();
        Arc::make_mut(&mut self.settled).extend(&settles);
        self.pool.settle(settles.iter().map(Iroot::number));
        let number = self.outcome.tests.len();
        if new > 0 {
            self.fruitless.1 = FRUITLESS;
            self.outcome.fruitful.push(input.clone());
        }
        self.outcome.take_test(&found, tested.iroots);
        let words = self.outcome.words(&self.plan.template, &input);
        self.outcome.tests.push(TestRow {
            input: input.clone(),
            words,
            predicted: predicted.max(found.predicted.len()),
            new,
            runs: tested.report.runs,
            findings: tested.report.findings.iter().map(|finding| finding.id.clone()).collect(),
        });
        for finding in tested.report.findings {
            self.runner.take(finding, &input, number, &mut self.outcome)?;
        }
        Ok(())
    }
}

/// Nothing has a hole, and the program has no choices of its own.
fn asks_nothing() -> Trouble {
    Trouble::usage(
        "there is nothing to choose: no argument, `--stdin` or `--env` has a hole, and the program asks for no choices",
        "write `{x:int(-100..100)}` where a number may be, or ask for values by `threadbare::choose` or `any`; `threadbare run` tests one input",
    )
}

/// The iroots of all inputs together.
#[derive(Debug, Default)]
pub(crate) struct All {
    pub(crate) found: Found,
    pub(crate) modules: Vec<threadbare_trace::report::Module>,
}

impl Outcome {
    fn take_profile(&mut self, profile: &Profile) {
        self.profiled += 1;
        let found = &mut self.all.found;
        let open = profile.predicted.iter().filter(|iroot| !found.struck.contains(*iroot));
        found.predicted.extend(open);
    }

    fn take_test(&mut self, found: &Found, iroots: Option<Iroots>) {
        let all = &mut self.all.found;
        all.predicted.extend(&found.predicted);
        let tests = self.tests.len() as u64;
        for iroot in found.shown.keys() {
            all.shown.entry(*iroot).or_insert(tests);
        }
        all.infeasible.extend(&found.infeasible);
        all.struck.extend(&found.struck);
        let shown: BTreeMap<Iroot, u64> = std::mem::take(&mut all.shown);
        all.infeasible.retain(|iroot| !shown.contains_key(iroot));
        all.struck.retain(|iroot| !shown.contains_key(iroot) && !all.infeasible.contains(iroot));
        let struck = &all.struck;
        all.predicted.retain(|iroot| !struck.contains(iroot));
        all.shown = shown;
        all.cut |= found.cut;
        self.curve.push(self.all.found.shown.len() as u64);
        if let Some(iroots) = iroots
            && iroots.modules.len() > self.all.modules.len()
        {
            self.all.modules = iroots.modules;
        }
    }

    /// Whether something was found by which runs fail.
    pub(crate) fn has_failed(&self) -> bool {
        self.findings.iter().any(Shown::fails)
    }

    pub(crate) fn by_id(&self) -> HashMap<&str, &Shown> {
        self.findings.iter().map(|shown| (shown.finding.id.as_str(), shown)).collect()
    }
}
