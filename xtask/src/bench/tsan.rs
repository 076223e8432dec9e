//! What looking for races costs controlled runs of CPU-bound programs, in turns with gcc's ThreadSanitizer: rows of `cargo xtask bench engine`.

use super::{Row, field, in_turns, json};
use crate::steps::{Outcome, command, root, run};
use std::path::Path;
use std::time::Instant;

/// Programs, and at most so many times ThreadSanitizer's time: two with little sharing, and one in which four strands share a table.
const PROGRAMS: [(&str, f64); 3] = [("matrix", 1.0), ("sieve", 1.0), ("hashmap", 2.0)];

/// All rows.
pub(crate) fn rows(tool: &Path, folder: &Path) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, most) in PROGRAMS {
        let source = root().join("bench").join(format!("{name}.c")).to_string_lossy().into_owned();
        run(command(tool, &["cc", "-g", "-O2", "-pthread", &source, "-o", name]).current_dir(folder))?;
        let sanitized = format!("{name}-tsan");
        run(command("gcc", &["-g", "-O2", "-pthread", "-fsanitize=thread", &source, "-o", &sanitized])
            .current_dir(folder))?;
        let program = format!("./{name}");
        let ours = || {
            let options = ["run", "--jobs", "1", "--strategy", "random", "--races", "fail", "--runs", "2"];
            let more = ["--timeout", "10m", "--format", "json", "--out", "out", "--", &program];
            let result = json(command(tool, &[&options[..], &more[..]].concat()).current_dir(folder))?;
            if result["verdict"] != "clean" {
                return Err(format!("{name} is right, and something was found: {result:#}"));
            }
            // As many as a thousand seconds would have.
            Ok(1000.0 * field(&result, "runs")? / field(&result, "elapsed_s")?)
        };
        let theirs = || {
            let began = Instant::now();
            run(command(folder.join(&sanitized), &[])
                .current_dir(folder)
                .stdout(std::process::Stdio::null()))?;
            Ok(1000.0 / began.elapsed().as_secs_f64())
        };
        let (ours, peer) = in_turns(ours, theirs)?;
        let what =
            format!("{name}: controlled runs in 1,000 s with races looked for; peer: gcc's ThreadSanitizer");
        rows.push(Row { what, ours, peer, at_least: 1.0 / most });
    }
    Ok(rows)
}
