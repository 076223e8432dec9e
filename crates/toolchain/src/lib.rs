//! The compilers under Threadbare: what turns a stranger's sources into a program the runtime can steer.
//!
//! - [`runtime`] puts the embedded runtime library where linkers and the loader find it.
//! - [`cc`] is `threadbare cc` and `threadbare c++`: gcc and clang with the pass switched on and our runtime in the
//!   place of the sanitizer's.
//! - [`cargo`] is the building half of `cargo threadbare test|run|build`.
//! - [`program`] tells a program that can be steered from one that cannot, and what to do about it.
//!
//! Nothing here reads the process environment by itself: callers hand in an [`Environment`], so that a test can
//! stand in any folder with any variables.

mod arguments;
mod atomic_file;
pub mod cargo;
pub mod cc;
mod compiler;
mod elf;
mod environment;
mod error;
pub mod program;
pub mod runtime;
mod specs;
mod words;

pub use compiler::Language;
pub use environment::Environment;
pub use error::{Error, Result};
pub use program::{ProgramProblem, check_program, find_program};
pub use runtime::{PlacedRuntime, Runtime};
