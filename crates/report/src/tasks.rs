//! What free runs covered: functions that were interrupted or ran through, and pairs of them.

mod data;
mod text;

#[cfg(test)]
mod tests;

pub use data::{FunctionTasks, GoalReport, PairList, Pairs, TasksReport};
pub use text::{percent, summary, text};
