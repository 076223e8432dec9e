//! Kept tests: pairs of calls as source files, run in the program's own image in place of `main`, by Threadbare and without it.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use threadbare_tests::tool;

/// A program, built, and the folder of its tests.
struct Built {
    executable: PathBuf,
    folder: tempfile::TempDir,
}

impl Built {
    fn new(name: &str) -> Built {
        Built::of(&tool::root().join("tests/generate").join(name), "-O1")
    }

    fn of(source: &Path, optimised: &str) -> Built {
        let folder = tempfile::tempdir().expect("a folder");
        let executable = folder.path().join("program");
        let compiler = if source.extension().is_some_and(|it| it == "cc") { "c++" } else { "cc" };
        let mut command = tool::command([compiler, "-g", optimised, "-pthread"]);
        command.arg(source).arg("-o").arg(&executable);
        let built = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{}", built.describe());
        Built { executable, folder }
    }

    /// A program in any of the languages, unoptimised.
    fn in_its_language(name: &str) -> Built {
        let folder = tempfile::tempdir().expect("a folder");
        let executable = folder.path().join("program");
        let mut command = match name.rsplit('.').next() {
            Some("rs") => tool::command(["rustc", "-g"]),
            Some("cc") => tool::command(["c++", "-g", "-O0", "-pthread"]),
            _ => tool::command(["cc", "-g", "-O0", "-pthread"]),
        };
        command.arg(tool::root().join("tests/generate").join(name)).arg("-o").arg(&executable);
        let built = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{}", built.describe());
        Built { executable, folder }
    }

    fn from(text: &str) -> Built {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program.c");
        fs::write(&path, text).expect("a file");
        Built::of(&path, "-O1")
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn generate(&self, options: &[&str], arguments: &[&str]) -> (Option<i32>, Value) {
        let mut command = tool::command(["generate", "--shrink", "off", "--runs", "60", "--format", "json"]);
        command.args(options).arg("--out").arg(self.out());
        command.arg("--").arg(&self.executable).args(arguments);
        let made = tool::finish(&mut command, tool::PATIENCE);
        let json = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()));
        (made.code, json)
    }

    /// The source of a kept test.
    fn source(&self, name: &str) -> String {
        let path = self.out().join(format!("{name}.c"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs a kept test without Threadbare.
    fn bare(&self, name: &str) -> tool::Outcome {
        let library = self.folder.path().join(format!("{name}.so"));
        let file = self.out().join(format!("{name}.c"));
        let built = Command::new("cc")
            .args(["-g", "-shared", "-fPIC", "-Wall", "-Werror", "-Wno-unused-function", "-o"])
            .args([&library, &file, &self.out().join("threadbare-kept.c")])
            .args(["-pthread", "-ldl"])
            .output()
            .expect("a compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let mut command = Command::new(&self.executable);
        command.env("LD_PRELOAD", &library);
        tool::finish(&mut command, tool::PATIENCE)
    }
}

fn tests<'a>(json: &'a Value, form: &str) -> Vec<&'a Value> {
    let all = json["tests"].as_array().expect("tests");
    all.iter().filter(|test| test["form"] == form).collect()
}

/// The kept test of two functions.
fn of<'a>(json: &'a Value, first: &str, second: &str) -> &'a Value {
    let is = |test: &&&Value| {
        let names = [&test["first"], &test["second"]];
        names == [first, second] || names == [second, first]
    };
    let kept = tests(json, "kept");
    kept.iter().find(is).unwrap_or_else(|| panic!("no kept test of {first} and {second}: {json:#}"))
}

fn name(test: &Value) -> &str {
    test["name"].as_str().expect("a name")
}

#[test]
fn a_ring_an_alias_and_a_pointer_into_a_block_are_carried() {
    let built = Built::new("ledger.c");
    let (code, json) = built.generate(&[], &[]);
    assert_eq!(code, Some(1), "{json:#}");
    let add = of(&json, "add", "add");
    assert_eq!(add["verdict"], "fail", "{add:#}");
    let text = built.source(name(add));
    // Both strands have the one ledger, and the number in the middle of it.
    assert_eq!(text.matches("add(ledger_1, &ledger_1->totals[1], ").count(), 2, "{text}");
    assert!(text.contains(".name = \"main street\""), "{text}");
    assert!(text.contains(".fee = kept_symbol(\"flat_fee\", 0)"), "{text}");
    assert!(text.contains(".rate = 1.5") && text.contains(".depth = 2"), "{text}");
    let book = of(&json, "book", "total");
    assert_eq!(book["verdict"], "fail", "{book:#}");
    let text = built.source(name(book));
    assert!(text.contains(".owner = ledger_1") && text.contains("kept_missing("), "{text}");
    let plain = built.bare(name(book));
    assert_eq!(plain.code, Some(0), "{}\n{text}", plain.describe());
}

#[test]
fn what_is_right_shows_nothing() {
    // In the cache a reader's lock is held where a call begins.
    for (program, optimised) in
        [("ledger.c", "-O2"), ("bank.c", "-O1"), ("queue.c", "-O0"), ("cache.c", "-O0")]
    {
        let built = Built::of(&tool::root().join("tests/generate").join(program), optimised);
        let (code, json) = built.generate(&["--max", "8"], &["careful"]);
        assert_eq!(code, Some(0), "{program}: {json:#}");
        let kept = tests(&json, "kept");
        assert!(!kept.is_empty(), "{program}: {json:#}");
        for test in kept {
            assert_eq!(test["verdict"], "pass", "{program}: {test:#}\n{}", built.source(name(test)));
        }
    }
}

#[test]
fn functions_around_the_two_need_not_be_atomic() {
    let source = tool::root().join("tests/generate/around.cc");
    for optimised in ["-O0", "-O1"] {
        let built = Built::of(&source, optimised);
        let (code, json) = built.generate(&[], &[]);
        assert_eq!(code, Some(0), "{optimised}: {json:#}");
        let kept = tests(&json, "kept");
        assert!(!kept.is_empty(), "{optimised}: {json:#}");
        for test in &kept {
            let text = built.source(name(test));
            // What is expected is what no order breaks.
            assert!(
                ["pass", "not-atomic"].contains(&test["verdict"].as_str().expect("a verdict")),
                "{test:#}"
            );
            assert_eq!(test["verdict"] == "not-atomic", text.contains("The two are not atomic"), "{text}");
            let plain = built.bare(name(test));
            assert_eq!(plain.code, Some(0), "{}\n{text}", plain.describe());
        }
        if optimised == "-O0" {
            // Two objects beside each other are not several of one.
            let text = built.source(name(of(&json, "Account::transfer", "Account::transfer")));
            assert!(text.contains("*account_1 = ") && text.contains("*account_2 = "), "{text}");
        } else {
            assert!(kept.iter().any(|test| test["verdict"] == "not-atomic"), "{json:#}");
            let (code, json) = built.generate(&["--atomic", "fail"], &[]);
            assert_eq!(code, Some(1), "{json:#}");
        }
    }
}

#[test]
fn a_test_is_edited_by_hand_and_checked() {
    let built = Built::new("ledger.c");
    let (_, json) = built.generate(&["--function", "total"], &["careful"]);
    let test = of(&json, "book", "total");
    let (text, file) = (built.source(name(test)), built.out().join(format!("{}.c", name(test))));
    let folder = built.out().to_string_lossy().into_owned();
    // Nobody recorded what lies so deep.
    fs::write(&file, text.replace(".depth = 2", ".depth = 7")).expect("the file");
    let (code, json) = built.generate(&["--check", &folder], &["careful"]);
    assert_eq!(
        (code, &of(&json, "book", "total")["verdict"]),
        (Some(0), &Value::from("state-missing")),
        "{json:#}"
    );
    let plain = built.bare(name(test));
    assert_eq!(plain.code, Some(77), "{}", plain.describe());
    assert!(plain.stderr.contains("state missing: "), "{}", plain.describe());
    // Without the lock there is a race, and the file says so by itself.
    fs::write(&file, text.replace("*careful = 1;", "*careful = 0;")).expect("the file");
    let (code, json) = built.generate(&["--check", &folder], &["careful"]);
    assert_eq!((code, &of(&json, "book", "total")["verdict"]), (Some(1), &Value::from("fail")), "{json:#}");
}

#[test]
fn a_lock_that_is_held_at_entry_is_held_in_the_test() {
    let built = Built::from(
        "
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 3, sold;
__attribute__((noinline)) static void take(int number) { stock -= number; sold += number; }
__attribute__((noinline)) static int left(void) { return stock; }
static void *seller(void *at) { pthread_mutex_lock(&lock); take(2); pthread_mutex_unlock(&lock); return at; }
static void *looker(void *at) { return left() ? at : 0; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, seller, 0);
    pthread_create(&two, 0, looker, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
",
    );
    let (_, json) = built.generate(&["--function", "take"], &[]);
    let test = of(&json, "take", "left");
    assert_eq!(test["verdict"], "fail", "{test:#}");
    let text = built.source(name(test));
    let held = "pthread_mutex_lock(lock);\n    take(2);\n    pthread_mutex_unlock(lock);";
    assert!(text.contains(held), "{text}");
    let plain = built.bare(name(test));
    assert_eq!(plain.code, Some(0), "{}", plain.describe());
}

#[test]
fn other_detectors_run_a_kept_test() {
    let source = tool::root().join("tests/generate/ledger.c");
    let built = Built::of(&source, "-O1");
    let (_, json) = built.generate(&["--function", "add"], &[]);
    let name = name(of(&json, "add", "add")).to_owned();
    // The same program, built for gcc's ThreadSanitizer.
    let program = built.folder.path().join("sanitized");
    let made = Command::new("gcc")
        .args(["-g", "-O1", "-pthread", "-fsanitize=thread", "-o"])
        .args([&program, &source])
        .output()
        .expect("gcc");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let other = Built { executable: program, folder: built.folder };
    let told = other.bare(&name);
    assert!(told.stderr.contains("data race"), "{}", told.describe());
    // And without any, for Helgrind.
    if Command::new("valgrind").arg("--version").output().is_err() {
        return;
    }
    let program = other.folder.path().join("plain");
    let made = Command::new("gcc").args(["-g", "-O1", "-pthread", "-o"]).args([&program, &source]).status();
    assert!(made.is_ok_and(|status| status.success()));
    let mut command = Command::new("valgrind");
    command.arg("--tool=helgrind").arg(&program);
    command.env("LD_PRELOAD", other.folder.path().join(format!("{name}.so")));
    let told = tool::finish(&mut command, tool::PATIENCE);
    assert!(told.stderr.contains("Possible data race"), "{}", told.describe());
}

/// Programs in C++ and Rust, whose objects are structures of C with the same fields.
#[test]
fn methods_of_other_languages_are_called_with_their_objects() {
    for name in ["figures.cc", "figures.rs"] {
        let built = Built::in_its_language(name);
        let is_pair = |test: &&&Value| test["name"].as_str().is_some_and(|it| it.contains("decrement"));
        let (_, json) = built.generate(&["--function", "decrement"], &[]);
        let racy = tests(&json, "kept");
        let racy = racy.iter().find(is_pair).unwrap_or_else(|| panic!("{name}: {json:#}"));
        assert_eq!(racy["verdict"], "fail", "{name}: {racy:#}");
        let (code, json) = built.generate(&["--function", "decrement"], &["careful"]);
        assert_eq!(code, Some(0), "{name}: {json:#}");
        let right = tests(&json, "kept");
        assert!(right.iter().any(|test| test["verdict"] == "pass"), "{name}: {json:#}");
    }
}

#[test]
fn objects_of_other_languages_have_their_fields() {
    let cc: &[&str] = &[
        "._vptr_Account = (void *)((char *)kept_symbol(\"_ZTV7Savings\", 0) + 16)",
        "\"Ada Lovelace of London\"",
        ".lock_ = PTHREAD_MUTEX_INITIALIZER",
        ".balance_ = 100",
        "struct Limit *limit_;",
        ".amount = 1000",
        "struct vector_long",
    ];
    let rs: &[&str] = &[
        ".Deposit = { ",
        ".Withdrawal = { .variant = 1, .fee = 7, .amount = 1 }",
        ".Closed = { .variant = 2 }",
        "double rate",
        ", 50, 0.125)",
        "text_1[0] = 65;",
        "= 70;",
    ];
    for (name, second, wanted) in [("account.cc", "withdraw", cc), ("account.rs", "withdraw", rs)] {
        let built = Built::in_its_language(name);
        let (code, json) = built.generate(&["--function", second], &["careful"]);
        assert_eq!(code, Some(0), "{name}: {json:#}");
        let kept = tests(&json, "kept");
        let is_pair = |test: &&&Value| {
            test["name"].as_str().is_some_and(|it| it.contains("deposit") && it.contains("withdraw"))
        };
        let test = kept.iter().find(is_pair).unwrap_or_else(|| panic!("{name}: {json:#}"));
        let text = built.source(test["name"].as_str().expect("a name"));
        for words in wanted {
            assert!(text.contains(words), "{name}: no `{words}`: {text}");
        }
        assert_eq!(test["verdict"], "pass", "{name}: {test:#}");
        let plain = built.bare(test["name"].as_str().expect("a name"));
        assert_eq!(plain.code, Some(0), "{}\n{text}", plain.describe());
    }
}

/// A test that would wait for the rest of the program, or in whose state the two do not meet, says nothing of the program.
#[test]
fn what_the_two_calls_cannot_do_alone_is_live_only() {
    let built = Built::in_its_language("pool.c");
    let (_, json) = built.generate(&[], &[]);
    let whys: Vec<&str> = tests(&json, "live").iter().filter_map(|test| test["why"].as_str()).collect();
    assert!(whys.iter().any(|why| why.contains("does not come to where the two meet")), "{whys:#?}");
    for test in tests(&json, "kept") {
        assert_eq!(test["verdict"], "pass", "{test:#}\n{}", built.source(name(test)));
    }
}

fn combined(json: &Value) -> Vec<&Value> {
    tests(json, "kept").into_iter().filter(|test| test["states"] == "combined").collect()
}

/// Calls that met in no run, each recorded in one of its own.
#[test]
fn states_recorded_apart_are_combined_if_they_are_compatible() {
    for program in ["apart.c", "apart.cc", "apart.rs"] {
        let built = Built::in_its_language(program);
        let (code, json) = built.generate(&[], &[]);
        let made = combined(&json);
        let [test] = made[..] else { panic!("{program}: {json:#}") };
        let text = built.source(name(test));
        // What it shows need not be: it is told, and nothing fails by it.
        assert_eq!((code, &test["verdict"]), (Some(0), &Value::from("fail")), "{program}: {json:#}");
        let notes: Vec<&Value> = json["findings"].as_array().expect("findings").iter().collect();
        assert!(!notes.is_empty() && notes.iter().all(|it| it["severity"] == "note"), "{json:#}");
        assert!(
            notes
                .iter()
                .all(|it| it["message"].as_str().is_some_and(|it| it.ends_with("from combined states"))),
            "{json:#}"
        );
        assert!(text.contains("From combined states: "), "{program}: {text}");
        assert_eq!(json["left_out"]["not_combined"], 0, "{program}: {json:#}");
        let plain = built.bare(name(test));
        assert_eq!(plain.code, Some(0), "{program}: {}\n{text}", plain.describe());
        let folder = built.out().to_string_lossy().into_owned();
        let (code, json) = built.generate(&["--check", &folder], &[]);
        assert_eq!((code, combined(&json).len()), (Some(0), 1), "{program}: {json:#}");
        // Who says that the state can be makes it a test like any other.
        let file = built.out().join(format!("{}.c", name(test)));
        fs::write(&file, text.replace("From combined states: ", "")).expect("the file");
        let (code, json) = built.generate(&["--check", &folder], &[]);
        assert_eq!((code, combined(&json).len()), (Some(1), 0), "{program}: {json:#}");
    }
    let built = Built::in_its_language("apart.c");
    let (code, json) = built.generate(&[], &["careful"]);
    let made = combined(&json);
    let [test] = made[..] else { panic!("{json:#}") };
    assert_eq!((code, &test["verdict"]), (Some(0), &Value::from("pass")), "{json:#}");
    // One object, with one number in it, for both calls.
    let text = built.source(name(test));
    assert_eq!(text.matches("kept_block(").count(), 1, "{text}");
    assert!(text.contains(".level = 10") && text.contains("fill(tank_1, 3)"), "{text}");
    assert!(text.contains("drain(tank_1, 2)"), "{text}");
}

const APART: &str = "
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct tank { int level, limit; };
static struct tank tank = { 10, 50 };
static atomic_int taken;
__attribute__((noinline)) static void fill(struct tank *it, int by) { it->level += by; }
__attribute__((noinline)) static void drain(struct tank *it, int by) { it->level -= by; }
static void *filler(void *at) {
    if (!atomic_exchange(&taken, 1)) {
        struct tank *it = FIRST;
        fill(it, 3);
    }
    return at;
}
static void *drainer(void *at) {
    if (!atomic_exchange(&taken, 1)) {
        struct tank *it = SECOND;
        drain(it, 2);
    }
    return at;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, filler, 0);
    pthread_create(&two, 0, drainer, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
";

#[test]
fn states_recorded_apart_with_another_field_are_left_out_and_told() {
    let text =
        APART.replace("FIRST", "(tank.limit = 60, &tank)").replace("SECOND", "(tank.limit = 70, &tank)");
    let built = Built::from(&text);
    let (code, json) = built.generate(&[], &[]);
    assert!(combined(&json).is_empty(), "{json:#}");
    assert_eq!((code, &json["left_out"]["not_combined"]), (Some(0), &Value::from(1)), "{json:#}");
    let left = &json["not_combined"][0];
    assert_eq!([&left["first"], &left["second"]], ["fill", "drain"], "{json:#}");
    assert!(left["why"].as_str().is_some_and(|why| why.contains("`tank.limit`")), "{left:#}");
}

#[test]
fn calls_with_no_object_in_common_are_no_pair() {
    // Each strand's own block lies where the other one's lies in another run.
    let own = "calloc(1, sizeof(struct tank))";
    let built = Built::from(&APART.replace("FIRST", own).replace("SECOND", own));
    let (code, json) = built.generate(&[], &[]);
    assert_eq!((code, combined(&json).len()), (Some(0), 0), "{json:#}");
}
