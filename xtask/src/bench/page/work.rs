//! Real work, and how many times its plain time it takes under each tool.

use super::{Bench, Page, plot};
use crate::bench::field;
use crate::steps::{Outcome, run};
use std::process::Stdio;
use std::time::Instant;

/// A name, its source, and what it does.
const PROGRAMS: [(&str, &str, &str); 6] = [
    ("compressor", "compress.c", "four strands pack blocks of a text"),
    ("hash map", "hashmap.c", "four strands, 64 locks"),
    ("thread pool", "pool.cc", "20,000 tasks, four strands"),
    ("pipeline", "pipeline.cc", "three strands, two bounded channels"),
    ("matrix", "matrix.c", "two strands, each its own"),
    ("sieve", "sieve.c", "two strands, each its own"),
];

const ROUNDS: usize = 3;

/// How a program is built or run, other than plain.
const WAYS: [(&str, Way); 6] = [
    ("gcc's ThreadSanitizer", Way::Sanitizer("gcc", "g++")),
    ("clang's ThreadSanitizer", Way::Sanitizer("clang-19", "clang++-19")),
    ("controlled", Way::Run(&["--strategy", "random", "--races", "off"])),
    ("controlled, races looked for", Way::Run(&["--strategy", "random", "--races", "fail"])),
    ("free", Way::Run(&["--mode", "free", "--noise", "none", "--no-record"])),
    (
        "free, races looked for",
        Way::Run(&["--mode", "free", "--noise", "none", "--no-record", "--races", "fail"]),
    ),
];

enum Way {
    /// Its C and its C++ compiler.
    Sanitizer(&'static str, &'static str),
    /// Options of a campaign.
    Run(&'static [&'static str]),
}

/// Seconds of a process, the best of some rounds.
fn seconds(bench: &Bench, program: &str) -> Outcome<f64> {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let mut command = bench.command(bench.folder.join(program), &[]);
        let began = Instant::now();
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let taken = began.elapsed().as_secs_f64();
        match status {
            Ok(status) if status.success() => best = best.min(taken),
            Ok(status) => return Err(format!("{program} ended with {status}")),
            Err(error) => return Err(format!("{program}: {error}")),
        }
    }
    Ok(best)
}

/// Seconds that a program takes in a way; `None` where it cannot be built so.
fn measure(bench: &Bench, name: &str, source: &str, way: &Way) -> Outcome<Option<f64>> {
    match way {
        Way::Sanitizer(c, cxx) => {
            let compiler = if source.ends_with(".cc") { cxx } else { c };
            let program = format!("{}-{compiler}", name.replace(' ', "-"));
            let built = bench
                .command(
                    compiler,
                    &["-g", "-O2", "-pthread", "-fsanitize=thread", &Bench::source(source), "-o", &program],
                )
                .stderr(Stdio::null())
                .status();
            match built.is_ok_and(|status| status.success()) {
                true => seconds(bench, &program).map(Some),
                false => Ok(None),
            }
        }
        Way::Run(options) => {
            let program = format!("./{}", name.replace(' ', "-"));
            let mut best = f64::MAX;
            for _ in 0..ROUNDS {
                let result =
                    bench.campaign(&[*options, &["--jobs", "1", "--runs", "2"]].concat(), &[&program])?;
                if result["verdict"] != "clean" {
                    return Err(format!("{name} is right, and something was found: {result:#}"));
                }
                best = best.min(field(&result, "elapsed_s")? / field(&result, "runs")?);
            }
            Ok(Some(best))
        }
    }
}

/// Measures the table and draws it.
pub(super) fn work(bench: &Bench, page: &mut Page) -> Outcome {
    page.line("\n## Real work\n");
    page.line("Seconds of the plain program (gcc -O2), and how many times that the others take. `–`: the compiler, or its library, is not there.");
    let mut cells = vec!["", "plain, s"];
    cells.extend(WAYS.iter().map(|(name, _)| *name));
    page.head(&cells);
    let mut series: Vec<plot::Series> =
        WAYS.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())).collect();
    for (name, source, what) in PROGRAMS {
        let file = name.replace(' ', "-");
        let (ours, plain) = if source.ends_with(".cc") { ("c++", "g++") } else { ("cc", "gcc") };
        let arguments = ["-g", "-O2", "-pthread", &Bench::source(source), "-o"];
        run(&mut bench.command(&bench.tool, &[&[ours], &arguments[..], &[&file]].concat()))?;
        let bare = format!("{file}-plain");
        run(&mut bench.command(plain, &[&arguments[..], &[&bare]].concat()))?;
        let bare = seconds(bench, &bare)?;
        let mut cells = vec![format!("{name}: {what}"), format!("{bare:.3}")];
        for ((_, way), (_, values)) in WAYS.iter().zip(&mut series) {
            let times = measure(bench, name, source, way)?.map(|taken| taken / bare);
            cells.push(times.map_or_else(|| "–".to_owned(), plot::short));
            values.push(times);
        }
        page.row(&cells);
    }
    let names = PROGRAMS.map(|(name, ..)| name);
    page.plot(
        "work.svg",
        "slowdown on real work",
        &plot::bars("Times the plain program's time", &names, &series),
    )
}
