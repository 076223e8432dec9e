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
    refused(&bench, &["run", "--jobs", "100000", "--", "./bank"], "from 1 to 1024");
    for (option, why) in [
        ("--runs", "a number of runs"),
        ("--seed", "from 0 to"),
        ("--jobs", "from 1 to"),
        ("--max-points", "from 0 to"),
        ("--time", "above 0"),
        ("--timeout", "above 0"),
        ("--memory", "a size"),
        ("--until", "between 0 and 1"),
    ] {
        refused(&bench, &["run", option, "-5", "--", "./bank"], why);
    }
}

#[test]
fn files_that_are_something_else() {
    let bench = Workbench::with_bank(BANK);
    let source = std::fs::read_to_string(bench.path("bank.c")).unwrap();
    refused(&bench, &["coverage", "bank.c"], "`bank.c` cannot be used");
    assert!(!bench.tool(&["coverage", "bank.c"]).stderr().contains("remove"));
    refused(&bench, &["run", "--stdin", ".", "--", "./bank"], "it is a folder");
    assert!(bench.command("mkfifo", &["pipe"]).status().unwrap().success());
    refused(&bench, &["run", "--stdin", "pipe", "--", "./bank"], "is a pipe");
    for (command, file) in [("replay", "/dev/zero"), ("report", "/dev/zero"), ("coverage", "/dev/zero")] {
        refused(&bench, &[command, file], "it is a device");
        refused(&bench, &[command, "./pipe"], "it is a pipe");
    }
    refused(&bench, &["run", "--suppressions", "/dev/zero", "--", "./bank"], "it is a device");
    refused(&bench, &["run", "--suppressions", "pipe", "--", "./bank"], "it is a pipe");
    assert_eq!(std::fs::read_to_string(bench.path("bank.c")).unwrap(), source);
}

#[test]
fn a_result_that_cannot_be_written_is_told() {
    let bench = Workbench::with_bank(BANK);
    assert_eq!(bench.tool(&["run", "--", "./bank"]).code(), 1);
    for args in [&["report"][..], &["list"], &["coverage"], &["report", "--format", "json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = bench.command(env!("CARGO_BIN_EXE_threadbare"), args);
        let output = command.stdout(full).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("could not be written") && text.contains("help: "), "{args:?}: {text}");
    }
}

#[test]
fn nothing_from_a_file_speaks_to_the_terminal() {
    let bench = Workbench::with_bank(BANK);
    assert_eq!(bench.tool(&["run", "--", "./bank"]).code(), 1);
    let files = || std::fs::read_dir(bench.path(".threadbare")).unwrap().map(|entry| entry.unwrap().path());
    const EVIL: &str = "\\u001b]0;x\\u0007\\u001b[2J\\u009b31m";
    let ends = |path: &std::path::Path, end: &str| path.to_str().unwrap().ends_with(end);
    for path in files().filter(|path| ends(path, ".json") && !ends(path, "coverage.json")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("\"message\": \"", &format!("\"message\": \"{EVIL}"));
        let text = text.replace("\"function\": \"", &format!("\"function\": \"{EVIL}"));
        let text = text.replace("\"file\": \"", &format!("\"file\": \"{EVIL}"));
        std::fs::write(&path, text.replace("\"id\": \"", &format!("\"id\": \"{EVIL}"))).unwrap();
    }
    for args in [&["report"][..], &["list"], &["report", "--format", "github"]] {
        let said = bench.tool(args);
        assert_eq!(said.code(), 0, "{args:?}: {}", said.stderr());
        for text in [said.stdout(), said.stderr()] {
            let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(bad), "{args:?}: {text:?}");
        }
    }
}

#[test]
fn journals_are_not_followed_elsewhere() {
    let bench = Workbench::with_bank(BANK);
    assert_eq!(bench.tool(&["run", "--runs", "3", "--keep-going", "--", "./bank"]).code(), 1);
    let folder = bench.path(".threadbare");
    let is_journal = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "campaign");
    let journal =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(is_journal).unwrap();
    let victim = bench.path("victim");
    std::fs::rename(&journal, &victim).unwrap();
    let before = std::fs::read(&victim).unwrap();
    std::os::unix::fs::symlink(&victim, &journal).unwrap();
    let said = bench.tool(&["run", "--resume", "--runs", "9"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr().contains("a link"), "{}", said.stderr());
    // A new campaign is made without a journal.
    let said = bench.tool(&["run", "--runs", "3", "--keep-going", "--", "./bank"]);
    assert!(said.stderr().contains("a link"), "{}", said.stderr());
    assert_eq!(std::fs::read(&victim).unwrap(), before);
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
    refused(&bench, &["run", "--", "."], ". is not a file");
    refused(&bench, &["run", "--", "./"], "is not a file");
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
    bench.write("later.schedule", &text.replacen("schedule 3", "schedule 4", 1));
    refused(&bench, &["replay", "later.schedule"], "format version 4");

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
