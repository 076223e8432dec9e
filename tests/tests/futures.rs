//! Which writes reads may see, and runs made to order: the paper's examples, and small programs made by the dozen.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{compile, tool};

/// A program of `tests/futures`, built.
struct Built {
    executable: PathBuf,
    source: PathBuf,
    folder: tempfile::TempDir,
}

impl Built {
    fn new(name: &str, compiler: Option<&str>, options: &[&str]) -> Built {
        let source = tool::root().join("tests/futures").join(name);
        Built::of(source, compiler, options)
    }

    fn of(source: PathBuf, compiler: Option<&str>, options: &[&str]) -> Built {
        Built::tried(source, compiler, options).unwrap_or_else(|why| panic!("{why}"))
    }

    fn tried(source: PathBuf, compiler: Option<&str>, options: &[&str]) -> Result<Built, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let executable = folder.path().join("program");
        let wrapper = match source.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => "rustc",
            Some("cc") => "c++",
            _ => "cc",
        };
        let mut command = tool::command([wrapper]);
        if let Some(compiler) = compiler.filter(|_| wrapper == "cc") {
            command.env("THREADBARE_CC", compiler);
        }
        if wrapper != "rustc" {
            command.args(["-pthread", "-O0"]);
        }
        command.arg("-g").arg(&source).args(options).arg("-o").arg(&executable);
        let built = tool::finish(&mut command, tool::PATIENCE);
        if built.code == Some(0) { Ok(Built { executable, source, folder }) } else { Err(built.describe()) }
    }

    fn place(&self, label: &str) -> String {
        let text = fs::read_to_string(&self.source).expect("the source");
        let line = text.lines().position(|line| line.ends_with(&format!("//~ {label}"))).expect("a label");
        let name = self.source.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}:{}", line + 1)
    }

    /// A choice by labels; `initial` stands for itself.
    fn choice(&self, read: &str, write: &str) -> String {
        let write = if write == "initial" { write.to_owned() } else { self.place(write) };
        format!("{} <- {write}", self.place(read))
    }

    fn json(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let mut command = tool::command(arguments);
        command.args(["--races", "off", "--shrink", "off", "--format", "json", "--out"]);
        command.arg(self.folder.path().join("out")).arg("--").arg(&self.executable);
        let made = tool::finish(&mut command, tool::PATIENCE);
        let json = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()));
        (made.code, json)
    }

    fn table(&self, options: &[&str]) -> Value {
        let (_, json) = self.json(&[&["futures"], options].concat());
        assert_eq!(json["contradictions"], Value::Array(Vec::new()), "{json:#}");
        json
    }

    /// What came of choices that are to come true in one run, and the exit code.
    fn choose(&self, choices: &[(&str, &str)]) -> (Option<i32>, Vec<Value>) {
        let mut arguments = vec!["run".to_owned()];
        for (read, write) in choices {
            arguments.extend(["--future".to_owned(), self.choice(read, write)]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, json) = self.json(&arguments);
        (code, json["choices"].as_array().cloned().unwrap_or_default())
    }

    fn assert_came(&self, choices: &[(&str, &str)], code: i32, came: &str) -> Vec<Value> {
        let (exit, told) = self.choose(choices);
        let name = self.source.display();
        assert_eq!(told.len(), choices.len(), "{name}: {told:?}");
        assert!(told.iter().all(|choice| choice["outcome"] == came), "{name}: {choices:?}: {told:#?}");
        assert_eq!(exit, Some(code), "{name}: {choices:?}");
        told
    }

    /// The term of a read.
    fn term(&self, table: &Value, read: &str, write: &str) -> Option<Value> {
        let line =
            |label: &str| self.place(label).rsplit(':').next().and_then(|line| line.parse::<u64>().ok());
        let rows = table["reads"].as_array()?;
        let row = rows.iter().find(|row| row["line"].as_u64() == line(read))?;
        let is = |term: &&Value| match write {
            "initial" => term["whose"] == "initial",
            write => term["write_line"].as_u64() == line(write),
        };
        row["terms"].as_array()?.iter().find(is).cloned()
    }
}

fn compilers() -> Vec<&'static str> {
    let mut compilers = vec!["gcc"];
    if compile::has_clang() {
        compilers.push("clang-19");
    }
    compilers
}

fn builds(name: &str, options: &[&str]) -> Vec<Built> {
    if name.ends_with(".rs") {
        return vec![Built::new(name, None, options)];
    }
    compilers().into_iter().map(|compiler| Built::new(name, Some(compiler), options)).collect()
}

#[test]
fn figure_2() {
    for name in ["figure2.c", "figure2.rs"] {
        for built in builds(name, &[]) {
            let table = built.table(&[]);
            for write in ["two", "three", "initial"] {
                let term = built.term(&table, "read", write);
                assert_eq!(term.expect("a term")["status"], "seen", "{name} {write}: {table:#}");
                built.assert_came(&[("read", write)], 0, "made");
            }
            if let Some(hidden) = built.term(&table, "read", "one").filter(|_| name.ends_with(".c")) {
                assert_eq!(hidden["status"], "struck");
                assert!(hidden["reason"].as_str().is_some_and(|why| why.contains("`lock`")), "{hidden}");
                let told = built.assert_came(&[("read", "one")], 2, "cannot-be");
                assert!(told[0]["reason"].as_str().is_some_and(|why| why.contains("hides it")), "{told:?}");
            }
        }
    }
}

#[test]
fn what_only_creation_and_join_order_is_in_the_table() {
    for built in builds("ordered.c", &[]) {
        let table = built.table(&[]);
        let status = |write: &str| built.term(&table, "read", write).map(|term| term["status"].clone());
        assert_eq!(status("write"), Some("seen".into()), "{table:#}");
        assert_eq!(status("initial"), Some("struck".into()), "{table:#}");
    }
}

#[test]
fn figure_5() {
    let forms = [
        ("figure5.c", &[][..]),
        ("figure5.c", &["-DSLEEP_FIRST"]),
        ("figure5.rs", &[]),
        ("figure5.rs", &["--cfg=sleep_first"]),
    ];
    for (name, options) in forms {
        for built in builds(name, options) {
            built.assert_came(&[("read", "three")], 0, "made");
            // The division by zero is there whatever the timing is.
            built.assert_came(&[("read", "zero")], 1, "made");
            let (code, told) = built.choose(&[("read", "initial")]);
            assert_eq!(code, Some(2), "{name} {options:?}: {told:?}");
            assert!(["cannot-be", "not-made"].iter().any(|came| told[0]["outcome"] == *came), "{told:?}");
            // The barrier of pthreads strikes it out without a run; that of Rust's library is a lock and a condition.
            let term = built.term(&built.table(&[]), "read", "initial").expect("a term");
            if name.ends_with(".c") {
                assert_eq!(term["status"], "struck", "{options:?}: {term}");
                assert!(term["reason"].as_str().is_some_and(|why| why.contains("in all runs")), "{term}");
            }
        }
    }
}

#[test]
fn figure_6() {
    for built in builds("figure6.c", &[]) {
        let reads = ["zero", "one", "two", "three"];
        let labels = reads.map(|name| format!("read {name}"));
        let initial: Vec<(&str, &str)> = labels.iter().map(|read| (read.as_str(), "initial")).collect();
        // Nobody has counted: the program says so with its exit code.
        built.assert_came(&initial, 1, "made");
        for (at, read) in reads.iter().enumerate() {
            let mut choices = initial.clone();
            choices[at].1 = read;
            built.assert_came(&choices, 0, "made");
        }
    }
    let rust = Built::new("figure6.rs", None, &[]);
    rust.assert_came(&[("read zero", "initial"), ("read one", "initial")], 1, "made");
    rust.assert_came(&[("read zero", "zero"), ("read one", "initial")], 0, "made");
    rust.assert_came(&[("read zero", "initial"), ("read one", "one")], 0, "made");
}

#[test]
fn figure_6_with_an_array_that_main_adds_up() {
    for (name, compiler) in [("figure6-array.c", Some("gcc")), ("figure6-array.rs", None)] {
        let built = Built::new(name, compiler, &[]);
        let choice = format!("{} #77 <- initial", built.place("read"));
        let (code, json) = built.json(&["run", "--future", &choice]);
        assert_eq!((code, &json["choices"][0]["outcome"]), (Some(1), &Value::from("made")), "{json:#}");
        let choice = format!("{} #77 <- {}", built.place("read"), built.place("write"));
        let (_, json) = built.json(&["run", "--runs", "4", "--keep-going", "--future", &choice]);
        assert_eq!(json["choices"][0]["outcome"], "made", "{json:#}");
    }
}

#[test]
fn figure_7() {
    let twelve = [("read a", "a one"), ("read b", "b two")];
    for (name, two) in [("figure7.c", "-DTWO_LOCKS"), ("figure7.rs", "--cfg=two_locks")] {
        for built in builds(name, &[]) {
            built.assert_came(&twelve, 2, "cannot-be");
            built.assert_came(&[("read a", "a one"), ("read b", "b one")], 0, "made");
        }
        for built in builds(name, &[two]) {
            built.assert_came(&twelve, 1, "made");
            // The schedule is a plain one: it needs no choice to be followed.
            let kept = fs::read_dir(built.folder.path().join("out")).expect("findings").flatten();
            let schedule = kept
                .map(|entry| entry.path())
                .find(|path| path.extension().is_some_and(|it| it == "schedule"));
            let mut command = tool::command(["replay"]);
            let replayed = tool::finish(command.arg(schedule.expect("a schedule")), tool::PATIENCE);
            assert_eq!(replayed.code, Some(1), "{}", replayed.describe());
        }
    }
    // What is never assigned cannot be seen.
    // Without optimisation Rust's atomics are functions of its library, of whose writes only those are told that runs made.
    let forms =
        [("figure7.c", &["-DUNASSIGNED"][..]), ("figure7.rs", &["--cfg=unassigned", "-Copt-level=1"])];
    for (name, unassigned) in forms {
        for built in builds(name, unassigned) {
            let told = built.assert_came(&[("read b", "b two")], 2, "not-reached");
            assert!(told[0]["what"].as_str().is_some_and(|what| what.contains("the write")), "{told:?}");
        }
    }
}

#[test]
fn what_a_choice_does_not_say_is_asked_for() {
    let built = Built::new("figure7.c", Some("gcc"), &[]);
    let refused = |choice: &str, words: &str| {
        let mut command = tool::command(["run", "--future", choice, "--"]);
        command.arg(&built.executable);
        let made = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(made.code, Some(2), "{choice}: {}", made.describe());
        assert!(made.stderr.contains(words), "{choice}: {}", made.describe());
    };
    refused("figure7.c:1 <- initial", "no such read");
    refused("figure7.c", "no choice");
    refused(&format!("{} <- figure7.c:1", built.place("read a")), "no write there");
    refused("@/nowhere/choices", "cannot read the choices");
    // Several choices in a file are as good.
    let file = built.folder.path().join("choices");
    let choices =
        ["# eleven", "", &built.choice("read a", "a one"), &built.choice("read b", "b one")].join("\n");
    fs::write(&file, choices).expect("a file");
    let (code, json) = built.json(&["run", "--future", &format!("@{}", file.display())]);
    assert_eq!(code, Some(0), "{json:#}");
    assert_eq!(json["choices"].as_array().map(Vec::len), Some(2));
}

/// A strand's script: writes and reads of two variables, with or without one of two locks.
fn body(number: usize, draw: &mut impl FnMut(usize) -> usize) -> String {
    let mut text = format!("static void *strand{number}(void *arg) {{\n    int x = 0;\n");
    for _ in 0..1 + draw(2) {
        let lock = draw(3);
        if lock < 2 {
            text += &format!("    pthread_mutex_lock(&lock{lock});\n");
        }
        for _ in 0..1 + draw(2) {
            let variable = ["a", "b"][draw(2)];
            match draw(2) {
                0 => text += &format!("    {variable} = x + {};\n", draw(9) + 1),
                _ => text += &format!("    x += {variable};\n"),
            }
        }
        if lock < 2 {
            text += &format!("    pthread_mutex_unlock(&lock{lock});\n");
        }
    }
    text + "    sink[0] += x * 0;\n    return arg;\n}\n"
}

fn program(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let strands = 2 + draw(2);
    let mut text = String::from(
        "#include <pthread.h>\nstatic pthread_mutex_t lock0 = PTHREAD_MUTEX_INITIALIZER, lock1 = PTHREAD_MUTEX_INITIALIZER;\n\
         static volatile int a, b;\nstatic _Thread_local int sink[1];\n",
    );
    for number in 0..strands {
        text += &body(number, &mut draw);
    }
    text += "int main(void) {\n    pthread_t strands[8];\n";
    for number in 0..strands {
        text += &format!("    pthread_create(&strands[{number}], NULL, strand{number}, NULL);\n");
    }
    for number in 0..strands {
        text += &format!("    pthread_join(strands[{number}], NULL);\n");
    }
    text + "    return 0;\n}\n"
}

/// A pair: line of the read, whose write, line of the write.
type Pair = (u64, String, u64);

fn pairs(table: &Value, is: impl Fn(&Value) -> bool) -> BTreeSet<Pair> {
    let mut found = BTreeSet::new();
    for row in table["reads"].as_array().into_iter().flatten() {
        for term in row["terms"].as_array().into_iter().flatten().filter(|term| is(term)) {
            let whose = term["whose"].as_str().unwrap_or_default().to_owned();
            found.insert((
                row["line"].as_u64().unwrap_or(0),
                whose,
                term["write_line"].as_u64().unwrap_or(0),
            ));
        }
    }
    found
}

/// Every pair that some order has is made, and every other is told as one that cannot be. `dpor` goes through all orders.
#[test]
fn terms_are_those_of_all_orders() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut made_for, mut told_impossible) = (0, 0);
    let first = std::env::var("THREADBARE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    let count = threadbare_tests::extent::either(12, 200);
    for seed in first..first + count {
        let source = folder.path().join(format!("made{seed}.c"));
        fs::write(&source, program(seed)).expect("a file");
        let built = Built::of(source, Some("gcc"), &[]);
        let all = built.table(&["--runs", "400", "--strategy", "dpor"]);
        let possible = pairs(&all, |term| term["status"] == "seen");
        // A few runs only, so that something is left to be made.
        let tried = built.table(&["--all", "--runs", "3", "--strategy", "round-robin"]);
        let came = |term: &Value, what: &str| term["status"] == what;
        let seen = pairs(&tried, |term| came(term, "seen"));
        let made = pairs(&tried, |term| came(term, "made"));
        let cannot = pairs(&tried, |term| came(term, "impossible") || came(term, "struck"));
        let open = pairs(&tried, |term| came(term, "not-made") || came(term, "unreached"));
        let have: BTreeSet<Pair> = seen.union(&made).cloned().collect();
        let text = || fs::read_to_string(&built.source).unwrap_or_default();
        assert_eq!(have, possible, "seed {seed}:\n{}\n{tried:#}", text());
        assert!(cannot.is_disjoint(&possible), "seed {seed}:\n{}", text());
        assert!(open.is_empty(), "seed {seed}: {open:?}\n{}\n{tried:#}", text());
        made_for += made.len();
        told_impossible += cannot.len();
    }
    println!("{made_for} terms made to order, {told_impossible} told as impossible");
    assert!(made_for > 0 && told_impossible > 0);
}

/// What a function that has returned wrote is not what its successor on the stack reads.
#[test]
fn frames_begin_anew() {
    for name in ["frames.c", "frames.rs"] {
        for built in builds(name, &[]) {
            let table = built.table(&[]);
            let is_seen = |read: &str, write: &str| {
                built.term(&table, read, write).is_some_and(|term| term["status"] == "seen")
            };
            assert!(is_seen("first", "shared"), "{name}: {table:#}");
            assert!(!is_seen("second", "shared"), "{name}: {table:#}");
        }
    }
}

#[test]
fn a_suite_survives_edits_and_tells_what_is_gone() {
    let example = tool::root().join("examples/bank.c");
    let text = fs::read_to_string(example).expect("the example");
    let folder = tempfile::tempdir().expect("a folder");
    let (suite, source) = (folder.path().join("suite"), folder.path().join("bank.c"));
    let build = |text: &str| {
        fs::write(&source, text).expect("a file");
        Built::of(source.clone(), Some("gcc"), &[])
    };
    let keep = build(&text);
    keep.json(&["futures", "--all", "--keep", &suite.display().to_string()]);
    let check = |built: &Built| {
        let mut command = tool::command(["futures", "--races", "off", "--shrink", "off", "--check"]);
        command.arg(&suite).arg("--out").arg(folder.path().join("out")).arg("--").arg(&built.executable);
        let made = tool::finish(&mut command, tool::PATIENCE);
        (made.code, made.stdout)
    };
    let (code, told) = check(&keep);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("passes") && !told.contains("gone"), "{told}");
    // Lines that move are the same lines.
    let moved = format!("/* one more line */\n{text}");
    assert_eq!(check(&build(&moved)), (code, told));
    let other = text.replace("int before = balance;", "int before = 0;");
    assert!(other != text);
    let (code, told) = check(&build(&other));
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("gone: there is no such read and write any more"), "{told}");
}

/// The words that tell how a write would be made: of every label of `takes` its place is named, of `leaves` none.
#[test]
fn branches_lead_to_writes_that_no_run_made() {
    let rows: [(&str, &[&str], &[&str]); 8] = [
        ("in plain", &["plain"], &["and one", "or one", "switch", "loop"]),
        ("in and", &["and one", "and two"], &["plain", "or one", "switch"]),
        ("in or", &["or one", "or two"], &["plain", "and one", "switch"]),
        ("in three", &["switch"], &["plain", "or one", "loop"]),
        ("in four", &["switch"], &["plain", "or one", "loop"]),
        ("in body", &["in loop"], &["plain", "or one"]),
        (
            "in deep",
            &["main calls", "call helper", "helper", "call deep", "deep"],
            &["plain", "or one", "in loop"],
        ),
        ("in never", &["creates", "creation"], &["plain", "or one"]),
    ];
    for options in [&[][..], &["-O2"]] {
        for built in builds("branches.c", options) {
            let table = built.table(&["--runs", "6"]);
            for (write, takes, leaves) in &rows {
                let term = built.term(&table, "read", write);
                let term = term.unwrap_or_else(|| panic!("{options:?}: no {write}: {table:#}"));
                let told = term["branches"].as_array().cloned().unwrap_or_default();
                // Of a condition of two lines compilers know the first only; the second is where that one leads.
                let is_at = |place: &String, it: &&Value| {
                    let is =
                        |told: &Value| told.as_str().is_some_and(|it| it.ends_with(&format!("/{place}")));
                    let leads = ["to", "not"].iter().filter_map(|field| it[*field].as_array()).flatten();
                    is(&it["place"]) || leads.into_iter().any(is)
                };
                for label in *takes {
                    let place = built.place(label);
                    assert!(
                        told.iter().any(|it| is_at(&place, &it)),
                        "{options:?} {write}: no {label}: {term:#}"
                    );
                }
                for label in *leaves {
                    let place = format!("/{}", built.place(label));
                    let is = |it: &Value| it["place"].as_str().is_some_and(|told| told.ends_with(&place));
                    assert!(!told.iter().any(is), "{options:?} {write}: {label}: {term:#}");
                }
            }
            let lines = |label: &str| -> Vec<String> {
                let term = built.term(&table, "read", label).unwrap_or_default();
                let told = term["branches"].as_array().cloned().unwrap_or_default();
                let to = told.iter().flat_map(|it| it["to"].as_array().cloned().unwrap_or_default());
                to.filter_map(|to| to.as_str().map(str::to_owned)).collect()
            };
            // A plain branch has to go to the write, and one of two conditions will do.
            let place = built.place("in plain");
            assert!(
                lines("in plain").iter().any(|to| to.ends_with(&format!("/{place}"))),
                "{options:?}: {table:#}"
            );
            let term = built.term(&table, "read", "in or").unwrap_or_default();
            let ways: BTreeSet<u64> = term["branches"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|it| it["way"].as_u64())
                .collect();
            assert!(ways.len() > 1, "{options:?}: {term:#}");
            let pointed = built.term(&table, "read", "in pointed").expect("a term");
            assert_eq!(pointed["branches"][0]["kind"], "by-pointer", "{options:?}: {pointed:#}");
            // A choice of such a write is told the same.
            let told = built.assert_came(&[("read", "in plain")], 2, "not-reached");
            assert!(told[0]["branches"].as_array().is_some_and(|it| !it.is_empty()), "{told:?}");
        }
    }
}

/// Beside a failing term stands a future that passes and differs in one term.
#[test]
fn a_failing_term_has_a_passing_neighbour() {
    let built = Built::of(tool::root().join("examples/bank.c"), Some("gcc"), &[]);
    let table = built.table(&["--all"]);
    let reads = table["reads"].as_array().expect("reads");
    let deposit = reads.iter().find(|row| row["line"] == 9).expect("the read");
    let term = deposit["terms"].as_array().into_iter().flatten().find(|term| term["whose"] == "initial");
    let near = &term.expect("a term")["passing"];
    assert_eq!(near["differs"], 1, "{table:#}");
    let has = |field: &str, words: &str| near[field].as_str().is_some_and(|text| text.contains(words));
    assert!(has("fails", "bank.c:9 @0.") && has("fails", "<- initial"), "{near}");
    assert!(has("passes", "bank.c:9 @0.") && has("passes", "<- bank.c:10"), "{near}");
    // The two are the ends of one step: with the one the run fails, with the other it passes.
    for (field, code) in [("fails", 1), ("passes", 0)] {
        let choice = near[field].as_str().unwrap_or_default();
        let others: Vec<String> = ["0.1", "0.2"]
            .iter()
            .filter(|strand| !choice.contains(&format!("bank.c:9 @{strand}")))
            .map(|strand| format!("bank.c:9 @{strand} <- initial"))
            .collect();
        let (exit, json) = built.json(&["run", "--runs", "4", "--future", choice, "--future", &others[0]]);
        assert_eq!(exit, Some(code), "{choice}, {others:?}: {json:#}");
    }
}

/// A function that is inlined reads, and another one writes.
const INLINED: [(&str, &str, &str); 2] = [
    (
        "in.c",
        "#include <pthread.h>\nstatic volatile int level;\nstatic inline __attribute__((always_inline)) int peek(void) {\n    return level; //~ read\n}\n\
         static inline __attribute__((always_inline)) void put(int by) {\n    level = by; //~ write\n}\n\
         static void *work(void *arg) {\n    put(3);\n    return arg;\n}\n\
         int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, work, 0);\n    int seen = peek();\n    pthread_join(t, 0);\n    return seen > 9;\n}\n",
        "peek",
    ),
    (
        "in.rs",
        "use std::sync::atomic::{AtomicU32, Ordering::Relaxed};\nstatic LEVEL: AtomicU32 = AtomicU32::new(0);\n#[inline(always)]\nfn peek() -> u32 {\n\
         \x20   LEVEL.load(Relaxed) //~ read\n}\n#[inline(always)]\nfn put(by: u32) {\n    LEVEL.store(by, Relaxed) //~ write\n}\n\
         fn main() {\n    let t = std::thread::spawn(|| put(3));\n    let seen = peek();\n    t.join().unwrap();\n    std::process::exit(i32::from(seen > 9));\n}\n",
        "in::peek",
    ),
];

/// At every level, with link-time optimisation and of inlined functions, the read, its function and its terms are the source's, and a run is made to order.
#[test]
fn levels_and_inlined_functions_make_no_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = threadbare_tests::extent::is_full();
    for (name, text, function) in INLINED {
        let source = folder.path().join(name);
        fs::write(&source, text).expect("a file");
        let rust = name.ends_with(".rs");
        let levels: &[&[&str]] = match (rust, full) {
            (true, false) => &[&["-Copt-level=0"], &["-Copt-level=3", "-Clto=fat"]],
            (true, true) => &[
                &["-Copt-level=0"],
                &["-Copt-level=1"],
                &["-Copt-level=2"],
                &["-Copt-level=3"],
                &["-Copt-level=3", "-Clto=fat"],
            ],
            (false, false) => &[&["-O0"], &["-O2", "-flto"]],
            (false, true) => &[&["-O0"], &["-O1"], &["-O2"], &["-O3"], &["-O2", "-flto"]],
        };
        let compilers: Vec<Option<&str>> =
            if rust { vec![None] } else { compilers().into_iter().map(Some).collect() };
        for (compiler, options) in compilers.iter().flat_map(|it| levels.iter().map(move |level| (it, level)))
        {
            let built = Built::of(source.clone(), *compiler, options);
            let table = built.table(&[]);
            let about = format!("{name} {compiler:?} {options:?}: {table:#}");
            let line = built.place("read").rsplit(':').next().and_then(|line| line.parse::<u64>().ok());
            let row =
                table["reads"].as_array().into_iter().flatten().find(|row| row["line"].as_u64() == line);
            assert_eq!(row.expect("the read")["function"], function, "{about}");
            for write in ["write", "initial"] {
                assert!(built.term(&table, "read", write).is_some(), "{write}: {about}");
                built.assert_came(&[("read", write)], 0, "made");
            }
        }
    }
}

/// Builds that lack something: it works, or what is missing is said, and what to do.
#[test]
fn odd_builds_work_or_say_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let look = |program: &Path, words: &[&str]| {
        let mut command = tool::command(words);
        command.args(["--races", "off", "--out"]).arg(folder.path().join("out")).arg("--").arg(program);
        tool::finish(&mut command, tool::PATIENCE)
    };
    let says = |told: &tool::Outcome, code: i32, words: &str| {
        assert!(
            told.code == Some(code) && (told.stderr.clone() + &told.stdout).contains(words),
            "{}",
            told.describe()
        );
    };
    let example = tool::root().join("examples/bank.c");
    for (name, text, _) in INLINED {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    // Stripped: of what is read nothing can be told but that.
    let rust = Built::of(folder.path().join("in.rs"), None, &[]);
    let stripped = std::process::Command::new("strip").arg(&rust.executable).status();
    assert!(stripped.is_ok_and(|status| status.success()));
    let c = Built::of(example.clone(), Some("gcc"), &["-s"]);
    // The one fails in no run, the other does in some.
    for (built, code, read, write) in [(&rust, 0, "in.rs:5", "in.rs:9"), (&c, 1, "bank.c:9", "bank.c:10")] {
        says(
            &look(&built.executable, &["futures"]),
            code,
            "no place in the source is known: is the program stripped, or compiled without `-g`?",
        );
        let missing = "compile it with `-g`, and do not strip it";
        says(&look(&built.executable, &["run", "--future", &format!("{read} <- {write}")]), 2, missing);
        says(&look(&built.executable, &["futures", "--read", read]), 2, missing);
    }
    // A place that names no read, and one that names none of shared data: those that there are, are told.
    let built = Built::of(example, Some("gcc"), &["-O1"]);
    for place in ["bank.c:1", "bank.c:7", "other.c:9"] {
        let told = look(&built.executable, &["futures", "--read", place]);
        says(&told, 2, "there is no such read of shared data");
        says(&told, 2, "bank.c:9 reads balance");
    }
    // Nothing of it is instrumented.
    let plain = folder.path().join("plain");
    let example = tool::root().join("examples/bank.c");
    let mut gcc = std::process::Command::new("gcc");
    let made = gcc.args(["-g", "-pthread"]).arg(example).arg("-o").arg(&plain).status();
    assert!(made.is_ok_and(|status| status.success()));
    for words in [&["futures"][..], &["run", "--future", "bank.c:9 <- initial"]] {
        says(&look(&plain, words), 2, "was not built with threadbare");
    }
    // What other compilers and hands have made is named.
    let (other, source) = (folder.path().join("other.c"), folder.path().join("two.c"));
    fs::write(&other, "extern int balance; void other(void) { balance = 7; }\n").expect("a file");
    fs::write(
        &source,
        "#include <pthread.h>\nint balance;\nvoid other(void), by_hand(void);\n__asm__(\".text\\n.globl by_hand\\n.type by_hand,@function\\n\"\n\
         \"by_hand:\\n movl $9, balance(%rip)\\n ret\\n.size by_hand, .-by_hand\\n\");\n\
         static void *work(void *a) { balance++; other(); by_hand(); return a; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0);\n  int x = balance;\n  pthread_join(t, 0); return x > 9; }\n",
    )
    .expect("a file");
    let object = folder.path().join("other.o");
    let plain =
        std::process::Command::new("gcc").args(["-g", "-c"]).arg(&other).arg("-o").arg(&object).status();
    assert!(plain.is_ok_and(|status| status.success()));
    let built = Built::of(source, Some("gcc"), &[&object.display().to_string()]);
    let told = look(&built.executable, &["futures"]).stdout;
    let line = told.lines().find(|line| line.starts_with("not instrumented")).unwrap_or_default();
    assert!(line.contains("`other`") && line.contains("`by_hand`"), "{told}");
}
