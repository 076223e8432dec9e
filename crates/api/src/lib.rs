//! Tests for an API without a program: what the source of a crate or a C header says can be called, and small parallel
//! programs over it.
//!
//! Nothing here starts a process or reads a file. A reader ([`rust::read`], [`c::read`]) makes an API of source text; a
//! generator makes [`Test`]s of it: an object, calls before, two or three strands with one to three calls each, calls
//! after. A test is steps, not text, so that it can be made smaller by leaving out steps, and be written in two forms:
//!
//! - for a *harness* that has many tests in one program, and can make the calls of a test one at a time in every order
//!   (what those show is what the parallel runs may show), and
//! - *plain*, as a person would have written it.
//!
//! Deviations from what is ideal: (1) Rust is read without its compiler, so a test may not compile; *probes*, one for
//! each function and promise, are compiled before. (2) A C header says nothing of threads: all calls but those that make
//! and unmake an object are taken to be allowed in parallel.

pub mod c;
mod choose;
mod draw;
pub mod recipe;
pub mod rust;
mod test;

pub use choose::Drawn;
pub use draw::Draw;
pub use recipe::Recipes;
pub use test::{ApiCall, Test, Told};

/// Something that has no test, and why.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LeftOut {
    /// The function or type.
    pub what: String,
    /// Which type had no value, or what the compiler said.
    pub why: String,
}
