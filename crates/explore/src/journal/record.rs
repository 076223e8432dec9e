//! What a journal holds.

use crate::outcome::Outcome;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// One sitting of a campaign: who made it, of what, and how it was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Session {
    /// The tool: its version and its runtime.
    pub tool: String,
    /// The same for campaigns whose runs are the same.
    pub identity: u64,
    /// The program's file.
    pub program: PathBuf,
    /// The build it is.
    pub program_id: String,
    /// What it sees as its own name.
    pub arg0: Option<OsString>,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables added to the driver's environment.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// What it reads as standard input.
    pub stdin: Option<PathBuf>,
    /// The options that were given, as a command line has them.
    pub options: Vec<OsString>,
    /// The seconds since 1970 when it began.
    pub began: u64,
}

/// How a sitting ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Close {
    /// Why: `runs`, `time`, `failure` or `interrupt`.
    pub ended_by: String,
    /// The findings so far.
    pub findings: Vec<String>,
}

/// A record as it is written.
#[derive(Serialize)]
pub(crate) enum RecordRef<'a> {
    Session(&'a Session),
    Run(u64, &'a Outcome),
    Tried(u64, u64, Option<&'a Outcome>),
    Note(u64, &'a [u8]),
    Clock(u64, u64, u64),
    Close(&'a Close),
}

/// The same as it is read.
#[derive(Debug, Deserialize)]
pub(crate) enum Record {
    /// A sitting begins.
    Session(Session),
    /// A run was taken into the books.
    Run(u64, Box<Outcome>),
    /// A prediction was tried: its number, the tries, the run that failed.
    Tried(u64, u64, Option<Box<Outcome>>),
    /// What the observer wants to have again with the first failure of this key, which follows.
    Note(u64, Vec<u8>),
    /// Milliseconds the campaign has taken, its runs, and those that failed.
    Clock(u64, u64, u64),
    /// A sitting has ended.
    Close(Close),
    /// Whole, and of another version of the tool.
    #[serde(skip)]
    Unknown,
}
