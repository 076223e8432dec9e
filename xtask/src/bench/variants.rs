//! `cargo xtask bench noise variants`: the default noise on cousins of the paper's experiments that a generator made.
//!
//! For each variant of `threadbare_tests::variants`: failing runs in a hundred bare and with the default noise, two jobs, and noisy runs a second.
//! The last lines say in how many of them more than 60 and 20 of 100 runs failed.

use super::{field, json};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use std::path::Path;
use threadbare_tests::corpus::Language;
use threadbare_tests::variants::{self, OF_EACH, SEED, Variant};

/// Runs of each, unless told otherwise.
const RUNS: u64 = 40;
/// So many of 100 runs must fail in `MOST` of 100 variants, and so many in all of them.
const OFTEN: f64 = 60.0;
const MOST: f64 = 80.0;
const LEAST: f64 = 20.0;

/// Measures all.
pub(crate) fn variants(words: &[&str]) -> Outcome {
    let help = "a number of runs is expected, and a seed if it is to be another one: `cargo xtask bench noise variants 40 7`";
    let numbers: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    let (runs, seed) = match numbers.as_deref() {
        Some([]) => (RUNS, SEED),
        Some(&[runs]) if runs > 0 => (runs, SEED),
        Some(&[runs, seed]) if runs > 0 => (runs, seed),
        _ => return Err(help.to_owned()),
    };
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/variants");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let all = variants::variants(OF_EACH, seed);
    for (wrapper, language, name) in LANGUAGES {
        let source = folder.join(name);
        std::fs::write(&source, variants::source(&all, language)).map_err(|error| error.to_string())?;
        let program = program(language);
        let mut arguments = vec![wrapper, "-g", name, "-o", program];
        arguments.extend(variants::flags(language));
        run(command(&tool, &arguments).current_dir(&folder))?;
    }
    println!("failing runs in 100 ({runs} runs each, two jobs, seed {seed})\n");
    println!("| variant | bare | noise | noisy runs/s |\n|---|---|---|---|");
    let mut rates = Vec::new();
    for variant in &all {
        let (bare, _) = campaign(&tool, &folder, variant, runs, &["--noise", "none"])?;
        let (rate, speed) = campaign(&tool, &folder, variant, runs, &[])?;
        println!("| {} {} | {bare:.0} | {rate:.0} | {speed:.0} |", variant.number, variant.describe());
        rates.push(rate);
    }
    let count = |bound: f64| rates.iter().filter(|rate| **rate > bound).count();
    let all = rates.len();
    println!("\nabove {OFTEN}: {} of {all}; above {LEAST}: {} of {all}", count(OFTEN), count(LEAST));
    if 100.0 * count(OFTEN) as f64 >= MOST * all as f64 && count(LEAST) == all {
        return Ok(());
    }
    Err(format!("above {OFTEN} in {MOST} of 100 variants and above {LEAST} in all of them is wanted"))
}

const LANGUAGES: [(&str, Language, &str); 3] = [
    ("cc", Language::C, "variants.c"),
    ("c++", Language::Cxx, "variants.cc"),
    ("rustc", Language::Rust, "variants.rs"),
];

fn program(language: Language) -> &'static str {
    match language {
        Language::C => "./variants-c",
        Language::Cxx => "./variants-cc",
        Language::Rust => "./variants-rs",
    }
}

/// Failing runs in a hundred, and runs a second.
fn campaign(
    tool: &Path,
    folder: &Path,
    variant: &Variant,
    runs: u64,
    options: &[&str],
) -> Outcome<(f64, f64)> {
    let out = folder.join("out");
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(|error| error.to_string())?;
    }
    let (runs, number) = (runs.to_string(), variant.number.to_string());
    let mut arguments = vec!["run", "--mode", "free", "--runs", &runs, "--jobs", "2", "--keep-going"];
    arguments.extend(["--races", "off", "--format", "json", "--out", "out"]);
    arguments.extend(options);
    arguments.extend(["--", program(variant.language), &number]);
    let result = json(command(tool, &arguments).current_dir(folder))?;
    let rate = 100.0 * field(&result, "runs_failed")? / field(&result, "runs")?;
    Ok((rate, field(&result, "runs_per_s")?))
}
