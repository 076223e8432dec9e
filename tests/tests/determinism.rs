//! Same program, input and seed: the same runs, byte for byte, on an idle machine and on a busy one, with one job and
//! with several.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::{compile, tool};

/// Of every language, with memory, time, input and output, and many ways to wait.
const PROGRAMS: [&str; 14] = [
    "atomics/ring.cc",
    "condvar/two_condvars.c",
    "cxx/async.cc",
    "cxx/thread_pool.cc",
    "deadlock/abba.rs",
    "io/epoll.c",
    "io/socketpair.c",
    "lifecycle/tree.c",
    "lost-update/counter.c",
    "memory/malloc_heavy.c",
    "rust-std/mpsc.rs",
    "signals/sigwait.c",
    "timed/wait_for.cc",
    "timed/wait_timeout.rs",
];

/// Two processes that use all the processor they get, for a bounded number of rounds; ended with the value.
struct Busy([Child; 2]);

impl Busy {
    fn new() -> Busy {
        let script = "i=0; while [ $i -lt 200000000 ]; do i=$((i+1)); done";
        let spin = || {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null());
            command.spawn().expect("a shell can be started")
        };
        Busy([spin(), spin()])
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have come to its own end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn chosen() -> Vec<Program> {
    let all = corpus::programs();
    let find = |name: &str| all.iter().find(|program| program.name == name).cloned();
    PROGRAMS.iter().map(|name| find(name).unwrap_or_else(|| panic!("{name} is no program"))).collect()
}

fn build(program: &Program) -> PathBuf {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    compile::instrumented(program, compile::compilers(program)[0], &builds)
        .unwrap_or_else(|message| panic!("{message}"))
}

fn campaign(program: &Program, executable: &Path, jobs: &str) -> Campaign {
    let out = tempfile::tempdir().expect("a folder");
    campaign::run(program, executable, out.path(), &["--runs", "20", "--keep-going", "--jobs", jobs])
        .unwrap_or_else(|message| panic!("{}: {message}", program.name))
}

/// What must not differ.
fn essence(campaign: &Campaign) -> Vec<(&'static str, &Value)> {
    ["trace_hash", "runs", "runs_failed", "first_failure_run", "points", "switches", "strands", "coverage"]
        .map(|field| (field, &campaign.report[field]))
        .into()
}

#[test]
fn campaigns_repeat_on_an_idle_and_on_a_busy_machine() {
    for program in chosen() {
        let executable = build(&program);
        let first = campaign(&program, &executable, "1");
        let again = campaign(&program, &executable, "1");
        assert_eq!(essence(&first), essence(&again), "{} again", program.name);
        let busy = Busy::new();
        let loaded = campaign(&program, &executable, "1");
        drop(busy);
        assert_eq!(essence(&first), essence(&loaded), "{} on a busy machine", program.name);
        assert!(first.text("trace_hash").is_ok_and(|hash| hash.chars().any(|digit| digit != '0')));
    }
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    for program in chosen() {
        let executable = build(&program);
        let (one, three) = (campaign(&program, &executable, "1"), campaign(&program, &executable, "3"));
        assert_eq!(essence(&one), essence(&three), "{}", program.name);
    }
}

/// Every strategy, also those that learn from earlier runs; each run also follows its own schedule again.
#[test]
fn the_number_of_jobs_changes_nothing_for_any_strategy() {
    const STRATEGIES: [&str; 14] = [
        "portfolio",
        "random",
        "random:4",
        "uniform",
        "round-robin",
        "pct",
        "pct:5",
        "delay",
        "pos",
        "urw",
        "surw",
        "rff",
        "rff:1",
        "stall",
    ];
    let programs = corpus::programs();
    for name in ["search/two_condvars.c", "search/work_stealing.c", "search/reorder.c"] {
        let program = programs.iter().find(|program| program.name == name).expect("it is a program");
        let executable = build(program);
        for strategy in STRATEGIES {
            let made = |options: &[&str]| {
                let out = tempfile::tempdir().expect("a folder");
                let mut all = vec!["--runs", "40", "--keep-going", "--races", "off", "--strategy", strategy];
                all.extend(options);
                campaign::run(program, &executable, out.path(), &all)
                    .unwrap_or_else(|message| panic!("{name}: {message}"))
            };
            let one = made(&["--jobs", "1", "--check-replay"]);
            let three = made(&["--jobs", "3"]);
            assert_eq!(essence(&one), essence(&three), "{name} with {strategy}");
            assert_eq!(one.number("replays"), Ok(40), "{name} with {strategy}");
        }
    }
}

#[test]
fn seeds_matter() {
    let program =
        chosen().into_iter().find(|program| program.name == "condvar/two_condvars.c").expect("it is chosen");
    let executable = build(&program);
    let out = tempfile::tempdir().expect("a folder");
    let other = campaign::run(&program, &executable, out.path(), &["--runs", "20", "--seed", "2"]);
    let other = other.unwrap_or_else(|message| panic!("{message}"));
    assert_ne!(campaign(&program, &executable, "1").report["trace_hash"], other.report["trace_hash"]);
}

/// Rust's panic message names the kernel's id of the process, `thread 'main' (4711) panicked at PLACE:`, which is a new one
/// every time, and not always as long: where the line is broken depends on it.
fn without_process_ids(text: &str) -> String {
    let mut out = String::new();
    let mut broken = false;
    for line in text.lines() {
        match (line.find("' ("), line.find(") panicked at")) {
            _ if broken => out.push_str(line.trim_start().trim_start_matches("│ ")),
            (Some(from), Some(to)) if from < to => {
                out.extend([&line[..from + 3], &line[to..]]);
                broken = true;
            }
            _ => out.push_str(line),
        }
        broken &= !line.ends_with(':');
        if !broken {
            out.push('\n');
        }
    }
    out
}

#[test]
fn where_a_message_is_broken_makes_no_difference() {
    let short = "  │ thread 'main' (84) panicked at /a/coun\n  │ ter.rs:20:5:\n  │ lost\n";
    let long = "  │ thread 'main' (4711) panicked at /a/c\n  │ ounter.rs:20:5:\n  │ lost\n";
    assert_eq!(without_process_ids(short), without_process_ids(long));
    assert_eq!(
        without_process_ids(short),
        "  │ thread 'main' () panicked at /a/counter.rs:20:5:\n  │ lost\n"
    );
}

#[test]
fn a_replays_trace_is_the_same_byte_for_byte() {
    for program in corpus::programs() {
        if !["deadlock/abba.c", "lost-update/counter.rs", "torn/transfer.cc"].contains(&program.name.as_str())
        {
            continue;
        }
        let executable = build(&program);
        let out = tempfile::tempdir().expect("a folder");
        let found = campaign::run(&program, &executable, out.path(), &[])
            .unwrap_or_else(|message| panic!("{message}"));
        let schedule = found.findings()[0]["schedule"].as_str().expect("a path").to_owned();
        let trace = || {
            let outcome = tool::run(["replay", &schedule, "--trace"]);
            assert_eq!(outcome.code, Some(1), "{}: {}", program.name, outcome.describe());
            without_process_ids(&outcome.stdout)
        };
        let first = trace();
        assert!(first.lines().count() > 5 && first.contains(program.file_name()), "{first}");
        assert_eq!(first, trace(), "{}", program.name);
        let busy = Busy::new();
        let loaded = trace();
        drop(busy);
        assert_eq!(first, loaded, "{}", program.name);
    }
}
