//! Live tests of pairs, of every correct program of the corpus: none fails, because each of their runs is one that the program can have.
//!
//! A few programs stand for all; `THREADBARE_FULL=1` takes every one.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::is_full;
use threadbare_tests::{compile, tool};

/// Of how many programs one is taken.
const EVERY: usize = 16;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    // What needs options of its own is looked at elsewhere.
    let plain = |program: &Program| {
        program.passes()
            && !program.is_twin()
            && program.faults.is_none()
            && program.memory_model.is_none()
            && program.suppress.is_empty()
            && program.may_race.is_empty()
            && program.timeout.is_none()
    };
    let programs: Vec<Program> = corpus::programs().into_iter().filter(plain).collect();
    let every = if is_full() { 1 } else { EVERY };
    let trials = programs.into_iter().step_by(every).map(|program| {
        let builds = builds.clone();
        let name = program.name.clone();
        Trial::test(name, move || check(&program, &builds).map_err(Failed::from))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn check(program: &Program, builds: &Path) -> Result<(), String> {
    let executable = compile::instrumented(program, compile::compilers(program)[0], builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let mut command =
        tool::command(["generate", "--form", "live", "--shrink", "off", "--runs", "40", "--max", "10"]);
    command.args(["--time", "60s", "--out"]).arg(out.path()).arg("--").arg(&executable).args(&program.args);
    command.envs(program.env.iter().map(|(variable, value)| (variable, value)));
    let made = tool::finish(&mut command, tool::PATIENCE);
    match made.code {
        Some(0) => Ok(()),
        // A program without two calls that meet, or without names, has no tests.
        Some(2) if made.stderr.contains("no pair") || made.stderr.contains("no debug info") => Ok(()),
        _ => Err(format!("it is correct\n{}", made.describe())),
    }
}
