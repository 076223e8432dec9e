//! `cargo xtask bench invariants`: the paper's tables on likely invariants of threaded programs, re-made.
//!
//! Programs written anew after those of its table I (`bench/invariants`). For each, what is told after one run, after runs that nobody
//! controls, after those of `hapset` alone and of the command as it is (the portfolio goes on where `hapset` makes few runs), and after those of `pcb:2` and `dpor`. Which statements are incorrect is settled by runs that nothing was inferred from: a
//! statement is incorrect if a random run, or a run of `dpor`, breaks it. (Not with `--points all`: what is an access then
//! lies before what was the first one, so entries would be other moments.) The paper's figures stand beside ours; they are
//! of other programs with the same names, and of the entries and exits of functions; ours are of blocks, too, so the means are given of both.
//! Then figure 10 as a plot, what values cost, and how fast samples are taken in. A run of all programs writes `bench/invariants/tables.md`.

mod figure;
mod page;
mod programs;

use super::{Row, cargo, field, in_turns, json, output, table};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use page::Page;
use programs::{PROGRAMS, Paper};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Random runs that settle which statements are incorrect, unless told otherwise.
const RUNS: u64 = 3000;
/// How long a planner that does not end is let go on.
const PLANNED: &str = "5s";

/// The columns. Runs that nobody controls are stood in for by strands in a random order without preemption: that is what a machine
/// does with programs as short as these.
const COLUMNS: [&str; 6] = ["one run", "uncontrolled", "hapset alone", "hapset", "pcb:2", "dpor"];
/// The columns that something must hold of.
const DEFAULT: usize = 3;
const DPOR: usize = 5;

/// A statement: its point, and its text.
type Statement = (String, String);

/// What a strategy's runs came to.
struct Column {
    runs: u64,
    complete: bool,
    told: BTreeSet<Statement>,
    incorrect: BTreeSet<Statement>,
}

impl Column {
    /// How many statements are told, and how many of them are incorrect; of functions only if so asked.
    fn counts(&self, functions: bool) -> (usize, usize) {
        let count = |all: &BTreeSet<Statement>| {
            all.iter().filter(|(point, _)| !functions || !is_block(point)).count()
        };
        (count(&self.told), count(&self.incorrect))
    }
}

/// Whether a point is of a block: `..FILE_FIRST_LAST():::EXIT`.
fn is_block(point: &str) -> bool {
    let name = point.split("()").next().unwrap_or_default();
    let mut parts = name.rsplitn(3, '_');
    let is_line = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    is_line(parts.next()) && is_line(parts.next()) && parts.next().is_some_and(|file| file.contains(".c"))
}

struct Bench {
    tool: PathBuf,
    folder: PathBuf,
}

/// Measures all, or the programs that are named.
pub(crate) fn invariants(words: &[&str]) -> Outcome {
    let (numbers, names): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.parse::<u64>().is_ok());
    let runs = numbers.first().and_then(|word| word.parse().ok()).unwrap_or(RUNS);
    if let Some(unknown) = names.iter().find(|name| !PROGRAMS.iter().any(|(known, _)| known == *name)) {
        return Err(format!("there is no program `{unknown}` in bench/invariants"));
    }
    packages::ensure(&[packages::COMPILERS])?;
    let bench = Bench { tool: build_tool()?, folder: root().join("target/bench/invariants") };
    std::fs::create_dir_all(&bench.folder).map_err(|error| error.to_string())?;
    let mut page = Page::new();
    page.line(&format!("Statements told (incorrect ones) after runs, ours; the paper's incorrect ones behind the bar. Settled by {runs} random runs and {PLANNED} of `dpor`.\n"));
    page.line(&format!("| program | {} |", COLUMNS.join(" | ")));
    page.line(&format!("|---|{}", "---|".repeat(COLUMNS.len())));
    let mut all = Vec::new();
    for (name, paper) in PROGRAMS.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let program = bench.built(name, &[])?;
        let columns = bench.columns(&program, runs)?;
        let cells: Vec<String> = columns.iter().zip(paper.incorrect()).map(cell).collect();
        page.line(&format!("| {name} | {} |", cells.join(" | ")));
        all.push((columns, paper));
    }
    means(&all, &mut page);
    let mut costs = Ok(());
    if names.is_empty() {
        let file = root().join("bench/invariants/tables.md");
        page.write(&file)?;
        figure::figure_10(&bench, &mut page)?;
        page.write(&file)?;
        costs = bench.costs(&mut page);
        page.write(&file)?;
    }
    held(&all).and(costs)
}

fn cell((column, paper): (&Column, Option<u32>)) -> String {
    let more = if column.complete { "" } else { "+" };
    let paper = paper.map_or("-".to_owned(), |paper| paper.to_string());
    let (told, incorrect) = column.counts(false);
    format!("{told} ({incorrect}) {}{more} \\| {paper}", column.runs)
}

fn mean(all: &[(Vec<Column>, &Paper)], at: usize, of: impl Fn(&Column) -> f64) -> f64 {
    all.iter().map(|(columns, _)| of(&columns[at])).sum::<f64>() / all.len().max(1) as f64
}

fn means(all: &[(Vec<Column>, &Paper)], page: &mut Page) {
    for (what, functions) in [("mean", false), ("mean, functions only", true)] {
        let cells: Vec<String> = (0..COLUMNS.len())
            .map(|at| {
                let told = mean(all, at, |column| column.counts(functions).0 as f64);
                let incorrect = mean(all, at, |column| column.counts(functions).1 as f64);
                let runs = mean(all, at, |column| column.runs as f64);
                let paper = all.iter().filter_map(|(_, paper)| paper.incorrect()[at]).map(f64::from);
                let count = all.iter().filter(|(_, paper)| paper.incorrect()[at].is_some()).count().max(1);
                format!("{told:.0} ({incorrect:.2}) {runs:.0} \\| {:.1}", paper.sum::<f64>() / count as f64)
            })
            .collect();
        page.line(&format!("| **{what}** | {} |", cells.join(" | ")));
    }
    page.line("\n`+`: the strategy had more runs to make.");
}

/// What must hold of the means.
fn held(all: &[(Vec<Column>, &Paper)]) -> Outcome {
    let hapset = mean(all, DEFAULT, |column| column.incorrect.len() as f64);
    // A planner that was cut off has shown nothing.
    let whole = |column: &Column| if column.complete { column.incorrect.len() as f64 } else { 0.0 };
    let dpor = mean(all, DPOR, whole);
    match (hapset <= 1.0, dpor == 0.0) {
        (true, true) => Ok(()),
        _ => Err(format!("incorrect a program: hapset {hapset:.2}, at most 1; dpor {dpor:.2}, 0")),
    }
}

impl Bench {
    fn built(&self, name: &str, options: &[&str]) -> Outcome<String> {
        let source = root().join("bench/invariants").join(format!("{name}.c"));
        let source = source.to_string_lossy().into_owned();
        let program = format!("./{name}");
        let mut arguments = vec!["cc", "-g", "-O1", "-pthread", &source, "-o", &program];
        arguments.extend(options);
        run(command(&self.tool, &arguments).current_dir(&self.folder))?;
        Ok(program)
    }

    fn tells(&self, options: &[&str], program: &str) -> Outcome<Value> {
        let mut arguments =
            vec!["invariants", "--format", "json", "--out", "out", "--seed", "1", "--no-regions"];
        arguments.extend(options);
        arguments.extend(["--", program]);
        json(command(&self.tool, &arguments).current_dir(&self.folder))
    }

    fn columns(&self, program: &str, runs: u64) -> Outcome<Vec<Column>> {
        let by = |strategy: &str, limit: &[&str]| {
            let keep = self.folder.join("kept.inv");
            let keep = keep.to_string_lossy();
            let mut options = vec!["--strategy", strategy, "--keep", &*keep];
            options.extend(limit);
            let result = self.tells(&options, program)?;
            let text = std::fs::read_to_string(&*keep).map_err(|error| error.to_string())?;
            let complete = result["complete"].as_bool().unwrap_or(false);
            let runs = field(&result, "runs")? as u64;
            Ok::<_, String>(Column { runs, complete, told: statements(&text), incorrect: BTreeSet::new() })
        };
        let hapset = by("hapset", &["--alone"])?;
        let as_many = hapset.runs.to_string();
        // Nobody has said how many there are.
        let free = |column: Column| Column { complete: true, ..column };
        let mut columns = vec![
            free(by("pct:1", &["--alone", "--runs", "1"])?),
            free(by("pct:1", &["--alone", "--runs", &as_many])?),
            hapset,
            by("hapset", &[])?,
            by("pcb:2", &["--alone", "--time", PLANNED])?,
            by("dpor", &["--alone", "--time", PLANNED])?,
        ];
        let broken = self.broken(program, runs, &columns)?;
        for column in &mut columns {
            column.incorrect = column.told.intersection(&broken).cloned().collect();
        }
        Ok(columns)
    }

    /// Which statements of any column other runs break.
    fn broken(&self, program: &str, runs: u64, columns: &[Column]) -> Outcome<BTreeSet<Statement>> {
        let mut points: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (point, text) in columns.iter().flat_map(|column| &column.told) {
            points.entry(point).or_default().insert(text);
        }
        let (mut text, mut lines) = (String::from("# threadbare invariants 1\n"), BTreeMap::new());
        for (point, statements) in points {
            text.push_str(&format!("{point}\n"));
            for statement in statements {
                text.push_str(&format!("    {statement}\n"));
                lines.insert(text.lines().count() as u64, (point.to_owned(), statement.to_owned()));
            }
        }
        let file = self.folder.join("all.inv");
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let file = file.to_string_lossy();
        let runs = runs.to_string();
        let random = ["--alone", "--strategy", "random", "--runs", &runs, "--check", &file];
        let planned = ["--alone", "--strategy", "dpor", "--time", PLANNED, "--check", &file];
        let mut broken = BTreeSet::new();
        for options in [&random[..], &planned[..]] {
            let result = self.tells(options, program)?;
            for line in result["checked"].as_array().into_iter().flatten() {
                if line["fate"] == "broken" {
                    broken.extend(line["line"].as_u64().and_then(|at| lines.get(&at)).cloned());
                }
            }
        }
        Ok(broken)
    }

    /// What values around a finding cost: runs a second with them, beside without.
    fn around(&self) -> Outcome<Row> {
        let source = root().join("tests/invariants/account.c").to_string_lossy().into_owned();
        run(command(&self.tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", "./finding"])
            .current_dir(&self.folder))?;
        let limit = ["--strategy", "random", "--runs", "1000", "--seed", "1", "--out", "out"];
        let told = self.tells(&["--alone", "--strategy", "random", "--runs", "100"], "./finding")?;
        let id = told["findings"][0]["id"].as_str().ok_or("no finding")?.to_owned();
        let with = || {
            let result =
                self.tells(&["--alone", "--strategy", "random", "--runs", "1000", "--of", &id], "./finding")?;
            Ok(field(&result, "runs")? / field(&result, "elapsed_s")?)
        };
        let without = || {
            let mut arguments = vec!["run", "--format", "json", "--races", "off", "--keep-going"];
            arguments.extend(limit);
            arguments.extend(["--", "./finding"]);
            let result = json(command(&self.tool, &arguments).current_dir(&self.folder))?;
            Ok(field(&result, "runs")? / field(&result, "elapsed_s")?)
        };
        let (ours, peer) = in_turns(with, without)?;
        let what = "account: runs/s of `invariants --of FINDING`; peer: `run`".to_owned();
        Ok(Row { what, ours, peer, at_least: 0.5 })
    }

    /// Of the globals that strands share at -O2, over all programs, how many there are and how many are read; the same of fields.
    fn read(&self) -> Outcome<((f64, f64), (f64, f64))> {
        let (mut globals, mut fields) = ((0.0, 0.0), (0.0, 0.0));
        for (name, _) in PROGRAMS {
            let program = self.built(name, &["-O2"])?;
            let result = self.tells(&["--alone", "--strategy", "random", "--runs", "50"], &program)?;
            for (key, sums) in [("globals", &mut globals), ("fields", &mut fields)] {
                let count = |at: usize| result[key][at].as_f64().unwrap_or(0.0);
                *sums = (sums.0 + count(0), sums.1 + count(1));
            }
        }
        Ok((globals, fields))
    }

    /// What values cost, and how fast samples are taken in.
    fn costs(&self, page: &mut Page) -> Outcome {
        let mut rows = Vec::new();
        for name in ["account", "inc_dec", "scanner", "hash_table", "skip_list", "indexed_list"] {
            let program = self.built(name, &[])?;
            let limit = ["--strategy", "random", "--runs", "1000"];
            let with = || {
                let mut options = vec!["--alone"];
                options.extend(limit);
                let result = self.tells(&options, &program)?;
                Ok(field(&result, "runs")? / field(&result, "elapsed_s")?)
            };
            let without = || {
                let mut arguments = vec!["run", "--format", "json", "--out", "out", "--races", "off"];
                arguments.extend(["--seed", "1", "--keep-going"]);
                arguments.extend(limit);
                arguments.extend(["--", &program]);
                let result = json(command(&self.tool, &arguments).current_dir(&self.folder))?;
                Ok(field(&result, "runs")? / field(&result, "elapsed_s")?)
            };
            let (ours, peer) = in_turns(with, without)?;
            let what = format!("{name}: runs/s of `invariants`, inference and all; peer: `run`");
            rows.push(Row { what, ours, peer, at_least: 0.2 });
        }
        rows.push(self.around()?);
        let (globals, fields) = self.read()?;
        for (what, (all, read), at_least) in [("globals", globals, 0.9), ("fields", fields, 0.7)] {
            let what = format!("shared {what} that are read at -O2, of all programs; peer: all");
            rows.push(Row { what, ours: read, peer: all, at_least });
        }
        for (stream, ours) in rates()? {
            let what = format!("samples/s of 20 variables on one core: {stream}; peer: a million");
            rows.push(Row { what, ours, peer: 1e6, at_least: 1.0 });
        }
        page.line("\nRuns a second with values on against off, the best of five in turns.\n");
        page.line("| what | ours | peer | ratio | at least |\n|---|---|---|---|---|");
        for Row { what, ours, peer, at_least } in &rows {
            page.line(&format!("| {what} | {ours:.0} | {peer:.0} | {:.2} | {at_least:.2} |", ours / peer));
        }
        table(&rows)
    }
}

/// Streams of samples with how many a second are taken in, as the crate's own example measures them.
fn rates() -> Outcome<Vec<(String, f64)>> {
    let run = ["run", "--release", "--package", "threadbare-invariants", "--example", "rate"];
    let text = output(&mut cargo(&run))?;
    let row = |line: &str| {
        let (name, rest) = line.split_at_checked(44)?;
        let rate = rest.split_whitespace().next()?.replace(',', "").parse().ok()?;
        Some((name.trim().to_owned(), rate))
    };
    Ok(text.lines().filter_map(row).collect())
}

/// The statements of a file of kept ones.
fn statements(text: &str) -> BTreeSet<Statement> {
    let mut point = "";
    let mut all = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if line.starts_with(' ') {
            all.insert((point.to_owned(), line.trim().to_owned()));
        } else {
            point = line;
        }
    }
    all
}
