//! How many runs `dpor` makes, and how many classes they show: one for each is what it is for.

use crate::corpus::{self, Program};
use crate::{campaign, compile};
use std::fmt::{self, Display, Formatter, Write};
use std::path::Path;

/// What `dpor` came to on a program.
#[derive(Clone, Debug)]
pub struct Row {
    /// The program.
    pub name: String,
    /// Its runs since it knew the program, and the classes they showed.
    pub runs: u64,
    /// See above.
    pub classes: u64,
    /// Whether there was no other run to make.
    pub finished: bool,
    /// Why its end is no claim.
    pub withdrawn: Vec<String>,
}

impl Row {
    /// Whether every run showed another class.
    pub fn is_exact(&self) -> bool {
        self.runs == self.classes
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Row { name, runs, classes, finished, withdrawn } = self;
        let more = if *finished { "" } else { ", and more" };
        write!(f, "{name}: {classes} classes in {runs} runs{more} {}", withdrawn.join(", "))
    }
}

/// The programs that are asked about: all whose runs come to an end.
pub fn programs() -> Vec<Program> {
    let endless = |kind: &String| matches!(kind.as_str(), "timeout" | "livelock");
    let mut programs = corpus::programs();
    programs.retain(|program| !program.name.starts_with("noise/") && !program.expect.iter().any(endless));
    programs
}

/// Lets `dpor` make up to so many runs of a program, for as long as `time` says.
///
/// # Errors
/// In words, when the program cannot be built or the campaign fails.
pub fn ask(program: &Program, folder: &Path, runs: u64, time: &str) -> Result<Row, String> {
    let executable = compile::instrumented(program, compile::compilers(program)[0], folder)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let runs = runs.to_string();
    let options = ["--strategy", "dpor", "--races", "off", "--no-predict", "--keep-going", "--shrink", "off"];
    // Orders alone: neither faults nor what atomic loads may see.
    let options = [&options[..], &["--faults", "none", "--memory-model", "sc"]].concat();
    let options = [&options[..], &["--runs", &runs, "--time", time]].concat();
    let report = campaign::run(program, &executable, out.path(), &options)?.report;
    let number = |field: &str| report["planner"][field].as_u64().unwrap_or(0);
    let reasons = report["claim"]["withdrawn"].as_array().into_iter().flatten();
    let reasons = reasons.filter_map(|why| why["reason"].as_str().map(str::to_owned));
    let (unfinished, withdrawn): (Vec<String>, Vec<String>) =
        reasons.partition(|why| matches!(why.as_str(), "runs" | "time" | "unfinished" | "failure"));
    Ok(Row {
        name: program.name.clone(),
        runs: number("runs"),
        classes: number("classes"),
        finished: unfinished.is_empty(),
        withdrawn,
    })
}

/// The programs that `dpor` came to the end of, counted, and those of them with more runs than classes or an order
/// that could not be made.
pub fn table(rows: &[Row]) -> String {
    let ended: Vec<&Row> = rows.iter().filter(|row| row.finished).collect();
    let exact = ended.iter().filter(|row| row.is_exact()).count();
    let mut text = String::from("| program | runs | classes | withdrawn |\n|---|---|---|---|\n");
    let odd = |row: &&&Row| !row.is_exact() || row.withdrawn.iter().any(|why| why == "order-not-made");
    for row in ended.iter().filter(odd) {
        let why = row.withdrawn.join(", ");
        let _ = writeln!(text, "| {} | {} | {} | {why} |", row.name, row.runs, row.classes);
    }
    let share = 100.0 * exact as f64 / ended.len().max(1) as f64;
    let _ = writeln!(
        text,
        "\n{} of {} programs came to an end; {exact} of them ({share:.1}%) with one run for each class",
        ended.len(),
        rows.len()
    );
    text
}
