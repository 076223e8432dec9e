//! What the default says of the programs whose bugs it once claimed not to be there, over many seeds.

use crate::corpus::{self, Program};
use crate::{campaign, compile};
use std::fmt::Write;
use std::path::Path;

/// Where such programs and their right twins are kept.
const KINDS: &[&str] = &["classes/", "end/", "learning/", "planner/", "poll/", "state/", "torn/"];

/// What became of a program's campaigns, each with a seed of its own.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The program.
    pub name: String,
    /// Whether it has a bug.
    pub buggy: bool,
    /// Campaigns that found one.
    pub found: Vec<u64>,
    /// Campaigns that claimed to be complete and found none.
    pub complete: Vec<u64>,
    /// Campaigns that found none and claimed nothing.
    pub open: Vec<u64>,
    /// The most runs to the bug.
    pub most: u64,
}

impl Row {
    /// The seeds whose campaigns said what is not so.
    pub fn wrong(&self) -> &[u64] {
        if self.buggy { &self.complete } else { &self.found }
    }

    /// Whether some campaigns of a right program are complete and others are not.
    pub fn wavers(&self) -> bool {
        !self.buggy && !self.complete.is_empty() && !self.open.is_empty()
    }
}

/// The programs that are asked about.
pub fn programs() -> Vec<Program> {
    let mut programs = corpus::programs();
    programs.retain(|program| KINDS.iter().any(|kind| program.name.starts_with(kind)));
    programs
}

/// Runs the default on a program with the seeds from 1 on.
///
/// # Errors
/// In words, when the program cannot be built or a campaign fails.
pub fn ask(program: &Program, folder: &Path, seeds: u64) -> Result<Row, String> {
    let executable = compile::instrumented(program, compile::compilers(program)[0], folder)?;
    let mut row = Row { name: program.name.clone(), buggy: !program.passes(), ..Row::default() };
    for seed in 1..=seeds {
        let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        let options = ["--strategy", "portfolio", "--seed", &seed.to_string()];
        let made = campaign::run(program, &executable, out.path(), &options)?;
        let complete = made.report["claim"]["kind"] == "complete";
        let list = match made.findings() {
            [] if complete => &mut row.complete,
            [] => &mut row.open,
            [..] => &mut row.found,
        };
        list.push(seed);
        row.most = row.most.max(made.report["first_failure_run"].as_u64().unwrap_or(0));
    }
    Ok(row)
}

/// A line for each program.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | has a bug | found | at the latest in run | complete | no claim | wrong |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let wrong = row.wrong().iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let wrong = if wrong.is_empty() { String::from("-") } else { format!("seed {wrong}") };
        let (found, complete, open) = (row.found.len(), row.complete.len(), row.open.len());
        let bug = if row.buggy { "yes" } else { "no" };
        let _ = writeln!(
            text,
            "| {} | {bug} | {found} | {} | {complete} | {open} | {wrong} |",
            row.name, row.most
        );
    }
    text
}
