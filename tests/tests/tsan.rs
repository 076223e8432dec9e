//! Every race that the compilers' own ThreadSanitizer tells of the racy programs is told by Threadbare too.
//!
//! A change's own tests make a few runs with one compiler for each program; `THREADBARE_FULL=1` makes 200 with both.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::{either, has_turn};
use threadbare_tests::sanitizer::{self, Report};
use threadbare_tests::{campaign, races};

/// Runs of the campaign in which Threadbare must tell them.
const RUNS: &str = "200";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let programs: Vec<Program> = corpus::programs().into_iter().filter(sanitizer::comparable).collect();
    let sample = programs.iter().find(|program| program.name == "race/write_write_racy.c");
    let sample = sample.expect("the simplest race is in the corpus");
    let mut trials = Vec::new();
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        let bare = match sanitizer::works(compiler, sample, &builds) {
            Ok(bare) => bare,
            Err(why) => {
                println!("left out: ThreadSanitizer does not work with {}: {why}", compiler.name());
                continue;
            }
        };
        for program in &programs {
            if !has_turn(&program.name, compiler) || !compile::compilers(program).contains(&compiler) {
                continue;
            }
            let (program, builds) = (program.clone(), builds.clone());
            let name = format!("{}::{}", program.name, compiler.name());
            let check = move || check(&program, compiler, &builds, bare).map_err(Failed::from);
            trials.push(Trial::test(name, check));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(program: &Program, compiler: Compiler, builds: &Path, bare: bool) -> Result<(), String> {
    let theirs = sanitizer::races(program, compiler, builds, bare, either(5, 200))?;
    let executable = compile::instrumented(program, compiler, builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let campaign = campaign::run(program, &executable, out.path(), &["--runs", RUNS, "--keep-going"])?;
    let ours = races::told(program, &campaign)?;
    let missing = |report: &&Report| {
        let beside = |line| ours.iter().any(|&(one, other)| one == line || other == line);
        !ours.contains(&report.lines) && !report.besides_allocation.is_some_and(beside)
    };
    let missing: Vec<&Report> = theirs.iter().filter(missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(campaign.complain(&format!("ThreadSanitizer tells these races, Threadbare does not: {missing:?}")))
}
