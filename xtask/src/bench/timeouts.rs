//! `cargo xtask bench timeouts`: campaigns of slow programs that are right, with three others beside each. None may tell a timeout.

use super::{field, json};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// What makes a program slow, and how much of it; see `bench/slow.c`.
const PROGRAMS: [(&str, &str); 5] =
    [("works", "10000"), ("locks", "500000"), ("rests", "500"), ("polls", "20000"), ("creates", "2000")];
const MODES: [&str; 2] = ["controlled", "free"];
/// Campaigns at a time.
const BESIDE: usize = 4;
/// A run may take so many times what it took alone.
const MARGIN: f64 = 1.5;
const RUNS: &str = "4";

/// What a program has in one mode.
struct Slow {
    kind: &'static str,
    amount: &'static str,
    mode: &'static str,
    /// `--timeout`, in milliseconds.
    allowed: u64,
}

/// What campaigns told.
#[derive(Default)]
struct Told {
    runs: u64,
    timeouts: u64,
    others: Vec<String>,
    /// Campaigns with a run that was made again.
    slow: u64,
}

/// Measures `[CAMPAIGNS]`, 200 unless told otherwise.
pub(crate) fn timeouts(words: &[&str]) -> Outcome {
    let campaigns: usize = match words {
        [] => 200,
        [count] => count.parse().map_err(|_| format!("`{count}` is no number of campaigns"))?,
        _ => return Err("at most one word: the number of campaigns".into()),
    };
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/timeouts");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let source = root().join("bench/slow.c").to_string_lossy().into_owned();
    run(command(&tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", "slow"]).current_dir(&folder))?;

    let mut programs = Vec::new();
    for (kind, amount) in PROGRAMS {
        for mode in MODES {
            let mut slow = Slow { kind, amount, mode, allowed: 60_000 };
            slow.allowed = (alone(&tool, &folder, &slow)? * MARGIN).ceil() as u64;
            programs.push(slow);
        }
    }
    let told: Vec<Mutex<Told>> = programs.iter().map(|_| Mutex::default()).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let job = || -> Outcome {
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if number >= campaigns {
                    return Ok(());
                }
                let at = number % programs.len();
                let result = campaign(&tool, &folder, &programs[at], number)?;
                let mut told = told[at].lock().map_err(|error| error.to_string())?;
                told.runs += result["runs"].as_u64().unwrap_or(0);
                told.slow += result["warnings"].to_string().contains("slow, not stuck") as u64;
                for finding in result["findings"].as_array().into_iter().flatten() {
                    match finding["kind"].as_str() {
                        Some("timeout") => told.timeouts += 1,
                        other => told.others.push(other.unwrap_or("?").to_owned()),
                    }
                }
                if result["verdict"] == "none" {
                    told.others.push("no verdict".to_owned());
                }
            }
        };
        let jobs: Vec<_> = (0..BESIDE).map(|_| scope.spawn(job)).collect();
        jobs.into_iter()
            .try_for_each(|job| job.join().map_err(|_| "a campaign's thread panicked".to_owned())?)
    })?;

    println!("\n{campaigns} campaigns of {RUNS} runs, {BESIDE} at a time\n");
    println!("| program | mode | `--timeout`, ms | runs | made again | timeouts | other findings |");
    println!("|---|---|---|---|---|---|---|");
    let mut wrong = 0;
    for (slow, told) in programs.iter().zip(told) {
        let told = told.into_inner().map_err(|error| error.to_string())?;
        wrong += told.timeouts as usize + told.others.len();
        let Slow { kind, amount, mode, allowed } = slow;
        let Told { runs, timeouts, slow, others } = told;
        println!(
            "| {kind} {amount} | {mode} | {allowed} | {runs} | {slow} | {timeouts} | {} |",
            others.join(", ")
        );
    }
    if wrong > 0 { Err(format!("{wrong} findings in programs that are right")) } else { Ok(()) }
}

/// How long one run takes alone, in milliseconds on the clock.
fn alone(tool: &Path, folder: &Path, slow: &Slow) -> Outcome<f64> {
    let mut least = f64::INFINITY;
    for seed in 0..3 {
        let result = campaign(tool, folder, slow, seed)?;
        least = least.min(field(&result, "elapsed_s")? * 1000.0 / field(&result, "runs")?);
    }
    Ok(least)
}

fn campaign(tool: &Path, folder: &Path, slow: &Slow, seed: usize) -> Outcome<serde_json::Value> {
    let Slow { kind, amount, mode, allowed } = slow;
    let mut asked: Command = command(tool, &["run", "--mode", mode, "--jobs", "1", "--runs", RUNS]);
    asked.args(["--strategy", "uniform"].iter().take(if *mode == "free" { 0 } else { 2 }));
    asked.args(["--seed", &seed.to_string(), "--timeout", &format!("{allowed}ms"), "--format", "json"]);
    asked.args(["--out", &format!("out-{kind}-{mode}-{seed}"), "--", "./slow", kind, amount]);
    json(asked.current_dir(folder))
}
