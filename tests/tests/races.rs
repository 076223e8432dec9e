//! Every pair of the race check, over all compilers and strategies: what races is told with its two places, and
//! its twin never is.
//!
//! In a change's own tests the second compiler of a program gets its own strategy only; `THREADBARE_FULL=1` asks for
//! everything, with as many runs as the project promises.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode};
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Bare, Program};
use threadbare_tests::extent::{either, has_turn, other_strategies, strategies};
use threadbare_tests::{races, tool};

/// Within how many runs all races of a program must have been told.
const RACY: u64 = 50;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let mut trials = Vec::new();
    for program in corpus::programs().into_iter().filter(Program::is_twin) {
        let compilers = compile::compilers(&program);
        let alone = compilers.len() == 1;
        for compiler in compilers.into_iter().filter(|&compiler| alone || has_turn(&program.name, compiler)) {
            let (program, builds) = (program.clone(), builds.clone());
            let name = format!("{}::{}", program.name, compiler.name());
            trials.push(Trial::test(name, move || check(&program, compiler, &builds).map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(program: &Program, compiler: Compiler, builds: &Path) -> Result<(), String> {
    let executable = compile::instrumented(program, compiler, builds)?;
    if program.bare == Bare::Pass {
        let alone = tool::finish(&mut Command::new(&executable), tool::PATIENCE);
        if alone.code != Some(0) {
            return Err(format!("alone, without the driver: {}", alone.describe()));
        }
    }
    let usual = strategies().find(|name| *name == program.strategy);
    let others = other_strategies(&program.name, &program.strategy);
    for strategy in usual.into_iter().chain(others) {
        let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        let runs = if program.passes() { either(RACY, 1000) } else { RACY }.to_string();
        let options = ["--runs", &runs, "--keep-going", "--strategy", strategy];
        let campaign = campaign::run(program, &executable, out.path(), &options)?;
        let checked = if program.passes() {
            silent(&campaign)
        } else if strategy != program.strategy && campaign.findings().is_empty() {
            // Another strategy may need more runs for it; of what it tells nothing is wrong.
            Ok(())
        } else {
            told(program, &campaign)
        };
        checked.map_err(|message| {
            let kept = out.keep();
            format!("{message}\nkept: {}\nprogram: {}", kept.display(), executable.display())
        })?;
    }
    Ok(())
}

fn silent(campaign: &Campaign) -> Result<(), String> {
    if campaign.outcome.code == Some(0) && campaign.findings().is_empty() {
        return Ok(());
    }
    Err(campaign.complain("nothing is wrong with it"))
}

fn told(program: &Program, campaign: &Campaign) -> Result<(), String> {
    races::compare(program, campaign)?;
    let expected = |finding: &Value| program.expect.iter().any(|kind| finding["kind"] == kind.as_str());
    if !campaign.findings().iter().all(expected) {
        return Err(campaign.complain(&format!("only {:?} was expected", program.expect)));
    }
    let race = campaign.findings().iter().find(|finding| finding["kind"] == "race");
    let race = race.ok_or_else(|| campaign.complain("no race"))?;
    replay(campaign, race)
}

fn replay(campaign: &Campaign, race: &Value) -> Result<(), String> {
    let schedule = race["schedule"].as_str().unwrap_or_default();
    let outcome = tool::run(["replay", "--format", "json", schedule]);
    let again: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let same = |field: &str| again["finding"][field] == race[field];
    if outcome.code == Some(1) && ["kind", "message", "locations"].into_iter().all(same) {
        return Ok(());
    }
    Err(campaign.complain(&format!("its replay does not show the same race: {}", outcome.describe())))
}
