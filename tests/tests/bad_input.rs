//! A wrong request gets exit code 2, a message, a next step, and leaves nothing behind; an interrupt ends a campaign
//! with its summary.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::tool::{self, Outcome};
use threadbare_tests::{campaign, compile};

/// A folder to work in, empty at first.
fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn program(name: &str) -> Program {
    corpus::programs().into_iter().find(|program| program.name == name).expect("a program of the corpus")
}

fn built(name: &str) -> PathBuf {
    let program = program(name);
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    compile::instrumented(&program, compile::compilers(&program)[0], &builds)
        .unwrap_or_else(|message| panic!("{message}"))
}

/// Runs `threadbare` in a folder of its own.
fn ask(work: &Path, arguments: &[&OsStr]) -> Outcome {
    tool::finish(tool::command(arguments).current_dir(work), tool::PATIENCE)
}

fn words<'a>(list: &[&'a str]) -> Vec<&'a OsStr> {
    list.iter().map(|word| OsStr::new(*word)).collect()
}

/// The request was refused as it should: code 2, the reason and a next step on the standard error, nothing else.
#[track_caller]
fn refused(outcome: &Outcome, reason: &str) {
    assert_eq!(outcome.code, Some(2), "{}", outcome.describe());
    assert!(outcome.stdout.is_empty(), "{}", outcome.describe());
    assert!(outcome.stderr.to_lowercase().contains(reason), "no word of `{reason}`: {}", outcome.describe());
    let help = outcome.stderr.lines().find_map(|line| line.trim_start().strip_prefix("help:"));
    assert!(help.is_some_and(|help| !help.trim().is_empty()), "no next step: {}", outcome.describe());
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.describe());
}

#[track_caller]
fn left_empty(work: &Path) {
    let left: Vec<_> = fs::read_dir(work).expect("the folder").flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// Refused in an empty folder that stays empty.
#[track_caller]
fn refused_without_trace(arguments: &[&OsStr], reason: &str) {
    let work = folder();
    refused(&ask(work.path(), arguments), reason);
    left_empty(work.path());
}

#[test]
fn requests_that_make_no_sense() {
    let good = built("lost-update/locked.c");
    let run = |options: &[&str], reason: &str| {
        let mut arguments = words(&["run"]);
        arguments.extend(options.iter().map(OsStr::new));
        arguments.extend([OsStr::new("--"), good.as_os_str()]);
        refused_without_trace(&arguments, reason);
    };
    run(&["--runs", "0"], "0 runs");
    run(&["--runs", "many"], "runs");
    run(&["--strategy", "psychic"], "strategy");
    run(&["--strategy", "pct:0"], "a number from 1 to");
    run(&["--strategy", "pos:3"], "takes no parameter");
    run(&["--points", "some"], "shared");
    run(&["--time", "soon"], "time");
    run(&["--timeout", "0s"], "time");
    run(&["--jobs", "0"], "jobs");
    run(&["--no-such-option"], "no-such-option");
    refused_without_trace(&words(&["run"]), "prog");
    refused_without_trace(&words(&["fly"]), "fly");
}

#[test]
fn programs_that_cannot_be_controlled() {
    let source = folder();
    let place = |name: &str| source.path().join(name);
    fs::write(place("it.c"), "int main(void) { return 0; }\n").expect("a source file");
    let compile = |flags: &[&str], name: &str| {
        let mut gcc = Command::new("gcc");
        gcc.arg(place("it.c")).args(flags).arg("-o").arg(place(name));
        let outcome = tool::finish(&mut gcc, tool::PATIENCE);
        assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
        place(name)
    };
    let run = |program: &Path, reason: &str| {
        refused_without_trace(&[OsStr::new("run"), OsStr::new("--"), program.as_os_str()], reason);
    };
    run(&compile(&[], "plain"), "not built with threadbare");
    run(&compile(&["-static"], "static"), "static");
    run(&place("nowhere"), "nowhere");
    run(source.path(), "");
    fs::write(place("script"), "#!/bin/sh\nexit 0\n").expect("a script");
    run(&place("script"), "script");
    fs::write(place("empty"), "").expect("an empty file");
    run(&place("empty"), "empty");
    let bytes = fs::read(built("lost-update/locked.c")).expect("a program");
    fs::write(place("cut"), &bytes[..bytes.len() / 3]).expect("a broken program");
    run(&place("cut"), "cut");
}

#[test]
fn compilers_that_are_not_there() {
    let work = folder();
    fs::write(work.path().join("it.c"), "int main(void) { return 0; }\n").expect("a source file");
    for (wrapper, variable) in [("cc", "THREADBARE_CC"), ("c++", "THREADBARE_CXX")] {
        let mut command = tool::command([wrapper, "it.c", "-o", "it"]);
        command.current_dir(work.path()).env(variable, "/nowhere/compiler");
        refused(&tool::finish(&mut command, tool::PATIENCE), "/nowhere/compiler");
    }
    assert!(!work.path().join("it").exists());
    // The compiler's own complaint and code pass through.
    fs::write(work.path().join("bad.c"), "int main(void) { return x; }\n").expect("a source file");
    let outcome = ask(work.path(), &words(&["cc", "bad.c", "-o", "bad"]));
    assert!(outcome.code == Some(1) && outcome.stderr.contains("bad.c:1"), "{}", outcome.describe());
    assert!(!work.path().join("bad").exists());
}

#[test]
fn output_folders_that_cannot_be_written() {
    let (work, good) = (folder(), built("lost-update/counter.c"));
    fs::write(work.path().join("file"), "content").expect("a file");
    for out in ["file", "file/below", "/proc/threadbare"] {
        let mut arguments = words(&["run", "--out", out, "--"]);
        arguments.push(good.as_os_str());
        refused(&ask(work.path(), &arguments), "output folder");
    }
    assert_eq!(fs::read_to_string(work.path().join("file")).expect("the file"), "content");
    assert_eq!(fs::read_dir(work.path()).expect("the folder").count(), 1);
}

/// A failing program in a folder of its own, with the schedule of its failure.
struct Found {
    work: TempDir,
    program: PathBuf,
    schedule: PathBuf,
}

fn found() -> Found {
    let work = folder();
    let program_path = work.path().join("program");
    fs::copy(built("lost-update/counter.c"), &program_path).expect("a copy of the program");
    let out = work.path().join("out");
    let campaign = campaign::run(&program("lost-update/counter.c"), &program_path, &out, &[])
        .unwrap_or_else(|message| panic!("{message}"));
    let schedule = PathBuf::from(campaign.findings()[0]["schedule"].as_str().expect("a path"));
    Found { work, program: program_path, schedule }
}

impl Found {
    fn replay(&self) -> Outcome {
        ask(self.work.path(), &[OsStr::new("replay"), self.schedule.as_os_str()])
    }
}

#[test]
fn schedules_that_are_broken() {
    let found = found();
    assert_eq!(found.replay().code, Some(1));
    let whole = fs::read_to_string(&found.schedule).expect("a schedule is text");
    for part in [0, 1, 20, whole.len() / 4, whole.len() / 2, whole.len() * 3 / 4, whole.len() - 5] {
        fs::write(&found.schedule, &whole[..part]).expect("a cut schedule");
        refused(&found.replay(), "cannot be replayed");
    }
    let (version, rest) = whole.split_once('\n').expect("a first line");
    let later = version.trim_end_matches(char::is_numeric).to_owned() + "99\n" + rest;
    fs::write(&found.schedule, later).expect("a later schedule");
    refused(&found.replay(), "version");
    fs::write(&found.schedule, b"\xff\xfe\x00\x01 no text").expect("garbage");
    refused(&found.replay(), "cannot be replayed");
    fs::write(&found.schedule, whole).expect("the whole schedule");
    assert_eq!(found.replay().code, Some(1));
    refused_without_trace(&words(&["replay", "no-such-finding"]), "no-such-finding");
    refused_without_trace(&words(&["replay", "."]), "schedule");
    refused_without_trace(&words(&["shrink", "no-such-finding"]), "no-such-finding");
    refused_without_trace(&words(&["shrink", "x", "--time", "never"]), "time");
    refused_without_trace(&words(&["run", "--shrink", "sometimes", "--", "x"]), "off");
}

#[test]
fn schedules_of_another_program() {
    let found = found();
    fs::copy(built("lost-update/wide_counter.c"), &found.program).expect("another program in its place");
    refused(&found.replay(), "another");
    fs::remove_file(&found.program).expect("the program goes");
    refused(&found.replay(), "program");
}

#[test]
fn cargo_outside_of_a_package() {
    let work = folder();
    let mut command = Command::new(tool::cargo_threadbare());
    command.args(["threadbare", "test"]).current_dir(work.path()).env("NO_COLOR", "1");
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    refused(&outcome, "cargo.toml");
    left_empty(work.path());
}

fn start(work: &Path, options: &[&str], program: &Path) -> Child {
    let mut arguments = words(&["run", "--format", "json", "--out", "out", "--runs", "1000000000"]);
    arguments.extend(options.iter().map(OsStr::new));
    arguments.extend([OsStr::new("--"), program.as_os_str()]);
    let mut command = tool::command(arguments);
    command.current_dir(work).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the tool can be started")
}

/// Waits until something holds; the campaign that is to make it so runs without a bound.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + tool::PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what} never came");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The children of a process, as folders of `/proc`.
fn children(tasks: &Path) -> Vec<PathBuf> {
    let tasks = fs::read_dir(tasks).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(|id| Path::new("/proc").join(id)).collect::<Vec<_>>())
        .collect()
}

fn interrupt(child: Child) -> (Outcome, Value) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(id, Signal::INT).expect("a signal can be sent");
    let outcome = tool::collect(child, tool::PATIENCE);
    let report = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("no summary ({error}): {}", outcome.describe()));
    (outcome, report)
}

#[test]
fn an_interrupt_keeps_the_findings() {
    let work = folder();
    let child = start(work.path(), &["--keep-going"], &built("lost-update/counter.c"));
    let schedules = || {
        let files = fs::read_dir(work.path().join("out")).into_iter().flatten().flatten();
        files.filter(|file| file.path().extension().is_some_and(|end| end == "schedule")).count()
    };
    until("a finding", || schedules() > 0);
    let (outcome, report) = interrupt(child);
    assert_eq!(outcome.code, Some(1), "{}", outcome.describe());
    assert_eq!(report["ended_by"], "interrupt");
    let findings = report["findings"].as_array().expect("a list");
    assert!(!findings.is_empty() && report["runs"].as_u64() >= report["runs_failed"].as_u64());
    for finding in findings {
        let schedule = work.path().join(finding["schedule"].as_str().expect("a path"));
        let replay = ask(work.path(), &[OsStr::new("replay"), schedule.as_os_str()]);
        assert_eq!(replay.code, Some(1), "{}", replay.describe());
    }
}

#[test]
fn an_interrupt_of_a_clean_campaign_is_clean() {
    // An interrupt that comes before the first run has ended tells nothing; then it is made once more.
    for _ in 0..50 {
        let work = folder();
        let child = start(work.path(), &[], &built("lost-update/locked.c"));
        // The fork server is started after the tool listens for signals.
        let tasks = PathBuf::from(format!("/proc/{}/task", child.id()));
        let mut servers = Vec::new();
        until("a fork server", || {
            servers = children(&tasks);
            !servers.is_empty()
        });
        let (outcome, report) = interrupt(child);
        until("the end of the fork server", || servers.iter().all(|server| !server.exists()));
        assert_eq!(report["ended_by"], "interrupt");
        let told = (outcome.code, report["verdict"].as_str());
        if report["runs"] == 0 {
            assert_eq!(told, (Some(2), Some("none")), "{}", outcome.describe());
            continue;
        }
        return assert_eq!(told, (Some(0), Some("clean")), "{}", outcome.describe());
    }
    panic!("no run ended before the interrupt");
}
