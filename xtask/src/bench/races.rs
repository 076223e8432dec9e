//! `cargo xtask bench noise races`: what it costs to look for races while a program runs free, in turns with gcc's ThreadSanitizer.

use super::{Row, field, in_turns, json, table};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use std::time::Instant;

/// Programs: two CPU-bound ones with little sharing, and one in which four strands share a table.
const PROGRAMS: [&str; 3] = ["matrix", "sieve", "hashmap"];
/// At most so many times ThreadSanitizer's time.
const MOST: f64 = 1.2;

/// Measures all.
pub(crate) fn races() -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/races");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for name in PROGRAMS {
        let source = root().join("bench").join(format!("{name}.c")).to_string_lossy().into_owned();
        run(command(&tool, &["cc", "-g", "-O2", "-pthread", &source, "-o", name]).current_dir(&folder))?;
        let sanitized = format!("{name}-tsan");
        run(command("gcc", &["-g", "-O2", "-pthread", "-fsanitize=thread", &source, "-o", &sanitized])
            .current_dir(&folder))?;
        let program = format!("./{name}");
        let ours = || {
            let arguments = ["run", "--mode", "free", "--noise", "none", "--no-record", "--races", "fail"];
            let more =
                ["--runs", "1", "--timeout", "10m", "--format", "json", "--out", "out", "--", &program];
            let result = json(command(&tool, &[&arguments[..], &more[..]].concat()).current_dir(&folder))?;
            if result["verdict"] != "clean" {
                return Err(format!("{name} is right, and something was found: {result:#}"));
            }
            // As many as a thousand seconds would have.
            Ok(1000.0 / field(&result, "elapsed_s")?)
        };
        let theirs = || {
            let began = Instant::now();
            run(command(folder.join(&sanitized), &[])
                .current_dir(&folder)
                .stdout(std::process::Stdio::null()))?;
            Ok(1000.0 / began.elapsed().as_secs_f64())
        };
        let (ours, peer) = in_turns(ours, theirs)?;
        let what = format!("{name}: free runs in 1,000 s with races looked for; peer: gcc's ThreadSanitizer");
        rows.push(Row { what, ours, peer, at_least: 1.0 / MOST });
    }
    table(&rows)
}
