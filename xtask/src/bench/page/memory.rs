//! Resident memory beside ThreadSanitizer's, and what a recorded run takes.

use super::{Bench, Page, plot};
use crate::steps::{Outcome, run};
use std::process::Stdio;

/// Programs of the table of real work.
const PROGRAMS: [&str; 4] = ["compressor", "hash-map", "matrix", "sieve"];

/// The largest resident memory of a command's processes, in MB, as GNU time tells it.
fn resident(bench: &Bench, words: &[&str]) -> Outcome<f64> {
    let output = bench
        .command("/usr/bin/time", &[&["-f", "%M"], words].concat())
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("/usr/bin/time: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().unwrap_or_default();
    let kilobytes: f64 = last.trim().parse().map_err(|_| format!("{words:?} told {text}"))?;
    Ok(kilobytes / 1024.0)
}

/// Bytes of a recorded run, and its events.
fn recorded(bench: &Bench) -> Outcome<(u64, usize)> {
    let source = crate::steps::root().join("tests/programs/lost-update/counter.c");
    run(&mut bench
        .command(&bench.tool, &["cc", "-g", "-O1", "-pthread", &source.to_string_lossy(), "-o", "lost"]))?;
    let result = bench.campaign(&["--strategy", "random", "--runs", "100"], &["./lost"])?;
    let schedule =
        result["findings"][0]["schedule"].as_str().ok_or("nothing was found to be recorded")?.to_owned();
    let made = bench
        .command(&bench.tool, &["replay", &schedule, "--record", "run.trace"])
        .stdout(Stdio::null())
        .status();
    made.map_err(|error| error.to_string())?;
    let bytes = std::fs::metadata(bench.folder.join("run.trace")).map_err(|error| error.to_string())?.len();
    let told =
        super::super::json(&mut bench.command(&bench.tool, &["trace", "run.trace", "--format", "json"]))?;
    let events = told["events"].as_array().map(Vec::len).ok_or("the trace has no events")?;
    Ok((bytes, events))
}

/// Measures both.
pub(super) fn memory(bench: &Bench, page: &mut Page) -> Outcome {
    page.line("\n## Memory\n");
    page.line("Resident memory of the largest process, MB, as `/usr/bin/time` tells it.");
    page.head(&["", "plain", "gcc's ThreadSanitizer", "controlled", "controlled, races looked for"]);
    for name in PROGRAMS {
        let (bare, sanitized, program) =
            (format!("./{name}-plain"), format!("./{name}-gcc"), format!("./{name}"));
        let tool = bench.tool.to_string_lossy().into_owned();
        let ours = |races: &str| {
            let options = [
                &tool,
                "run",
                "--out",
                "out",
                "--strategy",
                "random",
                "--jobs",
                "1",
                "--runs",
                "2",
                "--races",
            ];
            resident(bench, &[&options[..], &[races, "--", &program]].concat())
        };
        let cells =
            [resident(bench, &[&bare])?, resident(bench, &[&sanitized])?, ours("off")?, ours("fail")?];
        page.row(&[&[name.to_owned()], &cells.map(plot::short)[..]].concat());
    }
    let (bytes, events) = recorded(bench)?;
    page.line(&format!(
        "\nA recorded run (`replay --record`) of {events} events takes {bytes} bytes on the disk, {:.2} an event.",
        bytes as f64 / events as f64
    ));
    Ok(())
}
