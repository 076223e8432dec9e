//! What weak memory and faults, which are on by default, cost the search: runs to bugs that need neither, and runs/s.

use super::cases::Case;
use super::measure::Workshop;
use super::{DEFAULT, Row, SEEDS_FRESH, head};
use crate::bench::field;
use crate::steps::{Outcome, command};

/// What leaves both out.
const PLAIN: &[&str] = &["--memory-model", "sc", "--faults", "none"];

/// How much worse the runs to the bug may be, and what part of the runs/s is to be left.
const WORSE: f64 = 1.05;
const LEFT: f64 = 0.9;

/// Programs whose runs/s are looked at, and how many runs are made for that: right ones, so that none ends before the others.
const RIGHT: &[(&str, &str)] = &[
    ("condition variables", "condvar/two_condvars.c"),
    ("atomics", "model/dekker.c"),
    ("a ring", "model/ring.c"),
    ("C++", "semaphore/counting.cc"),
    ("Rust", "model/arc.rs"),
];
const RUNS: &str = "20000";
const ROUNDS: usize = 5;

/// All rows.
pub(super) fn rows(workshop: &Workshop, cases: &[&Case], seeds: u64, rows: &mut Vec<Row>) -> Outcome {
    head(&["as it is", "sc, no faults", "ratio"]);
    let mut logarithms = Vec::new();
    for case in cases {
        workshop.build(case)?;
        let seeds = SEEDS_FRESH..SEEDS_FRESH + seeds;
        let usual = workshop.measure(case, DEFAULT, seeds.clone(), &[])?;
        let plain = workshop.measure(case, DEFAULT, seeds, PLAIN)?;
        let ratio = usual.mean / plain.mean;
        println!("| {} | {} | {} | {ratio:.2} |", case.label(), usual.shown(), plain.shown());
        logarithms.push(ratio.ln());
    }
    let ratio = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    rows.push(Row {
        what: format!(
            "runs to the bug, weak memory and faults on against off, {} programs",
            logarithms.len()
        ),
        bound: format!("at most {WORSE:.2}x"),
        measured: format!("{ratio:.3}x"),
        holds: ratio <= WORSE,
    });
    for (name, file) in RIGHT {
        let left = speed(workshop, file)?;
        rows.push(Row {
            what: format!("runs/s, {name} (`{file}`), on against off"),
            bound: format!("at least {LEFT:.2}x"),
            measured: format!("{left:.3}x"),
            holds: left >= LEFT,
        });
    }
    Ok(())
}

/// Runs/s as they are, as a part of those without either; in turns, the best of each.
fn speed(workshop: &Workshop, file: &'static str) -> Outcome<f64> {
    let case = Case::of(file);
    workshop.build(&case)?;
    let measure = |options: &[&str]| {
        let program = format!("./{}", Workshop::executable(&case));
        let fixed = ["run", "--format", "json", "--out", "out/speed", "--strategy", "random", "--jobs", "1"];
        let more = ["--no-predict", "--runs", RUNS, "--keep-going"];
        let words = [&fixed[..], &more, options, &["--", &program]].concat();
        let result = crate::bench::json(command(&workshop.tool, &words).current_dir(&workshop.folder))?;
        match result["verdict"] == "clean" {
            true => Ok(field(&result, "runs")? / field(&result, "elapsed_s")?),
            false => Err(format!("{file} is right, and something was found: {result:#}")),
        }
    };
    let mut best = (0f64, 0f64);
    for _ in 0..ROUNDS {
        best = (best.0.max(measure(&[])?), best.1.max(measure(PLAIN)?));
    }
    Ok(best.0 / best.1)
}
