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
    for (args, why) in [
        (&["invariants", "--block", "-3", "--", "./bank"][..], "from 2 to 64"),
        (&["generate", "--max", "-3", "--", "./bank"], "from 1 on"),
        (&["generate", "--max", "0", "--", "./bank"], "from 1 on"),
        (&["generate", "--margin", "-3", "--", "./bank"], "from 0 to"),
        (&["inputs", "--candidates", "-3", "--", "./bank"], "from 1 to 200"),
        (&["inputs", "--tests", "-3", "--", "./bank"], "from 1 on"),
        (&["inputs", "--tests", "0", "--", "./bank"], "from 1 on"),
        (&["inputs", "--idioms", "-1", "--", "./bank"], "from 1 to 6"),
        (&["trace", "--events", "-3", "run.trace"], "no event's number"),
        (&["shrink", "--runs", "-5", "x"], "a number of runs"),
        (&["run", "--time", "99999999999999999999", "--", "./bank"], "at most 100 years"),
    ] {
        refused(&bench, args, why);
    }
    // Programs that the newer commands cannot use are told as `run` tells them.
    bench.write("text", "int main(void) { return 0; }");
    for command in ["invariants", "futures", "generate"] {
        refused(&bench, &[command, "--", "./nowhere"], "not found");
        refused(&bench, &[command, "--", "."], "is not a file");
        refused(&bench, &[command, "--", "/bin/sh"], "was not built with threadbare");
        refused(&bench, &[command, "--", "./text"], "is not");
    }
    refused(&bench, &["inputs", "--", "./nowhere", "{n:int(0..3)}"], "not found");
    refused(&bench, &["inputs", "--", "/bin/sh", "{n:int(0..3)}"], "was not built with threadbare");
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
    for (file, why) in [("/dev/zero", "it is a device"), ("./pipe", "it is a pipe"), (".", "it is a folder")]
    {
        for args in [
            &["run", "--suppressions", file, "--", "./bank"][..],
            &["run", "--future", &format!("@{file}"), "--", "./bank"],
            &["trace", file],
            &["shrink", file],
            &["futures", "--of", file],
            &["invariants", "--check", file, "--", "./bank"],
            &["invariants", "--from", file],
            &["generate", "--recipe", file, "--api", "bank.c", "--", "bank.c"],
            &["generate", "--api", file, "--", "bank.c"],
        ] {
            refused(&bench, args, why);
        }
        let why = if file == "." { "has no regressions" } else { why };
        refused(&bench, &["inputs", "--regressions", file, "--", "./bank", "{n:int(0..3)}"], why);
        refused(&bench, &["inputs", "--", "./bank", &format!("{{n:grammar({file})}}")], "it is no file");
    }
    // What stands in a folder of kept things.
    for name in ["a.future", "a.pair", "a.c"] {
        assert!(bench.command("mkfifo", &[name]).status().unwrap().success());
    }
    refused(&bench, &["futures", "--check", ".", "--", "./bank"], "it is a pipe");
    refused(&bench, &["generate", "--check", ".", "--", "./bank"], "it is a pipe");
    assert_eq!(std::fs::read_to_string(bench.path("bank.c")).unwrap(), source);
}

#[test]
fn a_result_that_cannot_be_written_is_told() {
    let bench = Workbench::with_bank(BANK);
    assert_eq!(bench.tool(&["run", "--", "./bank"]).code(), 1);
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let schedule = schedule_of(&bench);
    assert_eq!(bench.tool(&["replay", &schedule, "--record", "run.trace"]).code(), 1);
    for args in [
        &["report"][..],
        &["report", "--format", "json"],
        &["list"],
        &["coverage"],
        &["run", "--", "./bank"],
        &["replay", &schedule],
        &["replay", &schedule, "--trace"],
        &["trace", "run.trace"],
        &["trace", "run.trace", "--format", "json"],
        &["futures", "--", "./bank"],
        &["runtime-path"],
        &["--help"],
        &["run", "--help"],
        &["--version"],
    ] {
        let mut command = bench.command(env!("CARGO_BIN_EXE_threadbare"), args);
        let output = command.stdout(full()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("could not be written") && text.contains("help: "), "{args:?}: {text}");
    }
    // What is told besides changes nothing, whether it is taken or not.
    for (args, code) in [(&["replay", &schedule][..], 1), (&["list", "--out", "nowhere"], 0), (&["fly"], 2)] {
        let mut command = bench.command(env!("CARGO_BIN_EXE_threadbare"), args);
        assert_eq!(command.stderr(full()).output().unwrap().status.code(), Some(code), "{args:?}");
    }
}

/// A schedule of the folder's findings.
fn schedule_of(bench: &Workbench) -> String {
    let files = std::fs::read_dir(bench.path(".threadbare")).unwrap().map(|entry| entry.unwrap().path());
    let mut schedules = files.filter(|path| path.extension().is_some_and(|end| end == "schedule"));
    schedules.next().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_recording_replaces_files_only() {
    let bench = Workbench::with_bank(BANK);
    assert_eq!(bench.tool(&["run", "--", "./bank"]).code(), 1);
    let schedule = schedule_of(&bench);
    assert!(bench.command("mkfifo", &["pipe"]).status().unwrap().success());
    for (place, why) in [("pipe", "it is no file"), (".", "it is a folder")] {
        let said = bench.tool(&["replay", &schedule, "--record", place]);
        assert_eq!(said.code(), 2, "{}", said.stderr());
        assert!(said.stderr().contains(why) && said.stderr().contains("help: "), "{}", said.stderr());
    }
    let kind = std::fs::symlink_metadata(bench.path("pipe")).unwrap().file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind));
    // A link stays one, and what it leads to is replaced.
    bench.write("old.trace", "");
    std::os::unix::fs::symlink("old.trace", bench.path("link")).unwrap();
    assert_eq!(bench.tool(&["replay", &schedule, "--record", "link"]).code(), 1);
    assert!(std::fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
    assert_eq!(bench.tool(&["trace", "old.trace"]).code(), 0);
}

/// Names, labels, lines and messages of a program that mean to speak to whoever reads of it.
#[test]
fn nothing_of_a_program_speaks_to_the_terminal() {
    const NAME: &str = "./ev\u{1b}[31m\u{9b}il\n::error::x";
    const EVIL: &str = r#"
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int balance;
static void *deposit(void *unused) {
    pthread_setname_np(pthread_self(), "\033[31m\302\233J\rZ");
    int old = balance;
    balance = old + 1;
    return unused;
}
#line 5 "\033]0;pwn\007\302\2332J\342\200\256x.c"
int main(void) {
    pthread_t strands[2];
    for (int i = 0; i < 2; i++) pthread_create(&strands[i], 0, deposit, 0);
    for (int i = 0; i < 2; i++) pthread_join(strands[i], 0);
    fprintf(stderr, "err \033[2J\302\2335m\r\b\n::error::x\n::warning file=a::b\n");
    if (balance != 2) __assert_fail("\033[2J\302\233bad\n::error file=x::y", "\033]0;q\007.c", 3, "\033main");
    return 0;
}
"#;
    let bench = Workbench::new();
    bench.write("evil.c", EVIL);
    bench.ok(&["cc", "-g", "-O1", "-pthread", "evil.c", "-o", NAME]);
    let quiet = |args: &[&str], codes: &[i32]| {
        let said = bench.tool(args);
        assert!(codes.contains(&said.code()), "{args:?}: {}", said.stderr());
        for text in [said.stdout(), said.stderr()] {
            let bad = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
            assert!(!text.contains(bad), "{args:?}: {text:?}");
            let commands = ["::error::x", "::error file=x", "::warning file=a"];
            let obeyed =
                text.lines().find(|line| commands.iter().any(|it| line.trim_start().starts_with(it)));
            assert_eq!(obeyed, None, "{args:?}: {text}");
        }
    };
    let argument = "\u{1b}[2J\u{9b}\n::error::x";
    for format in ["text", "json", "sarif", "junit", "github"] {
        quiet(&["run", "--races", "off", "--format", format, "--", NAME, argument], &[1]);
        quiet(&["report", "--format", format], &[0]);
    }
    let schedule = schedule_of(&bench);
    quiet(&["replay", &schedule], &[1]);
    quiet(&["replay", &schedule, "--trace"], &[1]);
    quiet(&["replay", &schedule, "--record", "run.trace"], &[1]);
    quiet(&["shrink", "--time", "100ms", &schedule], &[1]);
    quiet(&["run", "--resume", "--runs", "30"], &[0, 1]);
    quiet(&["list", "--out", "no\u{1b}[2J\u{9b}where"], &[0]);
    quiet(&["report", "--from", "no\u{1b}[2J\u{9b}where"], &[2]);
    quiet(&["fl\u{1b}[2J\u{9b}y"], &[2]);
    for format in ["text", "json"] {
        for args in [&["list"][..], &["coverage"], &["trace", "run.trace"], &["replay", &schedule]] {
            quiet(&[args, &["--format", format]].concat(), &[0, 1]);
        }
        for command in ["futures", "invariants", "generate"] {
            quiet(&[command, "--runs", "20", "--format", format, "--", NAME, argument], &[0, 1]);
        }
    }
    // A file is read by somebody later.
    bench.ok(&["report", "--out", "report.txt"]);
    let written = std::fs::read_to_string(bench.path("report.txt")).unwrap();
    assert!(!written.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{written:?}");
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
    bench.write("later.schedule", &text.replacen("schedule 4", "schedule 5", 1));
    refused(&bench, &["replay", "later.schedule"], "format version 5");

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
