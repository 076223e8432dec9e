//! What short runs cost, and how cost grows: rows of `cargo xtask bench engine`.

use super::{Row, field, in_turns, json, number};
use crate::steps::{Outcome, command, root, run};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A campaign of a program in the folder.
fn campaign(tool: &Path, folder: &Path, options: &[&str], program: &[&str]) -> Outcome<Value> {
    let fixed =
        ["run", "--keep-going", "--shrink", "off", "--format", "json", "--timeout", "60s", "--out", "out"];
    json(command(tool, &[&fixed[..], options, &["--"], program].concat()).current_dir(folder))
}

/// Runs a second of the one test of a package.
fn of_test(tool: &Path, package: &Path, folder: &Path, options: &[&str]) -> Outcome<f64> {
    let fixed = ["threadbare", "test", "--release", "--lib", "--tests", "--keep-going", "--shrink", "off"];
    let cargo = tool.with_file_name("cargo-threadbare");
    let result = json(
        command(
            &cargo,
            &[
                &fixed[..],
                &["--jobs", "1", "--format", "json", "--out"],
                &[&*folder.join("out").to_string_lossy()],
                options,
            ]
            .concat(),
        )
        .env("CARGO_TARGET_DIR", folder.join("packages"))
        // A panic that prints its stack takes a hundred times as long as the run, whoever makes it.
        .env_remove("RUST_BACKTRACE")
        .current_dir(package),
    )?;
    let tests = result["tests"].as_array().ok_or("the result has no tests")?;
    let made: Vec<f64> =
        tests.iter().filter_map(|test| field(&test["campaign"], "runs_per_s").ok()).collect();
    made.into_iter().reduce(f64::min).ok_or_else(|| "no test was run".to_owned())
}

/// All rows.
pub(crate) fn rows(tool: &Path, folder: &Path) -> Outcome<Vec<Row>> {
    let source = |name: &str| root().join(name).to_string_lossy().into_owned();
    let build = |compiler: &str, file: &str, program: &str| {
        let arguments = [compiler, "-g", "-O1", "-pthread", &source(file), "-o", program];
        run(command(tool, &arguments).current_dir(folder))
    };
    build("cc", "bench/lock.c", "lock")?;
    build("cc", "bench/barrier.c", "barrier")?;
    build("c++", "tests/programs/torn/transfer.cc", "transfer")?;
    let shuttle = || number(&mut Command::new(folder.join("release/shuttle-runs")));
    let row = |what: &str, (ours, peer): (f64, f64), at_least: f64| Row {
        what: what.to_owned(),
        ours,
        peer,
        at_least,
    };
    let runs_by = |options: &[&str], program: &[&str]| {
        field(&campaign(tool, folder, &[&["--strategy", "random"], options].concat(), program)?, "runs_per_s")
    };
    let by = |reset: &'static str, runs: &'static str, program: &'static [&'static str]| {
        move || runs_by(&["--jobs", "1", "--reset", reset, "--runs", runs], program)
    };
    let bank = |reset: &'static str, runs: &'static str| {
        move || {
            of_test(
                tool,
                &root().join("examples/bank-rs"),
                folder,
                &["--strategy", "random", "--reset", reset, "--runs", runs],
            )
        }
    };
    let jobs =
        |jobs: &'static str| move || runs_by(&["--jobs", jobs, "--runs", "100000"], &["./lock", "2", "1"]);
    let points = |races: &'static str, runs: &'static str, program: [&'static str; 3]| {
        move || {
            let options = ["--jobs", "1", "--strategy", "uniform", "--races", races, "--runs", runs];
            let result = campaign(tool, folder, &options, &program)?;
            Ok(field(&result, "points")? / field(&result, "elapsed_s")?)
        }
    };
    let check =
        || of_test(tool, &root().join("bench/check"), folder, &["--strategy", "random", "--runs", "30000"]);
    Ok(vec![
        row(
            "runs/s, two strands and a lock, each run in the process of the one before; peer: each in its own",
            in_turns(
                by("snapshot", "30000", &["./lock", "2", "1"]),
                by("fork", "1000", &["./lock", "2", "1"]),
            )?,
            15.0,
        ),
        row("the same, `bank-rs`'s test", in_turns(bank("snapshot", "10000"), bank("fork", "500"))?, 10.0),
        row(
            "the same, C++ `transfer`, some runs of which fail",
            in_turns(by("snapshot", "20000", &["./transfer"]), by("fork", "1000", &["./transfer"]))?,
            10.0,
        ),
        row(
            "runs/s, two strands and a lock, C; peer: Shuttle's on the same in Rust",
            in_turns(by("snapshot", "50000", &["./lock", "2", "1"]), shuttle)?,
            0.25,
        ),
        row(
            "the same as a Rust test that begins at its `check`; peer: Shuttle's",
            in_turns(check, shuttle)?,
            0.5,
        ),
        row("runs/s with two jobs; peer: with one", in_turns(jobs("2"), jobs("1"))?, 1.9),
        row(
            "points/s in runs of 10^8 points; peer: of 10^5",
            in_turns(
                points("off", "1", ["./lock", "2", "16000000"]),
                points("off", "200", ["./lock", "2", "16000"]),
            )?,
            0.8,
        ),
        row(
            "points/s with 1,000 strands at one lock; peer: with 2",
            in_turns(
                points("off", "3", ["./lock", "1000", "1000"]),
                points("off", "3", ["./lock", "2", "500000"]),
            )?,
            0.5,
        ),
        row(
            "the same with races looked for",
            in_turns(
                points("report", "3", ["./lock", "1000", "1000"]),
                points("report", "3", ["./lock", "2", "500000"]),
            )?,
            0.5,
        ),
        row(
            "points/s with 1,000 strands at a barrier; peer: with 2",
            in_turns(
                points("off", "3", ["./barrier", "1000", "300"]),
                points("off", "3", ["./barrier", "2", "150000"]),
            )?,
            0.5,
        ),
    ])
}
