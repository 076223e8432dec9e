//! No table denies what a run saw: over the corpus, and over programs that make addresses known in many ways.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{compile, extent, tool};

/// Builds a program with the tool; `None` if the compiler will not.
fn build(source: &Path, compiler: &str, options: &[&str], folder: &Path) -> Option<PathBuf> {
    let program = folder.join("program");
    let (wrapper, variable) = match source.extension()?.to_str()? {
        "c" => ("cc", "THREADBARE_CC"),
        "cc" => ("c++", "THREADBARE_CXX"),
        _ => ("rustc", "THREADBARE_RUSTC"),
    };
    let mut command = tool::command([wrapper]);
    if wrapper != "rustc" {
        command.env(variable, compiler).arg("-pthread");
    }
    command.arg("-g").arg(source).args(options).arg("-o").arg(&program);
    (tool::finish(&mut command, tool::PATIENCE).code == Some(0)).then_some(program)
}

/// The table of a program, after so many runs.
fn table(program: &Path, runs: u64, folder: &Path) -> Result<Value, String> {
    let runs = runs.to_string();
    let mut command = tool::command(["futures", "--runs", &runs, "--races", "off", "--shrink", "off"]);
    command.args(["--timeout", "1s", "--format", "json", "--out"]).arg(folder.join("out"));
    let made = tool::finish(command.arg("--").arg(program), tool::PATIENCE);
    serde_json::from_str(&made.stdout).map_err(|_| made.describe())
}

/// What runs saw and the table denies.
fn denied(table: &Value) -> impl Iterator<Item = String> {
    let pairs = table["contradictions"].as_array().expect("a list");
    pairs.iter().map(Value::to_string)
}

/// Programs whose tables denied what runs saw, one day: with optimisation their landing pads lie apart, their pointers go into exchanges, or a constructor makes a strand.
const ONCE_WRONG: [&str; 6] = [
    "cancel/unwind.cc",
    "lifecycle/constructor.c",
    "race/treiber_racy.c",
    "race/treiber_right.c",
    "rust-std/rwlock.rs",
    "search/token_ring.c",
];

/// All programs of the corpus with `THREADBARE_FULL` (those of one folder with `THREADBARE_ONLY=folder`), a few of them without; unoptimised and optimised, by other compilers.
#[test]
fn tables_deny_nothing_that_runs_saw() {
    let full = extent::is_full();
    let only = std::env::var("THREADBARE_ONLY").ok();
    let corpus = tool::root().join("tests/programs");
    let folders = fs::read_dir(&corpus).expect("the corpus").flatten().map(|entry| entry.path());
    let few = ["mutex", "lifecycle", "condvar", "race"];
    let wanted = |folder: &PathBuf| match &only {
        Some(only) => folder.ends_with(only),
        None => full || few.iter().any(|name| folder.ends_with(name)),
    };
    let mut sources = Vec::new();
    for folder in folders.filter(wanted) {
        let found = fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path());
        let mut found: Vec<PathBuf> = found.filter(|path| full || is_c(path)).collect();
        // A run that is killed tells nothing of its reads, and takes all the time that it gets.
        found.retain(|path| !fs::read_to_string(path).is_ok_and(|text| text.contains("//@ expect: timeout")));
        found.sort();
        sources.extend(found.into_iter().rev().take(if full { usize::MAX } else { 2 }));
    }
    if only.is_none() {
        sources.extend(ONCE_WRONG.map(|name| corpus.join(name)));
    }
    let (mut built, mut wrong) = (0, Vec::new());
    for source in sources {
        let forms: &[(&str, &[&str])] = match source.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => &[
                ("rustc", &["--edition=2024", "-Copt-level=0"]),
                ("rustc", &["--edition=2024", "-Copt-level=2"]),
            ],
            Some("cc") => &[("g++", &["-std=c++20"]), ("g++", &["-std=c++20", "-O2"])],
            _ if compile::has_clang() => &[("gcc", &["-lm"]), ("clang-19", &["-O2", "-lm"])],
            _ => &[("gcc", &["-lm"]), ("gcc", &["-O2", "-lm"])],
        };
        for (compiler, options) in forms {
            let folder = tempfile::tempdir().expect("a folder");
            // Some need more than one file, or options of their own.
            let Some(program) = build(&source, compiler, options, folder.path()) else {
                println!("not built: {} {options:?}", source.display());
                continue;
            };
            built += 1;
            let about = format!("{} {compiler} {options:?}", source.display());
            match table(&program, extent::either(40, 200), folder.path()) {
                Ok(table) => wrong.extend(denied(&table).map(|pair| format!("{about}: {pair}"))),
                Err(why) => wrong.push(format!("{about}: {why}")),
            }
        }
    }
    println!("{built} programs");
    assert!(built > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A program in which a strand makes known where an object lies, in one of many ways, and another strand comes to it by pointer.
fn publishing(draw: &mut impl FnMut(usize) -> usize) -> String {
    const WAYS: [(&str, &str); 14] = [
        ("shared = c;", "shared"),
        ("__atomic_store_n(&shared, c, __ATOMIC_RELEASE);", "__atomic_load_n(&shared, __ATOMIC_ACQUIRE)"),
        (
            "(void)__atomic_exchange_n(&shared, c, __ATOMIC_ACQ_REL);",
            "__atomic_load_n(&shared, __ATOMIC_ACQUIRE)",
        ),
        (
            "struct cell *old = __atomic_load_n(&shared, __ATOMIC_RELAXED);\n    while (!__atomic_compare_exchange_n(&shared, &old, c, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))\n        ;",
            "__atomic_load_n(&shared, __ATOMIC_ACQUIRE)",
        ),
        (
            "__atomic_store_n(&marked, (uintptr_t)c | 1, __ATOMIC_RELEASE);",
            "(struct cell *)(__atomic_load_n(&marked, __ATOMIC_ACQUIRE) & ~(uintptr_t)1)",
        ),
        (
            "__atomic_fetch_or(&marked, (uintptr_t)c, __ATOMIC_ACQ_REL);",
            "(struct cell *)__atomic_load_n(&marked, __ATOMIC_ACQUIRE)",
        ),
        ("publish(c);", "shared"),
        ("exchange(c);", "__atomic_load_n(&shared, __ATOMIC_ACQUIRE)"),
        ("struct cell *d = flag > 100 ? &two : c;\n    shared = d;", "shared"),
        ("box.cell = c;", "box.cell"),
        ("memcpy(&shared, &c, sizeof c);", "shared"),
        ("table[flag & 3] = c;", "table[flag & 3]"),
        ("shared = same(c);", "shared"),
        ("two.next = c;\n    shared = &two;", "(shared ? shared->next : 0)"),
    ];
    const OBJECTS: [&str; 6] =
        ["&cells[2]", "&one", "&outer.cell", "calloc(1, sizeof one)", "&mine[1]", "&local"];
    let (publish, find) = WAYS[draw(WAYS.len())];
    let object = OBJECTS[draw(OBJECTS.len())];
    let inline = ["__attribute__((noinline)) ", "inline "][draw(2)];
    let (given, taken, argument) = [
        ("", "struct cell *c = arg;", "c"),
        ("given.cell = c;", "struct cell *c = ((struct given *)arg)->cell;", "&given"),
        ("passed = c;", "struct cell *c = passed;", "0"),
    ][draw(3)];
    let again = ["", "for (int i = 0; i < 2; i++) "][draw(2)];
    let set = ["c->value = 5;", "set(c, 5);"][draw(2)];
    let seen = [format!("{find} != 0"), "c->value".to_owned()][draw(2)].clone();
    format!(
        "#include <pthread.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct cell {{ long pad; int value; struct cell *next; }};\nstruct given {{ struct cell *cell; }};\n\
         static struct cell *shared, *table[4], *passed, cells[4], one, two;\nstatic uintptr_t marked;\nstatic volatile int flag;\n\
         static struct {{ int x; struct cell *cell; }} box;\nstatic struct {{ long x; struct cell cell; }} outer;\n\
         static {inline}void publish(struct cell *c) {{ shared = c; }}\n\
         static {inline}void set(struct cell *c, int value) {{ c->value = value; }}\n\
         static {inline}struct cell *same(struct cell *c) {{ return flag > 50 ? c + 1 : c; }}\n\
         static {inline}void exchange(struct cell *c) {{\n    struct cell *old = 0;\n    __atomic_compare_exchange_n(&shared, &old, c, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);\n}}\n\
         static void *writer(void *arg) {{\n    {taken}\n    {again}{{ {set}\n    {publish}\n    c->value = c->value + 1; }}\n    return 0;\n}}\n\
         static void *reader(void *arg) {{\n    struct cell *c = {find};\n    if (c && c->value > 3)\n        c->value = c->value - 1;\n    return arg;\n}}\n\
         int main(void) {{\n    pthread_t w, r;\n    struct given given = {{ 0 }};\n    struct cell mine[2];\n    static struct cell local;\n    memset(mine, 0, sizeof mine);\n\
         \x20   struct cell *c = {object};\n    {given}\n    pthread_create(&w, 0, writer, {argument});\n    pthread_create(&r, 0, reader, 0);\n\
         \x20   int seen = {seen};\n    pthread_join(w, 0);\n    pthread_join(r, 0);\n    return (seen + c->value + (given.cell == &two)) > 1000;\n}}\n"
    )
}

/// Draws numbers below what is asked for.
fn drawing(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    }
}

/// Whatever way a strand makes an address known, reads and writes behind the pointer are in the table.
#[test]
fn tables_know_how_addresses_get_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = std::env::var("THREADBARE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    let compilers = if compile::has_clang() { &["gcc", "clang-19"][..] } else { &["gcc"] };
    let mut wrong = Vec::new();
    for seed in first..first + extent::either(8, 200) {
        let mut draw = drawing(seed);
        let source = folder.path().join(format!("published{seed}.c"));
        let text = publishing(&mut draw);
        fs::write(&source, &text).expect("a file");
        let compiler = compilers[draw(compilers.len())];
        let level = ["-O0", "-O1", "-O2", "-O3"][draw(4)];
        let program = build(&source, compiler, &[level], folder.path()).expect("a program");
        let table = table(&program, 30, folder.path()).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let pairs: Vec<String> = denied(&table).collect();
        if table["reads"].as_array().is_none_or(Vec::is_empty) || !pairs.is_empty() {
            wrong.push(format!("seed {seed}, {compiler} {level}: {pairs:?}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c")
}
