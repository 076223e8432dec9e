//! `cargo xtask bench generate [table|mutants [RUNS [MOST]]|api [NAME]]`: table I of the paper on tests that the tool writes ("AutoRT"), its columns beside ours; right programs
//! from which one synchronisation operation is taken at a time; and old releases of crates with known bugs, from their APIs alone.

mod api;
mod mutants;

use crate::bench::{field, json};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
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
/// Those of them that have a right twin, with an argument.
const TWINS: [&str; 8] =
    ["bank.c", "queue.c", "printing.c", "quadtree.c", "figures.c", "figures.cc", "figures.rs", "ledger.c"];
/// Rounds of what is timed.
const ROUNDS: usize = 3;

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
    fn compiler(&self, source: &Path, name: &str) -> Command {
        let source = source.to_string_lossy().into_owned();
        let words = match source.rsplit('.').next() {
            Some("rs") => vec!["rustc", "-g", &source, "-o", name],
            Some("cc") => vec!["c++", "-g", "-O1", "-pthread", &source, "-o", name],
            _ => vec!["cc", "-g", "-O1", "-pthread", &source, "-o", name],
        };
        let mut command = command(&self.tool, &words);
        command.current_dir(&self.folder);
        command
    }

    fn build(&self, source: &Path, name: &str) -> Outcome {
        run(&mut self.compiler(source, name))
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

    /// The time of as many runs as are looked at, without recording.
    fn plain(&self, name: &str, runs: f64) -> Outcome<f64> {
        let (program, out, runs) = (format!("./{name}"), format!("{name}.plain"), format!("{runs}"));
        let words = [
            "run",
            "--strategy",
            "random",
            "--jobs",
            "1",
            "--keep-going",
            "--shrink",
            "off",
            "--runs",
            &runs,
            "--out",
            &out,
            "--format",
            "json",
            "--",
            &program,
        ];
        field(&json(command(&self.tool, &words).current_dir(&self.folder))?, "elapsed_s")
    }

    fn table(&self) -> Outcome {
        println!(
            "program       functions pairs  ran strong same  with-calls paths tests kept races twin  live s  both s  recording  TSan    Helgrind  the paper"
        );
        let (mut all, mut wrong, mut costs) = (0, Vec::new(), Vec::new());
        for (source, paper) in PROGRAMS {
            let name = source.replace('.', "-");
            let path = root().join("tests/generate").join(source);
            self.build(&path, &name)?;
            let live = self.generate(&name, "live", &[])?;
            let both = self.generate(&name, "both", &[])?;
            let number = |what: &str| field(&live.json, what);
            let (tests, kept) = (of(&both.json, "live"), of(&both.json, "kept"));
            all += tests.len();
            let twin = if TWINS.contains(&source) {
                let twin = self.generate(&name, "both", &["careful"])?;
                races(&twin.json).len()
            } else {
                0
            };
            if twin > 0 {
                wrong.push(source);
            }
            // The kept ones are written once more: the twin's lie in the same folder.
            self.generate(&name, "both", &[])?;
            let cost = self.recording(&name)?;
            costs.push(cost);
            let (sanitizer, helgrind) = match source.ends_with(".c") {
                true => self.others(&path, &name, &kept)?,
                false => ("-".to_owned(), "-".to_owned()),
            };
            println!(
                "{source:13} {:9} {:5} {:4} {:6} {:4} {:11} {:5} {:5} {:4} {:5} {twin:4} {:7.1} {:7.1} {cost:10.2} {sanitizer:7} {helgrind:9} {paper}",
                number("functions")?,
                number("pairs_all")?,
                number("pairs_running")?,
                number("pairs_strong")?,
                number("pairs_same_object")?,
                number("pairs_same_object_over_calls")?,
                number("pairs_paths")?,
                tests.len(),
                kept.len(),
                races(&live.json).len(),
                live.seconds,
                both.seconds,
            );
        }
        costs.sort_by(f64::total_cmp);
        let (middle, worst) = (costs[costs.len() / 2], costs[costs.len() - 1]);
        println!(
            "{all} tests; recording costs {middle:.2}x on the median, {worst:.2}x on the worst (at most 1.5x, 5x)"
        );
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("right programs are blamed: {}", wrong.join(", "))),
        }
    }

    /// What the looks cost, against as many runs without them, at best.
    fn recording(&self, name: &str) -> Outcome<f64> {
        let (mut looked, mut plain) = (f64::MAX, f64::MAX);
        for _ in 0..ROUNDS {
            let made = self.generate(name, "live", &[])?;
            looked = looked.min(field(&made.json, "look_s")?);
            plain = plain.min(self.plain(name, field(&made.json, "look_runs")?)?);
        }
        Ok(looked / plain.max(1e-3))
    }

    /// Runs the kept tests by gcc's ThreadSanitizer and by Helgrind: how many told of a race, of how many that ended.
    fn others(&self, source: &Path, name: &str, kept: &[&Value]) -> Outcome<(String, String)> {
        let source = source.to_string_lossy();
        let (sanitized, plain) = (format!("{name}.tsan"), format!("{name}.none"));
        let flags = ["-g", "-O1", "-pthread", &source, "-o"];
        run(command("gcc", &[&flags[..], &[&sanitized, "-fsanitize=thread"]].concat())
            .current_dir(&self.folder))?;
        run(command("gcc", &[&flags[..], &[&plain]].concat()).current_dir(&self.folder))?;
        let (mut by_sanitizer, mut by_helgrind) = ((0, 0), (0, 0));
        let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
        for test in kept {
            let Some(test) = test["name"].as_str() else { continue };
            let tests = self.folder.join(format!("{name}.tests"));
            let library = tests.join("kept").join(format!("{test}.so"));
            let mut one = Command::new(self.folder.join(&sanitized));
            let (ended, told) = detected(one.env("LD_PRELOAD", &library))?;
            by_sanitizer = (by_sanitizer.0 + usize::from(told), by_sanitizer.1 + usize::from(ended));
            if has_valgrind {
                let mut one = Command::new("valgrind");
                one.arg("--tool=helgrind").arg(self.folder.join(&plain)).env("LD_PRELOAD", &library);
                let (ended, told) = detected(&mut one)?;
                by_helgrind = (by_helgrind.0 + usize::from(told), by_helgrind.1 + usize::from(ended));
            }
        }
        let shown = |(told, ended): (usize, usize)| format!("{told}/{ended}");
        Ok((shown(by_sanitizer), if has_valgrind { shown(by_helgrind) } else { "-".to_owned() }))
    }
}

/// The tests of one form.
fn of<'a>(json: &'a Value, form: &str) -> Vec<&'a Value> {
    json["tests"].as_array().into_iter().flatten().filter(|test| test["form"] == form).collect()
}

/// A run of a kept test by another detector: whether it came to an end, and whether it told of a race.
fn detected(command: &mut Command) -> Outcome<(bool, bool)> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok((output.status.code().is_some(), said.contains("data race")))
}

/// All of it, or a part.
pub(crate) fn generate(words: &[&str]) -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let folder = root().join("target/bench/generate");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let bench = Bench { tool: build_tool()?, folder };
    let number = |word: &str| word.parse::<u64>().map_err(|_| format!("`{word}` is no number"));
    match words {
        ["table"] => bench.table(),
        ["mutants", rest @ ..] if rest.len() < 3 => {
            let runs = rest.first().map_or(Ok(mutants::RUNS), |word| number(word))?;
            bench.mutants(runs, rest.get(1).map_or(Ok(u64::MAX), |word| number(word))?)
        }
        ["api", names @ ..] => bench.api(names),
        [] => {
            bench.table()?;
            bench.mutants(mutants::RUNS, u64::MAX)?;
            bench.api(&[])
        }
        _ => Err("cargo xtask bench generate [table|mutants [RUNS [MOST]]|api [NAME...]]".to_owned()),
    }
}
