//! The campaigns whose runs are inferred from.

use crate::conduct;
use crate::exit::Trouble;
use crate::options::CampaignOptions;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use threadbare_abi::layout::PointMode;
use threadbare_explore::again::{Taken, Taker};
use threadbare_explore::campaign::{self, Config, Ending, Observer, Progress};
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_explore::{Error, Failure, Races, Search, interrupt};
use threadbare_findings::{Finding, Suppressions};
use threadbare_invariants::KEPT_RUNS;
use threadbare_report::progress::ProgressLine;

/// With fewer passing or failing runs the portfolio goes on.
const FEW: usize = 20;
/// Runs of the portfolio, unless the user says otherwise.
const MORE_RUNS: u64 = 1000;
/// Runs of a planner, unless the user says otherwise.
const PLANNED_RUNS: u64 = 2000;
/// Passing runs, and failing ones, that are made again at most, unless the user says how many there are or how long they take.
const MOST: usize = 1000;
/// Choices that are kept, of all runs.
const SEGMENTS: usize = 8 << 20;

/// Runs as they come.
#[derive(Debug, Default)]
struct Collector(Mutex<(Vec<Taken>, usize)>);

impl Taker for Collector {
    fn take(&self, mut taken: Taken) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let more = taken.segments.as_ref().map_or(0, Vec::len);
        if all.1 + more > SEGMENTS {
            taken.segments = None;
        } else {
            all.1 += more;
        }
        all.0.push(taken);
    }
}

impl Collector {
    /// The runs of a campaign of so many, in order.
    fn runs(&self, runs: u64) -> Vec<Taken> {
        let mut taken = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).0;
        // Jobs may have made more runs than the campaign took, in any order.
        taken.retain(|taken| taken.request.run < runs && !taken.verdict.is_internal());
        taken.sort_by_key(|taken| taken.request.run);
        taken
    }
}

/// The runs of all campaigns.
pub(crate) struct Runs {
    pub(crate) target: Arc<Target>,
    /// The first campaign's.
    pub(crate) config: Config,
    pub(crate) taken: Vec<Taken>,
    /// All pcs that the runs learnt.
    pub(crate) known: Arc<[u64]>,
    pub(crate) findings: Vec<Finding>,
    /// Runs that are findings' own, with their schedules.
    kept: BTreeMap<usize, String>,
    pub(crate) strategies: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// Passing runs, and failing ones, that are made again at most.
    most: (usize, usize),
    /// Whether the first campaign ended because nothing is left that its strategy would run.
    pub(crate) complete: bool,
    /// When it is enough; what is not made again by then is left out.
    pub(crate) deadline: Option<Instant>,
}

impl Runs {
    /// How many failed, and how many did not.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let failed = self.taken.iter().filter(|taken| taken.failed).count() as u64;
        (failed, self.taken.len() as u64 - failed)
    }

    /// Which runs are made again, by number: failing and passing ones in turn.
    pub(crate) fn order(&self) -> Vec<usize> {
        let of = |failed: bool, most: usize| {
            let all = self.taken.iter().enumerate().filter(move |(_, taken)| taken.failed == failed);
            all.map(|(number, _)| number).take(most).collect::<Vec<_>>()
        };
        let (failing, passing) = (of(true, self.most.1), of(false, self.most.0));
        let turns = (0..failing.len().max(passing.len()))
            .flat_map(|at| [failing.get(at), passing.get(at)].into_iter().flatten().copied());
        turns.collect()
    }

    /// Whether every order that makes a difference was run.
    pub(crate) fn are_all(&self) -> bool {
        let first = self.strategies.first().map(String::as_str);
        self.complete && matches!(first, Some("dpor" | "dfs"))
    }

    /// The schedule of a run, if it is kept.
    pub(crate) fn schedule_of(&self, number: usize) -> Option<String> {
        self.kept.get(&number).cloned()
    }
}

/// Makes the campaigns; `alone` only that of the strategy that is asked for.
pub(crate) fn make(
    options: &CampaignOptions,
    alone: bool,
    target: &Arc<Target>,
    store: &Store,
    suppressions: &Arc<Suppressions>,
) -> Result<Runs, Trouble> {
    let began = Instant::now();
    let mut config = options.config(Target::clone(target));
    config.keep_going = true;
    config.shrink = None;
    if options.runs.is_none() && options.time.is_none() {
        // A planner ends by itself, or much later than anybody wants to look at its runs.
        config.runs = config.runs.map(|runs| runs.min(PLANNED_RUNS));
    }
    let bounded = options.runs.is_some() || options.time.is_some();
    let most = if bounded { (usize::MAX, usize::MAX) } else { (MOST, MOST) };
    let mut runs = Runs {
        target: Arc::clone(&config.target),
        config: config.clone(),
        taken: Vec::new(),
        known: Arc::from([]),
        findings: Vec::new(),
        kept: BTreeMap::new(),
        strategies: Vec::new(),
        warnings: Vec::new(),
        most,
        complete: false,
        deadline: None,
    };
    let mut learnt = BTreeSet::new();
    campaign(&config, store, suppressions, &mut runs, &mut learnt)?;
    let (failed, passed) = runs.counts();
    let few = !alone && ((failed as usize) < FEW || (passed as usize) < FEW);
    let left = options.time.map(|time| time.saturating_sub(began.elapsed()));
    if few && config.search != Search::default() && !interrupt::requested() && left != Some(Duration::ZERO) {
        let runs_left = options.runs.map(|most| most.saturating_sub(failed + passed));
        config.search = Search::default();
        config.runs = runs_left.or(options.time.is_none().then_some(MORE_RUNS));
        config.time = left;
        config.ends_complete = false;
        if config.runs != Some(0) {
            campaign(&config, store, suppressions, &mut runs, &mut learnt)?;
        }
    }
    // Who fails right after it created a strand never lets it come first: nothing has shown yet that they share anything.
    if !alone && runs.counts().1 == 0 && config.points == PointMode::Shared && !interrupt::requested() {
        config.points = PointMode::All;
        config.runs = Some(options.runs.unwrap_or(MORE_RUNS).min(MORE_RUNS));
        config.time = options.time.map(|time| time.saturating_sub(began.elapsed()));
        if config.time != Some(Duration::ZERO) {
            campaign(&config, store, suppressions, &mut runs, &mut learnt)?;
            runs.config.points = PointMode::All;
        }
    }
    runs.known = learnt.into_iter().collect();
    Ok(runs)
}

fn campaign(
    config: &Config,
    store: &Store,
    suppressions: &Arc<Suppressions>,
    runs: &mut Runs,
    learnt: &mut BTreeSet<u64>,
) -> Result<(), Trouble> {
    let collector = Arc::new(Collector::default());
    let config = Config { taker: Some(Arc::clone(&collector) as Arc<dyn Taker>), ..config.clone() };
    let line = ProgressLine::on_stderr();
    let report = conduct::campaign(&config, store, line, None, suppressions, None)?.report;
    let taken = collector.runs(report.runs);
    let before = runs.taken.len();
    learnt.extend(taken.iter().flat_map(|taken| taken.learnt.iter().copied()));
    runs.taken.extend(taken);
    runs.complete |= runs.strategies.is_empty() && report.ended_by == "complete";
    runs.strategies.push(report.strategy.clone());
    for (number, taken) in runs.taken.iter().enumerate().skip(before) {
        if let Some(finding) = report.findings.iter().find(|finding| finding.run == taken.request.run) {
            runs.kept.insert(number, finding.schedule.clone());
        }
    }
    for finding in report.findings {
        match runs.findings.iter_mut().find(|known| known.id == finding.id) {
            Some(known) => known.count += finding.count,
            None => runs.findings.push(finding),
        }
    }
    for warning in report.warnings {
        if !runs.warnings.contains(&warning) {
            runs.warnings.push(warning);
        }
    }
    Ok(())
}

/// Who wants to hear nothing of a campaign but its runs.
struct Silent;

impl Observer for Silent {
    fn failed(&mut self, _: Failure) -> Result<(), Error> {
        Ok(())
    }

    fn progress(&mut self, _: &Progress) {}
}

/// A failing run with runs of the default strategy beside it, and whether these are all that make a difference. Those that fail
/// otherwise are left out.
pub(crate) fn beside(
    config: &Config,
    failing: Taken,
    known: &[u64],
    most: u64,
    time: Duration,
) -> Result<(Runs, bool), Error> {
    let collector = Arc::new(Collector::default());
    let config = Config {
        target: config.target.controlled(),
        search: Search::default(),
        runs: Some(most),
        time: Some(time),
        keep_going: true,
        ends_complete: true,
        check_replay: false,
        predict: false,
        races: Races::Off,
        shrink: None,
        filter: None,
        until: None,
        quiet: None,
        earlier: None,
        goal: None,
        futures: None,
        idioms: None,
        pairs: None,
        taker: Some(Arc::clone(&collector) as Arc<dyn Taker>),
        ..config.clone()
    };
    let summary = campaign::run(&config, &mut Silent)?;
    let mut taken = collector.runs(summary.progress.runs);
    taken.retain(|taken| !taken.failed || fails_alike(taken, &failing));
    let learnt: BTreeSet<u64> = summary.known.iter().chain(known).copied().collect();
    taken.insert(0, failing);
    let runs = Runs {
        target: Arc::clone(&config.target),
        config: Config { taker: None, ..config },
        taken,
        known: learnt.into_iter().collect(),
        findings: Vec::new(),
        kept: BTreeMap::new(),
        strategies: Vec::new(),
        warnings: Vec::new(),
        most: (MOST, KEPT_RUNS),
        complete: false,
        deadline: None,
    };
    Ok((runs, summary.ending == Ending::Complete))
}

/// Whether two runs show the same, whatever numbers are in its words.
fn fails_alike(one: &Taken, other: &Taken) -> bool {
    let words = |taken: &Taken| taken.verdict.message.replace(|c: char| c.is_ascii_hexdigit(), "");
    one.verdict.kind == other.verdict.kind && words(one) == words(other)
}
