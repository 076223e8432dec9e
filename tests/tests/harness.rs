//! Plain tests of libtest's: a run begins where the test is called and ends where it has passed, and what libtest makes of the end of each is what counts. The
//! package is `tests/packages/harness`.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use threadbare_tests::tool::{self, Outcome};

fn package(command: &mut Command) -> Outcome {
    command.current_dir(tool::root().join("tests/packages/harness"));
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages"));
    tool::plain_environment(command);
    tool::without_cargos_own(command);
    tool::finish(command, tool::PATIENCE)
}

fn of_package(arguments: &[&str], code: i32) -> String {
    let mut command = Command::new(tool::cargo_threadbare());
    command.args(["threadbare", "test"]).args(arguments);
    let outcome = package(&mut command);
    assert_eq!(outcome.code, Some(code), "{}", outcome.describe());
    outcome.stdout
}

/// The campaigns of a test binary by name.
fn campaigns(binary: &str, options: &[&str], code: i32) -> BTreeMap<String, Value> {
    let out = tempfile::tempdir().expect("a folder");
    let fixed = ["--test", binary, "--format", "json", "--shrink", "off", "--strategy", "random", "--out"];
    let folder = out.path().to_string_lossy();
    let report = of_package(&[&fixed[..], &[&folder], options].concat(), code);
    let report: Value = serde_json::from_str(&report).expect("a report");
    let tests = report["tests"].as_array().expect("tests");
    let named =
        |test: &Value| (test["name"].as_str().unwrap_or_default().to_owned(), test["campaign"].clone());
    tests.iter().map(named).collect()
}

#[test]
fn what_libtest_passes_passes() {
    let all = campaigns("passing", &["--runs", "100"], 0);
    assert_eq!(all.len(), 6, "{all:?}");
    for (name, campaign) in &all {
        assert_eq!((&campaign["verdict"], &campaign["runs"]), (&"clean".into(), &100.into()), "{name}");
    }
    // What libtest does is part of neither run.
    let points = |name: &str| all[name]["points"].as_f64().expect("a count");
    let (plain, checked) = (points("plain"), points("checked"));
    assert!((0.9..1.1).contains(&(plain / checked)), "{plain} points, and {checked} with a check");
}

#[test]
fn what_libtest_fails_fails() {
    let all = campaigns("failing", &["--runs", "100"], 1);
    assert_eq!(all.len(), 7, "{all:?}");
    for (name, campaign) in &all {
        assert_eq!(campaign["verdict"], "failure", "{name}: {campaign:#}");
        // All but one fail whatever the order is.
        if name != "leaves_a_strand" {
            assert_eq!(campaign["first_failure_run"], 0, "{name}: {campaign:#}");
        }
    }
}

#[test]
fn runs_do_not_depend_on_how_they_are_undone() {
    for (binary, code) in [("passing", 0), ("failing", 1)] {
        let by = |reset: &str| campaigns(binary, &["--runs", "60", "--keep-going", "--reset", reset], code);
        let (fork, snapshot) = (by("fork"), by("snapshot"));
        assert_eq!(fork.len(), snapshot.len());
        for (name, campaign) in &fork {
            for field in ["trace_hash", "runs", "runs_failed", "points", "switches", "coverage"] {
                assert_eq!(campaign[field], snapshot[name][field], "`{field}` of {name}");
            }
        }
    }
}

/// Of several tests in one process none is left out because the first one has passed.
#[test]
fn tests_that_come_later_are_run() {
    let out = tempfile::tempdir().expect("a folder");
    let programs = of_package(&["--no-run", "--test", "failing", "--test", "passing"], 0);
    for (binary, arguments, code) in [
        ("passing", ["gives_a_result", "plain"], 0),
        ("passing", ["panics", "catches"], 0),
        ("failing", ["does_not_panic", "leaves_a_strand"], 1),
        ("failing", ["leaves_a_strand", "panics_with_other_words"], 1),
    ] {
        let program = programs.lines().find(|line| line.contains(&format!("/{binary}-"))).expect("a program");
        let mut command = Command::new(tool::threadbare());
        command.args(["run", "--runs", "3", "--strategy", "random", "--format", "json", "--out"]);
        command.arg(out.path()).args(["--", program, "--exact", "--test-threads=1"]).args(arguments);
        let outcome = package(&mut command);
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.describe());
    }
}
