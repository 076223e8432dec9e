//! `futures --of FINDING`: the smallest set of terms that fails every time. The programs are made here: what decides each is known by how it is made.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::tool;

/// A program in a folder of its own.
struct Built {
    folder: tempfile::TempDir,
    source: PathBuf,
}

impl Built {
    /// From its text; the name says the language.
    fn new(name: &str, text: &str) -> Built {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join(name);
        let built = Built { folder, source };
        built.build(text);
        built
    }

    /// The same program after an edit.
    fn build(&self, text: &str) {
        fs::write(&self.source, text).expect("a file");
        let wrapper = match self.source.extension().and_then(|it| it.to_str()) {
            Some("c") => "cc",
            Some("cc") => "c++",
            _ => "rustc",
        };
        let mut command = tool::command([wrapper]);
        if wrapper != "rustc" {
            command.args(["-O1", "-pthread"]);
        }
        command.arg("-g").arg(&self.source).arg("-o").arg(self.program());
        let built = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{text}\n{}", built.describe());
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn finish(&self, words: &[&str], program: bool) -> tool::Outcome {
        let mut command = tool::command(words);
        command.arg("--out").arg(self.out());
        if program {
            command.arg("--").arg(self.program());
        }
        tool::finish(&mut command, tool::PATIENCE)
    }

    /// The id of what a campaign finds.
    fn find(&self, races: &str) -> String {
        let options = ["run", "--races", races, "--shrink", "off", "--runs", "3000", "--format", "json"];
        let made = self.finish(&options, true);
        let json = json(&made);
        assert_eq!(made.code, Some(1), "{}", made.describe());
        json["findings"][0]["id"].as_str().expect("an id").to_owned()
    }

    /// What is told of a finding.
    fn of(&self, id: &str, more: &[&str]) -> Value {
        let made = self.finish(&[&["futures", "--of", id, "--format", "json"], more].concat(), false);
        assert_eq!(made.code, Some(1), "{}", made.describe());
        json(&made)
    }

    /// The line that has this mark behind it.
    fn line(&self, mark: &str) -> u64 {
        let text = fs::read_to_string(&self.source).expect("the source");
        let end = format!("//~ {mark}");
        text.lines().position(|line| line.trim_end().ends_with(&end)).expect("a mark") as u64 + 1
    }

    /// Runs that were made to have the choices: all, and those that failed.
    fn make_again(&self, told: &Value) -> (u64, u64) {
        let mut words = vec![
            "run",
            "--races",
            "off",
            "--shrink",
            "off",
            "--keep-going",
            "--runs",
            "30",
            "--format",
            "json",
        ];
        for term in told["terms"].as_array().expect("terms") {
            words.extend(["--future", term["choice"].as_str().expect("a choice")]);
        }
        let made = self.finish(&words, true);
        let json = json(&made);
        let choices = json["choices"].as_array().expect("choices").clone();
        assert!(choices.iter().all(|choice| choice["outcome"] == "made"), "{json:#}");
        let made = choices[0]["runs"].as_u64().unwrap_or(0);
        let failed = json["findings"]
            .as_array()
            .map_or(0, |list| list.iter().filter_map(|it| it["count"].as_u64()).sum());
        (made, failed)
    }
}

fn json(made: &tool::Outcome) -> Value {
    serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()))
}

fn line_of(place: &Value) -> u64 {
    place.as_str().and_then(|place| place.rsplit(':').next()).and_then(|line| line.parse().ok()).unwrap_or(0)
}

/// Terms as lines: of the read, and of the write, 0 for the initial value.
fn terms(told: &Value) -> BTreeSet<(u64, u64)> {
    let terms = told["terms"].as_array().unwrap_or_else(|| panic!("{told:#}"));
    terms.iter().map(|term| (line_of(&term["place"]), line_of(&term["write"]))).collect()
}

/// Where the flags lie, and how they are read and written.
#[derive(Clone, Copy, Debug)]
enum Storage {
    Globals,
    Heap,
    Atomics,
    Array,
}

/// As many strands as there are bits set a flag each; one reads them all, and the program fails if it sees exactly these bits. So each read's term is needed, and no
/// other.
fn flags(storage: Storage, bits: &[bool]) -> String {
    let count = bits.len();
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n",
    );
    let lock = "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n";
    let (declared, made, flag): (String, &str, fn(usize) -> String) = match storage {
        Storage::Globals => {
            let names: Vec<String> = (0..count).map(|at| format!("flag{at}")).collect();
            (format!("static int {};\n", names.join(", ")), "", |at| format!("flag{at}"))
        }
        Storage::Heap => {
            let fields: String = (0..count).map(|at| format!("int flag{at}; ")).collect();
            let text = format!("struct flags {{ {fields}}};\nstatic struct flags *flags;\n");
            (text, "    flags = calloc(1, sizeof *flags);\n", |at| format!("flags->flag{at}"))
        }
        Storage::Atomics => {
            let names: Vec<String> = (0..count).map(|at| format!("flag{at}")).collect();
            (format!("static atomic_int {};\n", names.join(", ")), "", |at| format!("flag{at}"))
        }
        Storage::Array => (format!("static int flags[{count}];\n"), "", |at| format!("flags[{at}]")),
    };
    text += &declared;
    text += lock;
    for at in 0..count {
        let _ = write!(
            text,
            "static void *set{at}(void *arg) {{\n    pthread_mutex_lock(&lock);\n    {} = 1; //~ set {at}\n    pthread_mutex_unlock(&lock);\n    return arg;\n}}\n",
            flag(at)
        );
    }
    text += "int main(void) {\n    pthread_t strands[8];\n";
    text += made;
    for at in 0..count {
        let _ = writeln!(text, "    pthread_create(&strands[{at}], NULL, set{at}, NULL);");
    }
    let mut wanted = Vec::new();
    for (at, bit) in bits.iter().enumerate() {
        let _ = write!(
            text,
            "    pthread_mutex_lock(&lock);\n    int seen{at} = {}; //~ read {at}\n    pthread_mutex_unlock(&lock);\n",
            flag(at)
        );
        wanted.push(format!("seen{at} == {}", u8::from(*bit)));
    }
    for at in 0..count {
        let _ = writeln!(text, "    pthread_join(strands[{at}], NULL);");
    }
    let _ = writeln!(text, "    assert(!({}));", wanted.join(" && "));
    text + "    return 0;\n}\n"
}

#[test]
fn every_term_is_there_and_no_other() {
    let cases: [(Storage, &[bool]); 6] = [
        (Storage::Globals, &[true]),
        (Storage::Globals, &[false, true]),
        (Storage::Heap, &[true, false]),
        (Storage::Atomics, &[false, true]),
        (Storage::Array, &[true, true]),
        (Storage::Heap, &[true, false, true]),
    ];
    for (storage, bits) in cases {
        let name = format!("{storage:?} {bits:?}");
        let built = Built::new("flags.c", &flags(storage, bits));
        let id = built.find("off");
        let told = built.of(&id, &[]);
        assert_eq!(told["decided"], true, "{name}: {told:#}");
        let expected: BTreeSet<(u64, u64)> = bits
            .iter()
            .enumerate()
            .map(|(at, bit)| {
                (built.line(&format!("read {at}")), if *bit { built.line(&format!("set {at}")) } else { 0 })
            })
            .collect();
        assert_eq!(terms(&told), expected, "{name}: {told:#}");
        assert_eq!(told["smallest"], true, "{name}: {told:#}");
        assert!(told["made"].as_u64() >= Some(10), "{name}: {told:#}");
        // They are few enough for every order.
        assert!(told["orders"].as_u64().is_some(), "{name}: {told:#}");
        let (made, failed) = built.make_again(&told);
        assert!(made >= 10 && made == failed, "{name}: {failed} of {made}: {told:#}");
    }
}

/// What is kept is made again after edits, fails as long as the mistake is there, and is a test for build servers.
#[test]
fn what_is_kept_survives_edits() {
    let text = flags(Storage::Globals, &[false, true]);
    let built = Built::new("flags.c", &text);
    let id = built.find("off");
    let told = built.of(&id, &["--keep", &built.path("suite")]);
    let file = PathBuf::from(told["kept"].as_str().expect("a file"));
    let kept = fs::read_to_string(&file).expect("a file");
    assert!(kept.starts_with("threadbare future 2\n") && kept.contains("expect: fails"), "{kept}");
    let check = |format: &str| {
        let suite = built.path("suite");
        built.finish(
            &["futures", "--check", &suite, "--races", "off", "--shrink", "off", "--format", format],
            true,
        )
    };
    let before = check("text");
    assert_eq!(before.code, Some(1), "{}", before.describe());
    assert!(before.stdout.contains(": fails: assertion-"), "{}", before.describe());
    // Other lines, other functions before it: the terms are the same.
    built.build(&format!("/* one */\n/* two */\nvoid *other(void *arg) {{ return arg; }}\n{text}"));
    let moved = check("text");
    assert_eq!(moved.code, Some(1), "{}", moved.describe());
    assert!(moved.stdout.contains(": fails: assertion-"), "{}", moved.describe());
    let junit = check("junit");
    assert_eq!(junit.code, Some(1), "{}", junit.describe());
    assert!(
        junit.stdout.contains("failures=\"1\"") && junit.stdout.contains("<failure "),
        "{}",
        junit.stdout
    );
    let told = json(&check("json"));
    assert_eq!(
        (&told["futures"][0]["status"], &told["futures"][0]["outcome"]),
        (&"made".into(), &"assertion".into())
    );
    assert_eq!(told["findings"][0]["kind"], "assertion", "{told:#}");
    // Mended: what it asks for is harmless.
    built.build(&text.replace("assert(!(seen0 == 0 && seen1 == 1))", "assert(seen0 + seen1 < 3)"));
    let mended = check("text");
    assert_eq!(mended.code, Some(0), "{}", mended.describe());
    assert!(mended.stdout.contains("passes now"), "{}", mended.describe());
    // Mended otherwise: the read is gone.
    built.build(&text.replace("int seen0 = flag0;", "int seen0 = 1;"));
    let gone = check("junit");
    assert_eq!(gone.code, Some(0), "{}", gone.describe());
    assert!(gone.stdout.contains("<skipped ") && gone.stdout.contains("skipped=\"1\""), "{}", gone.stdout);
}

const LOCK_ORDER: &str = "\
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *one(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    count++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}
int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, one, NULL);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    count++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_join(strand, NULL);
    return 0;
}
";

/// Lock acquisitions are no terms: that is told, and nothing is kept.
#[test]
fn an_order_of_locks_is_no_term() {
    let built = Built::new("order.c", LOCK_ORDER);
    let id = built.find("off");
    assert!(id.starts_with("deadlock-"), "{id}");
    let told = built.of(&id, &["--keep", &built.path("suite")]);
    assert_eq!(told["decided"], false, "{told:#}");
    let reason = told["reason"].as_str().expect("a reason");
    assert!(reason.contains("the order in which strands take locks"), "{reason}");
    assert!(told["terms"].is_null() && told["kept"].is_null() && !Path::new(&built.path("suite")).exists());
    let text = built.finish(&["futures", "--of", &id], false);
    assert!(text.stdout.contains("no set of terms decides it: "), "{}", text.describe());
}

/// A deadlock that comes of what a strand has read is decided by that read.
#[test]
fn a_deadlock_may_hang_on_a_read() {
    let text = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static void *set(void *arg) {
    pthread_mutex_lock(&lock);
    ready = 1; //~ set
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, set, NULL);
    pthread_mutex_lock(&lock);
    int seen = ready; //~ read
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&never);
    if (!seen)
        pthread_mutex_lock(&never);
    pthread_mutex_unlock(&never);
    pthread_join(strand, NULL);
    return 0;
}
";
    let built = Built::new("waits.c", text);
    let told = built.of(&built.find("off"), &[]);
    assert_eq!(terms(&told), BTreeSet::from([(built.line("read"), 0)]), "{told:#}");
}

/// A race that not every run comes to is decided by what leads there; one that every run shows needs no term, and has the nearest.
#[test]
fn a_race_behind_a_read() {
    let text = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int flag;
int data;
static void *other(void *arg) {
    pthread_mutex_lock(&lock);
    flag = 1; //~ set
    pthread_mutex_unlock(&lock);
    data = 1;
    return arg;
}
int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, other, NULL);
    pthread_mutex_lock(&lock);
    int seen = flag; //~ read
    pthread_mutex_unlock(&lock);
    if (seen)
        data = 2;
    pthread_join(strand, NULL);
    return 0;
}
";
    let built = Built::new("race.c", text);
    let id = built.find("fail");
    assert!(id.starts_with("race-"), "{id}");
    let told = built.of(&id, &[]);
    assert_eq!(terms(&told), BTreeSet::from([(built.line("read"), built.line("set"))]), "{told:#}");
}

const OBJECT: &str = "\
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
struct Account {
    std::mutex lock;
    int balance = 100;
    int read() {
        std::lock_guard<std::mutex> guard(lock);
        return balance; //~ read
    }
    void write(int value) {
        std::lock_guard<std::mutex> guard(lock);
        balance = value; //~ write
    }
};
int main() {
    auto account = std::make_unique<Account>();
    auto pay = [&](int amount) { account->write(account->read() - amount); };
    std::thread one(pay, 30), two(pay, 50);
    one.join();
    two.join();
    if (account->read() != 20)
        std::abort();
    return 0;
}
";

/// An update that is lost: two terms, on one line, of different strands.
#[test]
fn an_object_of_the_heap() {
    let built = Built::new("account.cc", OBJECT);
    let told = built.of(&built.find("off"), &[]);
    assert_eq!(told["decided"], true, "{told:#}");
    let list = told["terms"].as_array().expect("terms");
    assert!(list.len() == 2 && told["smallest"] == true, "{told:#}");
    assert!(list.iter().all(|term| line_of(&term["place"]) == built.line("read")), "{told:#}");
    let (made, failed) = built.make_again(&told);
    assert!(made >= 10 && made == failed, "{failed} of {made}: {told:#}");
}

const RUST: &str = "\
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
struct Pair {
    low: AtomicUsize,
    high: AtomicUsize,
}
fn main() {
    let pair = Arc::new(Pair { low: AtomicUsize::new(0), high: AtomicUsize::new(0) });
    let other = Arc::clone(&pair);
    let writer = thread::spawn(move || {
        other.low.store(1, Ordering::SeqCst); //~ set low
        other.high.store(1, Ordering::SeqCst); //~ set high
    });
    let low = pair.low.load(Ordering::SeqCst); //~ read low
    let high = pair.high.load(Ordering::SeqCst); //~ read high
    assert!(!(low == 0 && high == 1), \"torn\");
    writer.join().unwrap();
}
";

#[test]
fn atomics_of_rust() {
    let built = Built::new("pair.rs", RUST);
    let told = built.of(&built.find("off"), &[]);
    let expected =
        BTreeSet::from([(built.line("read low"), 0), (built.line("read high"), built.line("set high"))]);
    assert_eq!(terms(&told), expected, "{told:#}");
    let (made, failed) = built.make_again(&told);
    assert!(made >= 10 && made == failed, "{failed} of {made}: {told:#}");
}

/// A test of a package: the finding knows its program and its arguments.
#[test]
fn a_test_of_a_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"stock\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    write(
        "src/lib.rs",
        "use std::sync::Mutex;\n\
         pub struct Stock(Mutex<u32>);\n\
         impl Stock {\n\
             pub fn new(count: u32) -> Stock { Stock(Mutex::new(count)) }\n\
             pub fn left(&self) -> u32 { *self.0.lock().unwrap() }\n\
             pub fn take(&self) { *self.0.lock().unwrap() -= 1; }\n\
         }\n\
         #[cfg(test)]\n\
         mod tests {\n\
             use super::*;\n\
             use std::sync::Arc;\n\
             #[test]\n\
             fn one_is_left() {\n\
                 let stock = Arc::new(Stock::new(1));\n\
                 let other = Arc::clone(&stock);\n\
                 let buyer = std::thread::spawn(move || if other.left() > 0 { other.take() });\n\
                 if stock.left() > 0 { stock.take() }\n\
                 buyer.join().unwrap();\n\
             }\n\
         }\n",
    );
    let out = folder.path().join("out");
    let mut command = std::process::Command::new(tool::cargo_threadbare());
    command.args(["threadbare", "test", "--format", "json", "--races", "off", "--shrink", "off", "--out"]);
    command.arg(&out).current_dir(folder.path()).env("CARGO_TARGET_DIR", folder.path().join("target"));
    command.env("RUST_BACKTRACE", "0");
    let made = tool::finish(&mut command, tool::PATIENCE);
    let json = json(&made);
    let id = json["tests"][0]["campaign"]["findings"][0]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", made.describe()));
    let mut command = tool::command(["futures", "--of", id, "--format", "json", "--out"]);
    // What the program may look at is as it was; a backtrace looks at much.
    command.env("RUST_BACKTRACE", "0");
    command.arg(&out).current_dir(folder.path()).env("CARGO_TARGET_DIR", folder.path().join("target"));
    let told = tool::finish(&mut command, tool::PATIENCE);
    assert_eq!(told.code, Some(1), "{}", told.describe());
    let told = self::json(&told);
    assert_eq!(told["decided"], true, "{told:#}");
    assert!(told["terms"].as_array().is_some_and(|terms| (1..=3).contains(&terms.len())), "{told:#}");
    assert!(told["command"].as_str().is_some_and(|command| command.contains("one_is_left")), "{told:#}");
}

#[test]
fn what_cannot_be_asked_is_told() {
    let built = Built::new("flags.c", &flags(Storage::Globals, &[true]));
    let id = built.find("off");
    let refused = |words: &[&str], program: bool, said: &str| {
        let made = built.finish(words, program);
        assert_eq!(made.code, Some(2), "{words:?}: {}", made.describe());
        assert!(made.stderr.contains(said), "{words:?}: {}", made.describe());
    };
    refused(&["futures", "--of", "assertion-00000000"], false, "cannot read the schedule");
    refused(&["futures", "--of", &id, "--all"], false, "cannot be used with");
    refused(&["futures", "--of", &id, "--format", "junit"], false, "no such form");
    refused(&["futures", "--keep", "suite"], true, "nothing to keep");
    // The program may be named; its arguments are the finding's.
    let named = built.finish(&["futures", "--of", &id], true);
    assert_eq!(named.code, Some(1), "{}", named.describe());
    assert!(named.stdout.contains("it fails whenever\n  flags.c:"), "{}", named.describe());
    // A schedule is of one build.
    built.build(&format!("/* another */\n{}", flags(Storage::Globals, &[true, true])));
    refused(&["futures", "--of", &id], false, "another build");
}
