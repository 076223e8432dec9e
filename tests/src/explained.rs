//! Explanations against what labelled programs say of their mistake.
//!
//! The labelled lines of a program have a part in its mistake and all others have none. An explanation is right if it names one of the pairs of lines, a fair name of
//! the pattern, what the pair is on, and, where the lines are a helper's, its callers; it blames a place without a part if it names any other line.

use crate::corpus::{Program, in_order};
use crate::{campaign, compile};
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;

/// Of ten explanations so many must be right.
const RIGHT_OF_TEN: usize = 9;

/// What explanations were like.
#[derive(Debug, Default)]
pub struct Told {
    right: usize,
    wrong: Vec<String>,
    blamed: Vec<String>,
}

impl Told {
    /// Prints what was wrong; whether that is of these programs alone.
    pub fn holds_but_for(&self, known: &[&str]) -> bool {
        self.print();
        let is_known = |text: &String| known.iter().any(|name| text.starts_with(&format!("{name} ")));
        self.wrong.iter().chain(&self.blamed).all(is_known)
    }

    /// Prints what was wrong; whether enough were right, and none blames a line without a part.
    pub fn holds(&self) -> bool {
        self.print();
        let all = self.right + self.wrong.len();
        let holds = self.right * 10 >= all * RIGHT_OF_TEN && self.blamed.is_empty();
        if !holds {
            eprintln!(
                "at least {RIGHT_OF_TEN} of 10 must be right, and none may blame a line without a part"
            );
        }
        holds
    }

    fn print(&self) {
        let all = self.right + self.wrong.len();
        println!(
            "{} of {all} explanations are right; {} blame a line without a part",
            self.right,
            self.blamed.len()
        );
        for (what, list) in [("wrong", &self.wrong), ("blames", &self.blamed)] {
            for text in list {
                println!("  {what}: {text}");
            }
        }
    }
}

/// Looks for the failure of a program, and at what is told of it.
///
/// # Errors
/// In words, if the program cannot be built or its failure is not found.
pub fn look(program: &Program, builds: &Path, seed: u64, told: &Mutex<Told>) -> Result<(), String> {
    let compiler = compile::compilers(program)[0];
    let executable = compile::instrumented(program, compiler, builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    // Runs bound the work, so that the result is the same on every machine.
    let (runs, seed) = (program.max_runs.to_string(), seed.to_string());
    let options = ["--seed", &seed, "--runs", &runs, "--shrink", "10m", "--races", "off"];
    let campaign = campaign::run(program, &executable, out.path(), &options)?;
    let Some(finding) =
        campaign.findings().iter().find(|it| program.expect.iter().any(|kind| it["kind"] == **kind))
    else {
        return Err(campaign.complain("the failure was not found"));
    };
    let explanation = &finding["explanation"];
    let text = explanation["text"].as_str().unwrap_or("no explanation");
    let mut told = told.lock().map_err(|_| "another test has failed badly".to_owned())?;
    let mut strange: Vec<u64> = named(explanation).filter(|line| !program.labelled.contains(line)).collect();
    strange.extend(of_term(explanation).filter(|line| !program.labelled.contains(line)));
    if !strange.is_empty() {
        told.blamed.push(format!("{} (seed {seed}): lines {strange:?} of: {text}", program.name));
    }
    let missing = amiss(program, explanation);
    if missing.is_empty() && strange.is_empty() {
        told.right += 1;
    } else {
        told.wrong.push(format!("{} (seed {seed}): {}: {text}", program.name, missing.join(", ")));
    }
    Ok(())
}

/// The places of a list in the explanation.
fn places<'a>(explanation: &'a Value, list: &str) -> &'a [Value] {
    explanation[list].as_array().map_or(&[], Vec::as_slice)
}

/// All lines that the explanation names, of the program or of the test harness.
fn named(explanation: &Value) -> impl Iterator<Item = u64> {
    let places = places(explanation, "pair").iter().chain(places(explanation, "others"));
    places.flat_map(|place| {
        let caller = place["caller"]["line"].as_u64();
        std::iter::once(place["line"].as_u64().unwrap_or(0)).chain(caller)
    })
}

/// The lines of the read that decides, and of the write that it misses in the run that fails: where that run has what was there at first, and sees what it should
/// in the other, the first is whatever line made the object.
fn of_term(explanation: &Value) -> impl Iterator<Item = u64> {
    let line = |name: &str| explanation["decided_by"][name]["line"].as_u64();
    let pair: Vec<u64> =
        places(explanation, "pair").iter().filter_map(|place| place["line"].as_u64()).collect();
    let seen: Vec<u64> = ["write", "passing_write"].into_iter().filter_map(line).collect();
    let told = seen.iter().any(|line| pair.contains(line));
    line("read").into_iter().chain(seen.into_iter().filter(move |_| !told))
}

/// What is not as the program says.
fn amiss(program: &Program, explanation: &Value) -> Vec<String> {
    let pair = places(explanation, "pair");
    let lines: Vec<u64> = pair.iter().filter_map(|place| place["line"].as_u64()).collect();
    let mut list = Vec::new();
    if !matches!(lines[..], [one, other] if program.pairs.contains(&in_order(one, other))) {
        list.push(format!("lines {lines:?}"));
    }
    let pattern = explanation["pattern"].as_str().unwrap_or("none");
    if !program.patterns.iter().any(|fair| fair == pattern) {
        list.push(format!("pattern {pattern}"));
    }
    let objects: Vec<&str> = pair.iter().filter_map(|place| place["object"].as_str()).collect();
    let fair = |name: &&str| program.objects.iter().any(|fair| fair == "any" || fair == name);
    if objects.is_empty() || !objects.iter().all(fair) {
        list.push(format!("object {objects:?}"));
    }
    let missing: Vec<u64> = program
        .callers
        .iter()
        .copied()
        .filter(|&line| !named(explanation).any(|named| named == line))
        .collect();
    if !missing.is_empty() {
        list.push(format!("callers {missing:?} are not named"));
    }
    list
}
