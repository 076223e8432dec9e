//! `cargo xtask bench code`: how long the static part takes on 5 MB of instrumented code, and how long when it is asked again.
//!
//! Measured is what is kept with the program: functions, accesses, locks, calls. Beside it stands the whole of `threadbare futures` on the same program, four runs, with the table
//! of terms that is made anew each time.
//! The program is generated: many functions with locks, fields, arrays, branches and calls of each other.
//!
//! `cargo xtask bench code addresses`: of the accesses that runs made of shared memory, how many have an address that the code tells, by compiler and level.

use super::{field, json, output};
use crate::packages;
use crate::steps::{Outcome, build_tool, cargo, command, root, run};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Bytes of code that the figures are for, and the most seconds: the first time, and again.
const BYTES: f64 = 5e6;
const FIRST: f64 = 3.0;
const AGAIN: f64 = 0.2;
/// The most seconds for `futures` on the whole program.
const TABLE: f64 = 20.0;
const FUNCTIONS: usize = 9000;
/// Of the accesses that runs made of shared memory, so many of 100 have an address that the code tells.
const KNOWN: f64 = 90.0;
/// The programs whose addresses are counted.
const PROGRAMS: [&str; 18] = [
    "check-then-act/withdraw.c",
    "condvar/two_condvars.c",
    "rwlock/upgrade.c",
    "barrier/phases.c",
    "condvar/queue.cc",
    "atomics/ring.cc",
    "cxx/thread_pool.cc",
    "cxx/future.cc",
    "deadlock/philosophers.rs",
    "check-then-act/entry.rs",
    "atomics/tagged_stack.rs",
    "futures:figure5.c",
    "futures:figure6-array.c",
    "futures:figure6-array.rs",
    "futures:figure7.rs",
    "code:bank.c",
    "code:queue.cc",
    "code:shared.rs",
];

fn source() -> String {
    let mut text = "#include <pthread.h>\nstruct node { long key, count; struct node *next; pthread_mutex_t lock; long cells[8]; };\n\
                    static struct node nodes[64];\nstatic long total;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
        .to_owned();
    for at in 0..FUNCTIONS {
        let call = if at == 0 { "0".to_owned() } else { format!("f{}(n->next, by - 1)", at - 1) };
        let _ = writeln!(
            text,
            "__attribute__((noinline)) long f{at}(struct node *n, long by) {{\n\
             \x20   if (!n || by < 0) return total;\n    pthread_mutex_lock(&n->lock);\n    n->count += by;\n\
             \x20   for (int i = 0; i < 8; i++) {{ if (n->cells[i] > by) n->cells[i] -= n->key; else n->cells[i] += by * {at}; }}\n\
             \x20   switch (n->key & 7) {{ case 0: n->key = by; break; case 1: n->key++; break; case 2: n->next = &nodes[by & 63]; break;\n\
             \x20   case 3: n->count = 0; break; case 4: nodes[{node}].key = by; break; default: nodes[by & 63].count++; }}\n\
             \x20   pthread_mutex_unlock(&n->lock);\n    long below = {call};\n    pthread_mutex_lock(&lock);\n    total += below;\n\
             \x20   pthread_mutex_unlock(&lock);\n    return below + n->key;\n}}",
            node = at % 64
        );
    }
    let last = FUNCTIONS - 1;
    let _ = writeln!(
        text,
        "static void *work(void *arg) {{ return (void *)f{last}(arg, 3); }}\nint main(void) {{\n    pthread_t t;\n\
         \x20   pthread_create(&t, 0, work, &nodes[1]);\n    f{last}(&nodes[2], 3);\n    pthread_join(t, 0);\n    return 0;\n}}"
    );
    text
}

/// Measures it.
pub(crate) fn static_part() -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/code");
    std::fs::create_dir_all(folder.join("kept")).map_err(|error| error.to_string())?;
    std::fs::write(folder.join("big.c"), source()).map_err(|error| error.to_string())?;
    run(command(&tool, &["cc", "-O1", "-pthread", "big.c", "-o", "big"]).current_dir(&folder))?;
    run(&mut cargo(&["build", "--release", "--package", "threadbare-code", "--example", "static_part"]))?;
    let asker = root().join("target/release/examples/static_part");
    let mut best = (f64::MAX, f64::MAX, 0.0);
    for _ in 0..3 {
        let kept = folder.join("kept");
        std::fs::remove_dir_all(&kept).map_err(|error| error.to_string())?;
        let told = output(Command::new(&asker).arg(folder.join("big")).arg(&kept))?;
        let numbers: Vec<f64> = told.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [first, again, bytes] = numbers[..] else { return Err(format!("not three numbers: {told}")) };
        best = (best.0.min(first), best.1.min(again), bytes);
    }
    let (first, again, bytes) = best;
    println!("{:.1} MB of code: {first:.2} s, {again:.3} s when it is asked again", bytes / 1e6);
    let begun = Instant::now();
    let asked =
        ["futures", "--races", "off", "--runs", "4", "--format", "json", "--out", "out", "--", "./big"];
    json(command(&tool, &asked).current_dir(&folder))?;
    let table = begun.elapsed().as_secs_f64();
    println!("`futures` with four runs and its table: {table:.1} s");
    if table > TABLE {
        return Err(format!("`futures` takes more than {TABLE} s"));
    }
    if bytes < BYTES {
        return Err("the program is too small".to_owned());
    }
    let share = BYTES / bytes;
    match first * share < FIRST && again * share < AGAIN {
        true => Ok(()),
        false => Err(format!("for 5 MB at most {FIRST} s, and {AGAIN} s again")),
    }
}

fn path(program: &str) -> PathBuf {
    match program.split_once(':') {
        Some(("futures", name)) => root().join("tests/futures").join(name),
        Some((_, name)) => root().join("crates/code/tests/programs").join(name),
        None => root().join("tests/programs").join(program),
    }
}

/// Counts addresses.
pub(crate) fn addresses() -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/addresses");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let compilers = [("gcc", "gcc", "g++"), ("clang", "clang-19", "clang++-19"), ("rustc", "", "")];
    println!(
        "| compiler | level | programs | seen shared | address known | share |\n|---|---|---|---|---|---|"
    );
    let mut poor = Vec::new();
    for (name, cc, cxx) in compilers {
        for level in 0..4 {
            let (mut programs, mut shared, mut known) = (0, 0.0, 0.0);
            for program in PROGRAMS.iter().filter(|it| it.ends_with(".rs") == (name == "rustc")) {
                let source = path(program);
                let (wrapper, optimised) = match program.rsplit('.').next() {
                    Some("rs") => ("rustc", format!("-Copt-level={level}")),
                    Some("cc") => ("c++", format!("-O{level}")),
                    _ => ("cc", format!("-O{level}")),
                };
                let mut build = command(&tool, &[wrapper, "-g", &optimised]);
                if name != "rustc" {
                    build.arg("-pthread").env("THREADBARE_CC", cc).env("THREADBARE_CXX", cxx);
                }
                output(build.arg(&source).args(["-o", "program"]).current_dir(&folder))?;
                let asked =
                    ["futures", "--races", "off", "--runs", "12", "--timeout", "2s", "--format", "json"];
                let table = json(
                    command(&tool, &asked).args(["--out", "out", "--", "./program"]).current_dir(&folder),
                )?;
                programs += 1;
                shared += field(&table["accesses"], "shared")?;
                known += field(&table["accesses"], "known")?;
            }
            let share = 100.0 * known / shared;
            println!("| {name} | -O{level} | {programs} | {shared} | {known} | {share:.1}% |");
            if share.is_nan() || share < KNOWN {
                poor.push(format!("{name} -O{level}"));
            }
        }
    }
    match poor.is_empty() {
        true => Ok(()),
        false => Err(format!("less than {KNOWN}% known: {}", poor.join(", "))),
    }
}
