//! Data races during free runs, over the pairs of the race check: nothing is told of a program that is right, and of a racy one
//! whatever the compiler's own ThreadSanitizer tells in as many runs.
//!
//! A change's own tests make a few runs for each program; `THREADBARE_FULL=1` makes 200 of each.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::{either, is_full};
use threadbare_tests::races;
use threadbare_tests::sanitizer::{self, Report};

/// More strands than tables have room for at first, at once and one after another, and strands around a fork: the program, its
/// arguments, whether two strands of it race, and in how many runs that shows. What a child does is its own affair.
const BOUNDS: &[(&str, &str, bool, u64)] = &[
    ("lifecycle/many_strands.c", "300 1 0", false, 2),
    // With more strands at once than there are slots, most runs lose what the two did.
    ("lifecycle/many_strands.c", "300 1 290", true, 60),
    ("lifecycle/many_strands.c", "40 30 0", false, 2),
    ("lifecycle/many_strands.c", "40 30 38", true, 2),
    ("fork/races_around.c", "0 0", false, 2),
    ("fork/races_around.c", "1 0", false, 2),
    ("fork/races_around.c", "0 1", true, 2),
];

/// The same for runs so long that epochs are counted to their end: some seconds each.
const LONG: &[(&str, &str, bool, u64)] =
    &[("mutex/long_run.c", "15000000 0", false, 2), ("mutex/long_run.c", "15000000 1", true, 2)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let programs: Vec<Program> = corpus::programs().into_iter().filter(Program::is_twin).collect();
    let sample = programs.iter().find(|program| program.name == "race/write_write_racy.c");
    let sample = sample.expect("the simplest race is in the corpus");
    let bare = sanitizer::works(Compiler::Gcc, sample, &builds);
    if let Err(why) = &bare {
        println!("left out: ThreadSanitizer does not work with gcc: {why}");
    }
    let mut trials = Vec::new();
    for &(name, arguments, races, runs) in BOUNDS.iter().chain(LONG.iter().filter(|_| is_full())) {
        let builds = builds.clone();
        let check = move || bound(name, arguments, races, runs, &builds).map_err(Failed::from);
        trials.push(Trial::test(format!("{name} {arguments}"), check));
    }
    for program in programs {
        let Some(&compiler) = compile::compilers(&program).first() else { continue };
        let (bare, builds) = (bare.clone(), builds.clone());
        let name = format!("{}::{}", program.name, compiler.name());
        if program.passes() {
            let check = move || silent(&program, compiler, &builds).map_err(Failed::from);
            trials.push(Trial::test(name, check));
        } else if let Ok(bare) = bare
            && sanitizer::comparable(&program)
            && compiler == Compiler::Gcc
        {
            let check = move || as_much(&program, &builds, bare).map_err(Failed::from);
            trials.push(Trial::test(name, check));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A campaign of free runs that looks for races.
fn free(program: &Program, executable: &Path, runs: u64, noise: &str) -> Result<Campaign, String> {
    free_with(program, executable, runs, noise, &[])
}

fn free_with(
    program: &Program,
    executable: &Path,
    runs: u64,
    noise: &str,
    more: &[&str],
) -> Result<Campaign, String> {
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let runs = runs.to_string();
    let options = ["--mode", "free", "--races", "fail", "--noise", noise, "--runs", &runs, "--keep-going"];
    campaign::run(program, executable, out.path(), &[&options[..], more].concat())
}

/// A race is told where there is one, in one of the runs, and nothing else.
fn bound(name: &str, arguments: &str, races: bool, runs: u64, builds: &Path) -> Result<(), String> {
    let program = corpus::programs().into_iter().find(|program| program.name == name);
    let program = program.ok_or_else(|| format!("there is no {name}"))?;
    let args = arguments.split(' ').map(str::to_owned).collect();
    let program = Program { args, ..program };
    let executable = compile::instrumented(&program, Compiler::Gcc, builds)?;
    // The order of events is of no use here, and a long run has many.
    let program = Program { timeout: Some("200s".to_owned()), ..program };
    let campaign = free_with(&program, &executable, runs, "none", &["--no-record"])?;
    let kinds: Vec<_> = campaign.findings().iter().map(|finding| finding["kind"].clone()).collect();
    let right = if races { kinds == ["race"] } else { kinds.is_empty() };
    right.then_some(()).ok_or_else(|| campaign.complain(&format!("it was to race: {races}; told: {kinds:?}")))
}

/// Nothing is wrong with it.
fn silent(program: &Program, compiler: Compiler, builds: &Path) -> Result<(), String> {
    let executable = compile::instrumented(program, compiler, builds)?;
    for noise in ["none", "mixed"] {
        let campaign = free(program, &executable, either(10, 200), noise)?;
        if !campaign.findings().is_empty() {
            return Err(campaign.complain(&format!("with noise `{noise}`: nothing is wrong with it")));
        }
    }
    Ok(())
}

/// Whatever ThreadSanitizer tells is told; and nothing that is not among the races of the program.
fn as_much(program: &Program, builds: &Path, bare: bool) -> Result<(), String> {
    let theirs = sanitizer::races(program, Compiler::Gcc, builds, bare, either(5, 200))?;
    let executable = compile::instrumented(program, Compiler::Gcc, builds)?;
    // Half of the runs without noise: it keeps strands from what they do of themselves.
    let campaign = free(program, &executable, either(20, 100), "mixed")?;
    let mut ours = races::told_with_lines(program, &campaign);
    ours.extend(races::told_with_lines(program, &free(program, &executable, either(20, 100), "none")?));
    let missing = |report: &&Report| {
        let beside = |line| ours.iter().any(|&(one, other)| one == line || other == line);
        !ours.contains(&report.lines) && !report.besides_allocation.is_some_and(beside)
    };
    let missing: Vec<&Report> = theirs.iter().filter(missing).collect();
    let known = |lines: &_| program.races.contains(lines) || program.may_race.contains(lines);
    let known = |lines: &_| known(lines) || theirs.iter().any(|report| report.lines == *lines);
    let extra: Vec<_> = ours.iter().filter(|lines| !known(lines)).collect();
    if missing.is_empty() && extra.is_empty() {
        return Ok(());
    }
    Err(campaign.complain(&format!(
        "ThreadSanitizer tells these races, Threadbare does not: {missing:?}; nobody knows of these: {extra:?}"
    )))
}
