//! The tasks of free runs: functions that were interrupted or ran through, and which function ran meanwhile.
//!
//! These are ConTest's two models. Model 1 has two tasks for each function: a call is interrupted, and a call runs through.
//! Model 2 has a task for each ordered pair: the second ran in another strand while the first was interrupted. Some tasks cannot be
//! covered as far as the runs show ([`Reason`]); they are told apart, and percentages are of the others.

mod books;
mod counts;
mod goal;
mod rules;
mod table;

#[cfg(test)]
mod tests;

pub use books::TaskBooks;
pub use counts::{Model, Out, TaskCounts, TaskProgress, TaskSample};
pub use goal::{Goal, TaskModel};
pub use rules::{Reason, State};
pub use table::{KeptTasks, TaskTable};

/// What is known of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// A pc near its beginning.
    pub pc: u64,
    /// Bit set of [`threadbare_abi::tasks::marks`].
    pub marks: u32,
    /// The path of the first strand that ran it beside others; 0 for none.
    pub strand: u64,
}

/// The table of a job, as a run left it or as the next one finds it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// The functions, each once.
    pub functions: Vec<Function>,
    /// Pairs of indices of them: the second ran in another strand while the first was interrupted.
    pub pairs: Vec<(u16, u16)>,
    /// Functions for which there was no room.
    pub lost: u64,
}
