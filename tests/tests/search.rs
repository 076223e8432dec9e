//! The default finds the classic bugs within the number of runs that the project promises.
//!
//! Races and predicted deadlocks are left out: the search itself is to find them. A row holds for the mean over 20 seeds
//! (`THREADBARE_FULL=1`). A change's own tests make the first four: a mean of four geometric draws is above twice the
//! promised mean in about one case of 40 even where the promise is just kept, so three times is a row that stopped holding.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::{either, is_full};
use threadbare_tests::{campaign, compile};

/// Programs with an argument and the most runs to the failure, in the mean.
const ROWS: &[(&str, &str, u64)] = &[
    ("reorder", "3", 10),
    ("reorder", "5", 10),
    ("reorder", "10", 10),
    ("reorder", "20", 10),
    ("reorder", "50", 10),
    ("reorder", "100", 10),
    ("twostage", "20", 25),
    ("twostage", "50", 40),
    ("twostage", "100", 60),
    ("bluetooth", "", 30),
    ("string_buffer", "", 30),
    ("work_stealing", "", 30),
    ("token_ring", "", 30),
    ("abba", "", 30),
    ("three_cycle", "", 30),
    ("wrong_lock", "1", 30),
    ("circular_buffer", "", 30),
    ("lazy_init", "", 30),
    ("account", "", 30),
    ("philosophers", "5", 30),
    ("philosophers", "7", 30),
    ("two_condvars", "", 30),
];

/// Within how many runs every seed must find it.
const EVERY_SEED: u64 = 500;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = corpus::programs();
    let trials = ROWS.iter().map(|&(name, arg, most)| {
        let file = format!("search/{name}.c");
        let mut program = programs.iter().find(|it| it.name == file).expect("it is a program").clone();
        program.args = arg.split_whitespace().map(str::to_owned).collect();
        let label = format!("{name} {arg}");
        Trial::test(label.trim(), move || check(&program, most).map_err(Failed::from))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn check(program: &Program, most: u64) -> Result<(), String> {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let executable = compile::instrumented(program, compile::compilers(program)[0], &builds)?;
    let seeds = either(4, 20);
    let mut sum = 0;
    for seed in 0..seeds {
        let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        let (seed, runs) = (seed.to_string(), EVERY_SEED.to_string());
        let options =
            ["--strategy", "portfolio", "--races", "off", "--no-predict", "--seed", &seed, "--runs", &runs];
        let campaign = campaign::run(program, &executable, out.path(), &options)?;
        let first = campaign.report["first_failure_run"].as_u64();
        let first = first.ok_or_else(|| campaign.complain("it was not found"))?;
        let kind = campaign.findings()[0]["kind"].as_str().unwrap_or_default().to_owned();
        if !program.expect.contains(&kind) {
            return Err(campaign.complain("another failure than expected"));
        }
        sum += first + 1;
    }
    let slack = if is_full() { 1 } else { 3 };
    if sum > slack * most * seeds {
        return Err(format!("{sum} runs for {seeds} seeds; {most} for each are promised"));
    }
    Ok(())
}
