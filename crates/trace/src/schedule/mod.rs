//! Schedules: how to make a run again.
//!
//! One versioned text form serves record, replay and prefix-then-strategy. A file is a header of `key: value` lines,
//! a table of places, the steps, and an end line with their count and a checksum:
//!
//! ```text
//! threadbare schedule 4
//! program: /home/me/bank
//! program-id: build-id:5f3a…
//! arg0: ./bank
//! arg: 3
//! cwd: /home/me
//! strategy: random
//! seed: 7
//! run: 37
//! entropy: 9131
//! points: shared
//! verdict: deadlock
//! message: no strand can go on
//! waits: 3f2a.lock 40b1.lock
//! places:
//! a=3f2a.lock b=1:40b1.write
//! steps:
//! 0+57@a# 0.1+13@b ( 0+1@a 0.1+1@b )*12 w1/3 0.2!+4@b 0+9.
//! end 31 9f3e1a2b5c6d7e8f
//! ```
//!
//! A step is one segment: the strand's place in the creation tree, `!` when it goes on by its deadline, the number of
//! events it makes, the place it stops at (module, offset, operation: the fingerprint), and a mark: `#` it had to
//! wait, `;` it ended, `.` the run ended. `w1/3` and `v5/9` are choices of a waiter and of a value: option and number of
//! options. `p0/1@a` and `f7/4@a` are faults, spurious ones and failing calls: how many chances of that sort the strand had before, and the sort. `( … )*N` repeats. Blanks and line ends between steps do not matter,
//! so a schedule survives being pasted.
//!
//! `code: 6`, `at: 3f2a`, `place: bank.rs:41` and `waits: 3f2a.lock …` say what the verdict is ([`Identity`]): a replay must come to the same.
//! The message is for people.
//!
//! `race: 1201.write 1:40b1.read` names the two places of the data race that the schedule is kept for; `races: off` says
//! that none were looked for.
//!
//! `env: NAME=VALUE` is a variable the run had; `env-seen: NAME=5f3a …` names those that passed from the user's own environment,
//! with 16 bits of a hash of each value, so that a run that is another can say what differs.
//!
//! `given: input` says that arguments and standard input were not there before `main` was to be entered, and `given: env NAME` the same of a variable: texts lie
//! elsewhere in memory then.
//!
//! A strategy is written with its parameters, if it has any: `pct 3`. `then: STRATEGY SEED` lets one decide after the
//! steps; with no steps it is the whole run, for runs that are too long to list or were killed. Such a run depends on what
//! its strategy was told (`estimates:`, `guide:`), and, like one that ended because it made too many points, on the
//! instructions known to be points (`known:`).
//!
//! A schedule has segments, not an entry for each point: shorter to paste, and independent of which instructions are points.

mod parse;
mod text;
mod write;

use crate::identity::Identity;
use crate::race::RacePair;
use crate::run::RunFacts;
use crate::strands::Strands;
use std::collections::BTreeMap;
use std::ffi::OsString;
use threadbare_abi::event::Segment;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode};
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_strategy::{Spec, StrategyId};

pub use parse::{ParseError, Problem};

/// The version of the text form. Before 2, calls with a state that libc keeps out of sight were no events; before 3, the entry of
/// a wait on Rust's `Condvar` was none; before 4, only the kind of the verdict and its words were written.
pub const VERSION: u32 = 4;
/// The first version that says what the verdict is.
const TELLS_FAILURE: u32 = 4;
/// The oldest version that is read.
const OLDEST: u32 = 1;

/// A schedule and what it belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The version of the text form that it was written in.
    pub version: u32,
    /// The program's file.
    pub program: OsString,
    /// Which build of it.
    pub program_id: String,
    /// What it saw as its own name; its file where a schedule has none.
    pub arg0: Option<OsString>,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables added to the environment; all that are the run's own.
    pub env: Vec<(OsString, OsString)>,
    /// The other variables of the environment by name, with a few bits of their values: what may differ.
    pub env_seen: Vec<(String, u16)>,
    /// The folder it ran in.
    pub cwd: OsString,
    /// What it read as standard input.
    pub stdin: Option<OsString>,
    /// Arguments, standard input and the variables of these names were given when the program stood before `main`, not when it was started.
    pub given: Option<Vec<OsString>>,
    /// The strategy of the campaign, with its parameters.
    pub strategy: Spec,
    /// The seed of the campaign.
    pub seed: u64,
    /// The run's number in it.
    pub run: u64,
    /// The seed of `getrandom` and friends.
    pub entropy: u64,
    /// Which operations were points.
    pub points: PointMode,
    /// The bound on points, 0 if there was none.
    pub max_points: u64,
    /// Bytes of heap the run might have, 0 for no bound.
    pub memory: u64,
    /// Deadlines did not fire while a strand could go on.
    pub in_order: bool,
    /// Which faults might happen.
    pub faults: Faults,
    /// Whether data races were looked for.
    pub races: bool,
    /// What its atomic loads may have seen.
    pub model: MemoryModel,
    /// The data race that the schedule shows, where it is kept for one.
    pub race: Option<RacePair>,
    /// How long the run may take, in milliseconds.
    pub timeout_ms: u64,
    /// What the run was found to be.
    pub verdict: VerdictKind,
    /// What it was found to be, so that it is known again. Of a race it is the pair; a schedule before version 4 does not say.
    pub failure: Option<Identity>,
    /// The verdict in words.
    pub message: String,
    /// The hash over the run's events.
    pub trace_hash: u64,
    /// The steps.
    pub segments: Vec<Segment>,
    /// The names of the strands in the steps, by path.
    pub names: Names,
    /// Who decides after the steps.
    pub then: Option<Then>,
    /// The pcs that are points, where that makes a difference.
    pub known: Vec<u64>,
}

/// Names of strands by the hash of their path.
pub type Names = BTreeMap<u64, String>;

/// What goes on after the steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Then {
    /// The strategy.
    pub strategy: Spec,
    /// Its seed.
    pub seed: u64,
    /// Choices and strands it is told to expect.
    pub estimates: (u64, u64),
    /// What it is told besides.
    pub guide: Vec<u64>,
}

impl Schedule {
    /// Sets the steps, with the strands' names. What a schedule does not keep is set to its neutral value: the index
    /// of a strand holds in one run only.
    pub fn set_segments(&mut self, mut segments: Vec<Segment>, strands: &Strands) {
        self.names = Names::new();
        for segment in &mut segments {
            segment.strand = StrandId::NONE.0;
            segment.spins = 0;
            if text::is_strand(segment)
                && let Some(name) = strands.name_of_path(segment.path)
            {
                self.names.entry(segment.path).or_insert_with(|| name.to_owned());
            }
        }
        self.segments = segments;
    }

    /// Whether a run is the recorded one, by what it came to.
    pub fn is_met_by(&self, facts: &RunFacts) -> bool {
        if let Some(pair) = self.race {
            return Identity::of_race(pair).is_shown_by(facts);
        }
        let made = Identity::of(facts, None);
        match (&self.failure, &self.then) {
            (None, _) => made.kind == self.verdict,
            // The recording of a free run.
            (Some(failure), Some(then)) if then.strategy.id == StrategyId::Recorded => {
                failure.is_under_control(&made)
            }
            (Some(failure), _) => failure.is_repeated_by(&made),
        }
    }

    /// The schedule as text.
    pub fn to_text(&self) -> String {
        write::write(self)
    }

    /// The schedule in a text.
    pub fn parse(text: &str) -> Result<Schedule, ParseError> {
        parse::parse(text)
    }
}

#[cfg(test)]
mod tests;
