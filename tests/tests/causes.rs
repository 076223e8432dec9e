//! Explanations against labelled causes.
//!
//! Each program under `tests/causes` has one mistake. Its labelled lines have a part in it and all others have none:
//! helper counters, statistics, logs and the flags of hand-made barriers are there to distract. An explanation is right
//! if it names one of the pairs of lines, a fair name of the pattern, what the pair is on, and, where the lines are a
//! helper's, its callers. Nine of ten must be right, and none may name a line without a part.
//!
//! A change's own tests look at one finding of each; `THREADBARE_FULL=1` at those of five seeds, which fail in other ways.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use threadbare_tests::corpus;
use threadbare_tests::explained::{Told, look};
use threadbare_tests::extent::either;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let told = Arc::new(Mutex::new(Told::default()));
    let trials = corpus::programs_in("tests/causes")
        .into_iter()
        .map(|program| {
            let name = program.name.clone();
            let (builds, told) = (builds.clone(), Arc::clone(&told));
            let all = move || (1..=either(1, 5)).try_for_each(|seed| look(&program, &builds, seed, &told));
            Trial::test(name, move || all().map_err(Failed::from))
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let Ok(told) = told.lock() else { return ExitCode::from(101) };
    if !arguments.list && !told.holds() {
        return ExitCode::from(101);
    }
    conclusion.exit_code()
}
