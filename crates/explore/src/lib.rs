//! Campaigns of Threadbare: fork servers, runs, jobs, the store.
//!
//! The way of a run: a [`server`] holds the program just before its `main`; [`run`] writes a plan into the shared
//! memory ([`shm`]), has the server fork, and waits (`batch`: several at once); [`verdict`] judges what came out; [`campaign`] does this many
//! times on many servers, in an order that does not depend on how many. What is new in a run is looked at closer in a
//! second making of it ([`details`]); deadlocks that only nearly happened are tried (`predict`).

mod advice;
pub mod again;
mod batch;
pub mod campaign;
mod capture;
pub mod details;
mod digest;
pub mod error;
pub mod files;
pub mod futures;
mod fuzz;
pub mod given;
pub mod idioms;
pub mod interrupt;
pub mod journal;
mod ledger;
pub mod limits;
mod mode;
mod outcome;
pub mod pairs;
mod patience;
pub mod planner;
mod portfolio;
mod predict;
mod process;
mod processors;
mod profile;
mod resume;
pub mod run;
pub mod search;
pub mod server;
pub mod shm;
pub mod shrink;
mod spawn;
pub mod store;
pub mod surroundings;
pub mod task_ledger;
mod tasks;
pub mod trap;
pub mod verdict;
mod window;
mod wire;

pub use error::Error;
pub use ledger::Failure;
pub use mode::free::Quiet;
pub use mode::{Controlled, Free, RunMode};
pub use outcome::{Filter, Leaks, Races, of_race};
pub use predict::{Cycle, Unproved};
pub use search::Search;
pub use task_ledger::Earlier;
