//! `cargo xtask bench code`: how long the static part takes on 5 MB of instrumented code, and how long when it is asked again.
//!
//! Measured is what is kept with the program: functions, accesses, locks, calls. The table of terms that is made of it each time is not.
//! The program is generated: many functions with locks, fields, arrays, branches and calls of each other.

use super::output;
use crate::packages;
use crate::steps::{Outcome, build_tool, cargo, command, root, run};
use std::fmt::Write;
use std::process::Command;

/// Bytes of code that the figures are for, and the most seconds: the first time, and again.
const BYTES: f64 = 5e6;
const FIRST: f64 = 3.0;
const AGAIN: f64 = 0.2;
const FUNCTIONS: usize = 9000;

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
    if bytes < BYTES {
        return Err("the program is too small".to_owned());
    }
    let share = BYTES / bytes;
    match first * share < FIRST && again * share < AGAIN {
        true => Ok(()),
        false => Err(format!("for 5 MB at most {FIRST} s, and {AGAIN} s again")),
    }
}
