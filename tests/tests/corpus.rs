//! Every program of the corpus, a third of them with every compiler (all with `THREADBARE_FULL=1`): built, run bare, run under control, and its failure replayed.
//!
//! A failing trial keeps its folder and prints the command that shows the failure again.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Bare, Program};
use threadbare_tests::extent::has_others;
use threadbare_tests::tool;

const REPLAYS: usize = 3;

/// How long a plain run that may hang is watched.
const WATCH: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let mut trials = Vec::new();
    // The pairs of the race check have a test of their own.
    for program in corpus::programs().into_iter().filter(|program| !program.is_twin()) {
        let compilers = if has_others(&program.name) { usize::MAX } else { 1 };
        for compiler in compile::compilers(&program).into_iter().take(compilers) {
            let (program, builds) = (program.clone(), builds.clone());
            let name = format!("{}::{}", program.name, compiler.name());
            trials.push(Trial::test(name, move || check(&program, compiler, &builds).map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(program: &Program, compiler: Compiler, builds: &Path) -> Result<(), String> {
    if compiler != Compiler::Clang {
        check_alone(program, &compile::plain(program, builds)?, "without Threadbare")?;
    }
    let executable = compile::instrumented(program, compiler, builds)?;
    if program.bare != Bare::Any {
        check_alone(program, &executable, "with the runtime linked, without the driver")?;
    }
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let checked = if program.passes() {
        check_passing(program, &executable, out.path())
    } else {
        check_failing(program, &executable, out.path())
    };
    checked.map_err(|message| {
        let kept = out.keep();
        format!("{message}\nkept: {}\nprogram: {}", kept.display(), executable.display())
    })
}

fn check_alone(program: &Program, executable: &Path, how: &str) -> Result<(), String> {
    let mut command = Command::new(executable);
    command.args(&program.args).envs(program.env.iter().map(|(variable, value)| (variable, value)));
    let patience = if program.bare == Bare::Pass { tool::PATIENCE } else { WATCH };
    let outcome = tool::finish(&mut command, patience);
    let right = match program.bare {
        Bare::Pass => outcome.code == Some(0),
        Bare::Fail => !outcome.hung && outcome.code != Some(0),
        Bare::Hang => outcome.hung,
        Bare::Any => true,
    };
    if right {
        Ok(())
    } else {
        Err(format!("alone, {how}, {:?} was expected: {}", program.bare, outcome.describe()))
    }
}

fn check_passing(program: &Program, executable: &Path, out: &Path) -> Result<(), String> {
    let runs = program.runs.to_string();
    let campaign = campaign::run(program, executable, out, &["--runs", &runs])?;
    if campaign.outcome.code != Some(0) || campaign.text("verdict")? != "clean" {
        return Err(campaign.complain("it should pass"));
    }
    if campaign.number("runs")? != program.runs || campaign.number("runs_failed")? != 0 {
        return Err(campaign.complain(&format!("not {runs} runs that pass")));
    }
    if !campaign.findings().is_empty() || !campaign.report["first_failure_run"].is_null() {
        return Err(campaign.complain("a clean campaign with findings"));
    }
    let warnings = campaign.report["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    let said = |part: &str| warnings.iter().any(|text| text.as_str().is_some_and(|text| text.contains(part)));
    match program.warns.as_deref() {
        Some("none") if !warnings.is_empty() => {
            return Err(campaign.complain("there should be no warnings"));
        }
        Some(part) if part != "none" && !said(part) => {
            return Err(campaign.complain(&format!("no warning says `{part}`")));
        }
        _ => {}
    }
    if campaign.number("strands")? < program.strands {
        return Err(campaign.complain(&format!("fewer than {} strands", program.strands)));
    }
    Ok(())
}

fn check_failing(program: &Program, executable: &Path, out: &Path) -> Result<(), String> {
    let runs = program.max_runs.to_string();
    let mut options = vec!["--runs", &runs];
    // Many a bug comes by a race; what is asked for here is the failure it leads to.
    if program.races.is_empty() {
        options.extend(["--races", "off"]);
    }
    let campaign = campaign::run(program, executable, out, &options)?;
    if campaign.outcome.code != Some(1) || campaign.text("verdict")? != "failure" {
        return Err(campaign.complain(&format!("no {:?} within {runs} runs", program.expect)));
    }
    let finding = match campaign.findings() {
        [finding] => finding,
        _ => return Err(campaign.complain("a campaign that ends at its first failure has one finding")),
    };
    check_finding(program, finding).map_err(|what| campaign.complain(&what))?;
    if campaign.report["first_failure_run"] != finding["run"] || campaign.number("runs_failed")? != 1 {
        return Err(campaign.complain("the finding is not of the first failing run"));
    }
    let schedule = finding["schedule"].as_str().map(PathBuf::from).filter(|path| path.is_file());
    let schedule = schedule.ok_or_else(|| campaign.complain("the finding's schedule is no file"))?;
    for _ in 0..REPLAYS {
        check_replay(&campaign, finding, &schedule)?;
    }
    Ok(())
}

fn check_finding(program: &Program, finding: &Value) -> Result<(), String> {
    let text = |field: &str| finding[field].as_str().unwrap_or_default();
    if !program.expect.iter().any(|kind| kind == text("kind")) {
        return Err(format!("{:?} was expected, not {}", program.expect, text("kind")));
    }
    if let Some(part) = &program.message
        && !text("message").contains(part)
    {
        return Err(format!("the message `{}` does not say `{part}`", text("message")));
    }
    let Some(line) = program.line else { return Ok(()) };
    let here = |location: &Value| {
        location["line"].as_u64() == Some(line)
            && location["file"].as_str().is_some_and(|file| file.ends_with(program.file_name()))
    };
    let places = finding["locations"].as_array();
    match places {
        Some(places) if places.iter().any(here) => Ok(()),
        _ => Err(format!("{}:{line} is not among the places: {}", program.file_name(), finding["locations"])),
    }
}

fn check_replay(campaign: &Campaign, finding: &Value, schedule: &Path) -> Result<(), String> {
    let mut command = tool::command(["replay", "--format", "json"]);
    let outcome = tool::finish(command.arg(schedule), tool::PATIENCE);
    let again: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let same = |field: &str| again["finding"][field] == finding[field];
    if outcome.code != Some(1) || !same("kind") || !same("message") || !same("locations") {
        let what = format!("{command:?} does not show the same failure: {}", outcome.describe());
        return Err(campaign.complain(&what));
    }
    Ok(())
}
