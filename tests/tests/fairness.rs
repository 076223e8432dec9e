//! Strands that wait by trying again, whoever decides: a run of such a program comes to its end, and soon.

use serde_json::Value;
use std::path::{Path, PathBuf};
use threadbare_tests::compile;
use threadbare_tests::corpus;
use threadbare_tests::tool;

const RUNS: u64 = 20;

fn built(name: &str) -> PathBuf {
    let program = corpus::programs().into_iter().find(|program| program.name == name);
    let program = program.unwrap_or_else(|| panic!("{name}"));
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fairness");
    compile::instrumented(&program, compile::compilers(&program)[0], &builds)
        .unwrap_or_else(|message| panic!("{message}"))
}

/// Points of a run on the mean.
fn points(executable: &Path, strategy: &str) -> u64 {
    let out = tempfile::tempdir().unwrap();
    let mut command = tool::command(["run", "--shrink", "off", "--format", "json", "--strategy", strategy]);
    command.args(["--runs", &RUNS.to_string(), "--out"]).arg(out.path()).arg("--").arg(executable);
    let made = tool::finish(&mut command, tool::PATIENCE);
    let json: Value = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()));
    assert_eq!(made.code, Some(0), "{} with {strategy}: {json:#}", executable.display());
    json["points"].as_u64().unwrap_or(0) / json["runs"].as_u64().unwrap_or(0).max(1)
}

/// A strategy that lets strands take turns has the fewest rounds in vain; one that lets a strand go on for as long as it can must
/// see that it waits. `surw` is left out: it can hold the holder of a lock back while others only try it (LIMITATIONS.md).
#[test]
fn who_tries_again_under_a_lock_waits() {
    for name in [
        "spin/poll_under_lock.c",
        "spin/poll_under_lock.cc",
        "spin/poll_under_lock.rs",
        "spin/retry_yield.c",
        "mutex/trylock_loop.c",
    ] {
        let executable = built(name);
        let least = points(&executable, "uniform");
        for strategy in
            ["portfolio", "pct:3", "delay:3", "pos", "rff:2", "stall", "dpor", "pcb:2", "hapset", "dfs"]
        {
            let points = points(&executable, strategy);
            assert!(
                points <= 100 * least,
                "{name} with {strategy}: {points} points a run, {least} with turns"
            );
        }
    }
}
