//! A part of a test that is run many times.

use super::{announce, runtime};
use std::ffi::CString;
use std::fmt::Display;

/// Runs the closure: under `cargo threadbare test` or `threadbare run` every run of the campaign begins here, in a plain run it is called once.
///
/// What the test did before is done once for all runs. What it does after is part of each run, another `check` too.
///
/// ```
/// threadbare::check(|| {
///     threadbare::strands(2, |number| assert!(number < 2));
/// });
/// ```
pub fn check<T>(body: impl FnOnce() -> T) -> T {
    Check::new().run(body)
}

/// A [`check`] with options: defaults of the campaign, which the command line may change. In a plain run they mean nothing.
///
/// ```
/// threadbare::Check::new().runs(500).strategy("pct:3").run(|| {
///     threadbare::strands(2, |_| ());
/// });
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is done before `run`"]
pub struct Check {
    options: String,
}

impl Check {
    /// No options.
    pub fn new() -> Check {
        Check::default()
    }

    /// `--runs`: the most runs.
    pub fn runs(self, runs: u64) -> Check {
        self.option("runs", runs)
    }

    /// `--strategy`: who decides, such as `"pct:3"` or `"dpor"`.
    pub fn strategy(self, strategy: &str) -> Check {
        self.option("strategy", strategy)
    }

    /// `--seed`.
    pub fn seed(self, seed: u64) -> Check {
        self.option("seed", seed)
    }

    /// `--memory-model`: `"sc"`, `"tso"` or `"c11"`.
    pub fn memory_model(self, model: &str) -> Check {
        self.option("memory-model", model)
    }

    /// `--faults`: what the environment may do, such as `"none"` or `"spurious,io"`.
    pub fn faults(self, faults: &str) -> Check {
        self.option("faults", faults)
    }

    /// Another option of the command line, without its dashes: `time`, `points`, `max-points`, `deadlines`, `races`, `timeout`, `leaks`, `until`.
    pub fn option(mut self, name: &str, value: impl Display) -> Check {
        self.options += &format!("{name}={value}\n");
        self
    }

    /// Runs the closure; see [`check`].
    pub fn run<T>(self, body: impl FnOnce() -> T) -> T {
        self.begin();
        body()
    }

    /// The same for a body that is all of a test: a run ends with it.
    #[doc(hidden)]
    pub fn run_whole<T: Outcome>(self, body: impl FnOnce() -> T) -> T {
        let begins = self.begin();
        let outcome = body();
        if begins && outcome.is_good() {
            runtime::check_over();
        }
        outcome
    }

    /// Whether the run begins here.
    fn begin(self) -> bool {
        std::hint::black_box(&announce::ANNOUNCE);
        runtime::check(&CString::new(self.options).unwrap_or_default())
    }
}

/// What a test function may give.
#[doc(hidden)]
pub trait Outcome {
    /// Whether the test has passed.
    fn is_good(&self) -> bool;
}

impl Outcome for () {
    fn is_good(&self) -> bool {
        true
    }
}

impl<T, E> Outcome for Result<T, E> {
    fn is_good(&self) -> bool {
        self.is_ok()
    }
}
