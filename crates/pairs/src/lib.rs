//! Which functions form pairs that are worth a test: calls that depend on each other, may be under way at the same time, and touch the same object.
//!
//! After *AutoRT* (unit tests for pairs of methods), with these differences:
//! 1. What a function reads and writes is read from machine code, and not only from the function's own: what it calls counts ([`code`]).
//! 2. That two calls may run at the same time is asked of what creations, joins and barriers order in a run, not of the time at which they happened to run ([`meet`]).
//! 3. The same object is the same bytes in one run.
//! 4. A path is the set of places at which a call touches what strands share ([`Call::path`]).
//! 5. Pairs whose conflicts other, smaller pairs have are left out ([`choose`]): of functions that call each other the innermost are tested, and an outer one
//!    where it brings conflicts together that no inner one has both of.
//! 6. States recorded apart are looked for only of calls that touched the same object, each in a run of its own ([`Apart`]).
//!
//! The crate knows neither programs nor symbols: who makes a [`RunSteps`] of what it saw, and says which functions an instruction is in ([`Functions`]), is the driver.

mod apart;
mod calls;
mod choose;
pub mod code;
mod meet;
mod run;

pub use apart::{Apart, Joint, Toucher, first_touchers};
pub use calls::{Call, Calls, Functions, calls};
pub use choose::{PathPair, choose};
pub use meet::{Book, Conflict, Meeting, Pair, Rules, Span, Way, running};
pub use run::{Activation, Does, RunSteps, StrandStep, Touch};

#[cfg(test)]
mod tests;
