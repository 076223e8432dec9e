//! How many tasks there are, are covered, and can be.

use crate::curve::Sample;
use crate::tasks::rules::{Reason, State};
use serde::{Deserialize, Serialize};

/// Tasks that cannot be covered as far as the runs show, by the reason. Field names are an interface: others read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Out {
    /// The function only ran while no other strand lived.
    pub alone: u64,
    /// No call of it came to its end beside other strands.
    pub never_returned: u64,
    /// It makes no event of its own.
    pub no_events: u64,
    /// Both functions of the pair only ever ran in one and the same strand.
    pub one_strand: u64,
}

impl Out {
    pub(super) fn of(&mut self, reason: Reason) -> &mut u64 {
        match reason {
            Reason::Alone => &mut self.alone,
            Reason::NeverReturned => &mut self.never_returned,
            Reason::NoEvents => &mut self.no_events,
            Reason::OneStrand => &mut self.one_strand,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.alone + self.never_returned + self.no_events + self.one_strand
    }
}

/// The tasks of one sort. Field names are an interface: others read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Model {
    /// All tasks.
    pub tasks: u64,
    /// Those that a run did.
    pub covered: u64,
    /// Those that can be covered: all but those of `uncoverable`.
    pub coverable: u64,
    /// Those that cannot, as far as the runs show.
    pub uncoverable: Out,
}

impl Model {
    pub(super) fn see(&mut self, state: State) {
        self.tasks += 1;
        match state {
            State::Covered => {
                self.covered += 1;
                self.coverable += 1;
            }
            State::Open => self.coverable += 1,
            State::Out(reason) => *self.uncoverable.of(reason) += 1,
        }
    }

    /// The covered part of what can be covered, from 0 to 1; `None` if there is nothing.
    pub fn share(&self) -> Option<f64> {
        (self.coverable > 0).then(|| self.covered as f64 / self.coverable as f64)
    }

    /// Tasks that can be covered and are not.
    pub fn open(&self) -> u64 {
        self.coverable - self.covered.min(self.coverable)
    }

    pub(super) fn plus(self, other: Model) -> Model {
        let (one, two) = (self.uncoverable, other.uncoverable);
        Model {
            tasks: self.tasks + other.tasks,
            covered: self.covered + other.covered,
            coverable: self.coverable + other.coverable,
            uncoverable: Out {
                alone: one.alone + two.alone,
                never_returned: one.never_returned + two.never_returned,
                no_events: one.no_events + two.no_events,
                one_strand: one.one_strand + two.one_strand,
            },
        }
    }
}

/// The tasks of both models. Field names are an interface: others read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskCounts {
    /// Functions that have tasks.
    pub functions: u64,
    /// Those of them that ran beside other strands.
    pub beside: u64,
    /// Model 1: a call of each function is interrupted, and a call runs through.
    pub model1: Model,
    /// The first half of it: a call is interrupted.
    pub interrupted: Model,
    /// The second half of it: a call runs through.
    pub ran_through: Model,
    /// Model 2: for each pair, the second ran while the first was interrupted.
    pub model2: Model,
}

/// What was covered after so many runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskProgress {
    /// Functions that were interrupted.
    pub interrupted: u64,
    /// Functions that ran through.
    pub ran_through: u64,
    /// Pairs of functions.
    pub pairs: u64,
}

impl TaskProgress {
    /// What this has more.
    pub(super) fn less(self, other: TaskProgress) -> TaskProgress {
        TaskProgress {
            interrupted: self.interrupted.saturating_sub(other.interrupted),
            ran_through: self.ran_through.saturating_sub(other.ran_through),
            pairs: self.pairs.saturating_sub(other.pairs),
        }
    }

    /// The smaller of each.
    pub(super) fn least(self, other: TaskProgress) -> TaskProgress {
        TaskProgress {
            interrupted: self.interrupted.min(other.interrupted),
            ran_through: self.ran_through.min(other.ran_through),
            pairs: self.pairs.min(other.pairs),
        }
    }
}

/// A point of the curve.
pub type TaskSample = Sample<TaskProgress>;

impl TaskCounts {
    /// As a point of the curve.
    pub fn point(&self) -> TaskProgress {
        TaskProgress {
            interrupted: self.interrupted.covered,
            ran_through: self.ran_through.covered,
            pairs: self.model2.covered,
        }
    }
}
