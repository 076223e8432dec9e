//! What came of futures that were kept and made again like tests.

use crate::campaign::FORMAT_VERSION;
use crate::choices::count;
use serde::Serialize;
use std::fmt::Write;
use threadbare_findings::Finding;

/// What came of a kept future.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Fate {
    /// A run has it.
    Made {
        /// `pass`, or the kind of the finding.
        outcome: String,
        /// The finding, if it was told.
        #[serde(skip_serializing_if = "Option::is_none")]
        finding: Option<String>,
    },
    /// There is no such future any more.
    Gone {
        /// Why.
        reason: String,
    },
    /// No run was made that has it.
    NotMade {
        /// How near runs came.
        reason: String,
    },
    /// The read or the write was not made in any run.
    Unreached {
        /// Which.
        reason: String,
    },
}

/// A kept future with what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The file's name, without its end.
    pub name: String,
    /// What came of it.
    #[serde(flatten)]
    pub fate: Fate,
    /// What it came to when it was kept: `passes`, `fails` or `either`.
    pub expected: &'static str,
    /// Whether the suite fails by it.
    pub failed: bool,
}

impl Checked {
    /// In words.
    pub fn words(&self) -> String {
        match &self.fate {
            Fate::Made { finding: Some(id), .. } => format!("fails: {id}"),
            Fate::Made { outcome, finding: None } if outcome != "pass" => "fails: hidden".to_owned(),
            Fate::Made { .. } if self.expected == "fails" => "passes now".to_owned(),
            Fate::Made { .. } => "passes".to_owned(),
            Fate::Gone { reason } => format!("gone: {reason}"),
            Fate::NotMade { reason } => format!("not made: {reason}"),
            Fate::Unreached { reason } => format!("not reached: {reason}"),
        }
    }
}

/// A suite that was made again.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteReport {
    /// The version of this format.
    pub format_version: u32,
    /// What was run.
    pub program: String,
    /// Runs in all.
    pub runs: u64,
    /// How long it took, in seconds.
    pub elapsed_s: f64,
    /// The seed.
    pub seed: u64,
    /// The futures.
    pub futures: Vec<Checked>,
    /// What failed.
    pub findings: Vec<Finding>,
}

impl SuiteReport {
    /// One of a program, without futures yet.
    pub fn new(program: String, seed: u64) -> SuiteReport {
        SuiteReport {
            format_version: FORMAT_VERSION,
            program,
            runs: 0,
            elapsed_s: 0.0,
            seed,
            futures: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Futures by which the suite fails.
    pub fn failed(&self) -> usize {
        self.futures.iter().filter(|checked| checked.failed).count()
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for checked in &self.futures {
            let _ = writeln!(text, "{}: {}", checked.name, checked.words());
        }
        let _ = writeln!(text, "{} of {} failed", self.failed(), count(self.futures.len(), "future"));
        text
    }

    /// For programs.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }
}
