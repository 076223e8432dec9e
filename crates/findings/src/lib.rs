//! Findings of Threadbare: what a failing run means, deduplicated.
//!
//! A failing run becomes a [`Finding`] ([`explain`]); findings of a campaign that have the same kind and the same
//! places are one ([`collection`]). Places come from whoever knows the program's symbols ([`places`]).

pub mod collection;
pub mod explain;
pub mod finding;
mod memory;
pub mod places;
mod race;
mod stacks;
pub mod suppressions;
pub mod symbol_places;

pub use collection::Findings;
pub use finding::{Finding, Location, Severity, StrandDetail};
pub use places::{NoPlaces, Place, Places};
pub use suppressions::Suppressions;
pub use symbol_places::SymbolPlaces;
