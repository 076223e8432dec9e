//! Thousands of runs over the whole corpus (ten thousand with `THREADBARE_FULL=1`), each made again from its own schedule, without one divergence.
//!
//! `threadbare run --check-replay` replays every run strictly and ends with code 3 at the first difference.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use threadbare_tests::campaign;
use threadbare_tests::compile;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::either;

/// How many replays the corpus must come to.
fn wanted() -> u64 {
    either(4_000, 10_000)
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    // A run that is ended from outside has no whole schedule to follow; what another process says is not recorded.
    let programs: Vec<Program> = corpus::programs()
        .into_iter()
        .filter(|program| program.expect != ["timeout"] && program.replays > 0)
        .collect();
    let each = wanted().div_ceil(programs.len() as u64 * 3 / 4);
    let total = Arc::new(AtomicU64::new(0));
    let trials = programs
        .into_iter()
        .map(|program| {
            let (builds, total) = (builds.clone(), Arc::clone(&total));
            Trial::test(program.name.clone(), move || {
                total.fetch_add(check(&program, each, &builds).map_err(Failed::from)?, SeqCst);
                Ok(())
            })
        })
        .collect();
    let everything = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    let total = total.load(SeqCst);
    if everything && !conclusion.has_failed() && total < wanted() {
        eprintln!("only {total} of {} replays", wanted());
        return ExitCode::from(101);
    }
    println!("{total} replays, no divergence but in the tests that failed");
    conclusion.exit_code()
}

/// Makes runs, passing and failing, and replays each; gives the number of replays.
fn check(program: &Program, each: u64, builds: &Path) -> Result<u64, String> {
    let compiler = compile::compilers(program)[0];
    let executable = compile::instrumented(program, compiler, builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let runs = if program.passes() { each.min(program.runs) } else { each }.min(program.replays);
    let count = runs.to_string();
    let options = ["--runs", &count, "--keep-going", "--check-replay"];
    let campaign = campaign::run(program, &executable, out.path(), &options)?;
    let replays = campaign.number("replays")?;
    if campaign.number("runs")? != runs || replays != runs {
        return Err(campaign.complain(&format!("{replays} of {runs} runs were replayed")));
    }
    Ok(replays)
}
