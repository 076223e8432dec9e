//! `cargo xtask bench claims`: what the default says, over many seeds, of programs that it was once wrong about.

use crate::packages;
use crate::steps::{Outcome, build_tool, root};
use threadbare_tests::{claims, tool};

const SEEDS: u64 = 40;

/// Prints the table. Words narrow it: a number of seeds, parts of programs' names.
pub(crate) fn claims(words: &[&str]) -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    if std::env::var_os(tool::VARIABLE).is_none() {
        build_tool()?;
    }
    let seeds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(SEEDS);
    let names: Vec<&&str> = words.iter().filter(|word| word.parse::<u64>().is_err()).collect();
    let mut programs = claims::programs();
    programs.retain(|program| names.is_empty() || names.iter().any(|name| program.name.contains(**name)));
    let folder = root().join("target/bench/claims");
    let rows = programs
        .iter()
        .inspect(|program| eprintln!("{}", program.name))
        .map(|program| claims::ask(program, &folder, seeds))
        .collect::<Outcome<Vec<_>>>()?;
    println!("{}", claims::table(&rows));
    let wrong: Vec<&str> =
        rows.iter().filter(|row| !row.wrong().is_empty()).map(|row| row.name.as_str()).collect();
    let wavering = rows.iter().filter(|row| row.wavers()).count();
    println!(
        "{} programs, {seeds} seeds each; {wavering} right ones are complete in some seeds only",
        rows.len()
    );
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong: {}", wrong.join(", "))) }
}
