//! `cargo xtask bench noise`: the paper's experiments, and the speed of free runs.
//!
//! For each program of `tests/programs/noise`: failing runs in a hundred, bare (the free mode without noise), with each kind of
//! noise, with noise that what was covered guides, and under control; the paper's figures for the same experiment beside them (Java on
//! one processor, so they tell the order of things and nothing more). Then what these runs covered. Then CPU-bound programs with little
//! sharing, in turns with gcc's ThreadSanitizer.

use super::{Row, field, in_turns, json, table};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// Runs of each, unless told otherwise.
const RUNS: u64 = 200;

/// The columns: a name, and the options.
const COLUMNS: [(&str, &[&str]); 10] = [
    ("bare", &["--mode", "free", "--noise", "none"]),
    ("sleep", &["--mode", "free", "--noise", "sleep"]),
    ("yield", &["--mode", "free", "--noise", "yield"]),
    ("spin", &["--mode", "free", "--noise", "spin"]),
    ("priority", &["--mode", "free", "--noise", "priority"]),
    ("default", &["--mode", "free"]),
    ("model 1", &["--mode", "free", "--guide", "model1"]),
    ("model 2", &["--mode", "free", "--guide", "model2"]),
    ("history", &["--mode", "free", "--guide", "history"]),
    ("control", &["--strategy", "random"]),
];

/// The experiments: program, the paper's bare figure, the paper's best.
pub(super) const EXPERIMENTS: [(&str, &str, &str); 6] = [
    ("flag", "0", "20 (sleep), 0.3 (yield)"),
    ("move_money", "0", "80 (sleep)"),
    ("notify", "0", "35 (sleep or yield)"),
    ("parameter", "3.7", "always (sleep)"),
    ("philosophers", "0", "almost always"),
    ("worker", "0", "within an hour"),
];

/// Measures all.
pub(crate) fn noise(words: &[&str]) -> Outcome {
    let runs = match words {
        [] => RUNS,
        [word] if word.parse::<u64>().is_ok_and(|runs| runs > 0) => word.parse().unwrap_or(RUNS),
        _ => return Err("a number of runs is expected: `cargo xtask bench noise 1000`".to_owned()),
    };
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/noise");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    println!("failing runs in 100 ({runs} runs each)\n");
    println!("| experiment | paper, bare | paper, best | {} |", names.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(names.len()));
    let mut covered = Vec::new();
    for (name, bare, best) in EXPERIMENTS {
        for (wrapper, extension) in [("cc", "c"), ("rustc", "rs")] {
            let program = built(&tool, &folder, wrapper, name, extension)?;
            let (mut rates, mut tasks) = (Vec::new(), Vec::new());
            for (_, options) in COLUMNS {
                let result = campaign(&tool, &folder, &program, runs, options)?;
                let rate = 100.0 * field(&result, "runs_failed")? / field(&result, "runs")?;
                rates.push(format!("{rate:.1}"));
                tasks.push(both_models(&result));
            }
            println!("| {name}.{extension} | {bare} | {best} | {} |", rates.join(" | "));
            covered.push((format!("{name}.{extension}"), tasks));
        }
    }
    println!(
        "\ntasks covered of those that can be: functions interrupted and run through; pairs of functions\n"
    );
    let told: Vec<usize> =
        (0..names.len()).filter(|&at| covered.iter().any(|(_, it)| it[at].is_some())).collect();
    println!("| experiment | {} |", told.iter().map(|&at| names[at]).collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(told.len()));
    for (name, tasks) in &covered {
        let cells: Vec<&str> = told.iter().map(|&at| tasks[at].as_deref().unwrap_or_default()).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    speed(&tool, &folder)
}

/// How much of the two models a campaign covered; none if that was not noted.
fn both_models(result: &Value) -> Option<String> {
    let model = |name: &str| {
        let counts = &result.get("tasks")?["counts"][name];
        Some(format!("{}/{}", counts["covered"].as_u64()?, counts["coverable"].as_u64()?))
    };
    Some(format!("{}; {}", model("model1")?, model("model2")?))
}

pub(super) fn built(
    tool: &Path,
    folder: &Path,
    wrapper: &str,
    name: &str,
    extension: &str,
) -> Outcome<String> {
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

fn campaign(tool: &Path, folder: &Path, program: &str, runs: u64, options: &[&str]) -> Outcome<Value> {
    // Each begins with nothing: campaigns of one folder go on from what is covered there.
    let out = folder.join("out");
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(|error| error.to_string())?;
    }
    let runs = runs.to_string();
    let mut arguments = vec!["run", "--runs", &runs, "--keep-going", "--races", "off", "--format", "json"];
    arguments.extend(["--out", "out"]);
    arguments.extend(options);
    arguments.extend(["--", program]);
    json(command(tool, &arguments).current_dir(folder))
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
