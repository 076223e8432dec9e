//! Right programs from which one synchronisation operation is taken at a time, or made weaker: what generated tests find of what runs of the whole program show to be racy.
//!
//! The programs are those of `tests/generate` and all of the corpus that are right. One mutant is: a call left out; a lock left out in a function, with both halves; a guard of C++ left out;
//! an order of an atomic made relaxed. Only mutants of which whole runs show a data race count.

use super::{Bench, races};
use crate::bench::json;
use crate::steps::{Outcome, command, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs of a whole program that a mutant gets unless the caller says otherwise.
pub(super) const RUNS: u64 = 1000;
/// Calls that synchronise.
const CALLS: [&str; 13] = [
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "pthread_barrier_wait",
    "pthread_join",
    "sem_wait",
    "sem_post",
    "mtx_lock",
    "mtx_unlock",
];
/// Of those, which take and give a lock.
const LOCKS: std::ops::Range<usize> = 0..7;
/// Guards of C++.
const GUARDS: [&str; 4] = ["lock_guard", "unique_lock", "scoped_lock", "shared_lock"];
/// Orders of atomics.
const ORDERS: [(&str, &str); 6] = [
    ("memory_order_release", "memory_order_relaxed"),
    ("memory_order_acquire", "memory_order_relaxed"),
    ("memory_order_acq_rel", "memory_order_relaxed"),
    ("Ordering::Release", "Ordering::Relaxed"),
    ("Ordering::Acquire", "Ordering::Relaxed"),
    ("Ordering::AcqRel", "Ordering::Relaxed"),
];
/// What a program of the corpus says that needs options to be run.
const OPTIONS: [&str; 9] =
    ["faults", "memory-model", "flags", "compilers", "args", "timeout", "runs", "bare", "may-race"];

/// A program without one operation.
struct Mutant {
    /// The line, and what was there.
    what: String,
    text: String,
}

impl Bench {
    /// Finds mutants in at most so many, which are taken from everywhere.
    pub(super) fn mutants(&self, runs: u64, most: u64) -> Outcome {
        let mut all: Vec<(PathBuf, Mutant)> = Vec::new();
        for path in programs()? {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            all.extend(mutants(&text).into_iter().map(|mutant| (path.clone(), mutant)));
        }
        let every = (all.len() as u64).div_ceil(most.max(1)).max(1) as usize;
        println!(
            "{} mutants, every {every}. of them\n\nmutant  {runs} runs: races, seconds  tests: races, seconds, number",
            all.len()
        );
        let (mut made, mut shown, mut tests, mut missed) = (0, 0, 0, Vec::new());
        for (path, mutant) in all.iter().step_by(every) {
            let name = path.strip_prefix(root().join("tests")).unwrap_or(path).display().to_string();
            let label = format!("{name}:{}", mutant.what);
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            let file = self.folder.join(format!("mutant.{end}"));
            std::fs::write(&file, &mutant.text).map_err(|error| error.to_string())?;
            if self.build_quietly(&file, "mutant").is_err() {
                continue;
            }
            made += 1;
            let careful: &[&str] = if name.starts_with("generate/") { &["careful"] } else { &[] };
            let (whole, took) = self.whole("mutant", runs, careful)?;
            if whole == 0 {
                continue;
            }
            shown += 1;
            let generated = self.generate("mutant", "live", careful)?;
            let ours = races(&generated.json).len();
            let number = generated.json["tests"].as_array().map_or(0, Vec::len);
            tests += number;
            println!("{label:60} {whole:4} {took:6.1}  {ours:4} {:6.1} {number:3}", generated.seconds);
            if ours == 0 {
                missed.push(label);
            }
        }
        println!(
            "{made} built, {shown} racy in {runs} runs, {} of them found by {tests} generated tests",
            shown - missed.len()
        );
        match missed.is_empty() {
            true => Ok(()),
            false => Err(format!("not found: {}", missed.join("; "))),
        }
    }

    /// How many races runs of the whole program show, and in how many seconds.
    fn whole(&self, name: &str, runs: u64, arguments: &[&str]) -> Outcome<(usize, f64)> {
        let (program, runs, out) = (format!("./{name}"), runs.to_string(), format!("{name}.whole"));
        let mut words = vec![
            "run",
            "--runs",
            &runs,
            "--time",
            "60s",
            "--timeout",
            "3s",
            "--keep-going",
            "--shrink",
            "off",
            "--out",
            &out,
            "--format",
            "json",
            "--",
            &program,
        ];
        words.extend(arguments);
        let began = Instant::now();
        let json: Value = json(command(&self.tool, &words).current_dir(&self.folder))?;
        let findings = json["findings"].as_array().into_iter().flatten();
        let races =
            findings.filter(|finding| finding["kind"] == "race" && finding["severity"] != "note").count();
        Ok((races, began.elapsed().as_secs_f64()))
    }

    fn build_quietly(&self, source: &Path, name: &str) -> Outcome {
        let mut command = self.compiler(source, name);
        match command.output() {
            Ok(output) if output.status.success() => Ok(()),
            _ => Err("it does not compile".to_owned()),
        }
    }
}

/// The right programs.
fn programs() -> Outcome<Vec<PathBuf>> {
    let mut all = Vec::new();
    let mut folders = vec![root().join("tests/generate"), root().join("tests/programs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let ours = path.extension().is_some_and(|end| ["c", "cc", "rs"].iter().any(|it| end == *it));
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let says = |what: &str| text.contains(&format!("//@ {what}:"));
            let right = folder.ends_with("generate")
                || (text.contains("//@ expect: pass") && !OPTIONS.iter().any(|option| says(option)));
            if ours && right {
                all.push(path);
            }
        }
    }
    all.sort();
    Ok(all)
}

/// A program with each of its operations taken away in turn.
fn mutants(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    let mut add = |at: usize, what: &str, text: String| {
        all.push((at, what.to_owned(), text));
    };
    for call in CALLS {
        for (at, _) in text.match_indices(&format!("{call}(")) {
            let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
            let Some(end) = text[at..].find(';').map(|end| at + end) else { continue };
            // A declaration, or part of something larger, is left alone.
            if line.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '_')
                || text[at..end].contains('\n')
            {
                continue;
            }
            add(at, call, format!("{}(void)0{}", &text[..at], &text[end..]));
        }
    }
    for (from, to) in ORDERS {
        for (at, _) in text.match_indices(from) {
            add(at, from, format!("{}{to}{}", &text[..at], &text[at + from.len()..]));
        }
    }
    for guard in GUARDS {
        for (at, _) in text.match_indices(guard) {
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let before = text[start..at].trim();
            if let Some(end) = text[at..].find(';').filter(|_| before.is_empty() || before == "std::") {
                add(at, guard, format!("{}{}", &text[..start], &text[at + end + 1..]));
            }
        }
    }
    let mut found: Vec<Mutant> = all
        .into_iter()
        .map(|(at, what, changed)| Mutant {
            what: format!("{} {what}", text[..at].matches('\n').count() + 1),
            text: changed,
        })
        .collect();
    found.extend(without_locks(text));
    found
}

/// Programs without the lock that one function takes, both halves of it.
fn without_locks(text: &str) -> Vec<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    let mut begin = None;
    for (at, line) in lines.iter().enumerate() {
        if line.ends_with('{') && !line.starts_with([' ', '}']) && line.contains('(') {
            begin = Some(at);
        }
        let Some(first) = begin.filter(|_| *line == "}") else { continue };
        begin = None;
        let body = first..at;
        let function = lines[first].split('(').next().unwrap_or_default();
        let function = function.rsplit([' ', '*']).next().unwrap_or_default();
        let mut taken: Vec<&str> = lines[body.clone()].iter().filter_map(|line| argument(line)).collect();
        taken.sort_unstable();
        taken.dedup();
        for lock in taken {
            // To wait without the lock is another mistake.
            let waits = |line: &&str| line.contains("pthread_cond_wait") && line.contains(lock);
            if lines[body.clone()].iter().any(waits) {
                continue;
            }
            let changed = lines.iter().enumerate().map(|(number, line)| match body.contains(&number) {
                true => without(line, lock),
                false => (*line).to_owned(),
            });
            let text = changed.collect::<Vec<_>>().join("\n") + "\n";
            all.push(Mutant { what: format!("{function} without {lock}"), text });
        }
    }
    all
}

/// What a line takes.
fn argument(line: &str) -> Option<&str> {
    let locks = CALLS[LOCKS].iter().filter(|name| !name.ends_with("unlock"));
    let call = locks.clone().find_map(|name| line.split_once(&format!("{name}(")));
    call?.1.split_once(");").map(|(argument, _)| argument)
}

fn without(line: &str, lock: &str) -> String {
    CALLS[LOCKS].iter().fold(line.to_owned(), |line, name| line.replace(&format!("{name}({lock});"), ";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_lacks_one_call_or_both_halves_of_a_lock_in_one_function() {
        let text = "static void put(int x) {\n    if (careful) lock();\n    pthread_mutex_lock(&l);\n    n++;\n    pthread_mutex_unlock(&l);\n}\n\
                    static void get(void) {\n    pthread_mutex_lock(&l);\n    pthread_cond_wait(&c, &l);\n    pthread_mutex_unlock(&l);\n}\n";
        let all = mutants(text);
        assert_eq!(all.len(), 5);
        let both = &all[4];
        assert_eq!(both.what, "put without &l");
        assert_eq!(both.text.matches("pthread_mutex_lock(&l)").count(), 1);
        assert_eq!(both.text.matches("pthread_mutex_unlock(&l)").count(), 1);
        assert!(all[..4].iter().all(|mutant| mutant.text.matches("lock(&l)").count() == 3));
    }

    #[test]
    fn orders_and_guards_are_taken_away() {
        let all =
            mutants("    std::lock_guard<std::mutex> hold(m);\n    x.store(1, std::memory_order_release);\n");
        assert_eq!(all.len(), 2);
        assert!(all[0].text.contains("memory_order_relaxed"));
        assert!(!all[1].text.contains("lock_guard"));
    }
}
