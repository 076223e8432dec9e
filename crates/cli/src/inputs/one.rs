//! One input: its profile, and its test.

use super::Plan;
use super::bases::Bases;
use super::files;
use super::results::{Outcome, Shown};
use crate::conduct::{self, Conducted};
use crate::exit::Trouble;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use threadbare_explore::campaign::{self, Config, Ending, Observer, Progress};
use threadbare_explore::idioms::{Found, Order};
use threadbare_explore::server::Target;
use threadbare_explore::store::{SCHEDULE, Store};
use threadbare_explore::{Error, Failure, Races, Search};
use threadbare_findings::{Finding, Suppressions};
use threadbare_idioms::Iroot;
use threadbare_inputs::{Counts, Input};
use threadbare_report::progress::ProgressLine;
use threadbare_strategy::{Spec, StrategyId};

/// Runs until one teaches nothing new of shared memory.
const LOOKS: u64 = 12;

/// Iroots to force, of which a run each costs less than a process that undoes its runs.
const FEW: usize = 16;

/// Runs of a test that force other instances, at the least.
const OTHERS: usize = 32;

/// Whether an input was tested.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Tested {
    #[default]
    No,
    /// Without iroots that other inputs had settled.
    Partly,
    Wholly,
    /// With other instances of its iroots.
    Deeply,
}

/// How much of an input a test forces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Force {
    /// What no test has shown or found infeasible.
    Left,
    /// All of its iroots.
    All,
    /// These, and other instances of each.
    Others,
}

/// What an input could show.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    pub(super) predicted: BTreeSet<Iroot>,
    /// A run failed.
    pub(super) failed: bool,
    pub(super) tested: Tested,
    /// What the run did, by place.
    pub(super) counts: Counts,
    /// What the program itself chose.
    pub(super) own: Vec<u64>,
}

/// Nobody listens.
struct Deaf;

impl Observer for Deaf {
    fn failed(&mut self, _: Failure) -> Result<(), Error> {
        Ok(())
    }
    fn progress(&mut self, _: &Progress) {}
}

/// Makes the campaigns of inputs.
pub(super) struct Runner<'a> {
    pub(super) plan: &'a Plan,
    pub(super) config: &'a Config,
    pub(super) store: &'a Store,
    pub(super) suppressions: &'a Arc<Suppressions>,
    /// Runs so far.
    pub(super) runs: u64,
    /// What all inputs taught of shared memory.
    known: Vec<u64>,
    /// The files of findings, as the input made them that is told with each.
    saved: HashMap<String, Vec<(String, Vec<u8>)>>,
    pub(super) warnings: Vec<String>,
    bases: Bases,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        config: &'a Config,
        store: &'a Store,
        suppressions: &'a Arc<Suppressions>,
    ) -> Runner<'a> {
        let (saved, warnings) = (HashMap::new(), Vec::new());
        let (known, bases) = (Vec::new(), Bases::of(&plan.template));
        Runner { plan, config, store, suppressions, runs: 0, known, saved, warnings, bases }
    }

    fn learn(&mut self, known: &[u64]) {
        let new: Vec<u64> = known.iter().copied().filter(|pc| !self.known.contains(pc)).collect();
        self.known.extend(new);
    }

    /// The campaign of an input.
    fn of(&mut self, input: &Input, order: Order) -> Result<Config, Trouble> {
        let mut target = files::target(&self.config.target, &self.plan.template, input, self.store)?;
        target.given = self.bases.given(&target);
        self.warnings.extend(self.bases.trouble());
        Ok(Config {
            target: Arc::new(target),
            search: Search::Strategy(Spec::of(StrategyId::Random)),
            time: None,
            jobs: 1,
            predict: false,
            check_replay: false,
            coverage: false,
            until: None,
            idioms: Some(Arc::new(order)),
            ..self.config.clone()
        })
    }

    /// What the input could show.
    pub(super) fn profile(&mut self, input: &Input) -> Result<Profile, Trouble> {
        let (limits, known) = (self.plan.limits, self.known.clone());
        let order = Order { limits, known, once: true, ..Order::default() };
        let config = self.of(input, order)?;
        // To undo a run pays from the third or so on.
        let target = Arc::new(Target { reset: false, ..(*config.target).clone() });
        let config = Config {
            target,
            runs: Some(LOOKS),
            keep_going: false,
            races: Races::Off,
            shrink: None,
            ..config
        };
        let summary = campaign::run(&config, &mut Deaf)?;
        if let Ending::Internal(_, why) = &summary.ending {
            return Err(Trouble::internal(why.clone(), "this is an error of Threadbare, please report it"));
        }
        self.runs += summary.progress.runs;
        self.learn(&summary.known);
        let found = summary.idioms.unwrap_or_default();
        let failed = summary.first_failure.is_some();
        let Found { predicted, counts, own, .. } = found;
        Ok(Profile { predicted, failed, tested: Tested::No, counts, own })
    }

    /// Forces the iroots of an input that are not settled, of which there are about so many, and perhaps other instances of each.
    pub(super) fn test(
        &mut self,
        input: &Input,
        settled: Arc<BTreeSet<Iroot>>,
        open: usize,
        others: bool,
        runs: u64,
    ) -> Result<Conducted, Trouble> {
        let (limits, known) = (self.plan.limits, self.known.clone());
        let order = Order {
            limits,
            known,
            settled,
            force: true,
            looks: 1,
            others: if others { OTHERS } else { 0 },
            ..Order::default()
        };
        let config = self.of(input, order)?;
        let reset = config.target.reset && open >= FEW;
        let target = Arc::new(Target { reset, ..(*config.target).clone() });
        let config = Config { target, runs: Some(runs), ..config };
        let made =
            conduct::campaign(&config, self.store, ProgressLine::on_stderr(), None, self.suppressions, None)?;
        self.runs += made.report.runs;
        if let Some(iroots) = &made.iroots {
            self.learn(&iroots.known);
        }
        Ok(made)
    }

    /// Takes what a test found. What another input has shown before keeps that one's files.
    pub(super) fn take(
        &mut self,
        finding: Finding,
        input: &Input,
        test: usize,
        outcome: &mut Outcome,
    ) -> Result<(), Trouble> {
        if let Some(shown) = outcome.findings.iter_mut().find(|shown| shown.finding.id == finding.id) {
            shown.finding.count += finding.count;
            shown.inputs += 1;
            for (name, content) in self.saved.get(&finding.id).into_iter().flatten() {
                self.store.write(name, content)?;
            }
            return Ok(());
        }
        self.save(&finding);
        let words = outcome.words(&self.plan.template, input);
        outcome.findings.push(Shown::new(finding, input.clone(), words, test));
        Ok(())
    }

    /// Remembers the files of a finding.
    pub(super) fn save(&mut self, finding: &Finding) {
        let names = [format!("{}.{SCHEDULE}", finding.id), format!("{}.json", finding.id)];
        let read = |name: String| Some((name.clone(), std::fs::read(self.store.folder().join(name)).ok()?));
        self.saved.insert(finding.id.clone(), names.into_iter().filter_map(read).collect());
    }

    /// Runs of a strategy with this input: how many, and how many failed.
    pub(super) fn plain(
        &mut self,
        input: &Input,
        strategy: StrategyId,
        runs: u64,
    ) -> Result<(u64, u64), Trouble> {
        let config = self.of(input, Order::default())?;
        let search = Search::Strategy(Spec::of(strategy));
        let config = Config {
            runs: Some(runs),
            keep_going: true,
            races: Races::Off,
            shrink: None,
            idioms: None,
            search,
            ..config
        };
        let summary = campaign::run(&config, &mut Deaf)?;
        self.runs += summary.progress.runs;
        Ok((summary.progress.runs, summary.progress.failed))
    }

    /// Whether the input shows a finding too; in a folder of its own unless it is to be kept.
    pub(super) fn shows(
        &mut self,
        input: &Input,
        id: &str,
        runs: u64,
        store: &Store,
    ) -> Result<Option<Finding>, Trouble> {
        let (limits, known) = (self.plan.limits, self.known.clone());
        let order = Order { limits, known, force: true, looks: 2, ..Order::default() };
        let config = self.of(input, order)?;
        let kept = std::ptr::eq(store, self.store);
        let shrink = config.shrink.filter(|_| kept);
        let config = Config { runs: Some(runs), keep_going: false, shrink, ..config };
        let made =
            conduct::campaign(&config, store, ProgressLine::on_stderr(), None, self.suppressions, None)?;
        self.runs += made.report.runs;
        Ok(made.report.findings.into_iter().find(|finding| finding.id == id))
    }
}
