//! `cargo xtask bench search`: what the search promises, from fresh runs.
//!
//! 1. *Runs to the bug*, mean over seeds, of the default (20 seeds) and of each strategy (10) on the classic programs and on those of
//!    the corpus that are not found at once. A campaign that finds nothing counts as its bound, and the cell says how many
//!    seeds found it; a strategy that finds nothing with four seeds has a dash.
//! 2. *The default against the best single strategy*: the geometric mean of the ratios. The lowest of ten noisy means is lower than
//!    what that strategy really needs, so the winner is measured anew with 20 other seeds.
//! 3. *Classes*: `dpor` on programs whose classes are known; one run for each. (`tests/tests/planners.rs` has the comparison with brute force.)
//! 4. `safestack`, the bug that needs many runs, and the *cost of a decision*: points/s against `random`'s.
//!
//! 5. *What the machine may do besides* (only with `defaults`): the default as it is against the default with sequentially consistent
//!    memory and without faults, with the same seeds.
//!
//! It ends with a table of all that must hold.

mod cases;
mod defaults;
mod measure;

use crate::bench::{field, in_turns};
use crate::packages;
use crate::steps::{Outcome, build_tool, root};
use cases::{BEYOND, CLASSIC, CORPUS, Case, RARE, WHOLE};
use measure::{Cell, Workshop};

/// Active testing.
const ACTIVE: &str = "idioms";
/// The default.
const DEFAULT: &str = "portfolio";
const STRATEGIES: &[&str] = &[
    "random",
    "uniform",
    "round-robin",
    "pct:2",
    "pct:3",
    "pos",
    "urw",
    "surw",
    "delay:2",
    "rff",
    "stall",
    ACTIVE,
];

/// Seeds of the default, of each strategy, and the first of those that the winner is measured anew with.
const SEEDS: u64 = 20;
const SEEDS_OF_EACH: u64 = 10;
const SEEDS_ANEW: u64 = 100;
/// The first seed of the default: the portfolio's shares were chosen with lower ones.
const SEEDS_FRESH: u64 = 200;

/// How many times the runs of the best single strategy the default may need, in the geometric mean.
const NEAR_THE_BEST: f64 = 1.5;

/// Who finds the rare bug, and with which seed.
const RARE_STRATEGY: &str = "stall";
const RARE_SEED: u64 = 1;

/// Strategies whose decisions are to cost little, and how fast they must be at least, as a part of `random`.
const QUICK: &[&str] = &["pct", "pos", "surw"];
const QUICK_AT_LEAST: f64 = 0.6;

/// Something that must hold.
struct Row {
    what: String,
    bound: String,
    measured: String,
    holds: bool,
}

/// Prints the tables. Words narrow it: names of programs or strategies, a number of seeds, or `decisions`,
/// `classes` or `defaults`.
pub(crate) fn search(words: &[&str]) -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let workshop = Workshop { tool: build_tool()?, folder: root().join("target/bench/search") };
    std::fs::create_dir_all(&workshop.folder).map_err(|error| error.to_string())?;
    let all = || CLASSIC.iter().chain(CORPUS);
    let seeds = words.iter().find_map(|word| word.parse().ok());
    let named: Vec<&Case> = all().filter(|case| words.contains(&case.name())).collect();
    let strategies: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| word.parse::<u64>().is_err() && all().all(|case| case.name() != *word))
        .collect();
    let mut rows = Vec::new();
    if words == ["decisions"] {
        decisions(&workshop, &mut rows)?;
    } else if words == ["classes"] {
        classes(&workshop, &mut rows)?;
    } else if words.first() == Some(&"defaults") {
        let cases: Vec<&Case> = if named.is_empty() { all().collect() } else { named };
        defaults::rows(&workshop, &cases, seeds.unwrap_or(SEEDS), &mut rows)?;
    } else if strategies.is_empty() {
        let cases = if named.is_empty() { all().collect() } else { named };
        compare(&workshop, &cases, seeds.unwrap_or(SEEDS), seeds.unwrap_or(SEEDS_OF_EACH), &mut rows)?;
    } else {
        let cases = if named.is_empty() { all().collect() } else { named };
        head(&strategies);
        let mut active = Active::default();
        for case in cases {
            workshop.build(case)?;
            let measure = |strategy: &&str| workshop.measure(case, strategy, 0..seeds.unwrap_or(SEEDS), &[]);
            let cells = strategies.iter().map(measure).collect::<Outcome<Vec<Cell>>>()?;
            line(case, &cells);
            active.take(case, &strategies, &cells);
        }
        active.tell(&mut rows);
    }
    if words.is_empty() {
        classes(&workshop, &mut rows)?;
        rare(&workshop, &mut rows)?;
        decisions(&workshop, &mut rows)?;
    }
    verdict(&rows)
}

fn head(strategies: &[&str]) {
    println!("\n| program | {} |", strategies.join(" | "));
    println!("|---|{}", "---|".repeat(strategies.len()));
}

fn line(case: &Case, cells: &[Cell]) {
    let cells: Vec<String> = cells.iter().map(Cell::shown).collect();
    println!("| {} | {} |", case.label(), cells.join(" | "));
}

/// What active testing found of what it must find.
#[derive(Default)]
struct Active {
    /// Bugs of one or two dependencies, and those of them that a seed did not find.
    bugs: usize,
    missed: Vec<String>,
}

impl Active {
    fn take(&mut self, case: &Case, strategies: &[&str], cells: &[Cell]) {
        let found = strategies.iter().zip(cells).find(|(name, _)| **name == ACTIVE);
        if let Some((_, cell)) = found.filter(|_| BEYOND.iter().all(|(name, _)| *name != case.name())) {
            self.bugs += 1;
            self.missed.extend((cell.found < cell.seeds).then(|| case.label()));
        }
    }

    fn tell(&self, rows: &mut Vec<Row>) {
        let Active { bugs, missed } = self;
        if *bugs > 0 {
            rows.push(Row {
                what: format!("`{ACTIVE}`, {bugs} bugs that need one or two dependencies"),
                bound: "every one, with every seed".to_owned(),
                measured: if missed.is_empty() {
                    "all".to_owned()
                } else {
                    format!("not: {}", missed.join(", "))
                },
                holds: missed.is_empty(),
            });
        }
    }
}

/// The default and every strategy on each program.
fn compare(
    workshop: &Workshop,
    cases: &[&Case],
    seeds: u64,
    seeds_of_each: u64,
    rows: &mut Vec<Row>,
) -> Outcome {
    let mut names = vec![DEFAULT];
    names.extend(STRATEGIES);
    names.push("best, anew");
    head(&names);
    let (mut logarithms, mut active) = (Vec::new(), Active::default());
    for case in cases {
        workshop.build(case)?;
        let default = workshop.measure(case, DEFAULT, SEEDS_FRESH..SEEDS_FRESH + seeds, &[])?;
        let mut cells = vec![default];
        for strategy in STRATEGIES {
            cells.push(workshop.measure(case, strategy, 0..seeds_of_each, &[])?);
        }
        active.take(case, STRATEGIES, &cells[1..]);
        // A planner that is no member is for comparison only.
        let singles = cells[1..].iter().zip(STRATEGIES).filter(|(_, name)| **name != ACTIVE);
        let best = singles.min_by(|one, other| one.0.mean.total_cmp(&other.0.mean)).map(|(_, name)| *name);
        let best = workshop.measure(case, best.unwrap_or(DEFAULT), SEEDS_ANEW..SEEDS_ANEW + seeds, &[])?;
        cells.push(best);
        line(case, &cells);
        logarithms.push((default.mean / best.mean).ln());
        if let Some(limit) = case.limit {
            rows.push(Row {
                what: format!("`{}`, the default, runs in the mean of {seeds} seeds", case.label()),
                bound: format!("{limit} or fewer, every seed"),
                measured: default.shown(),
                holds: default.mean <= limit as f64 && default.found == default.seeds,
            });
        }
    }
    active.tell(rows);
    let ratio = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    rows.push(Row {
        what: format!("the default against the best single strategy, {} programs", logarithms.len()),
        bound: format!("within {NEAR_THE_BEST}x"),
        measured: format!("{ratio:.2}x"),
        holds: ratio <= NEAR_THE_BEST,
    });
    Ok(())
}

/// Whether `dpor` sees every class of the programs, and makes one run for each.
fn classes(workshop: &Workshop, rows: &mut Vec<Row>) -> Outcome {
    for (case, classes) in WHOLE {
        workshop.build(case)?;
        let result = workshop.campaign(case, "dpor", 0, &["--keep-going"])?;
        let planner = &result["planner"];
        let count = |field: &str| planner[field].as_u64().unwrap_or(0);
        let complete = planner["complete"] == true;
        rows.push(Row {
            what: format!("`{}`, `dpor`, runs", case.label()),
            bound: format!("{classes} classes, one run each"),
            measured: format!(
                "{} classes, {} runs{}",
                count("classes"),
                count("runs"),
                if complete { "" } else { ", not complete" }
            ),
            holds: complete && count("classes") == *classes && count("runs") == *classes,
        });
    }
    Ok(())
}

fn rare(workshop: &Workshop, rows: &mut Vec<Row>) -> Outcome {
    workshop.build(&RARE)?;
    let result = workshop.campaign(&RARE, RARE_STRATEGY, RARE_SEED, &[])?;
    let elapsed = field(&result, "elapsed_s")?;
    let run = result["first_failure_run"].as_u64();
    rows.push(Row {
        what: format!("`{}`, seed {RARE_SEED}, `{RARE_STRATEGY}`", RARE.name()),
        bound: format!("found in {} runs", RARE.most),
        measured: match run {
            Some(run) => format!("run {} after {elapsed:.0} s", run + 1),
            None => format!("not found in {elapsed:.0} s"),
        },
        holds: run.is_some(),
    });
    Ok(())
}

/// Points/s of strategies against `random`'s, measured in turns.
fn decisions(workshop: &Workshop, rows: &mut Vec<Row>) -> Outcome {
    let counter = workshop.build_bench("counter")?;
    let counter = counter.to_string_lossy().into_owned();
    let points = |strategy: &str| {
        let options = ["--races", "off", "--no-predict", "--timeout", "60s", "--runs", "3", "--jobs", "1"];
        let mut command = crate::steps::command(&workshop.tool, &["run", "--format", "json", "--out", "out"]);
        command.args(options).args(["--strategy", strategy, "--", &counter, "2000000"]);
        let result = crate::bench::json(command.current_dir(&workshop.folder))?;
        Ok(field(&result, "points")? / field(&result, "elapsed_s")?)
    };
    for strategy in QUICK {
        let (ours, random) = in_turns(|| points(strategy), || points("random"))?;
        rows.push(Row {
            what: format!("points/s, two strands on a counter, `{strategy}` against `random`"),
            bound: format!("at least {QUICK_AT_LEAST}x"),
            measured: format!("{:.2}x", ours / random),
            holds: ours / random >= QUICK_AT_LEAST,
        });
    }
    Ok(())
}

/// Prints what must hold; an error if something does not.
fn verdict(rows: &[Row]) -> Outcome {
    if rows.is_empty() {
        return Ok(());
    }
    println!("\n| what | must hold | measured | |\n|---|---|---|---|");
    for Row { what, bound, measured, holds } in rows {
        println!("| {what} | {bound} | {measured} | {} |", if *holds { "holds" } else { "MISSED" });
    }
    let missed = rows.iter().filter(|row| !row.holds).count();
    if missed > 0 { Err(format!("{missed} of {} figures missed", rows.len())) } else { Ok(()) }
}
