//! `threadbare generate`: pairs of calls and their tests, on the programs of the paper and on others, and on what is left of right programs when one synchronisation operation is taken away.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{compile, tool};

const FOLDER: &str = "tests/generate";

/// A program, built.
struct Built {
    executable: PathBuf,
    folder: tempfile::TempDir,
}

impl Built {
    fn new(name: &str) -> Built {
        Built::with(name, &["-g", "-O1"], None)
    }

    fn with(name: &str, options: &[&str], compiler: Option<&str>) -> Built {
        Built::of(&tool::root().join(FOLDER).join(name), options, compiler)
    }

    fn of(source: &Path, options: &[&str], compiler: Option<&str>) -> Built {
        let folder = tempfile::tempdir().expect("a folder");
        let executable = folder.path().join("program");
        let wrapper = match source.extension().and_then(|it| it.to_str()) {
            Some("c") => "cc",
            Some("cc") => "c++",
            _ => "rustc",
        };
        let mut command = tool::command([wrapper]);
        if let Some(compiler) = compiler {
            command.env("THREADBARE_CC", compiler).env("THREADBARE_CXX", compiler);
        }
        match wrapper {
            "rustc" => command.arg("-g"),
            _ => command.args(options).arg("-pthread"),
        };
        command.arg(source).arg("-o").arg(&executable);
        let built = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{}", built.describe());
        Built { executable, folder }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// What a command makes of the program.
    fn run(&self, options: &[&str], arguments: &[&str]) -> tool::Outcome {
        let mut command = tool::command(options);
        if options.first() == Some(&"generate") {
            // `tests/kept.rs` is about the others.
            command.args(["--form", "live"]);
        }
        command.args(["--shrink", "off", "--out"]).arg(self.out());
        command.arg("--").arg(&self.executable).args(arguments);
        tool::finish(&mut command, tool::PATIENCE)
    }

    fn json(&self, options: &[&str], arguments: &[&str]) -> (Option<i32>, Value) {
        let mut all = options.to_vec();
        all.extend(["--format", "json"]);
        let made = self.run(&all, arguments);
        let json = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()));
        (made.code, json)
    }
}

fn number(json: &Value, name: &str) -> u64 {
    json[name].as_u64().unwrap_or_else(|| panic!("no {name} in {json}"))
}

fn list<'a>(json: &'a Value, name: &str) -> &'a [Value] {
    json[name].as_array().map(Vec::as_slice).unwrap_or_else(|| panic!("no {name} in {json}"))
}

/// The pairs of tests with this verdict, each as `first|second` in the order of their names.
fn pairs(json: &Value, verdict: &str) -> Vec<String> {
    let tests = list(json, "tests").iter().filter(|test| test["verdict"] == verdict);
    let name =
        |value: &Value| value.as_str().unwrap_or_default().rsplit("::").next().unwrap_or_default().to_owned();
    tests
        .map(|test| {
            let mut names = [name(&test["first"]), name(&test["second"])];
            names.sort();
            names.join("|")
        })
        .collect()
}

/// What a racy program shows, and its right twin does not.
fn twins(built: &Built, name: &str, racy: &[&str]) {
    let (code, json) = built.json(&["generate"], &[]);
    let failed = pairs(&json, "fail");
    for pair in racy {
        assert!(failed.iter().any(|it| it == pair), "{name}: {pair} is not among {failed:?}: {json:#}");
    }
    assert_eq!((code, &json["verdict"]), (Some(1), &Value::from("failure")), "{name}");
    for test in list(&json, "tests") {
        assert_eq!(test["form"], "live", "{name}");
        let findings = list(test, "findings").len();
        assert_eq!(findings > 0, test["verdict"] == "fail", "{name}: {test}");
        assert!(Path::new(test["file"].as_str().unwrap_or_default()).exists(), "{name}: {test}");
    }
    let (code, json) = built.json(&["generate"], &["careful"]);
    assert_eq!((code, list(&json, "findings").len()), (Some(0), 0), "{name}: {json:#}");
    assert!(pairs(&json, "fail").is_empty() && pairs(&json, "not-atomic").is_empty(), "{name}: {json:#}");
    let met = list(&json, "tests").iter().filter(|test| test["met"].as_u64() > Some(0)).count();
    assert!(met > 0, "{name}: no test came to its calls: {json:#}");
}

#[test]
fn the_figures_in_c_fail_and_their_twin_does_not() {
    for options in [&["-g", "-O0"], &["-g", "-O2"]] {
        twins(&Built::with("figures.c", options, None), "figures.c", &["decrement|increment"]);
    }
    if compile::has_clang() {
        let built = Built::with("figures.c", &["-g", "-O1"], Some("clang-19"));
        twins(&built, "figures.c by clang", &["decrement|increment"]);
    }
}

#[test]
fn the_figures_in_cpp_and_rust_fail_and_their_twins_do_not() {
    twins(&Built::new("figures.cc"), "figures.cc", &["decrement|increment"]);
    twins(&Built::new("figures.rs"), "figures.rs", &["decrement|increment"]);
}

#[test]
fn the_bank_has_a_race_for_each_pair_of_its_functions() {
    let racy =
        ["balance|deposit", "balance|withdraw", "deposit|deposit", "deposit|withdraw", "withdraw|withdraw"];
    twins(&Built::new("bank.c"), "bank.c", &racy);
}

#[test]
fn printing_and_the_queue_fail_and_their_twins_do_not() {
    twins(&Built::new("printing.c"), "printing.c", &["print_line|print_line"]);
    let racy = ["queue_close|queue_take", "queue_length|queue_put", "queue_length|queue_take"];
    twins(&Built::new("queue.c"), "queue.c", &racy);
}

#[test]
fn filters_leave_few_of_the_quad_trees_pairs_and_lose_no_race() {
    let built = Built::new("quadtree.c");
    twins(&built, "quadtree.c", &["count_all|count_more", "count_more|count_more"]);
    let (_, json) = built.json(&["generate"], &[]);
    let functions = number(&json, "functions");
    assert!(functions >= 20, "{json:#}");
    assert_eq!(number(&json, "pairs_all"), functions * (functions + 1) / 2);
    let steps =
        ["pairs_all", "pairs_running", "pairs_strong", "pairs_same_object"].map(|name| number(&json, name));
    assert!(steps.is_sorted_by(|a, b| a >= b), "{steps:?}");
    assert!(steps[3] * 1000 <= steps[1] * 15, "{steps:?}: more than 1.5%");
    assert!(list(&json, "tests").len() <= 16, "{json:#}");
    // Functions that only a caller's lock protects do not meet.
    assert!(json["left_out"]["guarded"].as_u64() > Some(0), "{json:#}");
}

#[test]
fn tests_are_kept_and_made_again() {
    let built = Built::new("bank.c");
    let (_, json) = built.json(&["generate", "--function", "balance"], &[]);
    let tests = list(&json, "tests").len();
    assert!(tests >= 2, "{json:#}");
    assert!(json["left_out"]["not_wanted"].as_u64() > Some(0));
    let kept = built.folder.path().join("kept");
    fs::create_dir(&kept).expect("a folder");
    for entry in fs::read_dir(built.out()).expect("the folder").flatten() {
        if entry.path().extension().is_some_and(|it| it == "pair") {
            fs::copy(entry.path(), kept.join(entry.file_name())).expect("a copy");
        }
    }
    let folder = kept.to_string_lossy().into_owned();
    let again = built.run(&["generate", "--check", &folder], &[]);
    assert_eq!(again.code, Some(1), "{}", again.describe());
    assert!(again.stdout.contains(&format!("{tests} of {tests} tests failed")), "{}", again.describe());
    let mended = built.run(&["generate", "--check", &folder], &["careful"]);
    assert_eq!(mended.code, Some(0), "{}", mended.describe());
    assert_eq!(mended.stdout.matches("passes now").count(), tests, "{}", mended.describe());
    // Lines may move; a function that is gone takes its tests with it.
    let source = fs::read_to_string(tool::root().join(FOLDER).join("bank.c")).expect("the source");
    let moved = format!(
        "// One line more.\n\n{}",
        source.replace("int value = it->balance;", "int value = 0;\n    value += it->balance;")
    );
    let path = built.folder.path().join("bank.c");
    fs::write(&path, moved).expect("a file");
    let edited = Built::of(&path, &["-g", "-O1"], None);
    let again = edited.run(&["generate", "--check", &folder], &[]);
    assert!(again.stdout.contains(&format!("{tests} of {tests} tests failed")), "{}", again.describe());
    fs::write(&path, source.replace("balance(", "amount_of(")).expect("a file");
    let renamed = Built::of(&path, &["-g", "-O1"], None);
    let gone = renamed.run(&["generate", "--check", &folder], &[]);
    assert_eq!(gone.code, Some(0), "{}", gone.describe());
    assert_eq!(gone.stdout.matches(": gone").count(), tests, "{}", gone.describe());
}

#[test]
fn findings_of_tests_are_plain_findings() {
    let built = Built::new("figures.c");
    let (_, json) = built.json(&["generate"], &[]);
    let schedule = list(&json, "findings")[0]["schedule"].as_str().expect("a path").to_owned();
    let again = tool::run(["replay", &schedule]);
    assert_eq!(again.code, Some(1), "{}", again.describe());
}

#[test]
fn a_finding_becomes_a_test_of_its_two_calls() {
    let built = Built::new("bank.c");
    let (_, json) = built.json(&["run", "--keep-going", "--runs", "60"], &[]);
    let labels = ["deposit", "balance"];
    let is_of = |finding: &&Value| {
        let functions: Vec<&str> =
            list(finding, "locations").iter().filter_map(|location| location["function"].as_str()).collect();
        finding["kind"] == "race" && labels.iter().all(|label| functions.contains(label))
    };
    let id = list(&json, "findings").iter().find(is_of).expect("a race of the two")["id"].clone();
    let id = id.as_str().unwrap_or_default();
    let (code, json) = built.json(&["generate", "--of", id], &[]);
    assert_eq!((code, pairs(&json, "fail")), (Some(1), vec!["balance|deposit".to_owned()]), "{json:#}");
    let refused = built.run(&["generate", "--of", "race-00000000"], &[]);
    assert_eq!(refused.code, Some(2), "{}", refused.describe());
    assert!(refused.stderr.contains("there is no finding") && refused.stderr.contains("help:"));
}

#[test]
fn a_report_of_the_sanitizer_becomes_a_test() {
    let built = Built::new("figures.c");
    let (_, json) = built.json(&["run", "--runs", "100"], &[]);
    let finding = list(&json, "findings").iter().find(|it| it["kind"] == "race").expect("a race");
    let stack = |at: usize| {
        let frames = finding["accesses"][at]["stack"].as_array().expect("a stack").iter().enumerate();
        let frame = |(number, it): (usize, &Value)| {
            let place = format!("{}:{}", it["file"].as_str().unwrap_or_default(), it["line"]);
            format!("    #{number} {} {place} (program+0x1)\n", it["function"].as_str().unwrap_or_default())
        };
        frames.map(frame).collect::<String>()
    };
    let report = format!(
        "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 4 at 0x5 by thread T1:\n{}\n  Previous write of size 4 at 0x5 by main thread:\n{}\n",
        stack(0),
        stack(1)
    );
    let file = built.folder.path().join("report.txt");
    fs::write(&file, report).expect("a file");
    let (code, json) = built.json(&["generate", "--of", &file.to_string_lossy()], &[]);
    assert_eq!((code, list(&json, "tests").len()), (Some(1), 1), "{json:#}");
}

#[test]
fn calls_that_are_not_atomic_are_told() {
    let source = "
#include <pthread.h>
#include <stdio.h>
static int tickets = 10;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int look(void) {
    pthread_mutex_lock(&guard);
    int left = tickets;
    pthread_mutex_unlock(&guard);
    return left;
}
static void set(int left) {
    pthread_mutex_lock(&guard);
    tickets = left;
    pthread_mutex_unlock(&guard);
}
__attribute__((noinline)) static void sell(int count) { set(look() - count); }
static void *seller(void *count) { sell((int)(long)count); return 0; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, seller, (void *)1);
    pthread_create(&two, 0, seller, (void *)2);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf(\"%d\\n\", tickets > 0);
    return 0;
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tickets.c");
    fs::write(&path, source).expect("a file");
    let built = Built::of(&path, &["-g", "-O1"], None);
    let (code, json) = built.json(&["generate"], &[]);
    assert_eq!(code, Some(0), "{json:#}");
    assert!(pairs(&json, "not-atomic").contains(&"sell|sell".to_owned()), "{json:#}");
    assert!(pairs(&json, "pass").contains(&"set|set".to_owned()), "{json:#}");
    let (code, _) = built.json(&["generate", "--atomic", "fail"], &[]);
    assert_eq!(code, Some(1));
}

#[test]
fn two_that_only_read_are_pairs_on_request() {
    let source = "
#include <pthread.h>
static int limit;
__attribute__((noinline)) static int check(int value) { return value < limit; }
static void *worker(void *at) { return check((int)(long)at) ? at : 0; }
int main(void) {
    pthread_t one, two;
    limit = 3;
    pthread_create(&one, 0, worker, (void *)0);
    pthread_create(&two, 0, worker, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("limit.c");
    fs::write(&path, source).expect("a file");
    let built = Built::of(&path, &["-g", "-O1"], None);
    let (code, json) = built.json(&["generate"], &[]);
    assert_eq!((code, list(&json, "tests").len()), (Some(0), 0), "{json:#}");
    let (code, json) = built.json(&["generate", "--weak", "--points", "all"], &[]);
    assert_eq!((code, pairs(&json, "pass")), (Some(0), vec!["check|check".to_owned()]), "{json:#}");
    assert_eq!(list(&json, "tests")[0]["dependence"], "weak");
}

#[test]
fn requests_that_cannot_be_met_are_refused_with_help() {
    let built = Built::new("figures.c");
    let bare = Built::with("figures.c", &["-O1"], None);
    let nothing = built.folder.path().to_string_lossy().into_owned();
    let bad = built.folder.path().join("bad");
    fs::create_dir(&bad).expect("a folder");
    fs::write(bad.join("x.pair"), "nothing").expect("a file");
    let bad = bad.to_string_lossy().into_owned();
    for (program, options, says) in [
        (&built, &["generate", "--function", "nosuch"][..], "no pair has such a function"),
        (&built, &["generate", "--object", "nosuch"], "no pair has such a function or object"),
        (&built, &["generate", "--check", "/no/such/folder"], "cannot read `/no/such/folder`"),
        (&built, &["generate", "--check", &nothing], "there are no tests in"),
        (&built, &["generate", "--check", &bad], "is no test: its first line is not"),
        (&built, &["generate", "--mode", "free"], "generated tests are judged under control"),
        (&built, &["generate", "--format", "sarif"], "`generate` writes text or JSON"),
        (&built, &["generate", "--max", "0"], "--max"),
        (&bare, &["generate"], "has no debug info"),
    ] {
        let refused = program.run(options, &[]);
        assert_eq!(refused.code, Some(2), "{options:?}: {}", refused.describe());
        assert!(refused.stderr.contains(says), "{options:?}: {}", refused.describe());
        assert!(refused.stderr.contains("help:") || says == "--max", "{options:?}: {}", refused.describe());
    }
}

/// A program without one of its synchronisation operations.
struct Mutant {
    name: String,
    source: String,
}

/// Calls that synchronise.
const OPERATIONS: [&str; 10] = [
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_cond_wait",
    "pthread_barrier_wait",
    "pthread_join",
    "sem_wait",
    "sem_post",
];

/// A program with each of its operations taken away in turn.
fn mutants(name: &str) -> Vec<Mutant> {
    let source = fs::read_to_string(tool::root().join(FOLDER).join(name)).expect("the source");
    let mut all = Vec::new();
    for operation in OPERATIONS {
        for (at, _) in source.match_indices(&format!("{operation}(")) {
            let end = at + source[at..].find(';').expect("an end");
            let line = source[..at].lines().count();
            let mutant = format!("{}(void)0{}", &source[..at], &source[end..]);
            all.push(Mutant { name: format!("{name}:{line} without {operation}"), source: mutant });
        }
    }
    all
}

/// Which mutants whole-program runs show to be wrong, and whether generated tests do, too.
fn missed_mutants(name: &str, arguments: &[&str], runs: &str) -> Vec<String> {
    let (mut wrong, mut missed, mut tests) = (0, Vec::new(), 0);
    for mutant in mutants(name) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        fs::write(&path, &mutant.source).expect("a file");
        let built = Built::of(&path, &["-g", "-O1"], None);
        let (code, whole) = built.json(&["run", "--keep-going", "--runs", runs], arguments);
        if code != Some(1) || !list(&whole, "findings").iter().any(|finding| finding["kind"] == "race") {
            continue;
        }
        wrong += 1;
        let (_, json) = built.json(&["generate"], arguments);
        tests += list(&json, "tests").len();
        if pairs(&json, "fail").is_empty() {
            missed.push(mutant.name);
        }
    }
    println!("{name}: {wrong} mutants with a race, {} missed, {tests} tests", missed.len());
    assert!(wrong > 0, "{name}: no mutant is wrong");
    missed
}

#[test]
fn what_is_left_without_one_operation_is_found() {
    let missed = [missed_mutants("ring.c", &[], "300"), missed_mutants("cache.c", &[], "300")].concat();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
#[ignore = "many builds; `cargo test --test generate -- --ignored` asks for it"]
fn what_is_left_without_one_operation_is_found_in_all_programs() {
    let names = ["figures.c", "bank.c", "printing.c", "queue.c", "quadtree.c"];
    let missed = names.map(|name| missed_mutants(name, &["careful"], "10000")).concat();
    assert!(missed.is_empty(), "{missed:#?}");
}
