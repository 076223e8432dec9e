//! The same seeds, with every run in a process of its own and with runs that begin in the process of the one before: the same
//! runs, verdicts, findings and schedules, over the corpus.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::compile;
use threadbare_tests::corpus::{self, Program};

/// Runs of each program, and which of the programs: one in so many. With `THREADBARE_FULL=1` ten times as many runs of all.
const RUNS: u64 = 20;
const EACH: usize = 4;
/// How many times as many of those that are about it: several runs go by before what the kernel has of the process is looked at.
const ABOUT: u64 = 15;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let full = std::env::var_os("THREADBARE_FULL").is_some();
    let runs = if full { 10 * RUNS } else { RUNS };
    // What is ended from outside ends at no certain place; what another process says is not the same in every run.
    let stable = |program: &Program| program.expect != ["timeout"] && program.replays == u64::MAX;
    let trials = corpus::programs()
        .into_iter()
        .filter(stable)
        .enumerate()
        .filter(|(index, program)| full || index % EACH == 0 || program.name.starts_with("reset/"))
        .map(|(_, program)| {
            let builds = builds.clone();
            let runs = if program.name.starts_with("reset/") { ABOUT * RUNS } else { runs };
            Trial::test(program.name.clone(), move || check(&program, runs, &builds).map_err(Failed::from))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(program: &Program, runs: u64, builds: &Path) -> Result<(), String> {
    let executable = compile::instrumented(program, compile::compilers(program)[0], builds)?;
    let count = runs.to_string();
    let run = |reset: &str| {
        let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        campaign::run(program, &executable, out.path(), &["--runs", &count, "--keep-going", "--reset", reset])
    };
    let (fork, snapshot) = (run("fork")?, run("snapshot")?);
    let warnings = fork.report["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if warnings.into_iter().any(|text| text.starts_with("fork:")) {
        // Other processes take their own time.
        return match fork.report["verdict"] == snapshot.report["verdict"] {
            true => Ok(()),
            false => Err(snapshot.complain(&format!("with forks it was {}", fork.report["verdict"]))),
        };
    }
    for ((what, one), (_, other)) in essence(&fork).into_iter().zip(essence(&snapshot)) {
        if one != other {
            let told = format!("`{what}` is {one:#} with forks and {other:#} with snapshots");
            return Err(snapshot.complain(&told));
        }
    }
    Ok(())
}

/// What must not differ.
fn essence(campaign: &Campaign) -> Vec<(String, Value)> {
    const FIELDS: [&str; 9] = [
        "trace_hash",
        "verdict",
        "runs",
        "runs_failed",
        "first_failure_run",
        "points",
        "switches",
        "strands",
        "coverage",
    ];
    const OF_FINDINGS: [&str; 8] =
        ["id", "kind", "message", "run", "count", "points", "switches", "locations"];
    let of = |value: &Value, fields: &[&str], name: &str| -> Vec<(String, Value)> {
        fields.iter().map(|field| (format!("{name}{field}"), value[*field].clone())).collect()
    };
    let mut list = of(&campaign.report, &FIELDS, "");
    list.push(("findings".to_owned(), campaign.findings().len().into()));
    list.extend(campaign.findings().iter().flat_map(|finding| of(finding, &OF_FINDINGS, "a finding's ")));
    list
}
