//! The explorer against brute force: what the tool claims of small programs, and what a model of every order says.
//!
//! First the programs that were once a surprise (`tests/explorer`), then random ones, some for each feature.
//! `cargo xtask fuzz explorer` asks about 20,000.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadbare_tests::compile;
use threadbare_tests::extent::is_full;
use threadbare_tests::referee::fuzz::{self, STRATEGIES};
use threadbare_tests::referee::generate::{self, Case, Feature};
use threadbare_tests::referee::judge::{Bench, Build, Claim};
use threadbare_tests::referee::program::Statement;
use threadbare_tests::referee::{model, rust, text};
use threadbare_tests::tool;

/// Random programs for each feature.
const PROGRAMS: u64 = 14;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut builds = vec![Build::Gcc, Build::Rust];
    if compile::has_clang() {
        builds.push(Build::Clang);
    }
    let mut trials = Vec::new();
    let mut add = |name: String, check: Box<dyn Fn() -> Result<(), String> + Send>| {
        trials.push(Trial::test(name, move || check().map_err(Failed::from)));
    };
    for &build in &builds {
        add(
            format!("kept programs ({})", build.name()),
            Box::new(move || check(kept(build)?, build, "kept")),
        );
    }
    for (feature, name) in Feature::ALL {
        // In turns, so that every feature has a build of its own and all of them have each.
        let build = builds[feature as usize % builds.len()];
        let build = if build == Build::Rust && !generate::has_rust(feature) { Build::Gcc } else { build };
        let name = format!("random programs: {name} ({})", build.name());
        add(name, Box::new(move || check(random(feature, build), build, feature.name())));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn folder(name: &str, build: Build) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("explorer").join(format!("{name}-{}", build.name()))
}

/// The programs that were a surprise once, as far as they can be built so.
fn kept(build: Build) -> Result<Vec<(String, Case)>, String> {
    let folder = tool::root().join("tests/explorer");
    let trouble = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).map_err(trouble)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "txt")) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = text::parse(&fs::read_to_string(file).map_err(trouble)?)?;
        if !program.is_sound() {
            return Err(format!("{name} means something else to the model"));
        }
        if build == Build::Rust && !rust::fits(&program) {
            continue;
        }
        let account = model::account(&program, 100_000).ok_or_else(|| format!("{name} is too large"))?;
        if program.ends_early() && !account.companied {
            return Err(format!("{name} has a plain access that meets no other in any run"));
        }
        cases.push((name, Case { seed: 0, features: Vec::new(), program, account }));
    }
    Ok(cases)
}

fn random(feature: Feature, build: Build) -> Vec<(String, Case)> {
    let programs = if is_full() { 20 * PROGRAMS } else { PROGRAMS };
    let fits = |program: &_| build != Build::Rust || rust::fits(program);
    let first = 1_000_000 * (1 + feature as u64);
    let case = |seed| (format!("seed {seed}"), generate::case(seed, &[feature], &fits));
    (first..first + programs).map(case).collect()
}

fn check(cases: Vec<(String, Case)>, build: Build, name: &str) -> Result<(), String> {
    let (names, cases): (Vec<String>, Vec<Case>) = cases.into_iter().unzip();
    let batch = fuzz::compile(&cases, build, &folder(name, build))?;
    let bench = Bench::new()?;
    let mut wrong = String::new();
    for (number, case) in cases.iter().enumerate() {
        for strategy in STRATEGIES {
            let verdict = bench.judge(&batch, number, case, strategy);
            let name = fuzz::name(strategy);
            for (fault, why) in &verdict.faults {
                let fault = fault.name();
                let _ = writeln!(wrong, "{}: {fault} of {name}: {why}\n{}", names[number], case.program);
            }
            // Where every step is known, whatever is planned can be made; of what is kept, once is enough, and nothing else is seen.
            let withdrawn = match &verdict.claim {
                // What the compiler leaves out nobody can plan, nor what a failure keeps from being made.
                Claim::Withdrawn(why) if why == "stack-accesses" || why == "fails-first" => false,
                Claim::Withdrawn(why) => case.seed == 0 || why.contains("order-not-made"),
                Claim::Complete | Claim::Open => false,
            };
            // That a value keeps a loop waiting in a state of its strand is learnt by a run that looks in vain.
            let waits = case.program.has(|it| matches!(it, Statement::Spin(..) | Statement::Stairs(..)));
            // That a failure depends on nothing that others did is known when it has come after that.
            let fails = !case.account.failures.is_empty();
            let again = verdict.repeated > 0 && case.seed == 0 && !waits && !fails;
            if build != Build::Rust && (withdrawn || again) {
                let told =
                    format!("{:?}, {} of {} runs again", verdict.claim, verdict.repeated, verdict.runs);
                let _ = writeln!(wrong, "{}: {name}: {told}\n{}", names[number], case.program);
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
