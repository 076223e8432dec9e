//! Bugs that others found and mended, from the API alone: old releases of crates, and queues in C and C++ with a fault; beside each the release, or the source, that is right.
//!
//! Nothing is said of a bug but the type that has it. What a right twin shows has to be read: it is told, and is a failure here unless it is known.

use super::Bench;
use crate::bench::json;
use crate::steps::{Outcome, command, root, run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A crate: its name, the releases with the bug and without, what is asked for, and what the bug is.
struct Crate {
    name: &'static str,
    bad: &'static str,
    good: &'static str,
    asks: &'static [&'static str],
    bug: &'static str,
    /// What reading confirms of the twin, too.
    known: &'static [&'static str],
}

/// Releases that were taken back, with their checksums: only a lock file that names one has it still.
const YANKED: [(&str, &str, &str); 4] = [
    ("crossbeam-channel", "0.5.14", "06ba6d68e24814cb8de6bb986db8222d3a027d15872cabc0d18817bc3c0e4471"),
    ("crossbeam-deque", "0.8.0", "94af6efb46fef72616855b036a624cf27ba656ffc9be1b9a3c931cfc7749a9a9"),
    ("spin", "0.9.7", "c0959fd6f767df20b231736396e4f602171e00d95205676286e79d4a4eb67bef"),
    ("spin", "0.9.8", "6980e8d7511241f8acf4aebddbb1ff938df5eebe98691418c4468d0b72a96a67"),
];

/// Seconds that one may take, and that its twin is given at least: it has as long as the bug took.
const MOST: u64 = 600;
const LEAST: u64 = 60;
/// The queues of `tests/api`, each with its fault under `FAULT`.
const HEADERS: [&str; 5] = ["counter", "list", "mailbox", "ring", "stack"];

const CRATES: [Crate; 10] = [
    Crate {
        name: "oneshot",
        bad: "0.1.10",
        good: "0.1.13",
        asks: &[],
        bug: "a receiver that was polled is dropped while the sender wakes it; orders of atomics",
        // `recv_timeout` reads the last state relaxed; a polled receiver takes its own `DISCONNECTED` for the sender's.
        known: &["race", "use-after-free"],
    },
    Crate {
        name: "crossbeam-channel",
        bad: "0.5.14",
        good: "0.5.15",
        asks: &["Sender", "Receiver"],
        bug: "RUSTSEC-2025-0024, double free",
        known: &[],
    },
    Crate {
        name: "spin",
        bad: "0.5.1",
        good: "0.5.2",
        asks: &["RwLock"],
        bug: "RUSTSEC-2019-0013, orders of the read-write lock",
        known: &[],
    },
    Crate {
        name: "spin",
        bad: "0.9.7",
        good: "0.9.8",
        asks: &["Once"],
        bug: "RUSTSEC-2023-0031, `try_call_once` that fails",
        known: &[],
    },
    Crate {
        name: "crossbeam-deque",
        bad: "0.8.0",
        good: "0.8.1",
        asks: &["Worker", "Stealer"],
        bug: "RUSTSEC-2021-0093, tasks are stolen twice",
        // `Buffer::read` and `write` are volatile accesses that race, as their comments say.
        known: &["race"],
    },
    Crate {
        name: "thread_local",
        bad: "1.1.3",
        good: "1.1.4",
        asks: &[],
        bug: "RUSTSEC-2022-0006, order of an iterator's loads",
        known: &[],
    },
    Crate {
        name: "internment",
        bad: "0.3.13",
        good: "0.4.0",
        asks: &["ArcIntern"],
        bug: "RUSTSEC-2020-0017, use after free in a drop",
        known: &[],
    },
    Crate {
        name: "tokio",
        bad: "1.13.0",
        good: "1.13.1",
        asks: &["--features", "sync", "oneshot::Sender"],
        bug: "RUSTSEC-2021-0124, a closed oneshot",
        known: &[],
    },
    Crate {
        name: "sharded-slab",
        bad: "0.0.8",
        good: "0.1.7",
        asks: &["Slab"],
        bug: "a page is published without order",
        known: &[],
    },
    Crate {
        name: "event-listener",
        bad: "2.3.2",
        good: "2.3.3",
        asks: &["Event"],
        bug: "an inserted entry is lost, and whoever waits by it",
        known: &[],
    },
];

impl Bench {
    /// Looks for the bugs; of those with such names if there are any.
    pub(super) fn api(&self, names: &[&str]) -> Outcome {
        let wanted = |name: &str| names.is_empty() || names.contains(&name);
        println!(
            "what                             seconds  tests  shows                 its twin                  the bug"
        );
        let (mut all, mut found, mut blamed) = (0, 0, Vec::new());
        for it in CRATES.iter().filter(|it| wanted(it.name)) {
            let bad = self.crate_tests(it, it.bad, MOST)?;
            let good = self.crate_tests(it, it.good, bad.twin())?;
            let is_new = |kind: &&String| !it.known.contains(&kind.as_str());
            let told: Vec<&String> = good.shows.iter().filter(is_new).collect();
            all += 1;
            // What the twin shows as well is not the bug.
            found += usize::from(bad.shows.iter().any(|kind| is_new(&kind)));
            let label = format!("{} {}", it.name, it.bad);
            let twin = format!("{}: {}", it.good, list(&good.shows));
            println!(
                "{label:32} {:7.0} {:6}  {:21} {twin:25} {}",
                bad.seconds,
                bad.tests,
                list(&bad.shows),
                it.bug
            );
            if !told.is_empty() {
                blamed.push(format!("{} {}: {told:?}", it.name, it.good));
            }
        }
        for header in HEADERS.into_iter().filter(|name| wanted(name)) {
            let bad = self.header(header, true, MOST)?;
            let good = self.header(header, false, bad.twin())?;
            all += 1;
            found += usize::from(!bad.shows.is_empty());
            println!(
                "{:32} {:7.0} {:6}  {:21} {:25} seeded",
                format!("{header}.h"),
                bad.seconds,
                bad.tests,
                list(&bad.shows),
                list(&good.shows)
            );
            if !good.shows.is_empty() {
                blamed.push(format!("{header}.h: {:?}", good.shows));
            }
        }
        println!("{found} of {all} found");
        match blamed.is_empty() {
            true => Ok(()),
            false => Err(format!("to be read: {}", blamed.join("; "))),
        }
    }

    fn crate_tests(&self, it: &Crate, version: &str, seconds: u64) -> Outcome<Told> {
        let folder = self.fetched(it.name, version)?;
        let out = self.folder.join(format!("{}-{version}.out", it.name));
        let _ = std::fs::remove_dir_all(&out);
        let tool = self.tool.with_file_name("cargo-threadbare");
        let time = format!("{seconds}s");
        let mut command = Command::new(tool);
        command.args([
            "threadbare",
            "generate",
            "--format",
            "json",
            "--shrink",
            "off",
            "--time",
            &time,
            "--out",
        ]);
        command.arg(&out).arg("--write").arg(out.join("kept.rs")).args(it.asks).current_dir(&folder);
        command.env("CARGO_TARGET_DIR", self.folder.join("crates-target"));
        told(&mut command)
    }

    /// The source of a release, by cargo.
    fn fetched(&self, name: &str, version: &str) -> Outcome<PathBuf> {
        let folder = self.folder.join("crates").join(format!("{name}-{version}"));
        if folder.join("Cargo.toml").exists() {
            return Ok(folder);
        }
        let fetcher = self.folder.join("crates").join(format!("fetch-{name}-{version}"));
        let failed = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(fetcher.join("src")).map_err(failed)?;
        std::fs::write(fetcher.join("src/lib.rs"), "").map_err(failed)?;
        let manifest = format!(
            "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{name} = \"={version}\"\n"
        );
        std::fs::write(fetcher.join("Cargo.toml"), manifest).map_err(failed)?;
        if let Some((.., checksum)) = YANKED.iter().find(|yanked| (yanked.0, yanked.1) == (name, version)) {
            // Where releases come from is what our own lock file says.
            let ours = std::fs::read_to_string(root().join("Cargo.lock")).map_err(failed)?;
            let source = ours.lines().find(|line| line.starts_with("source = ")).unwrap_or_default();
            let lock = format!(
                "version = 3\n\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}\nchecksum = \"{checksum}\"\n"
            );
            std::fs::write(fetcher.join("Cargo.lock"), lock).map_err(failed)?;
        }
        run(command("cargo", &["vendor", "--quiet", "--versioned-dirs", "vendor"])
            .current_dir(&fetcher)
            .stdout(std::process::Stdio::null()))?;
        copy(&fetcher.join("vendor").join(format!("{name}-{version}")), &folder)?;
        Ok(folder)
    }

    fn header(&self, name: &str, fault: bool, seconds: u64) -> Outcome<Told> {
        let out = self.folder.join(format!("{name}.api"));
        let _ = std::fs::remove_dir_all(&out);
        let (header, source) = (format!("{name}.h"), format!("{name}.c"));
        let out = out.display().to_string();
        let time = format!("{seconds}s");
        let mut words =
            vec!["generate", "--format", "json", "--shrink", "off", "--atomic", "fail", "--time", &time];
        words.extend(["--out", &out, "--api", &header, "--"]);
        if fault {
            words.push("-DFAULT");
        }
        words.push(&source);
        told(command(&self.tool, &words).current_dir(root().join("tests/api")))
    }
}

/// What tests showed.
struct Told {
    shows: Vec<String>,
    tests: usize,
    seconds: f64,
}

impl Told {
    /// Seconds that the twin has.
    fn twin(&self) -> u64 {
        (self.seconds as u64).clamp(LEAST, MOST)
    }
}

fn told(command: &mut Command) -> Outcome<Told> {
    let began = Instant::now();
    let json: Value = json(command)?;
    let tests = json["tests"].as_array().cloned().unwrap_or_default();
    let verdicts = tests.iter().filter_map(|test| test["verdict"].as_str());
    let mut shows: Vec<String> = verdicts
        .filter(|it| !["clean", "left out", "note: not-atomic"].contains(it))
        .map(str::to_owned)
        .collect();
    shows.sort();
    shows.dedup();
    Ok(Told { shows, tests: tests.len(), seconds: began.elapsed().as_secs_f64() })
}

fn list(shows: &[String]) -> String {
    if shows.is_empty() { "nothing".to_owned() } else { shows.join(", ") }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("cannot copy `{}`: {error}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target)?;
        } else if entry.file_name() != ".cargo-checksum.json" {
            std::fs::copy(&path, &target).map_err(failed)?;
        }
    }
    Ok(())
}
