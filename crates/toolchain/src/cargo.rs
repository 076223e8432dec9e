//! The building half of `cargo threadbare test|run|build`.
//!
//! Who calls whom:
//!
//! 1. `cargo threadbare test …` is run by cargo as `cargo-threadbare threadbare test …`; the cli comes here with a
//!    [`CargoRequest`].
//! 2. `Setup` asks `cargo metadata` for the target folder, reads cargo's configuration for the flags that the user has in
//!    force, and prepares the variables of every further call of cargo. `--target` names this very machine: cargo then
//!    keeps build scripts and proc macros apart from the program and gives them none of our flags.
//! 3. cargo calls rustc with `CARGO_ENCODED_RUSTFLAGS`: the user's flags, then LLVM's pass and our library.
//! 4. cargo runs build scripts. When they compile C or C++ (`cc` and `cmake` crates, make), they find in `CC` and
//!    `CXX` a script in the cache that calls `threadbare cc` or `threadbare c++`, which adds the pass and calls the real
//!    compiler. A build script that works for another build script or a proc macro has an `OUT_DIR` outside the
//!    program's part of the target folder: there the real compiler is called with nothing added.
//! 5. What was built comes from cargo's messages. How it is to be run (folder, variables, arguments, library path)
//!    comes from cargo as well: it runs the tests once more with a *runner* that writes down what it was asked to run
//!    and runs nothing.
//! 6. Each test binary lists its tests. Every test is a [`TestCase`], and the cli makes a campaign of each.
//!
//! Doctests are not run: rustdoc builds them by itself, one program a test.

mod capture;
mod doctests;
mod flags;
mod harness;
mod listing;
mod messages;
mod options;
mod plan;
mod setup;
mod wrappers;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::runtime::PlacedRuntime;

pub use flags::{KEEPS_NAMES, PASSES};
pub use messages::Built;
pub(crate) use wrappers::is_for_build_script;

/// What the user asked of `cargo threadbare test|run|build`.
#[derive(Debug, Clone)]
pub struct CargoRequest<'a> {
    /// cargo's own arguments, the subcommand left out.
    pub arguments: Vec<OsString>,
    /// The arguments after `--`: for the test harness, or for the program of `run`.
    pub program_arguments: Vec<OsString>,
    /// The folder cargo works in.
    pub folder: PathBuf,
    /// The variables cargo sees.
    pub env: Environment,
    /// The library that programs are linked against.
    pub runtime: &'a PlacedRuntime,
    /// The `threadbare` executable, which build scripts call as `threadbare cc` and `threadbare c++`.
    pub tool: PathBuf,
}

impl CargoRequest<'_> {
    /// Splits what stands after the subcommand at the first `--`.
    pub fn split(arguments: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Vec<OsString>) {
        let mut own: Vec<OsString> = arguments.into_iter().collect();
        let Some(at) = own.iter().position(|argument| argument == "--") else { return (own, Vec::new()) };
        let after = own.split_off(at + 1);
        own.truncate(at);
        (own, after)
    }

    /// Whether the user wants the tests built and not run (`--no-run`).
    pub fn only_builds(&self) -> bool {
        options::has(&self.arguments, "--no-run")
    }
}

/// A program with all that is needed to run it as cargo would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTarget {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// The variables cargo sets, on top of the request's own.
    pub env: Vec<(OsString, OsString)>,
}

/// One test: one campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase {
    /// The package's name.
    pub package: String,
    /// The test binary, as cargo's target is called.
    pub binary: String,
    /// The test's path in the binary, or the binary's name where the binary is one single test.
    pub name: String,
    /// How to run this test alone.
    pub target: RunTarget,
}

/// A test binary with its tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestBinary {
    /// The package's name.
    pub package: String,
    /// The name of cargo's target.
    pub name: String,
    /// The kind of cargo's target: `lib`, `bin`, `test`, `example`, `bench`.
    pub kind: String,
    /// The executable.
    pub program: PathBuf,
    /// The tests that the user's filters leave.
    pub cases: Vec<TestCase>,
    /// The tests left out because they are marked `#[ignore]`.
    pub ignored: Vec<String>,
    /// The binary has a harness of its own that does not list tests: it is one case as a whole.
    pub whole: bool,
}

/// All test binaries of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestPlan {
    /// In the order cargo would run them.
    pub binaries: Vec<TestBinary>,
    /// What the reader should know about what is left out.
    pub notes: Vec<String>,
}

/// Builds as `cargo build` does. The programs made are given back, unless the user has chosen a message format for
/// himself.
pub fn build(request: &CargoRequest<'_>) -> Result<Vec<Built>> {
    let setup = setup::Setup::prepare(request)?;
    messages::build(&setup, "build", &[])
}

/// Builds the tests as `cargo test --no-run` does.
pub fn build_tests(request: &CargoRequest<'_>) -> Result<Vec<Built>> {
    let setup = setup::Setup::prepare(request)?;
    // It is among the user's arguments already when that is all they want.
    let extra: &[&str] = if request.only_builds() { &[] } else { &["--no-run"] };
    messages::build(&setup, "test", extra)
}

/// Builds all tests and lists them.
pub fn plan_tests(request: &CargoRequest<'_>) -> Result<TestPlan> {
    if options::has(&request.arguments, "--doc") {
        return Err(Error::DocTests);
    }
    let setup = setup::Setup::prepare(request)?;
    plan::plan(&setup, request)
}

/// Builds the program that `cargo run` would run, and tells how.
pub fn run_target(request: &CargoRequest<'_>) -> Result<RunTarget> {
    let setup = setup::Setup::prepare(request)?;
    let runs = capture::capture(&setup, "run", &[], &request.program_arguments, capture::Shown::Progress)?;
    runs.into_iter().next_back().ok_or(Error::NothingToRun)
}
