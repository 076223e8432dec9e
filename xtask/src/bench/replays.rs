//! `cargo xtask bench noise replays`: recorded failing runs of the experiments, each replayed.
//!
//! Every one is a campaign of its own, with its own seed, that ends at its first failure. Its finding's schedule is replayed then, and
//! counts if that shows the failure again: the same kind at the same place.

use super::json;
use super::noise::{EXPERIMENTS, built};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root};
use serde_json::Value;
use std::path::Path;

/// Failing runs, unless told otherwise, and how many of 100 must show the failure again.
const FAILURES: u64 = 200;
const AT_LEAST: f64 = 99.0;
/// Runs of a campaign at the most.
const RUNS: &str = "60";

/// Collects failing runs of all the experiments in turns, and replays them.
pub(crate) fn replays(words: &[&str]) -> Outcome {
    let wanted = match words {
        [] => FAILURES,
        [word] => word.parse().map_err(|_| format!("`{word}` is no number of failing runs"))?,
        _ => {
            return Err(
                "a number of failing runs is expected: `cargo xtask bench noise replays 200`".to_owned()
            );
        }
    };
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/replays");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut programs = Vec::new();
    for (name, ..) in EXPERIMENTS {
        for (wrapper, extension) in [("cc", "c"), ("rustc", "rs")] {
            programs.push((built(&tool, &folder, wrapper, name, extension)?, 0u64, 0u64));
        }
    }
    let mut tried = 0;
    while programs.iter().map(|(_, failed, _)| failed).sum::<u64>() < wanted {
        let count = programs.len() as u64;
        let (program, failed, shown) = &mut programs[(tried % count) as usize];
        tried += 1;
        if tried > wanted * 4 {
            return Err(format!("{tried} campaigns, and fewer than {wanted} failures"));
        }
        let Some(finding) = first_failure(&tool, &folder, program, tried)? else { continue };
        *failed += 1;
        match replay(&tool, &folder, &finding) {
            Ok(()) => *shown += 1,
            Err(why) => println!("{program}, seed {tried}: {why}"),
        }
    }
    println!("| experiment | recorded failures | shown again |\n|---|---|---|");
    for (program, failed, shown) in &programs {
        println!("| {} | {failed} | {shown} |", program.trim_start_matches("./"));
    }
    let (failed, shown) = programs.iter().fold((0, 0), |sum, it| (sum.0 + it.1, sum.1 + it.2));
    let share = 100.0 * shown as f64 / failed as f64;
    println!("\n{shown} of {failed}: {share:.1}% (at least {AT_LEAST}%)");
    if share < AT_LEAST { Err("too few replays show the failure".to_owned()) } else { Ok(()) }
}

/// The first finding of a campaign with this seed.
fn first_failure(tool: &Path, folder: &Path, program: &str, seed: u64) -> Outcome<Option<Value>> {
    let out = format!("out-{seed}");
    let seed = seed.to_string();
    let mut arguments = vec!["run", "--mode", "free", "--runs", RUNS, "--races", "off", "--format", "json"];
    arguments.extend(["--seed", &seed, "--out", &out, "--", program]);
    let result = json(command(tool, &arguments).current_dir(folder))?;
    Ok(result["findings"].get(0).cloned())
}

fn replay(tool: &Path, folder: &Path, finding: &Value) -> Outcome {
    let schedule = finding["schedule"].as_str().ok_or("the finding has no schedule")?;
    let result = json(command(tool, &["replay", "--format", "json", schedule]).current_dir(folder))?;
    let again = &result["finding"];
    let what = |it: &Value| {
        (it["kind"].clone(), it["locations"].get(0).map(|at| (at["file"].clone(), at["line"].clone())))
    };
    if what(again) == what(finding) {
        return Ok(());
    }
    Err(format!(
        "{} at {:?} became {} at {:?}",
        finding["kind"],
        what(finding).1,
        again["kind"],
        what(again).1
    ))
}
