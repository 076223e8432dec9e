//! Findings of the corpus, shrunk and explained.
//!
//! A program that says how many preemptions its failure needs (`//@ preemptions: N`) must be shrunk to that number; one
//! that says which two lines decide (`//@ pair: LABEL LABEL`) should be explained by them, and nine of ten are. The
//! shrunk schedule must fail again, and so must the one it was made from.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::corpus::{self, Program, in_order};
use threadbare_tests::{compile, extent, tool};

/// Of ten pairs so many must be right.
const RIGHT_OF_TEN: usize = 9;
/// Of the programs one of so many is tried in a change's own tests.
const SHARE: usize = 4;

/// Pairs that were right, and those that were not.
#[derive(Debug, Default)]
struct Pairs {
    right: usize,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let pairs = Arc::new(Mutex::new(Pairs::default()));
    let programs =
        corpus::programs().into_iter().filter(|it| it.preemptions.is_some() || !it.pairs.is_empty());
    let trials = programs
        .enumerate()
        .filter(|(at, _)| extent::is_full() || at % SHARE == 0)
        .map(|(_, program)| {
            let (builds, pairs) = (builds.clone(), Arc::clone(&pairs));
            Trial::test(program.name.clone(), move || check(&program, &builds, &pairs).map_err(Failed::from))
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let Ok(pairs) = pairs.lock() else { return ExitCode::from(101) };
    let all = pairs.right + pairs.wrong.len();
    println!("{} of {all} pairs are right", pairs.right);
    for wrong in &pairs.wrong {
        println!("  {wrong}");
    }
    if !arguments.list && pairs.right * 10 < all * RIGHT_OF_TEN {
        eprintln!("fewer than {RIGHT_OF_TEN} of 10 pairs are right");
        return ExitCode::from(101);
    }
    conclusion.exit_code()
}

fn check(program: &Program, builds: &Path, pairs: &Mutex<Pairs>) -> Result<(), String> {
    let compiler = compile::compilers(program)[0];
    let executable = compile::instrumented(program, compiler, builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    // The number of runs bounds the work, so that the result is the same on every machine; a race that comes with the
    // failure is no matter here.
    let races = if program.expect.iter().any(|kind| kind == "race") { "fail" } else { "off" };
    let runs = (program.max_runs * 10).to_string();
    let options = ["--runs", &runs, "--shrink", "10m", "--races", races];
    let campaign = campaign::run(program, &executable, out.path(), &options)?;
    let Some(finding) =
        campaign.findings().iter().find(|it| program.expect.iter().any(|kind| it["kind"] == **kind))
    else {
        return Err(campaign.complain("the failure was not found"));
    };
    if let Some(wanted) = program.preemptions
        && finding["preemptions"].as_u64() != Some(wanted)
    {
        return Err(campaign.complain(&format!("{} preemptions instead of {wanted}", finding["preemptions"])));
    }
    replays(&campaign, finding["schedule"].as_str().unwrap_or_default())?;
    if program.pairs.is_empty() {
        return Ok(());
    }
    let told: Vec<u64> = finding["explanation"]["pair"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(|place| place["line"].as_u64())
        .collect();
    let right = matches!(told[..], [one, other] if program.pairs.contains(&in_order(one, other)));
    let mut pairs = pairs.lock().map_err(|_| "another test has failed badly".to_owned())?;
    if right {
        pairs.right += 1;
    } else {
        pairs.wrong.push(format!("{}: lines {told:?}, {}", program.name, finding["explanation"]["text"]));
    }
    Ok(())
}

/// The shrunk schedule and the original one both fail again.
fn replays(campaign: &Campaign, schedule: &str) -> Result<(), String> {
    for file in [schedule.to_owned(), format!("{schedule}.original")] {
        let replay = tool::run(["replay", &file]);
        if replay.code != Some(1) {
            return Err(campaign.complain(&format!("{file} does not fail again: {}", replay.describe())));
        }
    }
    Ok(())
}
