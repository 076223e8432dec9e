//! What is known of one run when it is over.

use crate::report::RunReport;
use serde::{Deserialize, Serialize};
use threadbare_abi::event::{Event, Segment};
use threadbare_abi::verdict::VerdictKind;

/// The counters of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Hooks and interposed calls.
    pub events: u64,
    /// Points.
    pub points: u64,
    /// Switches from one strand to another.
    pub switches: u64,
    /// Decisions with more than one option.
    pub choices: u64,
    /// Strands created, main included.
    pub strands: u64,
    /// Virtual nanoseconds.
    pub time_ns: u64,
    /// Segments recorded.
    pub segments: u64,
    /// Segments that did not fit the table.
    pub segments_lost: u64,
    /// Segments followed.
    pub followed: u64,
    /// Hash over all events.
    pub trace_hash: u64,
    /// Whether `main` was entered.
    pub entered: bool,
    /// The strand that ran last.
    pub current: u16,
}

/// How a run ended, seen from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By its own exit, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Killed because it took too long.
    TimedOut,
    /// Killed because it took too much memory.
    OutOfMemory,
}

impl End {
    /// Whether the driver ended it, at a moment that is another one each time.
    pub fn was_cut(self) -> bool {
        matches!(self, End::TimedOut | End::OutOfMemory)
    }
}

/// A place in the source as the program itself wrote it (a panic message, an assertion).
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct SourcePlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// What a run was found to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The kind; `None` for a run without failure.
    pub kind: VerdictKind,
    /// The failure in words, one line.
    pub message: String,
    /// The place the program itself named.
    pub place: Option<SourcePlace>,
    /// The strand, or `u16::MAX`.
    pub strand: u16,
    /// The instruction, or 0.
    pub pc: u64,
    /// The address at fault or the object, or 0.
    pub addr: u64,
    /// The signal or exit code.
    pub code: i32,
}

impl Verdict {
    /// The verdict of a run that did not fail.
    pub fn clean() -> Verdict {
        Verdict {
            kind: VerdictKind::None,
            message: String::new(),
            place: None,
            strand: u16::MAX,
            pc: 0,
            addr: 0,
            code: 0,
        }
    }

    /// Whether the program failed.
    pub fn is_failure(&self) -> bool {
        self.kind != VerdictKind::None && !self.is_internal()
    }

    /// Whether Threadbare failed.
    pub fn is_internal(&self) -> bool {
        matches!(self.kind, VerdictKind::Divergence | VerdictKind::Internal)
    }
}

/// What a run wrote to one stream; of long output the end is kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Output {
    /// The bytes kept.
    pub bytes: Vec<u8>,
    /// Bytes that came before them.
    pub dropped: u64,
}

impl Output {
    /// The bytes as text.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.dropped == 0
    }
}

/// All that is kept of a run that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFacts {
    /// The run's number in its campaign.
    pub run: u64,
    /// The seed of its choices.
    pub seed: u64,
    /// How it ended.
    pub end: End,
    /// What it was found to be.
    pub verdict: Verdict,
    /// Its counters.
    pub counters: Counters,
    /// Its report.
    pub report: RunReport,
    /// Its choices. Empty when they were not asked for.
    pub segments: Vec<Segment>,
    /// What it wrote to its standard output.
    pub stdout: Output,
    /// What it wrote to its standard error.
    pub stderr: Output,
    /// The last events before its end, when the run was made again for its details.
    pub events: Vec<Event>,
}
