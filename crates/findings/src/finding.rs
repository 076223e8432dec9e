//! A bug, as it is reported and stored.

use crate::places::Place;
use serde::{Deserialize, Serialize};

/// The version of the stored form.
pub const FORMAT_VERSION: u32 = 1;

/// A bug that one or more runs of a campaign showed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// A short name, the same for the same bug in every campaign.
    pub id: String,
    /// The verdict's kind.
    pub kind: String,
    /// The failure in words.
    pub message: String,
    /// The schedule's file.
    pub schedule: String,
    /// The first run that showed it.
    pub run: u64,
    /// Runs that showed it.
    pub count: u64,
    /// Switches of that run.
    pub switches: u64,
    /// Points of that run.
    pub points: u64,
    /// Where it happened, the most telling place first.
    pub locations: Vec<Location>,
    /// What each strand was doing.
    pub strands: Vec<StrandDetail>,
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
