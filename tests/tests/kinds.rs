//! `threadbare invariants` on every kind of value, in C, C++ and Rust.
//!
//! In each program one strand makes a shared variable wrong for a moment and right again, and another one, or main with it, expects it to be right. So what passing runs keep and
//! failing ones break is just what the variable is, and a kind that has no value tells nothing. What is wanted of an array, a text or a vector is said of it as a whole: elements
//! that only somebody's neighbours are touched of are a part of it, too. Built without optimisation by gcc, with it by clang, both ways by
//! both with `THREADBARE_FULL=1`.

use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use threadbare_tests::extent::is_full;
use threadbare_tests::{compile, tool};

/// A kind of value: what is declared, what makes it ready, wrong and right, what is expected, and one of the statements that have to break.
struct Kind {
    name: &'static str,
    declared: &'static str,
    ready: &'static str,
    wrong: &'static str,
    right: &'static str,
    expected: &'static str,
    broken: &'static [&'static str],
}

const fn kind(
    name: &'static str,
    declared: &'static str,
    [ready, wrong, right, expected]: [&'static str; 4],
    broken: &'static [&'static str],
) -> Kind {
    Kind { name, declared, ready, wrong, right, expected, broken }
}

const IN_C: &[Kind] = &[
    kind("i8", "signed char v = 3;", ["", "v = -1;", "v = 3;", "v == 3"], &["::v == 3"]),
    kind("u16", "unsigned short v = 60000;", ["", "v = 1;", "v = 60000;", "v > 9"], &["::v == 60000"]),
    kind("i64", "long v = 1L << 40;", ["", "v = 0;", "v = 1L << 40;", "v > 0"], &["::v == 1099511627776"]),
    kind("bool", "_Bool v = 1;", ["", "v = 0;", "v = 1;", "v"], &["::v == true"]),
    kind(
        "enum",
        "enum mode { IDLE, BUSY } v;",
        ["", "v = BUSY;", "v = IDLE;", "v == IDLE"],
        &["::v == .IDLE"],
    ),
    kind("float", "float v = 2.5f;", ["", "v = -1;", "v = 2.5f;", "v > 0"], &["::v == 2.5"]),
    kind("double", "double v = 2.5;", ["", "v = -1;", "v = 2.5;", "v > 0"], &["::v == 2.5"]),
    kind("null", "int x, *v = &x;", ["", "v = 0;", "v = &x;", "v"], &["::v != NULL"]),
    kind(
        "object",
        "int *a, *b, *v;",
        ["a = malloc(4); //~ a\n b = malloc(4); *a = *b = 1; v = a;", "v = b;", "v = a;", "v == a"],
        &["object(::v) == \"{a}\""],
    ),
    kind(
        "static object",
        "int one, two, *v = &one;",
        ["", "v = &two;", "v = &one;", "v == &one"],
        &["object(::v) == \"one\""],
    ),
    kind(
        "text",
        "char v[4] = \"bob\";",
        ["", "v[0] = 'r';", "v[0] = 'b';", "v[0] == 'b' && v[1] == 'o' && v[2] == 'b' && !v[3]"],
        &["::v == \"bob\""],
    ),
    kind(
        "array",
        "int v[3] = {1, 2, 3};",
        ["", "v[1] = 9;", "v[1] = 2;", "v[1] <= v[2]"],
        &["sum(::v) == 6", "max(::v) == 3"],
    ),
    kind("atomic", "_Atomic int v = 3;", ["", "v = 1;", "v = 3;", "v == 3"], &["::v == 3"]),
    kind(
        "field",
        "struct p { char c; long v; } s;",
        ["s.v = 3;", "s.v = 1;", "s.v = 3;", "s.v == 3"],
        &["::s.v == 3"],
    ),
    kind(
        "heap",
        "struct p { char c; long v; } *s;",
        ["s = malloc(sizeof *s); s->v = 3;", "s->v = 1;", "s->v = 3;", "s->v == 3"],
        &["p.v == 3"],
    ),
    kind(
        "return",
        "int v = 3; __attribute__((noinline)) int get(void) { return v * 2; }",
        ["", "v = 1;", "v = 3;", "get() == 6"],
        &["return == 6"],
    ),
    kind(
        "bool return",
        "int v = 3; __attribute__((noinline)) _Bool get(void) { return v == 3; }",
        ["", "v = 1;", "v = 3;", "get()"],
        &["return == true"],
    ),
    kind(
        "float return",
        "double v = 3; __attribute__((noinline)) double get(void) { double a = v; sched_yield(); return a + v; }",
        ["", "v = 1;", "v = 3;", "get() == 6"],
        &["return == 6.0"],
    ),
    kind(
        "pointer's return",
        "int x, *v = &x; __attribute__((noinline)) int *get(void) { return v; }",
        ["", "v = 0;", "v = &x;", "get()"],
        &["return != NULL"],
    ),
];

const IN_CPP: &[Kind] = &[
    kind("i16", "short v = 3;", ["", "v = -1;", "v = 3;", "v == 3"], &["::v == 3"]),
    kind("bool", "bool v = true;", ["", "v = false;", "v = true;", "v"], &["::v == true"]),
    kind(
        "enum class",
        "enum class Mode : char { Idle, Busy }; Mode v;",
        ["", "v = Mode::Busy;", "v = Mode::Idle;", "v == Mode::Idle"],
        &["::v == .Idle"],
    ),
    kind("double", "double v = 2.5;", ["", "v = -1;", "v = 2.5;", "v > 0"], &["::v == 2.5"]),
    kind("null", "int x; int *v = &x;", ["", "v = nullptr;", "v = &x;", "v"], &["::v != NULL"]),
    kind(
        "object",
        "int *a, *b, *v;",
        ["a = new int(1); //~ a\n b = new int(2); v = a;", "v = b;", "v = a;", "v == a"],
        &["object(::v) == \"{a}\""],
    ),
    kind("atomic", "std::atomic<int> v{3};", ["", "v = 1;", "v = 3;", "v == 3"], &["::v == 3"]),
    kind(
        "newtype",
        "struct Metres { int v; }; Metres m{3};",
        ["", "m.v = 1;", "m.v = 3;", "m.v == 3"],
        &["::m.v == 3"],
    ),
    kind(
        "optional",
        "std::optional<int> v = 3;",
        ["", "v.reset();", "v = 3;", "v.has_value()"],
        &["::v.has_value == true"],
    ),
    kind("optional's", "std::optional<int> v = 3;", ["", "v = 1;", "v = 3;", "*v == 3"], &["::v.value == 3"]),
    kind(
        "array",
        "std::array<int, 3> v{1, 2, 3};",
        ["", "v[1] = 9;", "v[1] = 2;", "v[1] <= v[2]"],
        &["sum(::v) == 6", "max(::v) == 3"],
    ),
    kind(
        "vector",
        "std::vector<int> v;",
        ["v = {1, 2, 3};", "v[1] = 9;", "v[1] = 2;", "v.size() == 3 && v[1] <= v[2]"],
        &["sum(::v) == 6", "max(::v) == 3"],
    ),
    kind(
        "size",
        "std::vector<int> v;",
        ["v = {1, 2};", "v.pop_back();", "v.push_back(2);", "v.size() == 2"],
        &["::v.size == 2"],
    ),
    kind(
        "guarded",
        "std::mutex m; int v = 3; void set(int to) { std::lock_guard<std::mutex> guard(m); v = to; }",
        ["", "set(1);", "set(3);", "({ std::lock_guard<std::mutex> guard(m); v == 3; })"],
        &["::v == 3"],
    ),
    kind(
        "return",
        "int v = 3; __attribute__((noinline)) int get() { return v * 2; }",
        ["", "v = 1;", "v = 3;", "get() == 6"],
        &["return == 6"],
    ),
    kind(
        "method's return",
        "struct Gauge { long v = 3; __attribute__((noinline)) long get() const { return v * 2; } }; Gauge g;",
        ["", "g.v = 1;", "g.v = 3;", "g.get() == 6"],
        &["return == 6"],
    ),
];

const IN_RUST: &[Kind] = &[
    kind(
        "i8",
        "static V: Mutex<i8> = Mutex::new(3);",
        ["", "*lock(&V) = -1;", "*lock(&V) = 3;", "*lock(&V) == 3"],
        &["::kind::V == 3"],
    ),
    kind(
        "u64",
        "static V: Mutex<u64> = Mutex::new(3);",
        ["", "*lock(&V) = 1;", "*lock(&V) = 3;", "*lock(&V) == 3"],
        &["::kind::V == 3"],
    ),
    kind(
        "bool",
        "static V: Mutex<bool> = Mutex::new(true);",
        ["", "*lock(&V) = false;", "*lock(&V) = true;", "*lock(&V)"],
        &["::kind::V == true"],
    ),
    kind(
        "f64",
        "static V: Mutex<f64> = Mutex::new(2.5);",
        ["", "*lock(&V) = 0.5;", "*lock(&V) = 2.5;", "*lock(&V) > 1.0"],
        &["::kind::V == 2.5"],
    ),
    kind(
        "enum",
        "#[derive(PartialEq)] enum Mode { Idle, Busy } static V: Mutex<Mode> = Mutex::new(Mode::Idle);",
        ["", "*lock(&V) = Mode::Busy;", "*lock(&V) = Mode::Idle;", "*lock(&V) == Mode::Idle"],
        &["::kind::V == .Idle"],
    ),
    kind(
        "variant",
        "enum Job { Idle, Busy(u32) } static V: Mutex<Job> = Mutex::new(Job::Busy(3));",
        ["", "*lock(&V) = Job::Idle;", "*lock(&V) = Job::Busy(3);", "matches!(*lock(&V), Job::Busy(_))"],
        &["::kind::V == .Busy"],
    ),
    kind(
        "option",
        "static V: Mutex<Option<u32>> = Mutex::new(Some(3));",
        ["", "*lock(&V) = None;", "*lock(&V) = Some(3);", "lock(&V).is_some()"],
        &["::kind::V == .Some"],
    ),
    kind(
        "option's",
        "static V: Mutex<Option<u32>> = Mutex::new(Some(3));",
        ["", "*lock(&V) = Some(1);", "*lock(&V) = Some(3);", "lock(&V).unwrap_or(0) == 3"],
        &["::kind::V.Some == 3"],
    ),
    kind(
        "newtype",
        "struct Metres(u32); static V: Mutex<Metres> = Mutex::new(Metres(3));",
        ["", "lock(&V).0 = 1;", "lock(&V).0 = 3;", "lock(&V).0 == 3"],
        &["::kind::V == 3", "::kind::V.0 == 3", "::kind::V.__0 == 3"],
    ),
    kind(
        "atomic",
        "static V: AtomicU32 = AtomicU32::new(3);",
        ["", "V.store(1, SeqCst);", "V.store(3, SeqCst);", "V.load(SeqCst) == 3"],
        &["::kind::V == 3"],
    ),
    kind(
        "null",
        "static X: AtomicU32 = AtomicU32::new(3); static V: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());",
        [
            "V.store((&raw const X).cast_mut(), SeqCst);",
            "V.store(std::ptr::null_mut(), SeqCst);",
            "V.store((&raw const X).cast_mut(), SeqCst);",
            "!V.load(SeqCst).is_null()",
        ],
        &["::kind::V != NULL"],
    ),
    kind(
        "object",
        "static A: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut()); static B: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut()); static V: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());",
        [
            "A.store(Box::into_raw(Box::new(1)), SeqCst); //~ a\n B.store(Box::into_raw(Box::new(2)), SeqCst); V.store(A.load(SeqCst), SeqCst);",
            "V.store(B.load(SeqCst), SeqCst);",
            "V.store(A.load(SeqCst), SeqCst);",
            "V.load(SeqCst) == A.load(SeqCst)",
        ],
        &["object(::kind::V) == \"{a}\""],
    ),
    kind(
        "array",
        "static V: Mutex<[i32; 3]> = Mutex::new([1, 2, 3]);",
        ["", "lock(&V)[1] = 9;", "lock(&V)[1] = 2;", "{ let v = lock(&V); v[0] <= v[1] && v[1] <= v[2] }"],
        &["sum(::kind::V) == 6", "max(::kind::V) == 3"],
    ),
    kind(
        "vec",
        "static V: Mutex<Vec<i32>> = Mutex::new(Vec::new());",
        [
            "lock(&V).extend([1, 2, 3]);",
            "lock(&V)[1] = 9;",
            "lock(&V)[1] = 2;",
            "{ let v = lock(&V); v.len() == 3 && v[0] <= v[1] && v[1] <= v[2] }",
        ],
        &["sum(::kind::V) == 6", "max(::kind::V) == 3"],
    ),
    kind(
        "pushed vec",
        "static V: Mutex<Vec<i32>> = Mutex::new(Vec::new());",
        [
            "for i in 1..6 { lock(&V).push(i); }",
            "lock(&V)[1] = 9;",
            "lock(&V)[1] = 2;",
            "{ let v = lock(&V); v.windows(2).all(|it| it[0] <= it[1]) }",
        ],
        &["sum(::kind::V) == 15", "max(::kind::V) == 5"],
    ),
    kind(
        "vec of bytes",
        "static V: Mutex<Vec<u8>> = Mutex::new(Vec::new());",
        [
            "*lock(&V) = vec![1, 2, 3];",
            "lock(&V)[1] = 9;",
            "lock(&V)[1] = 2;",
            "{ let v = lock(&V); v[0] <= v[1] && v[1] <= v[2] }",
        ],
        &["sum(::kind::V) == 6", "max(::kind::V) == 3"],
    ),
    kind(
        "len",
        "static V: Mutex<Vec<i32>> = Mutex::new(Vec::new());",
        ["lock(&V).extend([1, 2]);", "lock(&V).pop();", "lock(&V).push(2);", "lock(&V).len() == 2"],
        &["::kind::V.len == 2"],
    ),
    kind(
        "boxed slice",
        "static V: Mutex<Option<Box<[i32]>>> = Mutex::new(None);",
        [
            "*lock(&V) = Some(Box::new([1, 2, 3]));",
            "lock(&V).as_mut().unwrap()[1] = 9;",
            "lock(&V).as_mut().unwrap()[1] = 2;",
            "{ let v = lock(&V); let v = v.as_ref().unwrap(); v[0] <= v[1] && v[1] <= v[2] }",
        ],
        &["sum(::kind::V.Some) == 6", "max(::kind::V.Some) == 3"],
    ),
    kind(
        "deque",
        "static V: Mutex<VecDeque<i32>> = Mutex::new(VecDeque::new());",
        ["lock(&V).extend([1, 2]);", "lock(&V).pop_back();", "lock(&V).push_back(2);", "lock(&V).len() == 2"],
        &["::kind::V.len == 2"],
    ),
    kind(
        "return",
        "static V: Mutex<u32> = Mutex::new(3); #[inline(never)] fn get() -> u32 { *lock(&V) * 2 }",
        ["", "*lock(&V) = 1;", "*lock(&V) = 3;", "get() == 6"],
        &["return == 6"],
    ),
    kind(
        "bool return",
        "static V: Mutex<u32> = Mutex::new(3); #[inline(never)] fn get() -> bool { *lock(&V) == 3 }",
        ["", "*lock(&V) = 1;", "*lock(&V) = 3;", "get()"],
        &["return == true"],
    ),
];

fn c(kind: &Kind) -> String {
    let Kind { declared, ready, wrong, right, expected, .. } = kind;
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <sched.h>\n#include <stdlib.h>\n{declared}\n\
         static void *change(void *none) {{\n    {wrong}\n    sched_yield();\n    {right}\n    return none;\n}}\n\
         static void *expect(void *none) {{\n    assert({expected});\n    return none;\n}}\n\
         int main(void) {{\n    {ready}\n    pthread_t one, two;\n    pthread_create(&one, 0, change, 0);\n    \
         pthread_create(&two, 0, expect, 0);\n    pthread_join(one, 0);\n    pthread_join(two, 0);\n}}\n"
    )
}

fn cpp(kind: &Kind) -> String {
    let Kind { declared, ready, wrong, right, expected, .. } = kind;
    format!(
        "#include <array>\n#include <atomic>\n#include <cassert>\n#include <mutex>\n#include <optional>\n#include <thread>\n#include <vector>\n{declared}\n\
         static void change() {{\n    {wrong}\n    std::this_thread::yield();\n    {right}\n}}\n\
         static void expect() {{\n    assert(({expected}));\n}}\n\
         int main() {{\n    {ready}\n    std::thread one(change), two(expect);\n    one.join();\n    two.join();\n}}\n"
    )
}

fn rust(kind: &Kind) -> String {
    let Kind { declared, ready, wrong, right, expected, .. } = kind;
    format!(
        "#![allow(unused, dead_code)]\nuse std::collections::VecDeque;\nuse std::sync::atomic::{{*, Ordering::SeqCst}};\nuse std::sync::{{Mutex, MutexGuard}};\nuse std::thread;\n\
         fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {{\n    of.lock().unwrap_or_else(|it| it.into_inner())\n}}\n{declared}\n\
         fn change() {{\n    {wrong}\n    thread::yield_now();\n    {right}\n}}\n\
         fn expect() {{\n    if !({expected}) {{\n        std::process::abort();\n    }}\n}}\n\
         fn main() {{\n    {ready}\n    let one = thread::spawn(change);\n    let two = thread::spawn(expect);\n    one.join().unwrap();\n    two.join().unwrap();\n}}\n"
    )
}

/// What there is to say of a program that does not break what it should.
fn miss(
    kind: &Kind,
    (file, text): (&str, &str),
    compiler: &str,
    level: &str,
    folder: &Path,
) -> Option<String> {
    let source = folder.join(file);
    std::fs::write(&source, text).expect("a source");
    let program = folder.join(format!("{compiler}.{level}"));
    let wrapper = match compiler {
        "rustc" => "rustc",
        "gcc" | "clang-19" => "cc",
        _ => "c++",
    };
    let mut command = tool::command([wrapper]);
    command.env("THREADBARE_CC", compiler).env("THREADBARE_CXX", compiler).arg("-g");
    match wrapper {
        "rustc" => command.args(["--edition", "2024"]).arg(format!("-Copt-level={level}")),
        "cc" => command.arg(format!("-O{level}")).arg("-pthread"),
        _ => command.arg(format!("-O{level}")).args(["-std=c++20", "-pthread"]),
    };
    command.arg(&source).arg("-o").arg(&program);
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    assert_eq!(outcome.code, Some(0), "{}: {}", kind.name, outcome.describe());
    let out = folder.join("out");
    let arguments = ["invariants", "--format", "json", "--runs", "200", "--no-regions", "--out"];
    let outcome = tool::run(arguments.map(Into::into).into_iter().chain([
        out.into_os_string(),
        "--".into(),
        program.into(),
    ]));
    let told: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|it| panic!("{it}: {}", outcome.describe()));
    let all = told["invariants"].as_array().expect("a list");
    let broken: Vec<&str> =
        all.iter().filter(|it| it["broken"] == true).filter_map(|it| it["text"].as_str()).collect();
    let place = text.lines().position(|line| line.contains("//~ a")).map_or(0, |at| at + 1);
    let wanted: Vec<String> =
        kind.broken.iter().map(|text| text.replace("{a}", &format!("{file}:{place}"))).collect();
    let found = wanted.iter().any(|text| broken.contains(&text.as_str()));
    (!found).then(|| format!("{} by {compiler} -O{level}: {broken:?} has none of {wanted:?}", kind.name))
}

fn all(kinds: &[Kind], file: &str, of: fn(&Kind) -> String, compilers: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let only = std::env::var("THREADBARE_KIND").ok();
    let mut missed = String::new();
    for kind in kinds.iter().filter(|kind| only.as_ref().is_none_or(|only| only == kind.name)) {
        for &compiler in compilers.iter().filter(|name| !name.starts_with("clang") || compile::has_clang()) {
            let clang = compiler.starts_with("clang");
            for level in ["0", "2"] {
                if is_full() || compiler == "rustc" || clang == (level == "2") {
                    let said = miss(kind, (file, &of(kind)), compiler, level, folder.path());
                    said.into_iter().for_each(|said| writeln!(missed, "{said}").expect("a string"));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed}");
}

#[test]
fn every_kind_in_c() {
    all(IN_C, "kind.c", c, &["gcc", "clang-19"]);
}

#[test]
fn every_kind_in_cpp() {
    all(IN_CPP, "kind.cc", cpp, &["g++", "clang++-19"]);
}

#[test]
fn every_kind_in_rust() {
    all(IN_RUST, "kind.rs", rust, &["rustc"]);
}
