//! `cargo xtask bench causes`: whether the broken invariant is told at the labelled lines, and whether what is inferred from it mends the program.

use crate::packages;
use crate::steps::{Outcome, build_tool, root};
use threadbare_tests::blame;
use threadbare_tests::corpus::Program;
use threadbare_tests::cousins::Cousin;
use threadbare_tests::tool;

/// Cousins, unless told otherwise.
const COUSINS: u64 = 60;

/// Prints the tables. Words narrow it: a number of cousins, `--seed N`, `--more` to see what was told, parts of programs' names.
pub(crate) fn causes(words: &[&str]) -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    if std::env::var_os(tool::VARIABLE).is_none() {
        build_tool()?;
    }
    let (mut count, mut seed, mut more, mut names) = (COUSINS, 0, false, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match (*word, word.parse()) {
            ("--more", _) => more = true,
            ("--seed", _) => {
                let number = words.next().and_then(|word| word.parse().ok());
                seed = number.ok_or("`--seed` wants a number")?;
            }
            (_, Ok(number)) => count = number,
            (name, _) => names.push(name),
        }
    }
    let folder = root().join("target/bench/causes");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let cousins = (seed..seed + count).map(|seed| Cousin::new(seed).program(&folder));
    let cousins = cousins.collect::<Outcome<Vec<Program>>>()?;
    let mut held = Ok(());
    for (what, mut programs) in [("labelled programs", blame::programs()), ("cousins", cousins)] {
        programs.retain(|program| names.is_empty() || names.iter().any(|name| program.name.contains(name)));
        println!("{what:44} placed   mended  pass  fail");
        let mut all = Vec::new();
        for program in &programs {
            let told = blame::ask(program, &folder)?;
            println!("{told}");
            if more {
                told.first.iter().chain(&told.tried).for_each(|line| println!("    {line}"));
            }
            all.push(told);
        }
        println!("{}\n", blame::summary(&all));
        if !blame::holds(&all) {
            held = held.and(Err(format!("{what}: too few are placed or mended")));
        }
    }
    held
}
