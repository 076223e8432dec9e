//! Files as the tool writes them: made once, by the tool itself, from a small program.

use crate::tool::{self, Outcome};
use std::fs;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct account { int balance; pthread_mutex_t lock; } accounts[2] = {{100, PTHREAD_MUTEX_INITIALIZER}, {0, PTHREAD_MUTEX_INITIALIZER}};
atomic_int moves;
static void *transfer(void *amount) {
    pthread_mutex_lock(&accounts[0].lock);
    int balance = accounts[0].balance;
    pthread_mutex_unlock(&accounts[0].lock);
    accounts[0].balance = balance - (int)(long)amount;
    atomic_fetch_add(&moves, 1);
    return 0;
}
int main(void) {
    pthread_t strands[2];
    for (long at = 0; at < 2; at++) pthread_create(&strands[at], 0, transfer, (void *)(at + 1));
    for (int at = 0; at < 2; at++) pthread_join(strands[at], 0);
    assert(accounts[0].balance == 97);
    return 0;
}
";

const SUPPRESSIONS: &str =
    "# What is known.\nrace:^stats\nrace:*::bump$\ndeadlock:legacy/*.c\ncalled_from_lib:libz\n";
const GRAMMAR: &str = "s = <s>+<n> | <n>\nn = 1 | 2 | (<s>) | \\<\n";
const TEMPLATE: &str =
    "--size={n:int(-100..100, 2:3)} {word:string(1..8, abc)} {mode:one-of(fast*3,slow)} {n}";
const REGRESSIONS: &str = "# Seeds for failure cases proptest has generated in the past.\ncc 9f3e1a2b5c6d7e8f # shrinks to n = 7, word = \"ab\"\n";
const DAIKON: &str = "decl-version 2.0\nvar-comparability none\n\nppt transfer():::ENTER\n  ppt-type enter\n  variable balance\n    var-kind variable\n    rep-type int\n    dec-type int\n    comparability 1\n\ntransfer():::ENTER\nthis_invocation_nonce\n1\nbalance\n100\n1\n";

/// Makes the samples of all readers in a folder, one folder each, unless that was done before.
///
/// # Errors
/// In words, with what the tool said.
pub fn make(folder: &Path) -> Result<(), String> {
    let done = folder.join("done");
    if done.exists() {
        return Ok(());
    }
    let work = folder.join("work");
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).map_err(wrong)?;
    fs::write(work.join("bank.c"), PROGRAM).map_err(wrong)?;
    let say = |arguments: &[&str], codes: &[i32]| -> Result<Outcome, String> {
        let outcome = tool::finish(tool::command(arguments).current_dir(&work), tool::PATIENCE);
        let fits = outcome.code.is_some_and(|code| codes.contains(&code));
        if fits { Ok(outcome) } else { Err(format!("{arguments:?}: {}", outcome.describe())) }
    };
    say(&["cc", "-g", "-O1", "-pthread", "bank.c", "-o", "bank"], &[0])?;
    say(&["run", "--runs", "40", "--keep-going", "--seed", "1", "--out", "kept", "--", "./bank"], &[1])?;
    say(&["invariants", "--runs", "20", "--seed", "1", "--keep", "bank.inv", "--", "./bank"], &[0, 1])?;
    let mut traces = Vec::new();
    for schedule in with_extension(&work.join("kept"), "schedule") {
        let name = schedule.with_extension("trace");
        say(&["replay", &schedule.to_string_lossy(), "--record", &name.to_string_lossy()], &[1])?;
        traces.push(name);
    }
    let all = |extension: &str| with_extension(&work.join("kept"), extension);
    let findings = all("schedule").into_iter().map(|schedule| schedule.with_extension("json"));
    let program = work.join("bank");
    for (reader, files) in [
        ("schedule", all("schedule")),
        ("journal", all("campaign")),
        ("coverage", vec![work.join("kept/coverage.json")]),
        ("finding", findings.collect()),
        ("trace", traces.clone()),
        ("invariants", vec![work.join("bank.inv")]),
        ("symbols", vec![program.clone()]),
        ("code", vec![program]),
    ] {
        for (at, file) in files.iter().enumerate() {
            let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
            keep(folder, reader, at, &bytes)?;
        }
    }
    for (at, file) in traces.iter().enumerate() {
        let bytes = fs::read(file).map_err(wrong)?;
        let inside = threadbare_trace::recording::inside(&bytes).map_err(|why| why.to_string())?;
        keep(folder, "trace-inside", at, &inside)?;
    }
    for (reader, at, text) in [
        ("suppressions", 0, SUPPRESSIONS),
        ("daikon", 0, DAIKON),
        ("inputs", 0, GRAMMAR),
        ("inputs", 1, TEMPLATE),
        ("inputs", 2, REGRESSIONS),
    ] {
        keep(folder, reader, at, text.as_bytes())?;
    }
    fs::remove_dir_all(&work).and_then(|()| fs::write(done, "")).map_err(wrong)
}

fn keep(folder: &Path, reader: &str, at: usize, bytes: &[u8]) -> Result<(), String> {
    let of_reader = folder.join(reader);
    let path = of_reader.join(format!("{at:02}"));
    fs::create_dir_all(&of_reader)
        .and_then(|()| fs::write(&path, bytes))
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = files(folder);
    found.retain(|path| path.extension().is_some_and(|it| it == extension));
    found
}

/// The files of a folder, by name.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    found.sort();
    found
}

/// The samples of a reader.
pub fn of(folder: &Path, reader: &str) -> Vec<Vec<u8>> {
    files(&folder.join(reader)).iter().filter_map(|path| fs::read(path).ok()).collect()
}
