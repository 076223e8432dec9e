//! Wrong requests: exit code 2, what is wrong, what to do, and nothing written.

use crate::workbench::{BANK, Workbench};

fn refused(bench: &Workbench, args: &[&str], why: &str) {
    let said = bench.tool(args);
    let text = said.stderr();
    assert_eq!(said.code(), 2, "{args:?}: {text}");
    assert!(text.starts_with("error: ") && text.contains(why), "{args:?}: {text}");
    assert!(text.lines().any(|line| line.starts_with("help: ")), "{args:?}: {text}");
    assert_eq!(said.stdout(), "", "{args:?}");
    assert!(!bench.path(".threadbare").exists(), "{args:?} left a folder behind");
}

#[test]
fn requests_that_make_no_sense() {
    let bench = Workbench::new();
    refused(&bench, &["frobnicate"], "unrecognized subcommand");
    refused(&bench, &["run"], "required arguments");
    refused(&bench, &["run", "--runs", "0", "--", "./bank"], "0 runs");
    refused(
        &bench,
        &["run", "--strategy", "luck", "--", "./bank"],
        "there are: portfolio, random, round-robin",
    );
    refused(&bench, &["run", "--time", "5x", "--", "./bank"], "30s");
    refused(&bench, &["run", "--timeout", "0s", "--", "./bank"], "above 0");
    refused(&bench, &["run", "--points", "some", "--", "./bank"], "`shared`, `sync` or `all`");
}

#[test]
fn programs_that_cannot_be_controlled() {
    let bench = Workbench::new();
    bench.write("bank.c", BANK);
    let cc = |args: &[&str]| bench.command("cc", args).status().is_ok_and(|status| status.success());
    refused(&bench, &["run", "--", "./bank"], "not found");
    assert!(cc(&["-pthread", "bank.c", "-o", "plain"]));
    refused(&bench, &["run", "--", "./plain"], "was not built with threadbare");
    refused(&bench, &["run", "--", "./bank.c"], "is not an ELF program");
    refused(&bench, &["run", "--", "."], "not");
    refused(&bench, &["run", "--", "/bin/sh"], "was not built with threadbare");
    // A system without static libraries cannot make one.
    if cc(&["-static", "-pthread", "bank.c", "-o", "static"]) {
        refused(&bench, &["run", "--", "./static"], "statically linked");
    }
}

#[test]
fn an_output_folder_that_cannot_be_written_to() {
    let bench = Workbench::with_bank(BANK);
    refused(&bench, &["run", "--out", "/proc/nowhere", "--", "./bank"], "cannot write to the output folder");
    refused(&bench, &["run", "--out", "bank.c", "--", "./bank"], "cannot write to the output folder");
    refused(&bench, &["run", "--stdin", "nothing", "--", "./bank"], "cannot read the input");
    let source = std::fs::read_to_string(bench.path("bank.c")).unwrap();
    assert_eq!(source, BANK);
}

#[test]
fn schedules_that_cannot_be_replayed() {
    let bench = Workbench::with_bank(BANK);
    refused(&bench, &["replay", "deadlock-1234"], "cannot read the schedule");
    refused(&bench, &["replay", "./bank"], "is not text");
    refused(&bench, &["replay", "bank.c"], "no schedule");

    assert_eq!(bench.tool(&["run", "--out", "found", "--", "./bank"]).code(), 1);
    let schedules: Vec<_> = std::fs::read_dir(bench.path("found"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "schedule"))
        .collect();
    let text = std::fs::read_to_string(&schedules[0]).unwrap();
    bench.write("cut.schedule", &text[..text.len() * 2 / 3]);
    refused(&bench, &["replay", "cut.schedule"], "cut off");
    bench.write("edited.schedule", &text.replacen("steps:\n0+", "steps:\n0+1", 1));
    refused(&bench, &["replay", "edited.schedule"], "checksum");
    bench.write("later.schedule", &text.replacen("schedule 2", "schedule 3", 1));
    refused(&bench, &["replay", "later.schedule"], "format version 3");

    bench.ok(&["cc", "-g", "-O0", "-pthread", "bank.c", "-o", "bank"]);
    let schedule = schedules[0].to_str().unwrap();
    refused(&bench, &["replay", schedule], "of another build");
    std::fs::remove_file(bench.path("bank")).unwrap();
    refused(&bench, &["replay", schedule], "not found");
}

#[test]
fn compilers_that_are_not_there() {
    let bench = Workbench::new();
    bench.write("bank.c", BANK);
    for (variable, command) in [("THREADBARE_CC", "cc"), ("THREADBARE_CXX", "c++"), ("RUSTC", "rustc")] {
        let mut call = bench.command(env!("CARGO_BIN_EXE_threadbare"), &[command, "bank.c"]);
        let output = call.env(variable, "/no/compiler").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("/no/compiler") && text.contains("help: "), "{text}");
    }
}
