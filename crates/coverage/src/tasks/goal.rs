//! How much is to be covered before a campaign may end.

use crate::tasks::{Model, TaskBooks, TaskCounts};

/// Runs in a row that bring no new function, before a share of what is known says something.
const FEW: u64 = 5;

/// Whose tasks are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskModel {
    /// Functions that are interrupted and run through.
    One,
    /// Pairs of functions.
    Two,
}

impl TaskModel {
    /// Both.
    pub const ALL: [TaskModel; 2] = [TaskModel::One, TaskModel::Two];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            TaskModel::One => "model1",
            TaskModel::Two => "model2",
        }
    }

    /// Its tasks.
    pub fn of(self, counts: &TaskCounts) -> Model {
        match self {
            TaskModel::One => counts.model1,
            TaskModel::Two => counts.model2,
        }
    }
}

/// A share of the coverable tasks of a model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Goal {
    /// The model.
    pub model: TaskModel,
    /// The share, from 0 to 1.
    pub share: f64,
}

impl Goal {
    /// Whether so much is covered, and the last few runs brought no new function. Where nothing can be covered, it is.
    pub fn is_reached(&self, books: &TaskBooks) -> bool {
        books.runs_without_growth() >= FEW
            && self.model.of(&books.counts()).share().is_none_or(|share| share >= self.share)
    }
}
