//! `cargo xtask bench iroots`: which iroots of small programs are predicted and forced, against every order of them.
//!
//! For each C program of the corpus of which `dpor` sees every order in [`RUNS`] runs and [`TIME`]: the iroots that some order shows are those that can be. `--strategy idioms` is then
//! asked what it predicts and shows. Nothing wakes or fails without a reason here (`--faults none`). Words narrow it to programs whose names have one of them.

use super::json;
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use threadbare_tests::iroots;

/// Runs in which `dpor` has to come to the end.
const RUNS: &str = "2000";
const TIME: &str = "10s";
/// At least so many of a hundred predicted ones can be, and so many of those are forced.
const FEASIBLE: f64 = 80.0;
const FORCED: f64 = 95.0;

/// Of how many iroots it is known what.
#[derive(Default)]
struct Sums {
    programs: usize,
    /// Of idiom 1: those that can be, and those of them that are predicted.
    one: (usize, usize),
    /// Of all idioms: predicted, those of them that can be, and those of these that were shown.
    all: (usize, usize, usize),
}

/// Measures all.
pub(crate) fn iroots(words: &[&str]) -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let (tool, folder) = (build_tool()?, root().join("target/bench/iroots"));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let corpus = root().join("tests/programs");
    let mut programs = Vec::new();
    collect(&corpus, &mut programs).map_err(|error| error.to_string())?;
    programs.sort();
    println!("| program | idiom 1: can be, predicted | all: predicted, can be, shown |\n|---|---|---|");
    let mut sums = Sums::default();
    for program in programs {
        let name = program.strip_prefix(&corpus).unwrap_or(&program).to_string_lossy().into_owned();
        if !words.is_empty() && !words.iter().any(|word| name.contains(word)) {
            continue;
        }
        if let Some(of) = measure(&tool, &folder, &program)? {
            println!("| {name} | {}, {} | {}, {}, {} |", of.one.0, of.one.1, of.all.0, of.all.1, of.all.2);
            sums.programs += 1;
            sums.one = (sums.one.0 + of.one.0, sums.one.1 + of.one.1);
            sums.all = (sums.all.0 + of.all.0, sums.all.1 + of.all.1, sums.all.2 + of.all.2);
        }
    }
    let Sums { programs, one, all } = sums;
    let part = |some: usize, of: usize| 100.0 * some as f64 / of.max(1) as f64;
    let (feasible, forced) = (part(all.1, all.0), part(all.2, all.1));
    println!("\n{programs} programs of which every order was seen");
    println!("idiom 1: {} of {} that can be are predicted (all must be)", one.1, one.0);
    println!(
        "all idioms: {} of {} predicted ones can be, {feasible:.1}% (at least {FEASIBLE}%)",
        all.1, all.0
    );
    println!("{} of {} that can be are forced, {forced:.1}% (at least {FORCED}%)", all.2, all.1);
    match one.0 == one.1 && feasible >= FEASIBLE && forced >= FORCED {
        true => Ok(()),
        false => Err("not as promised".to_owned()),
    }
}

fn collect(folder: &Path, programs: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, programs)?;
        } else if path.extension().is_some_and(|extension| extension == "c") {
            programs.push(path);
        }
    }
    Ok(())
}

/// What is known of a program; none if not every order of it was seen.
fn measure(tool: &Path, folder: &Path, source: &Path) -> Outcome<Option<Sums>> {
    let source = source.to_string_lossy();
    let words = ["cc", "-g", "-O1", "-w", "-pthread", &source, "-lm", "-o", "program"];
    let built = command(tool, &words).current_dir(folder).output().map_err(|error| error.to_string())?;
    if !built.status.success() {
        return Ok(None);
    }
    let campaign = |strategy: &str, options: &[&str]| -> Outcome<Option<(bool, BTreeMap<String, String>)>> {
        let out = folder.join("out");
        let _ = std::fs::remove_dir_all(&out);
        let mut words =
            vec!["run", "--strategy", strategy, "--keep-going", "--format", "json", "--out", "out"];
        words.extend(["--races", "off", "--faults", "none", "--shrink", "off"]);
        words.extend(["--no-predict", "--jobs", "1"]);
        words.extend(options);
        words.extend(["--", "./program"]);
        // Some programs of the corpus are there to be refused.
        let Ok(result) = json(command(tool, &words).current_dir(folder)) else { return Ok(None) };
        let iroots = iroots::last_of(&out).unwrap_or_default();
        Ok(Some((result["planner"]["complete"] == true, iroots)))
    };
    let Some((true, orders)) = campaign("dpor", &["--iroots", "--runs", RUNS, "--time", TIME])? else {
        return Ok(None);
    };
    let shown = |(iroot, state): (&String, &String)| (state == "shown").then(|| iroot.clone());
    let mut can_be: BTreeSet<String> = orders.iter().filter_map(shown).collect();
    let Some((_, told)) = campaign("idioms", &[])? else { return Ok(None) };
    // What a run has shown can be, whatever dpor has chosen to stand for it.
    let forced: BTreeSet<String> = told.iter().filter_map(shown).collect();
    can_be.extend(forced.iter().cloned());
    if can_be.is_empty() {
        return Ok(None);
    }
    let one: Vec<&String> = can_be.iter().filter(|iroot| iroot.starts_with("1:")).collect();
    let feasible = told.keys().filter(|iroot| can_be.contains(*iroot)).count();
    Ok(Some(Sums {
        programs: 1,
        one: (one.len(), one.iter().filter(|iroot| told.contains_key(**iroot)).count()),
        all: (told.len(), feasible, forced.len()),
    }))
}
