//! The campaigns that a set of terms is looked for by: what their runs have, and which of them fail as the finding does.

use crate::conduct::KeptPlaces;
use crate::exit::Trouble;
use std::path::PathBuf;
use std::sync::Arc;
use threadbare_explore::campaign::{self, Config, Ending, Observer, Progress, Summary};
use threadbare_explore::futures::{Example, Order, Sample, Wish};
use threadbare_explore::{Error, Failure};
use threadbare_findings::Findings;
use threadbare_report::progress::{ProgressLine, State};

/// Runs that are to have a set of terms, planned by the failing run, and by others.
const RUNS: u64 = 24;
const BY_OTHERS: u64 = 12;
/// Runs of these that are enough.
pub(crate) const LEAST: u64 = 10;
/// Runs that may be made for these.
const ROOM: u64 = 60;

/// What is known of the finding, and what was seen so far.
pub(crate) struct Bench {
    pub(crate) config: Config,
    pub(crate) known: Vec<u64>,
    pub(crate) watch: Vec<Wish>,
    /// What runs are told apart by from others that fail: the finding as a campaign without a name would call it.
    pub(crate) id: String,
    /// Runs so far.
    pub(crate) runs: u64,
    watcher: Watcher,
}

struct Watcher {
    findings: Findings,
    places: KeptPlaces,
    program: PathBuf,
    line: ProgressLine,
    before: u64,
}

impl Observer for Watcher {
    fn failed(&mut self, failure: Failure) -> Result<(), Error> {
        if self.findings.count(failure.key, failure.run) {
            return Ok(());
        }
        if let Some(facts) = &failure.facts {
            let places = self.places.of(&facts.report.modules, &self.program);
            self.findings.add(failure.key, facts, &self.program.display().to_string(), places);
        }
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.line.show(&State {
            runs: self.before + progress.runs,
            of: None,
            time: None,
            points: progress.points,
            findings: 0,
            elapsed: progress.elapsed,
            estimate: None,
            goal: None,
        });
    }
}

/// What came of a set of terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Came {
    /// Runs that have it, and those of them that fail as the finding does.
    pub(crate) made: u64,
    pub(crate) failed: u64,
    /// Runs that do not fail so, whatever they have.
    pub(crate) others: Vec<Sample>,
}

impl Bench {
    pub(crate) fn new(config: Config) -> Bench {
        let watcher = Watcher {
            findings: Findings::new(),
            places: KeptPlaces::default(),
            program: config.target.program.clone(),
            line: ProgressLine::on_stderr(),
            before: 0,
        };
        Bench { config, known: Vec::new(), watch: Vec::new(), id: String::new(), runs: 0, watcher }
    }

    /// Makes a campaign; an order has what is known and what is watched.
    pub(crate) fn campaign(&mut self, config: Config, order: Order) -> Result<Summary, Trouble> {
        let order = Order { known: self.known.clone(), watch: self.watch.clone(), ..order };
        let config = Config { futures: Some(Arc::new(order)), ..config };
        let summary = campaign::run(&config, &mut self.watcher)?;
        self.watcher.line.clear();
        if let Ending::Internal(_, why) = &summary.ending {
            return Err(Trouble::internal(why.clone(), "this is an error of Threadbare, please report it"));
        }
        if summary.ending == Ending::Interrupt {
            return Err(Trouble::usage(
                "interrupted before a set of terms was found",
                "the finding is as it was",
            ));
        }
        self.runs += summary.progress.runs;
        self.watcher.before = self.runs;
        let new: Vec<u64> = summary.known.iter().copied().filter(|pc| !self.known.contains(pc)).collect();
        self.known.extend(new);
        Ok(summary)
    }

    /// Whether a run failed as the finding does; `None` where that is not known.
    fn fails(&self, sample: &Sample) -> Option<bool> {
        let ids = sample.shown.iter().map(|&key| self.watcher.findings.get(key).map(|finding| &finding.id));
        let ids: Vec<Option<&String>> = ids.collect();
        match ids.contains(&Some(&self.id)) {
            true => Some(true),
            false if ids.contains(&None) => None,
            false => Some(false),
        }
    }

    /// The runs of a campaign that do not fail as the finding does.
    pub(crate) fn others(&self, summary: &Summary) -> Vec<Sample> {
        let samples = summary.futures.iter().flat_map(|found| &found.samples);
        samples.filter(|sample| self.fails(sample) == Some(false)).cloned().collect()
    }

    /// Makes runs that have a set of wishes, named by their place in what is watched: planned by the failing run, and then without it, by whatever runs
    /// there are.
    pub(crate) fn attempt(&mut self, set: &[usize], example: &Example) -> Result<Came, Trouble> {
        let mut came = Came::default();
        for (again, example) in [(RUNS, Some(example.clone())), (BY_OTHERS, None)] {
            let goal = set.iter().map(|&wish| self.watch[wish].clone()).collect();
            let looks = if example.is_some() { 0 } else { 2 };
            let tries = super::super::TRIES;
            let order = Order { goals: vec![goal], looks, tries, again, example, ..Order::default() };
            let config = Config { runs: Some(again + ROOM), ..self.config.clone() };
            let summary = self.campaign(config, order)?;
            for sample in summary.futures.iter().flat_map(|found| &found.samples) {
                if set.iter().all(|&wish| sample.has(wish))
                    && let Some(fails) = self.fails(sample)
                {
                    came.made += 1;
                    came.failed += u64::from(fails);
                }
            }
            came.others.extend(self.others(&summary));
            // A run that passes says all.
            if came.failed < came.made || came.made < LEAST {
                break;
            }
        }
        Ok(came)
    }
}
