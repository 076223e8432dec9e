//! Numbers and addresses that libc and the kernel hand out: where one depends on which strand asks first, that is an order that
//! makes a difference, and nothing is said to be complete without it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use threadbare_tests::tool;

/// The calls of `tests/numbers/numbers.c`.
const CALLS: &[&str] = &[
    "dup",
    "fcntl",
    "open",
    "openat",
    "socket",
    "socketpair",
    "pipe",
    "eventfd",
    "epoll",
    "memfd",
    "timerfd",
    "signalfd",
    "inotify",
    "fopen",
    "tmpfile",
    "opendir",
    "closed",
    "closed-stream",
    "key",
    "timer",
    "mapping",
    "break",
    "block",
    "zeroed",
    "aligned",
    "copy",
    "large",
    "used-again",
    "random",
    "rand",
    "stack",
    "self",
    "clock",
];

fn build(folder: &Path) -> PathBuf {
    let program = folder.join("numbers");
    let mut build = tool::command(["cc", "-g", "-O1", "-pthread", "-o"]);
    build.arg(&program).arg(tool::root().join("tests/numbers/numbers.c"));
    let built = tool::finish(&mut build, tool::PATIENCE);
    assert_eq!(built.code, Some(0), "{}", built.describe());
    program
}

fn ask(program: &Path, call: &str, order: &str, strategy: &[&str]) -> Value {
    let out = tempfile::tempdir().expect("a folder");
    let mut command =
        tool::command(["run", "--races", "off", "--shrink", "off", "--format", "json", "--out"]);
    command.arg(out.path()).args(strategy).arg("--").arg(program).args([call, order]);
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{call}: {}", outcome.describe()))
}

fn found(report: &Value) -> bool {
    report["findings"].as_array().is_some_and(|list| !list.is_empty())
}

/// What random runs show, a planner finds too, or it claims nothing.
#[test]
fn whoever_asks_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = build(folder.path());
    let mut depend = 0;
    for call in CALLS {
        for order in ["rising", "falling"] {
            let random = ask(&program, call, order, &["--strategy", "random", "--runs", "60"]);
            let planned = ask(&program, call, order, &["--strategy", "dpor"]);
            let claimed = planned["claim"]["kind"] == "complete";
            assert!(
                found(&planned) || !found(&random) || !claimed,
                "{call}, {order}: {:#}",
                planned["claim"]
            );
            depend += usize::from(found(&random));
        }
    }
    assert!(depend > CALLS.len(), "only {depend} depend on the order: what does this test see?");
}

/// Each strand's own memory and random numbers do not depend on the others: one order is all there is.
#[test]
fn what_is_a_strands_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = build(folder.path());
    for call in ["block", "zeroed", "aligned", "copy", "random", "stack", "self"] {
        let shown =
            ["rising", "falling"].map(|order| found(&ask(&program, call, order, &["--strategy", "random"])));
        assert_eq!(shown.iter().filter(|&&it| it).count(), 1, "{call}");
    }
}
