//! Whether `threadbare invariants` blames the lines that are wrong, and whether making them atomic, or putting them in order, mends the program.
//!
//! Asked of every labelled program whose mistake is one of atomicity or order (`tests/causes`, `tests/programs`, `tests/invariants`), and of
//! [cousins](crate::cousins) that no rule was written after. A program is *placed* if one of the first three statements that the text shows stands at or
//! within labelled lines: its block lies between two labelled lines of one function, or its function's first shared access is on such
//! a line. The line that the failure is seen at (`//~ end`, `//~ here`) is no cause unless it is one of a pair: it may be the end of a block, with a cause in it. A program is *mended* if a region or an order that was tried takes
//! all failures away.

use crate::compile::{self, Compiler};
use crate::corpus::{self, Program};
use crate::tool;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

/// Statements that count.
const FIRST: usize = 3;
/// Of a hundred programs, so many are to be placed; and of a hundred placed ones, so many mended.
const PLACED: usize = 80;
const MENDED: usize = 70;
/// Runs, as the tests of the command make them.
const RUNS: &str = "400";
/// Mistakes that are of locks and wake-ups: their failing runs come to no end, and no value is wrong in them.
const OTHERS: [&str; 3] = ["lock-order/", "missed-unlock/", "lost-wake-up/"];
/// Failures by which a program waits for ever, or that are none of a run's.
const NOT_FOR: [&str; 5] = ["deadlock", "livelock", "timeout", "race", "leak"];

/// The labelled programs.
pub fn programs() -> Vec<Program> {
    let mut all = corpus::programs_in("tests/causes");
    all.retain(|program| !OTHERS.iter().any(|kind| program.name.starts_with(kind)));
    let labelled = corpus::programs().into_iter().filter(|program| !program.pairs.is_empty());
    all.extend(labelled.map(|program| Program { name: format!("programs/{}", program.name), ..program }));
    all.extend(unexpecting());
    all.retain(|program| !program.expect.iter().any(|kind| NOT_FOR.contains(&kind.as_str())));
    all
}

/// Those of `tests/invariants` that have labels; they fail all in one way, and do not say so.
fn unexpecting() -> Vec<Program> {
    let folder = tool::root().join("tests/invariants");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let source = std::fs::read_to_string(path).ok().filter(|source| source.contains("//~ "))?;
        let name = format!("invariants/{}", path.file_name()?.display());
        Program::parse(&name, path, &format!("{source}\n//@ expect: assertion\n")).ok()
    };
    paths.iter().filter_map(read).collect()
}

/// What was told of a program.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Its name.
    pub name: String,
    /// Passing runs, and failing ones.
    pub runs: (u64, u64),
    /// The first statements, each with its place.
    pub first: Vec<String>,
    /// Which of them is at the labelled lines, from 1.
    pub placed: Option<usize>,
    /// What was tried, in words.
    pub tried: Vec<String>,
    /// Something that was tried takes the failures away.
    pub mended: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let placed = self.placed.map_or("-".to_owned(), |at| at.to_string());
        let mended = if self.mended { "mended" } else { "-" };
        let (passed, failed) = self.runs;
        write!(f, "{:44} {placed:>6} {mended:>8} {passed:>5} {failed:>5} {:>6.1}s", self.name, self.seconds)
    }
}

/// Asks of a program.
///
/// # Errors
/// In words, if it cannot be built or the tool does not answer.
pub fn ask(program: &Program, folder: &Path) -> Result<Told, String> {
    let compiler = compile::compilers(program).first().copied().unwrap_or(Compiler::Gcc);
    let executable = compile::instrumented(program, compiler, folder)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let mut arguments: Vec<OsString> =
        ["invariants", "--format", "json", "--runs", RUNS, "--seed", "1", "--out"].map(OsString::from).into();
    arguments.push(out.path().into());
    for (option, value) in [("--memory-model", &program.memory_model), ("--faults", &program.faults)] {
        arguments.extend(value.iter().flat_map(|value| [option.into(), value.into()]));
    }
    arguments.extend(["--".into(), executable.into()]);
    arguments.extend(program.args.iter().map(OsString::from));
    let mut command = tool::command(arguments);
    command.envs(program.env.iter().map(|(name, value)| (name, value)));
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    let told: Value = serde_json::from_str(&outcome.stdout)
        .map_err(|error| format!("{}: {error}: {}", program.name, outcome.describe()))?;
    let source =
        std::fs::read_to_string(&program.path).map_err(|error| format!("{}: {error}", program.name))?;
    Ok(judge(program, &source, &told))
}

fn judge(program: &Program, source: &str, told: &Value) -> Told {
    let spans = spans(program, source);
    let list = |name: &str| told[name].as_array().map_or(&[][..], Vec::as_slice);
    // The text shows a statement once, at its first place.
    let mut seen = BTreeSet::new();
    let broken = list("invariants").iter().filter(|it| it["broken"] == true);
    let first: Vec<&Value> =
        broken.filter(|it| seen.insert(it["text"].as_str().unwrap_or_default())).take(FIRST).collect();
    let file = program.file_name();
    let words = |it: &&Value| match it["lines"].as_array() {
        Some(lines) => format!("{} at {} of {file} {}-{}", it["text"], it["side"], lines[0], lines[1]),
        None => format!("{} at {} of {}() from {}", it["text"], it["side"], it["function"], it["place"]),
    };
    let tried = |it: &Value| {
        let (outcome, runs, failed) = (&it["outcome"], &it["runs"], &it["runs_failed"]);
        let lines = |it: &Value| format!("{}-{}", it["first_line"], it["last_line"]);
        let rest = it["together"].as_array().into_iter().flatten().map(lines);
        let all: Vec<String> = std::iter::once(lines(it)).chain(rest).collect();
        format!("{} {}: {outcome}, {failed} of {runs}", it["kind"], all.join(" and "))
    };
    Told {
        name: program.name.clone(),
        runs: (told["runs_passing"].as_u64().unwrap_or(0), told["runs_failing"].as_u64().unwrap_or(0)),
        placed: first.iter().position(|it| is_within(it, file, &spans)).map(|at| at + 1),
        first: first.iter().map(words).collect(),
        tried: list("regions").iter().map(tried).collect(),
        mended: list("regions").iter().any(|it| it["outcome"] == "removes"),
        seconds: told["elapsed_s"].as_f64().unwrap_or(0.0),
    }
}

/// Whether a statement stands at or within labelled lines.
fn is_within(it: &Value, file: &str, spans: &[Span]) -> bool {
    let place = it["place"].as_str().unwrap_or_default();
    let Some((at, line)) = place.rsplit_once(':') else { return false };
    let lines = match it["lines"].as_array() {
        Some(lines) => (lines[0].as_u64(), lines[1].as_u64()),
        None => (line.parse().ok(), line.parse().ok()),
    };
    let (Some(first), Some(last)) = lines else { return false };
    let within = |span: &&Span| span.lines.0 <= first && last <= span.lines.1;
    let caused = |span: &Span| {
        it["lines"].is_null() && !span.causes.is_empty()
            || span.causes.iter().any(|line| (first..=last).contains(line))
    };
    at.rsplit('/').next() == Some(file) && spans.iter().filter(within).any(caused)
}

/// Labelled lines of a function.
struct Span {
    lines: (u64, u64),
    /// Those that make the mistake.
    causes: Vec<u64>,
}

/// From the first labelled line of a function to its last one. A function ends with a brace in its first column, or, as a method or in a
/// module, behind four spaces.
fn spans(program: &Program, source: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let (mut open, mut class) = (false, false);
    for (line, number) in source.lines().zip(1..) {
        if line.starts_with('}') || class && line == "    }" {
            open = false;
        }
        if !line.is_empty() && !line.starts_with([' ', '}', '/']) {
            class = ["class ", "struct ", "impl", "mod "].iter().any(|word| line.starts_with(word));
        }
        let paired = program.pairs.iter().any(|(one, other)| [*one, *other].contains(&number));
        let label = line.rfind("//~ ").map(|at| &line[at + 4..]);
        let Some(label) = label else { continue };
        if !std::mem::replace(&mut open, true) {
            spans.push(Span { lines: (number, number), causes: Vec::new() });
        }
        let Some(span) = spans.last_mut() else { continue };
        span.lines.1 = number;
        if paired || !["end", "here"].contains(&label) {
            span.causes.push(number);
        }
    }
    spans
}

/// Whether enough of the programs that failed were placed, and enough of those mended.
pub fn holds(all: &[Told]) -> bool {
    let failing = all.iter().filter(|told| told.runs.1 > 0);
    let placed: Vec<&Told> = failing.clone().filter(|told| told.placed.is_some()).collect();
    let mended = placed.iter().filter(|told| told.mended).count();
    placed.len() * 100 >= failing.count() * PLACED && mended * 100 >= placed.len() * MENDED
}

/// How many of the programs were placed and mended.
pub fn summary(all: &[Told]) -> String {
    let failing: Vec<&Told> = all.iter().filter(|told| told.runs.1 > 0).collect();
    let placed: Vec<&&Told> = failing.iter().filter(|told| told.placed.is_some()).collect();
    let mended = |of: &mut dyn Iterator<Item = bool>| of.filter(|mended| *mended).count();
    let of_placed = mended(&mut placed.iter().map(|told| told.mended));
    let of_all = mended(&mut failing.iter().map(|told| told.mended));
    let part =
        |of: usize, all: usize| format!("{of} of {all} ({:.0}%)", 100.0 * of as f64 / all.max(1) as f64);
    format!(
        "{} placed, {PLACED}% wanted; mended {} of those, {MENDED}% wanted, {} of all; {} did not fail",
        part(placed.len(), failing.len()),
        part(of_placed, placed.len()),
        part(of_all, failing.len()),
        all.len() - failing.len()
    )
}
