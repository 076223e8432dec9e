//! Options that several commands share.

use crate::exit::{Trouble, refused};
use crate::noise_options::NoiseOptions;
use crate::output::ReportFormat;
use crate::{given, hide, values};
use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode};
use threadbare_explore::campaign::{Closer, Config};
use threadbare_explore::limits::Limits;
use threadbare_explore::server::Target;
use threadbare_explore::{Controlled, Free, Leaks, Races, Search};
use threadbare_findings::Suppressions;
use threadbare_session::session::USUAL_RUNS;
use threadbare_strategy::{Adviser, Spec, StrategyId};

/// Where findings go unless told otherwise.
pub(crate) const FOLDER: &str = ".threadbare";

const PLANNER_RUNS: u64 = 100_000;

pub(crate) const EXAMPLES: &str = "\
Examples:
  threadbare cc -g -O1 -pthread bank.c -o bank     compile a C program for Threadbare
  threadbare run --runs 1000 -- ./bank             look for a schedule that makes it fail
  threadbare replay .threadbare/ID.schedule        make the failing run again
  threadbare shrink ID                             make it as small as it gets
  cargo threadbare test                            the same for every test of a cargo package

Exit codes: 0 nothing found, 1 a failure was found or reproduced, 2 the request or the set-up is
wrong, 3 Threadbare itself failed.";

/// When sleeps and timed waits end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Deadlines {
    /// Also while other strands can go on.
    Early,
    /// Only when nothing else can go on.
    InOrder,
}

/// How a run begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Reset {
    /// In the same process where that can serve.
    Auto,
    /// In the same process.
    Snapshot,
    /// In one of its own.
    Fork,
}

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// How strands are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// One strand at a time, every choice Threadbare's.
    Controlled,
    /// Threads of the kernel, in parallel, with noise.
    Free,
}

/// Whether something is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Switch {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// What is done with data races.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum RaceMode {
    /// They are not looked for.
    Off,
    /// They are told, and no run fails by one.
    Report,
    /// A run that shows one has failed.
    Fail,
}

/// What is done with memory that is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum LeakMode {
    /// It is not looked for.
    Off,
    /// It is told, and no run fails by it.
    Note,
    /// A run that leaves some has failed.
    Fail,
}

/// What a campaign is to do.
#[derive(Args, Debug, Clone)]
pub(crate) struct CampaignOptions {
    /// Who decides which strand goes on: `portfolio`, `random`, `pct:3`, … (see `--help`).
    #[arg(long, value_name = "NAME[:N]", default_value_t = Search::default(), value_parser = values::strategy,
          long_help = values::strategy_help())]
    pub(crate) strategy: Search,
    /// The most runs [default: 1000, or 100000 for a planner; without a bound if --time is given].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::runs)]
    pub(crate) runs: Option<u64>,
    /// The most time, such as 30s, 5m or 1h.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::duration)]
    pub(crate) time: Option<Duration>,
    /// The seed: the same seed makes the same runs.
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0, value_parser = values::number)]
    pub(crate) seed: u64,
    /// Runs at a time [default: one for each processor]. The result does not depend on it.
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = values::jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Go on after a failure, and tell every different one.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// How much processor time one run may take. One that takes more is made again with 4 times as much before it is a failure.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "10s", value_parser = values::duration)]
    pub(crate) timeout: Duration,
    /// Where a strand may be stopped: `shared` (synchronisation and accesses to memory that strands
    /// share), `sync` (synchronisation only) or `all` (every access).
    #[arg(long, value_name = "WHICH", default_value = "shared", value_parser = values::points)]
    pub(crate) points: PointMode,
    /// How strands are run.
    #[arg(long, value_enum, default_value = "controlled")]
    pub(crate) mode: Mode,
    /// End a run as a livelock after this many points [default: no bound].
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0, hide_default_value = true,
          value_parser = values::number)]
    pub(crate) max_points: u64,
    /// When sleeps and timed waits end: `early` (also while other strands can go on, as on a slow machine) or
    /// `in-order` (only when nothing else can go on).
    #[arg(long, value_enum, default_value = "early")]
    pub(crate) deadlines: Deadlines,
    /// What the environment may do: `spurious` (wake-ups without a signal, weak exchanges and `mtx_trylock` that fail for no
    /// reason), `io` (`EINTR`, `EAGAIN`, short reads and writes), `memory` (allocations fail), `threads` (strands cannot be
    /// created), `clock` (the wall clock is set), several with commas between, `all` or `none`.
    #[arg(long, value_name = "WHICH", default_value = "spurious", value_parser = values::faults)]
    pub(crate) faults: Faults,
    /// How a run begins: in the process of the one before it, with memory put back (`snapshot`), or in a process of its
    /// own (`fork`). `auto` is `snapshot` where it can serve. What runs show is the same.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) reset: Reset,
    /// How much heap a run may have at a time, such as 512M or 4G; 0 for no bound.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "2G", value_parser = values::size)]
    pub(crate) memory: u64,
    /// What an atomic load may see: the newest store only (`sc`), an older one while newer ones are in store buffers (`tso`), or
    /// all that C11 allows but load buffering (`c11`).
    #[arg(long, value_name = "MODEL", default_value = "c11", value_parser = values::model)]
    pub(crate) memory_model: MemoryModel,
    /// How much of each output stream of a run is kept while it goes on; of more, the end.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "16M", value_parser = values::size)]
    pub(crate) output: u64,
    /// How large a file that a run writes may become; 0 for no bound.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "1G", value_parser = values::size)]
    pub(crate) file_size: u64,
    /// Data races: not looked for, told without failing, or failures (default). Free runs are looked at themselves where this is given;
    /// else only those that are made again under control.
    #[arg(long, value_enum)]
    pub(crate) races: Option<RaceMode>,
    /// Memory that is left at the end of a run, and that nothing points to: not looked for, told without failing, or a failure.
    #[arg(long, value_enum, default_value = "off")]
    pub(crate) leaks: LeakMode,
    /// A file with findings that are not to be told, in ThreadSanitizer's syntax: `race:FUNCTION`,
    /// `deadlock:FILE`, …. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Vec<PathBuf>,
    /// Do not try the deadlocks that the order of locks predicts: only the strategy looks for them.
    #[arg(long)]
    pub(crate) no_predict: bool,
    /// Replay the kept schedules of the program first: a bug that is there again ends the campaign at once, one that is
    /// not is told as fixed.
    #[arg(long)]
    pub(crate) regress: bool,
    /// How long a new finding's schedule is made smaller before it is told: a time, or `off`.
    #[arg(long, value_name = "TIME|off", allow_hyphen_values = true, default_value = "2s", value_parser = values::time_or_off)]
    pub(crate) shrink: values::TimeOrOff,
    /// How long it is looked for the invariant that passing runs keep and a shrunk finding breaks: a time, or `off`.
    #[arg(long, value_name = "TIME|off", allow_hyphen_values = true, default_value = "2s", value_parser = values::time_or_off)]
    pub(crate) invariants: values::TimeOrOff,
    /// Make every run a second time from its own schedule; a difference is an error of Threadbare.
    #[arg(long)]
    pub(crate) check_replay: bool,
    /// Stop when a run that shows something new is less likely than this: `0.1%`, `1/1000` or `0.001`.
    #[arg(long, value_name = "CHANCE", allow_hyphen_values = true, value_parser = values::chance)]
    pub(crate) until: Option<f64>,
    /// Look at which instances of interleaving idioms (iroots) the runs show, for `threadbare coverage`; runs take longer. `--strategy
    /// idioms` always does.
    #[arg(long)]
    pub(crate) iroots: bool,
    /// Whether coverage is told.
    #[arg(long, value_enum, default_value = "on", hide = true)]
    pub(crate) coverage: Switch,
    /// How results are written.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ReportFormat,
    /// The folder for findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) noise: NoiseOptions,
}

/// The options of a campaign over one program, as a command line of their own. What comes later counts.
#[derive(Parser, Debug)]
#[command(name = "cargo threadbare", disable_help_flag = true, args_override_self = true)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) campaign: CampaignOptions,
    /// What every run reads as its standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<PathBuf>,
    /// Go on with a campaign where it ended.
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) resume: Option<String>,
}

impl RunOptions {
    /// Reads them, and gives those that were given besides.
    pub(crate) fn read(
        line: impl IntoIterator<Item = OsString>,
    ) -> Result<(RunOptions, Vec<OsString>), Trouble> {
        let command = RunOptions::command();
        let matches = command.clone().try_get_matches_from(line).map_err(|error| refused(&error))?;
        let options = RunOptions::from_arg_matches(&matches).map_err(|error| refused(&error))?;
        Ok((options, given::of(&command, &matches)))
    }

    /// The campaign that options ask for, as they were kept with it.
    pub(crate) fn campaign(
        words: Vec<OsString>,
        target: Target,
    ) -> Result<(Config, Arc<Suppressions>), Trouble> {
        let line = std::iter::once(OsString::from("threadbare run")).chain(words);
        let (options, _) = RunOptions::read(line)?;
        let suppressions = hide::read(&options.campaign.suppressions)?;
        Ok((options.campaign.config(target), suppressions))
    }
}

impl CampaignOptions {
    /// Refuses options that do not go together.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        match self.mode {
            Mode::Controlled => self.noise.check_controlled(),
            Mode::Free if self.check_replay => Err(Trouble::usage(
                "a free run cannot be made a second time: the kernel decides in it",
                "leave out `--check-replay`",
            )),
            Mode::Free if self.until.is_some() => Err(Trouble::usage(
                "free runs have no classes that `--until` could count",
                "`--until-coverage 95%` ends a free campaign when functions and their pairs are covered",
            )),
            Mode::Free if self.leaks != LeakMode::Off => Err(Trouble::usage(
                "a free run has libc's own heap: what is left in it is not known",
                "leave out `--leaks`, or `--mode free`",
            )),
            Mode::Free => Ok(()),
        }
    }

    /// Whether the strategy itself looks for iroots.
    fn forces(&self) -> bool {
        matches!(self.strategy, Search::Strategy(spec) if spec.id.row().adviser == Adviser::Idioms)
    }

    /// The campaign for a target.
    pub(crate) fn config(&self, mut target: Target) -> Config {
        target.limits = Limits { memory: self.memory, output: self.output, file_size: self.file_size };
        target.leaks = match self.leaks {
            LeakMode::Off => Leaks::Off,
            LeakMode::Note => Leaks::Note,
            LeakMode::Fail => Leaks::Fail,
        };
        // A planner ends by itself when it is through.
        let planned = self.strategy.is_planner() && self.mode == Mode::Controlled;
        let default_runs = if planned { PLANNER_RUNS } else { USUAL_RUNS };
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        target.mode = match self.mode {
            Mode::Controlled => &Controlled,
            Mode::Free => &Free,
        };
        target.reset = self.reset != Reset::Fork;
        target.stacks_told = !threadbare_symbols::compilers::leaves_out_stack_fields(&target.program);
        let quiet = (self.mode == Mode::Free).then(|| self.noise.quiet(&target.program));
        // A free run uses all processors itself.
        let jobs = || if self.mode == Mode::Free { 1 } else { cores() };
        let enough = self.until.is_some() || self.noise.until_coverage.is_some();
        let unbounded = self.time.is_none() && !enough;
        let coverage = self.coverage == Switch::On;
        Config {
            target: Arc::new(target),
            ends_complete: self.runs.is_none(),
            // In free runs the kernel decides.
            search: match self.mode {
                Mode::Controlled => self.strategy,
                Mode::Free => Search::Strategy(Spec::of(StrategyId::Random)),
            },
            in_order: self.deadlines == Deadlines::InOrder,
            faults: self.faults,
            seed: self.seed,
            runs: self.runs.or(unbounded.then_some(default_runs)),
            time: self.time,
            jobs: self.jobs.map_or_else(jobs, NonZeroUsize::get),
            keep_going: self.keep_going,
            timeout: self.timeout,
            points: self.points,
            max_points: self.max_points,
            check_replay: self.check_replay,
            predict: !self.no_predict && self.mode == Mode::Controlled,
            races: match self.races {
                Some(RaceMode::Off) => Races::Off,
                Some(RaceMode::Report) => Races::Report,
                Some(RaceMode::Fail) | None => Races::Fail,
            },
            // In free runs the processor decides.
            model: if self.mode == Mode::Free { MemoryModel::Sc } else { self.memory_model },
            shrink: self.shrink.0.map(|time| Closer { time, invariants: self.invariants.0 }),
            filter: None,
            noise: self
                .noise
                .noise(coverage)
                .looking_for_races(matches!(self.races, Some(RaceMode::Report | RaceMode::Fail))),
            quiet,
            earlier: None,
            taker: None,
            goal: self.noise.until_coverage,
            coverage,
            until: self.until,
            futures: None,
            pairs: None,
            parts: Arc::default(),
            idioms: (self.iroots && self.mode == Mode::Controlled && !self.forces()).then(Arc::default),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_session::Session;

    #[test]
    fn without_options_a_campaign_is_the_librarys() {
        let (options, _) = RunOptions::read([OsString::from("x")]).unwrap();
        let target = || Target::new("/bin/true", Vec::new());
        let by_words = options.campaign.config(target());
        assert_eq!(format!("{by_words:?}"), format!("{:?}", Session::usual(target())));
    }
}
