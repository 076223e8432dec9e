//! What a read is of: the table has its name where library functions, pointers that count and closures stand between the program and its data.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use threadbare_tests::{compile, tool};

/// A program of `tests/futures`, built without optimisation.
fn build(name: &str, compiler: &str) -> (PathBuf, PathBuf, tempfile::TempDir) {
    let source = tool::root().join("tests/futures").join(name);
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    let mut command = if name.ends_with(".rs") {
        let mut command = tool::command(["rustc", "--edition=2024", "-Copt-level=0"]);
        command.args(["-g"]);
        command
    } else {
        let mut command = tool::command(["c++", "-g", "-O0", "-std=c++20", "-pthread"]);
        command.env("THREADBARE_CXX", compiler);
        command
    };
    let made = tool::finish(command.arg(&source).arg("-o").arg(&program), tool::PATIENCE);
    assert_eq!(made.code, Some(0), "{}", made.describe());
    (source, program, folder)
}

/// The names that the table has for reads of each line that says which it wants.
fn check(name: &str, compiler: &str) {
    let (source, program, folder) = build(name, compiler);
    let mut command = tool::command(["futures", "--races", "off", "--shrink", "off", "--format", "json"]);
    command.arg("--out").arg(folder.path().join("out")).arg("--").arg(&program);
    let made = tool::finish(&mut command, tool::PATIENCE);
    let table: Value = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()));
    assert_eq!(table["contradictions"], Value::Array(Vec::new()), "{table:#}");
    let names = |line: usize| -> BTreeSet<&str> {
        let reads = table["reads"].as_array().expect("a list").iter();
        reads.filter(|read| read["line"] == line).filter_map(|read| read["variable"].as_str()).collect()
    };
    let text = fs::read_to_string(&source).expect("the source");
    for (at, line) in text.lines().enumerate() {
        let Some((_, wanted)) = line.split_once("//~ reads ") else { continue };
        assert!(names(at + 1).contains(wanted), "{compiler} {name}:{}: {:?}", at + 1, names(at + 1));
    }
}

#[test]
fn of_rust() {
    check("names.rs", "rustc");
}

#[test]
fn of_cpp() {
    check("names.cc", "g++");
    if compile::has_clang() {
        check("names.cc", "clang++-19");
    }
}

/// A table of a program that fails has the failure, and says so with its exit code; a read that there is not is an error with and without runs for its terms.
#[test]
fn a_failure_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    let source = tool::root().join("examples/bank.c");
    let mut command = tool::command(["cc", "-g", "-O1", "-pthread"]);
    let made = tool::finish(command.arg(&source).arg("-o").arg(&program), tool::PATIENCE);
    assert_eq!(made.code, Some(0), "{}", made.describe());
    let futures = |options: &[&str]| {
        let mut command = tool::command(["futures", "--races", "off", "--shrink", "off"]);
        command.args(options).arg("--out").arg(folder.path().join("out")).arg("--").arg(&program);
        tool::finish(&mut command, tool::PATIENCE)
    };
    let made = futures(&["--format", "json"]);
    assert_eq!(made.code, Some(1), "{}", made.describe());
    let table: Value = serde_json::from_str(&made.stdout).expect("an object");
    let finding = &table["findings"][0];
    assert_eq!(finding["kind"], "assertion", "{table:#}");
    let terms = table["reads"].as_array().expect("a list").iter().flat_map(|read| read["terms"].as_array());
    let failing: Vec<&Value> =
        terms.flatten().filter(|term| term["runs_failed"].as_u64() > Some(0)).collect();
    assert!(!failing.is_empty(), "{table:#}");
    for term in failing {
        assert_eq!((&term["outcome"], &term["finding"]), (&finding["kind"], &finding["id"]), "{term:#}");
    }
    for options in [&["--read", "bank.c:1"][..], &["--all", "--read", "bank.c:1"]] {
        let made = futures(options);
        assert_eq!(made.code, Some(2), "{}", made.describe());
        assert!(made.stderr.contains("bank.c:9 reads balance"), "{}", made.describe());
    }
}
