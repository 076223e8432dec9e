//! `cargo xtask bench generate [RUNS]`: table I of the paper on tests that the tool writes ("AutoRT"), its columns beside ours; and right programs from which one synchronisation
//! operation is taken at a time, what generated tests find of that against RUNS runs of the whole program.

use crate::bench::{field, json};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A program of `tests/generate`; what the paper says of one like it: lines, threads, races.
const PROGRAMS: [(&str, &str); 10] = [
    ("bank.c", "25 lines, 8 threads, 5 races"),
    ("queue.c", "147, 61, 17"),
    ("printing.c", "20, 10, 2"),
    ("quadtree.c", "58 methods, 1254 pairs ran in parallel, 12 strong"),
    ("figures.c", "figures 1 and 4"),
    ("figures.cc", "figures 1 and 4"),
    ("figures.rs", "figures 1 and 4"),
    ("ledger.c", ""),
    ("cache.c", ""),
    ("ring.c", ""),
];
/// Runs of a whole program that a mutant gets unless the caller says otherwise.
const RUNS: u64 = 1000;
/// Calls that take and give a lock; what is taken away goes with its other half.
const LOCKS: [&str; 5] = [
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
];

struct Bench {
    tool: PathBuf,
    folder: PathBuf,
}

/// What generated tests gave.
struct Generated {
    json: Value,
    seconds: f64,
}

fn races(json: &Value) -> BTreeSet<String> {
    let findings = json["findings"].as_array().into_iter().flatten();
    let failing = findings.filter(|finding| finding["severity"] != "note");
    failing.filter_map(|finding| finding["id"].as_str()).map(str::to_owned).collect()
}

impl Bench {
    fn build(&self, source: &Path, name: &str) -> Outcome {
        let source = source.to_string_lossy().into_owned();
        let words = match source.rsplit('.').next() {
            Some("rs") => vec!["rustc", "-g", &source, "-o", name],
            Some("cc") => vec!["c++", "-g", "-O1", "-pthread", &source, "-o", name],
            _ => vec!["cc", "-g", "-O1", "-pthread", &source, "-o", name],
        };
        run(command(&self.tool, &words).current_dir(&self.folder))
    }

    fn generate(&self, name: &str, form: &str, arguments: &[&str]) -> Outcome<Generated> {
        let (program, out) = (format!("./{name}"), format!("{name}.tests"));
        let _ = std::fs::remove_dir_all(self.folder.join(&out));
        let mut words = vec![
            "generate", "--shrink", "off", "--form", form, "--out", &out, "--format", "json", "--", &program,
        ];
        words.extend(arguments);
        let began = Instant::now();
        let json = json(command(&self.tool, &words).current_dir(&self.folder))?;
        Ok(Generated { json, seconds: began.elapsed().as_secs_f64() })
    }

    /// What runs of the whole program show.
    fn whole(&self, name: &str, runs: u64, arguments: &[&str]) -> Outcome<(BTreeSet<String>, f64)> {
        let (program, runs, out) = (format!("./{name}"), runs.to_string(), format!("{name}.whole"));
        let mut words = vec![
            "run",
            "--runs",
            &runs,
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
        let json = json(command(&self.tool, &words).current_dir(&self.folder))?;
        Ok((races(&json), began.elapsed().as_secs_f64()))
    }

    fn table(&self) -> Outcome {
        println!(
            "program       functions pairs  ran strong same  with-calls paths tests kept races  live s  both s  the paper"
        );
        for (source, paper) in PROGRAMS {
            let name = source.replace('.', "-");
            self.build(&root().join("tests/generate").join(source), &name)?;
            let live = self.generate(&name, "live", &[])?;
            let both = self.generate(&name, "both", &[])?;
            let number = |what: &str| field(&live.json, what);
            let tests = both.json["tests"].as_array().into_iter().flatten();
            let kept = tests.filter(|test| test["form"] == "kept").count();
            println!(
                "{source:13} {:9} {:5} {:4} {:6} {:4} {:11} {:5} {:5} {kept:4} {:5} {:7.1} {:7.1}  {paper}",
                number("functions")?,
                number("pairs_all")?,
                number("pairs_running")?,
                number("pairs_strong")?,
                number("pairs_same_object")?,
                number("pairs_same_object_over_calls")?,
                number("pairs_paths")?,
                live.json["tests"].as_array().map_or(0, Vec::len),
                races(&live.json).len(),
                live.seconds,
                both.seconds,
            );
        }
        Ok(())
    }

    fn mutants(&self, runs: u64) -> Outcome {
        println!(
            "\nmutant                          {runs} runs: findings  seconds  tests: findings  seconds  number"
        );
        let (mut shown, mut found, mut missed) = (0, 0, Vec::new());
        for (source, _) in PROGRAMS.iter().filter(|(source, _)| source.ends_with(".c")) {
            let text = std::fs::read_to_string(root().join("tests/generate").join(source))
                .map_err(|error| error.to_string())?;
            for (function, lock, changed) in mutants(&text) {
                let label = format!("{source} {function} {lock}");
                let name = format!("mutant-{}-{function}", source.replace('.', "-"));
                let file = self.folder.join(format!("{name}.c"));
                std::fs::write(&file, changed).map_err(|error| error.to_string())?;
                self.build(&file, &name)?;
                let (whole, took) = self.whole(&name, runs, &["careful"])?;
                let made = self.generate(&name, "live", &["careful"])?;
                let ours = races(&made.json);
                let tests = made.json["tests"].as_array().map_or(0, Vec::len);
                println!(
                    "{label:40} {:8} {took:8.1} {:15} {:8.1} {tests:7}",
                    whole.len(),
                    ours.len(),
                    made.seconds
                );
                if !whole.is_empty() {
                    shown += 1;
                    found += usize::from(!ours.is_empty());
                    if ours.is_empty() {
                        missed.push(label);
                    }
                }
            }
        }
        println!("{found} of {shown} mutants that {runs} runs show are found by generated tests");
        match missed.is_empty() {
            true => Ok(()),
            false => Err(format!("not found: {}", missed.join("; "))),
        }
    }
}

/// Programs without the lock that one function takes: the function, the lock, the text.
fn mutants(text: &str) -> Vec<(String, String, String)> {
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
        let function = function.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
        let taken: BTreeSet<&str> = lines[body.clone()].iter().filter_map(|line| argument(line)).collect();
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
            all.push((function.clone(), lock.to_owned(), changed.collect::<Vec<_>>().join("\n") + "\n"));
        }
    }
    all
}

/// What a line takes.
fn argument(line: &str) -> Option<&str> {
    let call =
        LOCKS.iter().filter(|name| !name.ends_with("unlock")).find_map(|name| line.split_once(name))?;
    call.1.strip_prefix('(')?.split_once(");").map(|(argument, _)| argument)
}

fn without(line: &str, lock: &str) -> String {
    LOCKS.iter().fold(line.to_owned(), |line, name| line.replace(&format!("{name}({lock});"), ";"))
}

/// The table and the mutants.
pub(crate) fn generate(words: &[&str]) -> Outcome {
    let runs = match words {
        [] => RUNS,
        [runs] => runs.parse().map_err(|_| format!("`{runs}` is no number of runs"))?,
        _ => return Err("cargo xtask bench generate [RUNS]".to_owned()),
    };
    packages::ensure(&[packages::COMPILERS])?;
    let folder = root().join("target/bench/generate");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let bench = Bench { tool: build_tool()?, folder };
    bench.table()?;
    bench.mutants(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_lacks_both_halves_of_a_lock_in_one_function() {
        let text = "static void put(int x) {\n    if (careful) lock();\n    pthread_mutex_lock(&l);\n    n++;\n    pthread_mutex_unlock(&l);\n}\n\
                    static void get(void) {\n    pthread_mutex_lock(&l);\n    pthread_cond_wait(&c, &l);\n    pthread_mutex_unlock(&l);\n}\n";
        let all = mutants(text);
        assert_eq!(all.len(), 1, "{all:?}");
        let (function, lock, changed) = &all[0];
        assert_eq!((function.as_str(), lock.as_str()), ("put", "&l"));
        assert_eq!(changed.matches("pthread_mutex_lock(&l)").count(), 1, "{changed}");
        assert_eq!(changed.matches("pthread_mutex_unlock(&l)").count(), 1, "{changed}");
    }
}
