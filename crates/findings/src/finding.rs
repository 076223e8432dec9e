//! A bug, as it is reported and stored.

use crate::pattern::Pattern;
use crate::places::Place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the stored form.
pub const FORMAT_VERSION: u32 = 1;

/// How much a finding weighs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A run that shows it has failed.
    #[default]
    Failure,
    /// It is told, and no run fails by it.
    Note,
}

/// A bug that one or more runs of a campaign showed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Finding {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// A short name, the same for the same bug in every campaign.
    pub id: String,
    /// The verdict's kind.
    pub kind: String,
    /// Whether runs fail by it.
    #[serde(default)]
    pub severity: Severity,
    /// The signal or exit code of the run that was explained; not kept.
    #[serde(skip)]
    pub code: i32,
    /// The address at fault in it, or 0; not kept.
    #[serde(skip)]
    pub fault: u64,
    /// The failure in words.
    pub message: String,
    /// The schedule's file.
    pub schedule: String,
    /// The first run that showed it.
    pub run: u64,
    /// The strategy of that run; empty for a run that followed a schedule.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub strategy: String,
    /// Runs that showed it.
    pub count: u64,
    /// Switches of that run.
    pub switches: u64,
    /// Switches away from a strand that could have gone on; `None` where the run's choices are not all known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u64>,
    /// What the schedule was before it was shrunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    /// Why it fails, as far as that was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// What passing runs keep and its run breaks, as far as that was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<BrokenInvariant>,
    /// Points of that run.
    pub points: u64,
    /// Where it happened, the most telling place first.
    pub locations: Vec<Location>,
    /// What each strand was doing.
    pub strands: Vec<StrandDetail>,
    /// The two accesses of a race, the later one first; the access of a memory error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<AccessDetail>,
    /// The memory that a race or a memory error concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectDetail>,
    /// Where the strands that matter were created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Creation>,
    /// The last steps of the strands that matter, in the order they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<LaneStep>,
    /// The source around the places that a report shows, as it was when the finding was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceText>,
    /// Facts that help to mend it, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What `--regress` last found of it: `fixed`, `unfit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regress: Option<String>,
    /// What else the user should know.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The program.
    pub program: String,
    /// The end of what the run wrote to its standard output.
    #[serde(default)]
    pub stdout: String,
    /// The end of what the run wrote to its standard error.
    #[serde(default)]
    pub stderr: String,
}

/// What a shrunk schedule comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Shrunk {
    /// Switches of the run that was found.
    pub switches: u64,
    /// Its preemptions.
    pub preemptions: u64,
    /// No run with fewer preemptions than the schedule's shows the finding.
    pub minimal: bool,
    /// Runs that shrinking took.
    pub runs: u64,
}

/// A statement on shared variables that all passing runs keep and a failing run breaks. The fields are those of `threadbare
/// invariants`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BrokenInvariant {
    /// The statement.
    pub text: String,
    /// Where its function or lines begin, `file:line`.
    pub place: String,
    /// `enter` or `exit` of a function, or `block`.
    pub point: String,
    /// `enter` or `exit`, of a block too.
    pub side: String,
    /// The function.
    pub function: String,
    /// First and last line of a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// `transition` or `state`.
    pub kind: String,
    /// What failing runs keep instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// Passing runs that were looked at; all of them keep it.
    pub runs_passing: u64,
    /// Runs with this finding that were looked at.
    pub runs_failing: u64,
    /// Where the finding's run breaks it first.
    pub first_broken: FirstBroken,
}

/// Where a statement was first broken.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FirstBroken {
    /// `file:line`.
    pub place: String,
    /// Who.
    pub strand: String,
    /// What the variables were.
    pub values: BTreeMap<String, String>,
    /// Another strand had changed what the strand's first write replaced: `orig` is that.
    pub came_between: bool,
    /// The schedule's file.
    pub schedule: String,
}

/// Why a run fails: two operations whose order decides.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// The kind of mistake, where it is one of those that have a name.
    pub pattern: Option<Pattern>,
    /// The two operations, the one that came first in the failing run first.
    pub pair: Vec<PairPlace>,
    /// Other operations that the words name: what a strand had looked at, what it did in the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<PairPlace>,
    /// The same in words.
    pub text: String,
    /// The read that sees another write in the run that passes, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<DecidingTerm>,
    /// What was done to the memory or the locks in question, in the failing run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<LaneStep>,
    /// The same in the nearest run that passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passing: Vec<LaneStep>,
}

/// A read that sees one write in the run that fails, and another in the run that passes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DecidingTerm {
    /// The read.
    pub read: PairPlace,
    /// What it sees in the run that fails; none for the initial value.
    pub write: Option<PairPlace>,
    /// What it sees in the run that passes; none for the initial value.
    pub passing_write: Option<PairPlace>,
    /// The same in words: the first part is a choice as `threadbare run --future` takes it.
    pub text: String,
}

/// An operation of a pair.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PairPlace {
    /// The source file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function.
    pub function: Option<String>,
    /// Who.
    pub strand: String,
    /// What: the name of an operation.
    pub operation: String,
    /// What it concerns.
    pub object: Option<String>,
    /// Who called the function, where that says more than the place itself: a helper, a package that the program uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Place>,
    /// Whether the place is in a package that the program uses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dependency: bool,
}

/// A place of a finding.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Location {
    /// The source file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function.
    pub function: Option<String>,
    /// The strand.
    pub strand: Option<String>,
    /// The line itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Lines of a source file that follow each other.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SourceText {
    /// The file, as places name it.
    pub file: String,
    /// The number of the first line, from 1.
    pub line: u32,
    /// The lines.
    pub lines: Vec<String>,
}

/// What a strand was doing when the run ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StrandDetail {
    /// Its place in the creation tree.
    pub strand: String,
    /// The name the program gave it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `ready`, `blocked`, `running` or `ended`.
    pub state: String,
    /// The operation it stands before.
    pub operation: Option<String>,
    /// What the operation concerns: a variable, an address, a strand.
    pub object: Option<String>,
    /// The strand that keeps it waiting.
    pub held_by: Option<String>,
    /// Locks it holds, each with the place it was taken at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<HeldLock>,
    /// Its stack, innermost first.
    pub stack: Vec<Place>,
}

/// A lock a strand holds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HeldLock {
    /// The lock.
    pub object: String,
    /// Where it was taken.
    pub taken_at: Option<Place>,
}

/// An access to memory.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AccessDetail {
    /// Who.
    pub strand: String,
    /// `read`, `write`, `atomic-store`, `free`, …
    pub operation: String,
    /// Bytes.
    pub size: u64,
    /// Its stack, innermost first.
    pub stack: Vec<Place>,
    /// Locks the strand held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<HeldLock>,
}

/// A piece of memory.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ObjectDetail {
    /// The variable, field or element, where it is known.
    pub name: Option<String>,
    /// Its address.
    pub address: String,
    /// Bytes.
    pub size: u64,
    /// The heap block it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockDetail>,
}

/// A heap block.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BlockDetail {
    /// Its address.
    pub address: String,
    /// Bytes.
    pub size: u64,
    /// Who allocated it, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<Happening>,
    /// Who freed it, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed: Option<Happening>,
}

/// Something a strand did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Happening {
    /// Who.
    pub strand: String,
    /// Where, innermost first.
    pub stack: Vec<Place>,
}

/// Where a strand was created.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Creation {
    /// The strand.
    pub strand: String,
    /// The name the program gave it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Who created it.
    pub by: String,
    /// Where, innermost first.
    pub stack: Vec<Place>,
}

/// One step of a strand, for the picture of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LaneStep {
    /// Who.
    pub strand: String,
    /// What: the name of an operation.
    pub operation: String,
    /// What it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Where.
    pub place: Option<Place>,
    /// The line itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether the strand had to wait here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// Whether it is one of the two whose order decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decides: bool,
    /// Whether it is on the memory or the lock that the explanation names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub about: bool,
    /// Steps of the run that are left out before this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
}

impl LaneStep {
    /// Whether the same strand does the same, at the same line.
    pub(crate) fn is_like(&self, other: &LaneStep) -> bool {
        let line = |step: &LaneStep| step.place.as_ref().and_then(|place| place.line);
        (&self.strand, &self.operation, &self.object, self.waits)
            == (&other.strand, &other.operation, &other.object, other.waits)
            && line(self) == line(other)
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
