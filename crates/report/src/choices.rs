//! What came of choices: reads that were to see certain writes.

use crate::branches::{self, Branch};
use serde::{Deserialize, Serialize};

/// What came of a choice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Came {
    /// Runs had it.
    Made {
        /// So many.
        runs: u64,
        /// The first of them.
        first: u64,
        /// The reads that saw it: strand and how-manieth time.
        reads: Vec<String>,
    },
    /// No run can have it.
    CannotBe {
        /// Why.
        reason: String,
    },
    /// No run of so many had it.
    NotMade {
        /// How near they came.
        near: String,
    },
    /// The read or the write was not made in any run.
    NotReached {
        /// Which.
        what: String,
        /// What must be so for it to be made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        branches: Vec<Branch>,
    },
}

impl Came {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Came::Made { runs, first, reads } => {
                format!(
                    "made in {}, first in run {first}: {}",
                    count(*runs as usize, "run"),
                    reads.join("; ")
                )
            }
            Came::CannotBe { reason } => format!("cannot be: {reason}"),
            Came::NotMade { near } => format!("not made: {near}"),
            Came::NotReached { what, branches } => match branches::words(branches) {
                words if words.is_empty() => format!("not reached: {what}"),
                words => format!("not reached: {what}; {words}"),
            },
        }
    }
}

/// A choice with what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChoiceReport {
    /// As it was written.
    pub choice: String,
    /// What came of it.
    #[serde(flatten)]
    pub came: Came,
}

impl ChoiceReport {
    /// Whether a run had it.
    pub fn is_made(&self) -> bool {
        matches!(self.came, Came::Made { .. })
    }

    /// A line for people.
    pub fn line(&self) -> String {
        format!("`{}` {}", self.choice, self.came.words())
    }
}

/// A number of things.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
