//! Campaigns that last: whatever ends one, it goes on as if nothing had happened, and no finding is lost. And programs that
//! take more of the machine than they may.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use threadbare_tests::extent::either;
use threadbare_tests::tool::{self, Outcome};

/// Three strands with a race, a lost update and a lock order that can close: findings of several kinds, some rare.
const BUSY: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ticket, rare;
static int plain;
static void *one(void *x) {
    pthread_mutex_lock(&a); pthread_mutex_lock(&b); plain++; pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);
    int seen = atomic_load(&ticket); atomic_store(&ticket, seen + 1);
    for (int i = 0; i < 6; i++) atomic_fetch_add(&rare, 1);
    return x;
}
static void *two(void *x) {
    pthread_mutex_lock(&b); pthread_mutex_lock(&a); plain++; pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
    int seen = atomic_load(&ticket); atomic_store(&ticket, seen + 1);
    assert(atomic_load(&rare) != 3);
    return x;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    assert(atomic_load(&ticket) == 2);
    return 0;
}
"#;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn ask(work: &Path, arguments: &[&str]) -> Outcome {
    tool::finish(tool::command(arguments).current_dir(work), tool::PATIENCE)
}

/// Builds a program in the folder.
#[track_caller]
fn build(work: &Path, name: &str, source: &str) {
    let file = format!("{name}.c");
    fs::write(work.join(&file), source).expect("a source file");
    let built = ask(work, &["cc", "-g", "-O1", "-pthread", &file, "-o", name]);
    assert_eq!(built.code, Some(0), "{}", built.describe());
}

#[track_caller]
fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.describe()))
}

/// What must be the same in two campaigns that are the same.
#[track_caller]
fn essence(outcome: &Outcome) -> Value {
    let mut report = json(outcome);
    for changing in ["elapsed_s", "runs_per_s"] {
        report[changing].take();
    }
    for finding in report["findings"].as_array_mut().expect("findings") {
        // The folders differ.
        finding["schedule"].take();
    }
    report
}

fn kill(child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    let _ = kill_process(id, Signal::KILL);
}

fn schedules(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let mut found: Vec<_> = files.filter(|path| path.extension() == Some(OsStr::new("schedule"))).collect();
    found.sort();
    found
}

/// Starts a command of the folder that nobody listens to.
fn start(work: &Path, arguments: &[&str]) -> Child {
    let mut command = tool::command(arguments);
    command.current_dir(work).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the tool can be started")
}

/// Numbers that are the same in every test run.
struct Moments(u64);

impl Moments {
    fn next(&mut self, longest: u64) -> Duration {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x9E37_79B9_7F4A_7C15);
        Duration::from_millis(1 + (self.0 >> 33) % longest)
    }
}

fn has_journal(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.path().extension() == Some(OsStr::new("campaign")))
}

/// Kills campaigns at so many moments, each time going on, and compares their ends with those that nobody ended.
#[track_caller]
fn killed(strategy: &[&str], runs: &str, kills: u64) {
    let work = folder();
    build(work.path(), "busy", BUSY);
    let mut moments = Moments(runs.len() as u64);
    let mut done = 0;
    for seed in 0.. {
        if done == kills {
            break;
        }
        let seed = seed.to_string();
        let options = [
            "--keep-going",
            "--shrink",
            "off",
            "--runs",
            runs,
            "--jobs",
            "2",
            "--format",
            "json",
            "--seed",
            &seed,
        ];
        let (whole_out, killed_out) = (format!("whole{seed}"), format!("killed{seed}"));
        let whole = [&["run"], strategy, &options, &["--out", &whole_out, "--", "./busy"]].concat();
        let whole = essence(&ask(work.path(), &whole));
        assert!(whole["findings"].as_array().is_some_and(|findings| findings.len() >= 3), "{whole:#}");
        let begin = [&["run"], strategy, &options, &["--out", &killed_out, "--", "./busy"]].concat();
        let resume = ["run", "--resume", "--out", &killed_out];
        let out = work.path().join(&killed_out);
        let mut seen = Vec::new();
        while done < kills {
            let mut child = start(work.path(), if has_journal(&out) { &resume } else { &begin });
            thread::sleep(moments.next(150));
            if child.try_wait().expect("its state").is_some() {
                break;
            }
            kill(&child);
            child.wait().expect("it has ended");
            done += 1;
            let kept = schedules(&out);
            assert!(
                seen.iter().all(|finding| kept.contains(finding)),
                "a finding is lost: {seen:?}, {kept:?}"
            );
            seen = kept;
        }
        let last = ask(work.path(), &["run", "--resume", "--out", &killed_out, "--format", "json"]);
        assert_eq!(essence(&last), whole, "after {done} kills: {}", last.describe());
        let content = |folder: &str| -> Vec<_> {
            schedules(&work.path().join(folder))
                .iter()
                .map(|path| fs::read(path).expect("a schedule"))
                .collect()
        };
        assert_eq!(content(&killed_out), content(&whole_out), "the schedules differ");
    }
}

#[test]
fn a_killed_campaign_goes_on_as_if_nothing_had_happened() {
    killed(&[], "2000", either(4, 50));
    killed(&["--strategy", "rff"], "1500", either(2, 20));
    killed(&["--strategy", "surw"], "1500", either(2, 20));
}

/// The fork servers of a driver, or the runs of a server.
fn servers(parent: u32) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let ids =
        lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<i32>>());
    ids.filter_map(Pid::from_raw).collect()
}

#[test]
fn a_killed_server_costs_nothing() {
    let work = folder();
    build(work.path(), "busy", BUSY);
    let arguments = |out| {
        [
            "run",
            "--shrink",
            "off",
            "--keep-going",
            "--runs",
            "3000",
            "--jobs",
            "2",
            "--format",
            "json",
            "--out",
            out,
            "--",
            "./busy",
        ]
    };
    let whole = essence(&ask(work.path(), &arguments("whole")));
    let mut command = tool::command(arguments("killed"));
    command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the tool can be started");
    for round in 0..4u64 {
        thread::sleep(Duration::from_millis(60 + 10 * round));
        // Only this campaign's own servers: children of the driver that was started here.
        if let Some(server) = servers(child.id()).first() {
            let _ = kill_process(*server, Signal::KILL);
        }
    }
    let outcome = tool::collect(child, tool::PATIENCE);
    assert_eq!(essence(&outcome), whole, "{}", outcome.describe());
}

/// The process that makes one run after the other may be killed in a run, or between two: no answer is told twice.
#[test]
fn a_killed_worker_costs_nothing() {
    let work = folder();
    build(
        work.path(),
        "quick",
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int n; static void *one(void *x) { n++; n++; return x; } int main(void) { pthread_t s; pthread_create(&s, 0, one, 0); n++; pthread_join(s, 0); return n != 3; }",
    );
    let arguments = |out| {
        let how = ["run", "--strategy", "random", "--runs", "60000", "--jobs", "1", "--format", "json"];
        [&how[..], &["--out", out, "--", "./quick"]].concat()
    };
    let whole = essence(&ask(work.path(), &arguments("whole")));
    let mut command = tool::command(arguments("killed"));
    command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the tool can be started");
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(30));
        // Only this campaign's own: a child of the server that the driver started here.
        let server = servers(child.id()).first().map(|server| server.as_raw_nonzero().get() as u32);
        if let Some(worker) = server.and_then(|server| servers(server).first().copied()) {
            let _ = kill_process(worker, Signal::KILL);
        }
    }
    let outcome = tool::collect(child, tool::PATIENCE);
    assert_eq!(essence(&outcome), whole, "{}", outcome.describe());
}

#[test]
fn a_run_that_somebody_kills_is_made_again() {
    let work = folder();
    // A run takes long enough to be caught.
    build(
        work.path(),
        "slow",
        "int main(void) { for (volatile long i = 0; i < 400000000; i++) {} return 0; }",
    );
    let arguments =
        ["run", "--runs", "2", "--jobs", "1", "--timeout", "100s", "--format", "json", "--", "./slow"];
    let mut command = tool::command(arguments);
    command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the tool can be started");
    let victim = loop {
        let runs = servers(child.id()).first().map(|server| servers(server.as_raw_nonzero().get() as u32));
        if let Some(run) = runs.and_then(|runs| runs.first().copied()) {
            break run;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let name = fs::read_to_string(format!("/proc/{}/comm", victim.as_raw_nonzero())).unwrap_or_default();
    assert_eq!(name.trim(), "slow");
    kill_process(victim, Signal::KILL).expect("the run is there");
    let outcome = tool::collect(child, tool::PATIENCE);
    assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
    assert_eq!(json(&outcome)["runs"], 2, "{}", outcome.describe());

    // One that kills itself does so again.
    build(
        work.path(),
        "own",
        "#include <signal.h>\n#include <unistd.h>\nint main(void) { kill(getpid(), SIGKILL); return 0; }",
    );
    let outcome = ask(work.path(), &["run", "--runs", "2", "--format", "json", "--", "./own"]);
    assert_eq!(json(&outcome)["findings"][0]["kind"], "crash", "{}", outcome.describe());
}

#[test]
fn a_campaign_is_extended() {
    let work = folder();
    build(work.path(), "busy", BUSY);
    let whole = [
        "run",
        "--shrink",
        "off",
        "--keep-going",
        "--runs",
        "700",
        "--format",
        "json",
        "--out",
        "whole",
        "--",
        "./busy",
    ];
    let mut whole = essence(&ask(work.path(), &whole));
    // Ended by its first failure, then by its runs, in the middle of an epoch.
    let first =
        ask(work.path(), &["run", "--shrink", "off", "--runs", "300", "--format", "json", "--", "./busy"]);
    assert_eq!(json(&first)["ended_by"], "failure", "{}", first.describe());
    let again = ask(work.path(), &["run", "--resume", "--format", "json"]);
    assert_eq!((again.code, essence(&again)), (Some(1), essence(&first)), "{}", again.describe());
    assert!(again.stderr.contains("--keep-going"), "{}", again.describe());
    let second = ask(work.path(), &["run", "--resume", "--keep-going", "--format", "json"]);
    assert_eq!(json(&second)["runs"], 300, "{}", second.describe());
    let third = ask(work.path(), &["run", "--resume", "--runs", "700", "--jobs", "1", "--format", "json"]);
    let mut third = essence(&third);
    // Predictions of the last runs were tried earlier.
    for report in [&mut whole, &mut third] {
        report["warnings"].take();
    }
    assert_eq!(third, whole);
    // What earlier sittings have found and not shrunk is shrunk by this one.
    let last = ask(work.path(), &["run", "--resume", "--shrink", "2s", "--format", "json"]);
    let shrunk = |finding: &Value| finding["shrunk"].is_object();
    let last = json(&last);
    let findings = last["findings"].as_array().expect("findings");
    assert!(findings.iter().any(shrunk), "{last:#}");
    assert_eq!(findings.len(), third["findings"].as_array().map_or(0, Vec::len));
    let list = json(&ask(work.path(), &["list", "--format", "json"]));
    assert_eq!(list["format_version"], 1);
    let [campaign] = &list["campaigns"].as_array().expect("campaigns")[..] else { panic!("{list:#}") };
    assert_eq!((campaign["runs"].as_u64(), campaign["resume"].as_str()), (Some(700), Some("with --runs")));
    assert_eq!(campaign["sessions"], 5, "{campaign:#}");
    assert_eq!(list["findings"].as_array().map(Vec::len), third["findings"].as_array().map(Vec::len));
}

#[track_caller]
fn refused(outcome: &Outcome, reason: &str) {
    assert_eq!(outcome.code, Some(2), "{}", outcome.describe());
    assert!(outcome.stderr.contains(reason) && outcome.stderr.contains("help:"), "{}", outcome.describe());
    assert!(outcome.stdout.is_empty(), "{}", outcome.describe());
}

#[test]
fn what_cannot_go_on_says_why() {
    let work = folder();
    build(work.path(), "busy", BUSY);
    refused(&ask(work.path(), &["run", "--resume"]), "no campaign to go on with");
    assert_eq!(ask(work.path(), &["run", "--runs", "100", "--keep-going", "--", "./busy"]).code, Some(1));
    refused(&ask(work.path(), &["run", "--resume=nothing"]), "no campaign `nothing`");
    refused(&ask(work.path(), &["run", "--resume", "--", "./busy", "more"]), "no campaign of");
    refused(&ask(work.path(), &["run", "--resume", "--seed", "9"]), "another campaign");
    let files = || fs::read_dir(work.path().join(".threadbare")).into_iter().flatten().flatten();
    let journal =
        files().map(|file| file.path()).find(|path| path.extension() == Some(OsStr::new("campaign")));
    let journal = journal.expect("a journal");
    let whole = fs::read(&journal).expect("a journal");

    // The whole part of a damaged one is used.
    fs::write(&journal, &whole[..whole.len() - 700]).expect("a journal");
    let outcome = ask(work.path(), &["run", "--resume", "--format", "json"]);
    assert!(outcome.stderr.contains("damaged"), "{}", outcome.describe());
    assert_eq!(json(&outcome)["runs"], 100, "{}", outcome.describe());
    assert_eq!(ask(work.path(), &["run", "--resume", "--runs", "120", "--", "./busy"]).code, Some(1));

    fs::write(&journal, b"threadbare campaign 9\n").expect("a journal");
    refused(&ask(work.path(), &["run", "--resume"]), "version 9");
    fs::write(&journal, b"something else").expect("a journal");
    refused(&ask(work.path(), &["run", "--resume"]), "no campaign of Threadbare's");
    fs::write(&journal, b"").expect("a journal");
    refused(&ask(work.path(), &["run", "--resume"]), "nothing was written");
    let list = ask(work.path(), &["list"]);
    assert!(list.code == Some(0) && list.stderr.contains("left out"), "{}", list.describe());

    // Another build.
    fs::write(&journal, &whole).expect("a journal");
    build(work.path(), "busy", &BUSY.replace("i < 6", "i < 7"));
    refused(&ask(work.path(), &["run", "--resume"]), "another build");
    let list = ask(work.path(), &["list"]);
    assert!(list.stdout.contains("no: other build"), "{}", list.describe());
}

#[test]
fn two_campaigns_in_one_folder_are_told() {
    let work = folder();
    build(work.path(), "busy", BUSY);
    let mut first = start(work.path(), &["run", "--keep-going", "--time", "1h", "--", "./busy"]);
    while schedules(&work.path().join(".threadbare")).is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    let same = ask(work.path(), &["run", "--runs", "5", "--", "./busy"]);
    refused(&same, &format!("under way already in process {}", first.id()));
    refused(&ask(work.path(), &["run", "--resume"]), "under way already");
    let other = ask(work.path(), &["run", "--runs", "5", "--seed", "8", "--", "./busy"]);
    assert!(matches!(other.code, Some(0 | 1)) && other.stderr.contains("is under way in this folder"));
    let list = ask(work.path(), &["list"]);
    assert!(list.stdout.contains("under way"), "{}", list.describe());
    kill(&first);
    first.wait().expect("it has ended");
    assert!(matches!(ask(work.path(), &["run", "--runs", "5", "--", "./busy"]).code, Some(0 | 1)));
}

#[test]
fn a_removed_folder_loses_no_finding() {
    let work = folder();
    build(work.path(), "busy", BUSY);
    let out = work.path().join(".threadbare");
    let arguments =
        ["run", "--keep-going", "--runs", "4000", "--jobs", "1", "--format", "json", "--", "./busy"];
    let mut command = tool::command(arguments);
    command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the tool can be started");
    while schedules(&out).is_empty() {
        thread::sleep(Duration::from_millis(2));
    }
    // It may be written to at this moment.
    while fs::remove_dir_all(&out).is_err() {}
    let outcome = tool::collect(child, tool::PATIENCE);
    let report = json(&outcome);
    assert_eq!(report["runs"], 4000, "{}", outcome.describe());
    assert!(outcome.stderr.contains("taken"), "{}", outcome.describe());
    for finding in report["findings"].as_array().expect("findings") {
        let schedule = work.path().join(finding["schedule"].as_str().expect("a path"));
        assert!(schedule.is_file(), "{} is lost: {}", schedule.display(), outcome.describe());
    }
}

#[test]
fn kept_findings_are_replayed_first() {
    let work = folder();
    let broken = "#include <assert.h>\n".to_owned()
        + r#"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n;
static void *add(void *x) { int seen = atomic_load(&n); atomic_store(&n, seen + 1); return x; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, add, 0); pthread_create(&t, 0, add, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    assert(n == 2);
    return 0;
}
"#;
    build(work.path(), "count", &broken);
    assert_eq!(ask(work.path(), &["run", "--", "./count"]).code, Some(1));
    let regress =
        || ask(work.path(), &["run", "--regress", "--runs", "50", "--format", "json", "--", "./count"]);
    let outcome_of = |report: &Value| report["regress"][0]["outcome"].as_str().unwrap_or_default().to_owned();

    let same = regress();
    let report = json(&same);
    assert_eq!((same.code, outcome_of(&report).as_str()), (Some(1), "failure"), "{}", same.describe());
    assert_eq!((report["ended_by"].as_str(), report["runs"].as_u64()), (Some("regress"), Some(0)));

    // The same bug in another build, a line further down.
    build(work.path(), "count", &format!("\n{broken}"));
    let moved = regress();
    assert_eq!(
        (moved.code, outcome_of(&json(&moved)).as_str()),
        (Some(1), "failure"),
        "{}",
        moved.describe()
    );
    let id = json(&moved)["regress"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(ask(work.path(), &["replay", &id]).code, Some(1));

    // One event for two of the same strand: the schedule does not fit.
    let fixed =
        broken.replace("int seen = atomic_load(&n); atomic_store(&n, seen + 1)", "atomic_fetch_add(&n, 1)");
    build(work.path(), "count", &fixed);
    let unfit = regress();
    assert_eq!((unfit.code, outcome_of(&json(&unfit)).as_str()), (Some(0), "unfit"), "{}", unfit.describe());
    assert_eq!(json(&unfit)["runs"], 50);

    // As many events as before.
    let fixed = broken.replace("atomic_store(&n, seen + 1)", "atomic_fetch_add(&n, 1 + seen * 0)");
    build(work.path(), "count", &fixed);
    let passes = regress();
    assert_eq!(
        (passes.code, outcome_of(&json(&passes)).as_str()),
        (Some(0), "fixed"),
        "{}",
        passes.describe()
    );
    let list = json(&ask(work.path(), &["list", "--format", "json"]));
    assert_eq!(list["findings"][0]["regress"], "fixed", "{list:#}");

    // And back.
    build(work.path(), "count", &broken);
    let back = regress();
    assert_eq!((back.code, outcome_of(&json(&back)).as_str()), (Some(1), "failure"), "{}", back.describe());
    let list = json(&ask(work.path(), &["list", "--format", "json"]));
    assert!(list["findings"][0]["regress"].is_null(), "{list:#}");
}

#[test]
fn a_careless_program_is_bounded() {
    let work = folder();
    let run = |name: &str, source: &str, options: &[&str]| {
        build(work.path(), name, source);
        let program = format!("./{name}");
        let arguments =
            [&["run", "--runs", "3", "--jobs", "1", "--format", "json"], options, &["--", &program]];
        ask(work.path(), &arguments.concat())
    };
    // 64 MiB in all.
    let hog = "#include <stdlib.h>\nint main(void) { for (int i = 0; i < 64; i++) { char *p = malloc(1 << 20); if (!p) return 3; *p = 1; } return 0; }";
    let outcome = run("hog", hog, &["--memory", "8M"]);
    let report = json(&outcome);
    let finding = &report["findings"][0];
    assert_eq!((outcome.code, finding["kind"].as_str()), (Some(1), Some("out-of-memory")), "{report:#}");
    assert_eq!(finding["locations"][0]["line"], 2, "{report:#}");
    let replay = ask(work.path(), &["replay", finding["id"].as_str().expect("an id")]);
    assert_eq!(replay.code, Some(1), "{}", replay.describe());
    assert_eq!(run("hog", hog, &[]).code, Some(0));

    // A block that could never be had is refused, as by any system.
    let greedy = "#include <stdlib.h>\nint main(void) { return malloc(1ul << 30) != 0; }";
    let outcome = run("greedy", greedy, &["--memory", "8M"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
    assert!(outcome.stdout.contains("--memory"), "{}", outcome.describe());

    // Memory that the runtime does not see, 256 MiB in all, slowly enough to be looked at.
    let maps = "#include <string.h>\n#include <sys/mman.h>\nint main(void) { for (int i = 0; i < 64; i++) { char *p = mmap(0, 1 << 22, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(p, 1, 1 << 22); for (volatile long j = 0; j < 40000000; j++) {} } return 0; }";
    let outcome = run("maps", maps, &["--memory", "4M", "--timeout", "100s"]);
    assert_eq!(json(&outcome)["findings"][0]["kind"], "out-of-memory", "{}", outcome.describe());

    let loud = "#include <unistd.h>\nint main(void) { static char b[1 << 16]; for (int i = 0; i < 64; i++) if (write(1, b, sizeof b) < 0) return 3; return 0; }";
    let outcome = run("loud", loud, &["--output", "1M"]);
    assert!(outcome.code == Some(0) && outcome.stdout.contains("--output"), "{}", outcome.describe());

    let files = "#include <fcntl.h>\n#include <unistd.h>\nint main(void) { static char b[1 << 16]; int f = open(\"file\", O_CREAT | O_WRONLY | O_TRUNC, 0600); for (int i = 0; i < 64; i++) if (write(f, b, sizeof b) < 0) return 3; return 0; }";
    let outcome = run("files", files, &["--file-size", "1M"]);
    assert!(outcome.code == Some(1) && outcome.stdout.contains("--file-size"), "{}", outcome.describe());
    assert!(fs::metadata(work.path().join("file")).is_ok_and(|file| file.len() <= 1 << 20));

    // A grandchild in a session of its own, which would end by itself.
    let daemon = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int p[2]; char c; if (pipe(p)) return 3; if (fork() == 0) { setsid(); if (fork() == 0) { FILE *f = fopen(\"pid\", \"w\"); fprintf(f, \"%d\", getpid()); fclose(f); write(p[1], \"x\", 1); for (int i = 0; i < 60; i++) sleep(1); _exit(0); } _exit(0); } return read(p[0], &c, 1) != 1; }";
    let outcome = run("daemon", daemon, &[]);
    assert!(
        outcome.code == Some(0) && outcome.stdout.contains("left processes behind"),
        "{}",
        outcome.describe()
    );
    let id = fs::read_to_string(work.path().join("pid")).expect("the daemon's id");
    let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    assert_ne!(name.trim(), "daemon", "process {id} is still there");
}
