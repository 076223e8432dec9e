//! Explanations against programs that a generator made, each with one labelled mistake.
//!
//! The judge is that of `tests/tests/causes.rs`. A change's own tests look at thirty, of which none may be wrong. `THREADBARE_FULL=1` looks at three hundred, `THREADBARE_SEEDS=1000-1089` at those of other numbers: there nine of ten must be right, and none may name a line without
//! a part, which does not always hold.

use libtest_mimic::{Arguments, Failed, Trial};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use threadbare_tests::explained::{Told, look};
use threadbare_tests::extent::{either, is_full};
use threadbare_tests::mistakes::{KINDS, Mistake};

/// Numbers of the programs that were asked for.
fn asked() -> Option<RangeInclusive<u64>> {
    let asked = std::env::var("THREADBARE_SEEDS").ok()?;
    let (first, last) = asked.split_once('-')?;
    Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
}

/// Numbers of the programs.
fn seeds() -> RangeInclusive<u64> {
    asked().unwrap_or(1..=KINDS * either(2, 20))
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (sources, builds) = (folder.join("mistakes"), folder.join("programs"));
    if let Err(error) = std::fs::create_dir_all(&sources) {
        eprintln!("{}: {error}", sources.display());
        return ExitCode::from(101);
    }
    let told = Arc::new(Mutex::new(Told::default()));
    let trials = seeds()
        .map(|seed| {
            let mistake = Mistake::new(seed);
            let (sources, builds, told) = (sources.clone(), builds.clone(), Arc::clone(&told));
            let name = mistake.name.clone();
            let all = move || look(&mistake.program(&sources)?, &builds, 1, &told);
            Trial::test(name, move || all().map_err(Failed::from))
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let Ok(told) = told.lock() else { return ExitCode::from(101) };
    if !arguments.list {
        let every = asked().is_some() || is_full();
        if !(if every { told.holds() } else { told.holds_but_for(&[]) }) {
            return ExitCode::from(101);
        }
    }
    conclusion.exit_code()
}
