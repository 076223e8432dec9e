//! Tests that are written from an API alone: seeded faults are found, their right twins are not blamed.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use tempfile::TempDir;
use threadbare_tests::extent::is_full;
use threadbare_tests::tool::{self, Outcome};

/// The Rust types with a fault, by what makes one, and how it shows.
const FAULTS: [(&str, &str, &str); 9] = [
    ("BadAttempt", "BadAttempt::new", "panic"),
    ("BadGate", "BadGate::default", "deadlock"),
    ("BadNotify", "BadNotify", "deadlock"),
    ("BadOnce", "BadOnce::new", "race"),
    ("BadSender", "bad_oneshot", "deadlock"),
    ("BadShared", "BadShared::new", "race"),
    ("BadSpin", "BadSpin::new", "race"),
    ("BadStealer", "BadWorker::new", "panic"),
    ("BadStock", "BadStock::new", "leak"),
];
const TWINS: [&str; 10] =
    ["Attempt", "Gate", "Notify", "Once", "Semaphore", "Sender", "Shared", "Spin", "Stealer", "Stock"];

/// The C headers, each with how its fault shows, and in how many tests.
const HEADERS: [(&str, &[&str], &str); 5] = [
    ("counter", &["not-atomic"], "12"),
    ("list", &["race"], "12"),
    ("mailbox", &["race"], "12"),
    // Two takers and two givers.
    ("ring", &["deadlock"], "60"),
    ("stack", &["use-after-free", "race"], "24"),
];

/// One at a time: they share a target folder.
static ONE: Mutex<()> = Mutex::new(());

struct Made {
    out: TempDir,
    outcome: Outcome,
    json: Value,
}

fn finish(command: &mut Command, out: TempDir) -> Made {
    tool::plain_environment(command);
    let outcome = tool::finish(command, tool::PATIENCE);
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.describe());
    let json = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", outcome.describe()));
    Made { out, outcome, json }
}

/// `cargo threadbare generate` in the package with the types.
fn rust(arguments: &[&str]) -> Made {
    let _one = ONE.lock().unwrap_or_else(|error| error.into_inner());
    let out = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(tool::cargo_threadbare());
    command.args(["threadbare", "generate", "--format", "json", "--out"]).arg(out.path());
    command.arg("--write").arg(out.path().join("kept.rs")).args(arguments);
    command.current_dir(tool::root().join("tests/packages/generate"));
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("generate"));
    tool::without_cargos_own(&mut command);
    finish(&mut command, out)
}

/// `threadbare generate --api` of a header, with its fault or without.
fn c(header: &str, fault: bool, arguments: &[&str]) -> Made {
    let out = tempfile::tempdir().expect("a folder");
    let mut command = tool::command(["generate", "--format", "json", "--out"]);
    command.arg(out.path()).arg("--api").arg(format!("{header}.h")).args(arguments).arg("--");
    if fault {
        command.arg("-DFAULT");
    }
    command.arg(format!("{header}.c")).current_dir(tool::root().join("tests/api"));
    finish(&mut command, out)
}

fn tests(made: &Made) -> &[Value] {
    made.json["tests"].as_array().expect("tests")
}

fn verdicts<'a>(made: &'a Made, maker: &str) -> Vec<&'a str> {
    let of = tests(made).iter().filter(|test| test["maker"].as_str().is_some_and(|it| it.starts_with(maker)));
    of.filter_map(|test| test["verdict"].as_str()).collect()
}

#[test]
fn faults_of_rust_types_are_found() {
    let mut arguments: Vec<&str> = FAULTS.iter().map(|(name, ..)| *name).collect();
    arguments.extend(["--max", "150", "--runs", "60", "--shrink", "off"]);
    let made = rust(&arguments);
    for (name, maker, verdict) in FAULTS {
        let verdicts = verdicts(&made, maker);
        assert!(verdicts.contains(&verdict), "{name}: {verdicts:?}\n{}", made.outcome.describe());
    }
    assert_eq!(made.json["verdict"], "failure");
    assert!(made.json["findings"].as_array().is_some_and(|findings| findings.len() >= FAULTS.len()));
}

#[test]
fn a_fault_that_takes_three_strands_is_found() {
    let made = rust(&["BadSemaphore", "--max", "40", "--runs", "100", "--shrink", "off"]);
    let verdicts = verdicts(&made, "BadSemaphore");
    assert!(verdicts.contains(&"deadlock"), "{verdicts:?}\n{}", made.outcome.describe());
}

#[test]
fn right_rust_types_are_not_blamed() {
    let mut arguments = TWINS.to_vec();
    arguments.extend(["--max", if is_full() { "100" } else { "50" }, "--runs", "60"]);
    let made = rust(&arguments);
    for test in tests(&made) {
        assert!(matches!(test["verdict"].as_str(), Some("clean" | "left out")), "{test}");
    }
    assert!(tests(&made).iter().filter(|test| test["verdict"] == "clean").count() >= 20);
    assert_eq!(made.json["verdict"], "clean");
    assert_eq!(made.outcome.code, Some(0));
    assert!(!made.out.path().join("kept.rs").exists());
}

#[test]
fn what_fails_is_kept_as_a_small_test() {
    let made = rust(&["BadOnce", "--max", "8", "--runs", "50"]);
    let kept = std::fs::read_to_string(made.out.path().join("kept.rs")).expect("the kept tests");
    assert!(kept.contains("#[test]\nfn set_against_set"), "{kept}");
    // Two strands that set it are what it takes.
    let small = kept.split("#[test]").nth(1).expect("a test");
    assert_eq!(small.matches("bad_once.set(").count(), 2, "{kept}");
    assert_eq!(small.matches("thread::spawn").count(), 2, "{kept}");
}

#[test]
fn faults_of_c_headers_are_found_and_their_twins_are_not_blamed() {
    // What takes many tests is looked for when everything was asked for.
    for (header, shown, max) in HEADERS.into_iter().filter(|(header, ..)| *header != "ring" || is_full()) {
        let made = c(header, true, &["--max", max, "--runs", "60", "--atomic", "fail", "--shrink", "off"]);
        let verdicts = verdicts(&made, "");
        assert!(shown.iter().any(|shown| verdicts.contains(shown)), "{header}: {}", made.outcome.describe());
        let kept = std::fs::read_dir(made.out.path()).expect("the folder").flatten();
        let kept = kept.filter(|file| file.path().extension().is_some_and(|end| end == "c")).count();
        assert!(kept > 0, "{header}: {}", made.outcome.describe());

        let made = c(header, false, &["--max", "16", "--runs", "60", "--atomic", "fail"]);
        for test in tests(&made) {
            assert!(matches!(test["verdict"].as_str(), Some("clean" | "left out")), "{header}: {test}");
        }
        assert!(tests(&made).iter().any(|test| test["verdict"] == "clean"), "{header}");
    }
}

#[test]
fn the_same_seed_makes_the_same_tests() {
    let names = |made: &Made| tests(made).iter().map(|test| test["calls"].to_string()).collect::<Vec<_>>();
    let once = names(&c("ring", false, &["--max", "6", "--runs", "5", "--seed", "3"]));
    assert_eq!(once, names(&c("ring", false, &["--max", "6", "--runs", "5", "--seed", "3"])));
    assert_ne!(once, names(&c("ring", false, &["--max", "6", "--runs", "5", "--seed", "4"])));
}
