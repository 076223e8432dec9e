//! A session: a folder for findings, the runtime, and what can be done with both.

use crate::campaign;
use crate::kept;
use crate::observer::Observer;
use crate::regress::{self, Regress};
use crate::replay::{PATIENCE, Replay, Replayed};
use crate::runtime;
use crate::shrink::{self, Shrunken};
use crate::trouble::{Trouble, cannot};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode};
use threadbare_abi::noise::{ALWAYS, Guidance, Noise, NoiseKind, flags};
use threadbare_explore::campaign::{Closer, Config};
use threadbare_explore::journal::Journal;
use threadbare_explore::server::Target;
use threadbare_explore::shrink::Budget;
use threadbare_explore::store::Store;
use threadbare_explore::{Races, Search, surroundings};
use threadbare_findings::{Finding, Suppressions};
use threadbare_report::CampaignReport;
use threadbare_report::campaign::Regressed;
use threadbare_toolchain::cc::CompilerCall;
use threadbare_toolchain::{Environment, Language, PlacedRuntime, check_program, find_program};

/// Runs of a campaign that has no other bound.
pub const USUAL_RUNS: u64 = 1000;
/// How long a new finding is made smaller, and how long the invariant that it breaks is looked for, unless told otherwise.
pub const USUAL_CLOSER: Duration = Duration::from_secs(2);
/// How much processor time one run may take, unless told otherwise.
pub const USUAL_TIMEOUT: Duration = Duration::from_secs(10);
/// How likely a free run makes noise where an event comes for the first time, unless told otherwise.
pub const USUAL_NOISE: f64 = 0.95;

/// Threadbare, with a folder for what it finds.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    env: Environment,
    runtime: PlacedRuntime,
}

/// A campaign that is to be made.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// What it is to do.
    pub config: Config,
    /// What nobody wants to hear of.
    pub suppressions: Arc<Suppressions>,
    /// The kept findings of the program are replayed first; one that is there ends it, unless it is to keep going.
    pub regress: bool,
    /// The words of a command line that mean the same, for `threadbare run --resume`.
    pub given: Vec<OsString>,
}

impl Campaign {
    /// One that has nothing but a configuration.
    pub fn of(config: Config) -> Campaign {
        Campaign { config, suppressions: Arc::default(), regress: false, given: Vec::new() }
    }
}

/// A campaign that was made.
#[derive(Debug)]
pub struct Ran {
    /// What it came to.
    pub report: CampaignReport,
    /// Whether it is kept, so that it can go on.
    pub can_resume: bool,
}

impl Session {
    /// A session with a folder for findings, which need not be there. The runtime is placed in the user's cache if it is not there
    /// yet.
    pub fn new(folder: impl Into<PathBuf>) -> Result<Session, Trouble> {
        let env = Environment::of_process();
        Ok(Session { folder: folder.into(), runtime: runtime::place(&env)?, env })
    }

    /// The folder for findings.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Compiles and links as gcc and clang do, with these arguments. What the compiler says goes into the trouble.
    pub fn build(&self, language: Language, arguments: &[OsString]) -> Result<(), Trouble> {
        let folder = std::env::current_dir().map_err(|error| cannot("enter the current folder", &error))?;
        let call =
            CompilerCall { language, arguments, folder: &folder, env: &self.env, runtime: &self.runtime };
        let mut command = call.command()?;
        let made = command.stdin(Stdio::null()).output();
        let made = made.map_err(|error| cannot("start the compiler", &error))?;
        match made.status.success() {
            true => Ok(()),
            false => Err(Trouble::usage(
                format!("the compiler failed:\n{}", String::from_utf8_lossy(&made.stderr).trim_end()),
                "mend what it names",
            )),
        }
    }

    /// The target of a program that was built for Threadbare, by its path or its name, with the arguments of its runs.
    pub fn target(&self, program: &Path, args: Vec<OsString>) -> Result<Target, Trouble> {
        let found = find_program(program, &self.env)?;
        let found = std::path::absolute(&found).unwrap_or(found);
        check_program(&found, &self.env)?;
        let mut target = Target::new(found, args);
        surroundings::add_own(&mut target.env);
        target.arg0 = Some(program.as_os_str().to_owned());
        target.runtime = Some(self.runtime.library().to_owned());
        Ok(target)
    }

    /// A campaign over a target with the settings of `threadbare run` without options.
    pub fn usual(target: Target) -> Config {
        let stacks_told = !threadbare_symbols::compilers::leaves_out_stack_fields(&target.program);
        Config {
            target: Arc::new(Target { reset: true, stacks_told, ..target }),
            search: Search::default(),
            in_order: false,
            faults: Faults::SPURIOUS,
            seed: 0,
            runs: Some(USUAL_RUNS),
            time: None,
            jobs: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            keep_going: false,
            timeout: USUAL_TIMEOUT,
            points: PointMode::Shared,
            max_points: 0,
            check_replay: false,
            ends_complete: true,
            predict: true,
            races: Races::Fail,
            model: MemoryModel::C11,
            shrink: Some(Closer { time: USUAL_CLOSER, invariants: Some(USUAL_CLOSER) }),
            filter: None,
            coverage: true,
            until: None,
            noise: Noise {
                kind: NoiseKind::Mixed,
                guidance: Guidance::Random,
                flags: flags::RECORD | flags::COVER,
                share: 1000,
                signal: 0,
                probability: (USUAL_NOISE * ALWAYS as f64) as u64,
                strength: 1000,
            },
            quiet: None,
            earlier: None,
            goal: None,
            taker: None,
            futures: None,
            idioms: None,
            pairs: None,
            parts: Arc::default(),
        }
    }

    /// Makes a campaign, keeps its findings and what it needs to go on.
    pub fn run(&self, campaign: &Campaign, observer: &mut dyn Observer) -> Result<Ran, Trouble> {
        let store = Store::open(&self.folder)?;
        let Campaign { config, suppressions, given, .. } = campaign;
        let journal = kept::begin(&store, config, suppressions, given, observer)?;
        self.conduct(campaign, &store, journal, observer)
    }

    /// Goes on with a campaign that was ended: the same runs come as if nobody had. Its bounds may be others than they were.
    pub fn resume(&self, campaign: &Campaign, observer: &mut dyn Observer) -> Result<Ran, Trouble> {
        let store = Store::open(&self.folder)?;
        let resumed = kept::resume_same(&store, &campaign.config, &campaign.suppressions, observer)?;
        self.go_on(resumed, campaign.regress, observer)
    }

    /// Goes on with a campaign that was found.
    pub fn go_on(
        &self,
        resumed: kept::Resumed,
        regress: bool,
        observer: &mut dyn Observer,
    ) -> Result<Ran, Trouble> {
        let store = Store::open(&self.folder)?;
        let kept::Resumed { config, suppressions, journal } = resumed;
        let campaign = Campaign { config, suppressions, regress, given: Vec::new() };
        self.conduct(&campaign, &store, Some(journal), observer)
    }

    fn conduct(
        &self,
        campaign: &Campaign,
        store: &Store,
        journal: Option<Journal>,
        observer: &mut dyn Observer,
    ) -> Result<Ran, Trouble> {
        let Campaign { config, suppressions, regress, .. } = campaign;
        let can_resume = journal.is_some();
        let kept = if *regress { regress::all(config, store, observer)? } else { Regress::default() };
        if kept.has_failed() && !config.keep_going {
            return Ok(Ran { report: campaign::regressed(config, store, kept, true, observer), can_resume });
        }
        let made = campaign::conduct(config, store, observer, None, suppressions, journal)?;
        let mut report = made.report;
        kept.join(&mut report, store, observer);
        Ok(Ran { report, can_resume })
    }

    /// Replays the kept schedules of a campaign's program, which may be another build by now, and makes no other runs: what became of
    /// each.
    pub fn regress(&self, config: &Config, observer: &mut dyn Observer) -> Result<Vec<Regressed>, Trouble> {
        let kept = regress::all(config, &Store::open(&self.folder)?, observer)?;
        Ok(kept.list)
    }

    /// Makes one run again from its schedule: a file, or the id of a finding.
    pub fn replay(&self, name: &Path, observer: &mut dyn Observer) -> Result<Replayed, Trouble> {
        let mut replay = Replay::open(name, &self.folder, None, observer)?;
        let facts = replay.run()?;
        replay.tell(facts, PATIENCE)
    }

    /// Why a finding fails: as its campaign told it, or looked for now in this time.
    pub fn explain(
        &self,
        name: &Path,
        time: Duration,
        observer: &mut dyn Observer,
    ) -> Result<Finding, Trouble> {
        let mut replay = Replay::open(name, &self.folder, None, observer)?;
        let facts = replay.run()?;
        Ok(replay.tell(facts, time)?.finding)
    }

    /// Makes the schedule of a finding smaller; the new one takes its place.
    pub fn shrink(
        &self,
        name: &Path,
        budget: Budget,
        observer: &mut dyn Observer,
    ) -> Result<Shrunken, Trouble> {
        shrink::shrink(name, &self.folder, None, budget, observer)
    }
}
