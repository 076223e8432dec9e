//! Every correct program of the corpus, with every strategy and races looked for: no report.
//!
//! The corpus' own test makes many runs with one strategy; here the others get their share, two of them for each program.
//! `THREADBARE_FULL=1` makes 1,000 runs of each program with each strategy.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::{either, is_full, other_strategies, strategies};
use threadbare_tests::{campaign, compile};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let correct = |program: &Program| program.passes() && !program.is_twin();
    let mut trials = Vec::new();
    for program in corpus::programs().into_iter().filter(correct) {
        let usual = is_full()
            .then_some(program.strategy.as_str())
            .and_then(|name| strategies().find(|other| *other == name));
        for strategy in usual.into_iter().chain(other_strategies(&program.name, &program.strategy)) {
            let (program, builds) = (program.clone(), builds.clone());
            let name = format!("{}::{strategy}", program.name);
            trials.push(Trial::test(name, move || check(&program, strategy, &builds).map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(program: &Program, strategy: &str, builds: &Path) -> Result<(), String> {
    let executable = compile::instrumented(program, compile::compilers(program)[0], builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    // A program whose runs take long says that few of them are enough.
    let runs = either(20.min(program.runs), if program.runs < 200 { program.runs } else { 1000 }).to_string();
    let options = ["--runs", &runs, "--strategy", strategy];
    let campaign = campaign::run(program, &executable, out.path(), &options)?;
    if campaign.outcome.code == Some(0) && campaign.findings().is_empty() {
        return Ok(());
    }
    let what = format!("it is correct\nkept: {}\nprogram: {}", out.keep().display(), executable.display());
    Err(campaign.complain(&what))
}
