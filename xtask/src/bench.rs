//! `cargo xtask bench`: figures as ratios, ours and the peer's measured in turns in one run.
//!
//! The machine may be noisy, so each side is measured several times, in turns, and the best of each side is compared:
//! noise only ever takes speed away.

pub(crate) mod causes;
pub(crate) mod claims;
pub(crate) mod code;
pub(crate) mod coverage;
pub(crate) mod generate;
pub(crate) mod inputs;
pub(crate) mod invariants;
pub(crate) mod iroots;
mod needles;
pub(crate) mod noise;
pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod races;
pub(crate) mod replays;
mod runs;
pub(crate) mod symbols;
pub(crate) mod timeouts;
mod tsan;
pub(crate) mod variants;

use crate::packages;
use crate::steps::{Outcome, build_tool, cargo, command, root, run};
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 5;

pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: f64,
    pub(crate) peer: f64,
    pub(crate) at_least: f64,
}

fn output(command: &mut Command) -> Outcome<String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|error| format!("cannot run {shown}: {error}"))?;
    if output.status.code().is_none_or(|code| code > 1) {
        return Err(format!("{shown} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

fn number(command: &mut Command) -> Outcome<f64> {
    let text = output(command)?;
    text.trim().parse().map_err(|_| format!("not a number: {text}"))
}

pub(crate) fn json(command: &mut Command) -> Outcome<serde_json::Value> {
    serde_json::from_str(&output(command)?).map_err(|error| error.to_string())
}

pub(crate) fn field(value: &serde_json::Value, name: &str) -> Outcome<f64> {
    value[name].as_f64().ok_or_else(|| format!("the result has no `{name}`"))
}

/// Runs both sides in turns and keeps the best of each.
pub(crate) fn in_turns(
    mut ours: impl FnMut() -> Outcome<f64>,
    mut peer: impl FnMut() -> Outcome<f64>,
) -> Outcome<(f64, f64)> {
    let mut best = (0f64, 0f64);
    for _ in 0..ROUNDS {
        best = (best.0.max(ours()?), best.1.max(peer()?));
    }
    Ok(best)
}

/// The engine's own figures.
pub(crate) fn engine() -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let source = |name: &str| root().join("bench").join(name).to_string_lossy().into_owned();
    run(command(&tool, &["cc", "-g", "-O1", "-pthread", &source("counter.c"), "-o", "counter"])
        .current_dir(&folder))?;
    run(command("gcc", &["-O1", &source("forkloop.c"), "-o", "forkloop"]).current_dir(&folder))?;
    run(cargo(&["build", "--release", "--manifest-path", &source("shuttle-counter/Cargo.toml")])
        .env("CARGO_TARGET_DIR", &folder))?;

    let campaign = |races: &str, runs: &str, additions: &str| -> Outcome<serde_json::Value> {
        let options = ["--jobs", "1", "--strategy", "uniform", "--races", races, "--format", "json"];
        let more = ["--runs", runs, "--timeout", "60s", "--out", "out", "--", "./counter", additions];
        json(command(&tool, &[&["run"], &options[..], &more[..]].concat()).current_dir(&folder))
    };
    let shuttle = folder.join("release/shuttle-counter");
    let points_per_s = |races: &str| {
        let result = campaign(races, "3", "3000000")?;
        Ok(field(&result, "points")? / field(&result, "elapsed_s")?)
    };
    let (ours, peer) = in_turns(|| points_per_s("off"), || number(&mut Command::new(&shuttle)))?;
    let points = Row {
        what: "points/s, two strands on a counter, `uniform`; peer: Shuttle's `random`".to_owned(),
        ours,
        peer,
        at_least: 4.0,
    };
    let (ours, peer) = in_turns(|| points_per_s("report"), || number(&mut Command::new(&shuttle)))?;
    let races = Row {
        what: "the same with races looked for; peer: Shuttle, which looks for none".into(),
        ours,
        peer,
        at_least: 2.5,
    };

    let forkloop: &Path = &folder.join("forkloop");
    let (ours, peer) = in_turns(
        || field(&campaign("report", "3000", "3")?, "runs_per_s"),
        || number(&mut Command::new(forkloop)),
    )?;
    let forks = Row {
        what: "runs/s, two strands; peer: a bare fork+wait loop".to_owned(),
        ours,
        peer,
        at_least: 0.5,
    };
    let mut rows = vec![points, races, forks];
    rows.extend(runs::rows(&tool, &folder)?);
    rows.extend(tsan::rows(&tool, &folder)?);
    table(&rows)
}

pub(crate) fn table(rows: &[Row]) -> Outcome {
    println!("\n| what | ours | peer | ratio | at least | |");
    println!("|---|---|---|---|---|---|");
    let mut missed = 0;
    for row in rows {
        let ratio = row.ours / row.peer;
        let holds = ratio >= row.at_least;
        missed += !holds as usize;
        println!(
            "| {} | {:.0} | {:.0} | {ratio:.2} | {:.2} | {} |",
            row.what,
            row.ours,
            row.peer,
            row.at_least,
            if holds { "holds" } else { "MISSED" }
        );
    }
    if missed > 0 { Err(format!("{missed} of {} figures missed", rows.len())) } else { Ok(()) }
}
