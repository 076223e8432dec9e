//! What campaigns covered, and what that says about what they did not.
//!
//! The runtime names every run's class and tells pairs of places once ([`threadbare_strategy::classes`]). Here these
//! [`Contribution`]s are taken in the order of the runs ([`Books`]), so that all that comes out is the same whatever the
//! number of jobs, and can be made again from contributions that were kept. [`Species`] counts classes, [`Estimate`]
//! says how likely something new is, [`kept`] is what stays of a campaign in its folder, and [`merged`] puts several of them
//! together. Free runs have no classes; what they cover is another thing ([`tasks`]).

mod books;
pub mod contribution;
pub mod curve;
pub mod estimate;
pub mod interval;
pub mod iroots;
pub mod kept;
pub mod merged;
pub mod resample;
mod species;
pub mod tasks;

#[cfg(test)]
mod simulation;

pub use books::{Books, Counts};
pub use contribution::Contribution;
pub use curve::{Curve, Sample};
pub use estimate::{Estimate, Method, Remaining};
pub use kept::{CampaignCoverage, Kept, Spot};
pub use merged::Merged;
pub use species::Species;
pub use tasks::{TaskBooks, TaskCounts};
pub use threadbare_strategy::classes::Kind;
