//! Findings of Threadbare: what a failing run means, deduplicated.
//!
//! A failing run becomes a [`Finding`] ([`explain`]); findings of a campaign that have the same kind and the same
//! places are one ([`collection`], [`identity`]). Places come from whoever knows the program's symbols ([`places`]).

pub mod collection;
pub mod decide;
mod deciding_term;
pub mod done;
mod early;
pub mod explain;
mod faults;
pub mod finding;
mod framed;
pub mod identity;
mod leaks;
mod memory;
mod operation;
pub mod orders;
pub mod pattern;
pub mod places;
mod race;
pub mod sources;
mod stacks;
mod stale;
pub mod std_locks;
pub mod steps;
pub mod suppressions;
pub mod symbol_places;
pub mod waits;

pub use collection::Findings;
pub use finding::{BrokenInvariant, Finding, Location, Severity, Shrunk, StrandDetail};
pub use framed::Framed;
pub use places::{NoPlaces, Place, Places};
pub use suppressions::Suppressions;
pub use symbol_places::SymbolPlaces;
