//! `cargo xtask bench search`: how many runs each strategy needs to find the bugs of `tests/programs/search`.
//!
//! Each strategy makes campaigns with the seeds 0 to 19 on each program. A cell is the mean number of runs to the first
//! failure; a campaign that finds nothing counts as its bound, and the cell says how many seeds found it.
//!
//! Then the one bug that needs many runs (`safestack`), and the cost of a decision: points/s against `random`'s.

use crate::bench::{Row, field, in_turns, json, table};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use std::path::Path;

/// A program with its argument and the bound on runs.
struct Case {
    program: &'static str,
    args: &'static [&'static str],
    most: u64,
}

const fn case(program: &'static str, args: &'static [&'static str], most: u64) -> Case {
    Case { program, args, most }
}

const CASES: &[Case] = &[
    case("reorder", &["3"], 500),
    case("reorder", &["5"], 500),
    case("reorder", &["10"], 500),
    case("reorder", &["20"], 500),
    case("reorder", &["50"], 200),
    case("reorder", &["100"], 200),
    case("twostage", &["20"], 500),
    case("twostage", &["50"], 200),
    case("twostage", &["100"], 200),
    case("bluetooth", &[], 500),
    case("string_buffer", &[], 500),
    case("work_stealing", &[], 500),
    case("token_ring", &[], 500),
    case("abba", &[], 500),
    case("three_cycle", &[], 500),
    case("wrong_lock", &["1"], 500),
    case("wrong_lock", &["3"], 500),
    case("circular_buffer", &[], 500),
    case("lazy_init", &[], 500),
    case("account", &[], 500),
    case("philosophers", &["5"], 500),
    case("philosophers", &["7"], 500),
    case("two_condvars", &[], 500),
];

/// The stack whose bug takes three strands and five preemptions, and who finds it.
const RARE: Case = case("safestack", &[], 400_000);
const RARE_STRATEGY: &str = "surw";
const RARE_SEEDS: u64 = 3;

/// Strategies whose decisions are to cost little, and how fast they must be at least, as a part of `random`.
const QUICK: &[&str] = &["pct", "pos", "surw"];
const QUICK_AT_LEAST: f64 = 0.6;

const STRATEGIES: &[&str] =
    &["random", "uniform", "round-robin", "pct:2", "pct:3", "pos", "urw", "surw", "delay:2", "rff"];

const SEEDS: u64 = 20;

struct Cell {
    mean: f64,
    found: u64,
}

/// Prints the table. Words narrow it: names of programs or strategies, or a number of seeds.
pub(crate) fn search(words: &[&str]) -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/search");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let seeds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(SEEDS);
    let strategy_words: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| word.parse::<u64>().is_err() && CASES.iter().all(|case| case.program != *word))
        .collect();
    let strategies = if strategy_words.is_empty() { STRATEGIES } else { &strategy_words };
    let programs: Vec<&Case> = CASES.iter().filter(|case| words.contains(&case.program)).collect();
    let cases = if programs.is_empty() { CASES.iter().collect() } else { programs };
    if words == ["decisions"] {
        return decisions(&tool, &folder);
    }
    println!("\n| program | {} |", strategies.join(" | "));
    println!("|---|{}", "---|".repeat(strategies.len()));
    for case in cases {
        build(&tool, case, &folder)?;
        let mut line = format!("| {} |", [&[case.program], case.args].concat().join(" "));
        for strategy in strategies {
            let Cell { mean, found } = measure(&tool, case, strategy, seeds, &folder)?;
            line.push_str(&match found {
                0 => " – |".to_owned(),
                _ if found == seeds => format!(" {mean:.1} |"),
                _ => format!(" {mean:.0} ({found}/{seeds}) |"),
            });
        }
        println!("{line}");
    }
    if words.is_empty() {
        rare(&tool, &folder)?;
        decisions(&tool, &folder)?;
    }
    Ok(())
}

fn rare(tool: &Path, folder: &Path) -> Outcome {
    build(tool, &RARE, folder)?;
    println!("\n{} with {RARE_STRATEGY}, at most {} runs:", RARE.program, RARE.most);
    for seed in 0..RARE_SEEDS {
        let result = campaign(tool, &RARE, RARE_STRATEGY, seed, &[], folder)?;
        let elapsed = field(&result, "elapsed_s")?;
        match result["first_failure_run"].as_u64() {
            Some(run) => println!("- seed {seed}: run {} after {elapsed:.0} s", run + 1),
            None => println!("- seed {seed}: not found in {elapsed:.0} s"),
        }
    }
    Ok(())
}

/// Points/s of strategies against `random`'s, measured in turns.
fn decisions(tool: &Path, folder: &Path) -> Outcome {
    let source = root().join("bench/counter.c");
    let source = source.to_string_lossy();
    run(command(tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", "counter"]).current_dir(folder))?;
    let counter = Case { program: "counter", args: &["2000000"], most: 3 };
    let points = |strategy| {
        let result = campaign(tool, &counter, strategy, 0, &["--jobs", "1"], folder)?;
        Ok(field(&result, "points")? / field(&result, "elapsed_s")?)
    };
    let mut rows = Vec::new();
    for strategy in QUICK {
        let (ours, peer) = in_turns(|| points(strategy), || points("random"))?;
        let what = format!("points/s, two strands on a counter, `{strategy}`; peer: `random`");
        rows.push(Row { what, ours, peer, at_least: QUICK_AT_LEAST });
    }
    table(&rows)
}

fn build(tool: &Path, case: &Case, folder: &Path) -> Outcome {
    let source = root().join("tests/programs/search").join(case.program).with_extension("c");
    let source = source.to_string_lossy();
    let status = command(tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", case.program])
        .current_dir(folder)
        .status()
        .map_err(|error| format!("cannot build {}: {error}", case.program))?;
    if status.success() { Ok(()) } else { Err(format!("{} did not build", case.program)) }
}

/// One campaign.
fn campaign(
    tool: &Path,
    case: &Case,
    strategy: &str,
    seed: u64,
    options: &[&str],
    folder: &Path,
) -> Outcome<serde_json::Value> {
    let program = format!("./{}", case.program);
    let (seed, most) = (seed.to_string(), case.most.to_string());
    let mut arguments = vec!["run", "--format", "json", "--strategy", strategy, "--out", "out"];
    // The strategies are compared, so nothing else may find the bug.
    arguments.extend(["--races", "off", "--no-predict", "--timeout", "60s"]);
    arguments.extend(["--seed", &seed, "--runs", &most]);
    arguments.extend(options);
    arguments.extend(["--", &program]);
    arguments.extend(case.args);
    json(command(tool, &arguments).current_dir(folder))
}

fn measure(tool: &Path, case: &Case, strategy: &str, seeds: u64, folder: &Path) -> Outcome<Cell> {
    let (mut sum, mut found) = (0, 0);
    for seed in 0..seeds {
        let result = campaign(tool, case, strategy, seed, &["--jobs", "1"], folder)?;
        if result["findings"][0]["kind"] == "timeout" {
            return Err(format!("{} with {strategy}, seed {seed}: a run took too long", case.program));
        }
        match result["first_failure_run"].as_u64() {
            Some(run) => {
                sum += run + 1;
                found += 1;
            }
            None => sum += case.most,
        }
    }
    Ok(Cell { mean: sum as f64 / seeds as f64, found })
}
