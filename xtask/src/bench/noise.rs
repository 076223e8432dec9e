//! `cargo xtask bench noise`: the paper's experiments, and the speed of free runs.
//!
//! For each program of `tests/programs/noise`: failing runs in a hundred, bare (the free mode without noise), with each kind of
//! noise, and under control; the paper's figures for the same experiment beside them (Java on one processor, so they tell the
//! order of things and nothing more). Then CPU-bound programs with little sharing, in turns with gcc's ThreadSanitizer.

use super::{Row, field, in_turns, json, table};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use std::path::Path;
use std::time::Instant;

const RUNS: &str = "200";

/// The experiments: program, the paper's bare figure, the paper's best.
const EXPERIMENTS: [(&str, &str, &str); 6] = [
    ("flag", "0", "20 (sleep), 0.3 (yield)"),
    ("move_money", "0", "80 (sleep)"),
    ("notify", "0", "35 (sleep or yield)"),
    ("parameter", "3.7", "always (sleep)"),
    ("philosophers", "0", "almost always"),
    ("worker", "0", "within an hour"),
];

/// Measures both.
pub(crate) fn noise() -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/noise");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    println!("failing runs in 100 ({RUNS} runs each)\n");
    println!(
        "| experiment | paper, bare | paper, best | bare | sleep | yield | spin | priority | default | control |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, bare, best) in EXPERIMENTS {
        for (wrapper, extension) in [("cc", "c"), ("rustc", "rs")] {
            let program = built(&tool, &folder, wrapper, name, extension)?;
            let rate = |options: &[&str]| failing(&tool, &folder, &program, options);
            let free = |kind| rate(&["--mode", "free", "--noise", kind]);
            let figures = [
                free("none")?,
                free("sleep")?,
                free("yield")?,
                free("spin")?,
                free("priority")?,
                free("mixed")?,
                rate(&["--strategy", "random"])?,
            ];
            let figures: Vec<String> = figures.iter().map(|rate| format!("{rate:.1}")).collect();
            println!("| {name}.{extension} | {bare} | {best} | {} |", figures.join(" | "));
        }
    }
    speed(&tool, &folder)
}

fn built(tool: &Path, folder: &Path, wrapper: &str, name: &str, extension: &str) -> Outcome<String> {
    let source = root().join("tests/programs/noise").join(format!("{name}.{extension}"));
    let source = source.to_string_lossy().into_owned();
    let program = format!("./{name}-{extension}");
    let arguments = match wrapper {
        "cc" => vec!["cc", "-g", "-O1", "-pthread", &source, "-o", &program],
        _ => vec!["rustc", "-g", "-O", "--edition", "2024", &source, "-o", &program],
    };
    run(command(tool, &arguments).current_dir(folder))?;
    Ok(program)
}

fn failing(tool: &Path, folder: &Path, program: &str, options: &[&str]) -> Outcome<f64> {
    let mut arguments = vec!["run", "--runs", RUNS, "--keep-going", "--races", "off", "--format", "json"];
    arguments.extend(["--out", "out"]);
    arguments.extend(options);
    arguments.extend(["--", program]);
    let result = json(command(tool, &arguments).current_dir(folder))?;
    Ok(100.0 * field(&result, "runs_failed")? / field(&result, "runs")?)
}

fn speed(tool: &Path, folder: &Path) -> Outcome {
    let mut rows = Vec::new();
    for name in ["matrix", "sieve"] {
        let source = root().join("bench").join(format!("{name}.c")).to_string_lossy().into_owned();
        run(command(tool, &["cc", "-g", "-O2", "-pthread", &source, "-o", name]).current_dir(folder))?;
        let sanitized = format!("{name}-tsan");
        run(command("gcc", &["-g", "-O2", "-pthread", "-fsanitize=thread", &source, "-o", &sanitized])
            .current_dir(folder))?;
        let ours = |record: &str| {
            let mut arguments =
                vec!["run", "--mode", "free", "--noise", "none", "--runs", "1", "--races", "off"];
            arguments.extend(["--format", "json", "--out", "out"]);
            if record == "off" {
                arguments.push("--no-record");
            }
            let program = format!("./{name}");
            arguments.extend(["--", &program]);
            let result = json(command(tool, &arguments).current_dir(folder))?;
            Ok(1.0 / field(&result, "elapsed_s")?)
        };
        let tsan = || {
            let began = Instant::now();
            run(command(folder.join(&sanitized), &[])
                .current_dir(folder)
                .stdout(std::process::Stdio::null()))?;
            Ok(1.0 / began.elapsed().as_secs_f64())
        };
        let (off, peer) = in_turns(|| ours("off"), tsan)?;
        let what = format!("{name}: free runs/s without noise; peer: gcc's ThreadSanitizer");
        rows.push(Row { what, ours: off, peer, at_least: 1.0 });
        let (recorded, plain) = in_turns(|| ours("on"), || ours("off"))?;
        let what = format!("{name}: the same, recorded; peer: not recorded");
        rows.push(Row { what, ours: recorded, peer: plain, at_least: 0.5 });
    }
    table(&rows)
}
