//! `cargo xtask bench orders`: runs that `dpor` makes against the classes they show, over the corpus.

use crate::packages;
use crate::steps::{Outcome, build_tool, root};
use threadbare_tests::{orders, tool};

/// The most runs of a program, and the time they may take.
const RUNS: u64 = 3_000;
const TIME: &str = "10s";
/// Programs of a hundred that have one run for each class, at least.
const EXACT: usize = 95;

/// Prints the table. Words narrow it: a number of runs, parts of programs' names.
pub(crate) fn orders(words: &[&str]) -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    if std::env::var_os(tool::VARIABLE).is_none() {
        build_tool()?;
    }
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(RUNS);
    let names: Vec<&&str> = words.iter().filter(|word| word.parse::<u64>().is_err()).collect();
    let mut programs = orders::programs();
    programs.retain(|program| names.is_empty() || names.iter().any(|name| program.name.contains(**name)));
    let folder = root().join("target/bench/orders");
    let mut rows = Vec::new();
    for program in &programs {
        match orders::ask(program, &folder, runs, TIME) {
            Ok(row) => {
                println!("{row}");
                rows.push(row);
            }
            Err(why) => eprintln!("{}: {why}", program.name),
        }
    }
    println!("{}", orders::table(&rows));
    let ended = rows.iter().filter(|row| row.finished).count();
    let exact = rows.iter().filter(|row| row.finished && row.is_exact()).count();
    match 100 * exact >= EXACT * ended {
        true => Ok(()),
        false => Err(format!("only {exact} of {ended} programs have one run for each class")),
    }
}
