//! What the tool says of programs, and whether that is right.
//!
//! The runs of a campaign leave their records behind (`slate.c`), so every outcome that was seen is known, whatever the tool makes of it. A campaign
//! that says complete must have seen every outcome of the model; `dpor` must have counted as many orders as the model has classes. No run
//! may have an outcome that the model has not.

use super::generate::Case;
use super::program::{self, Program, RECORD, Record, STRANDS, Statement};
use super::{c, model, rust};
use crate::tool;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of a record in the file, where the list of records begins, and how many there may be: as in `slate.c`.
const STRIDE: u64 = 256;
const LIST: u64 = 4096;
const ROOM: u64 = 1 << 16;
/// Beginnings of classes that are looked at for what fails later than it might.
const LATE: usize = 200_000;

/// What the sources are written in and compiled with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Build {
    /// C with gcc.
    Gcc,
    /// C with clang.
    Clang,
    /// Rust.
    Rust,
}

impl Build {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Build::Gcc => "gcc",
            Build::Clang => "clang",
            Build::Rust => "rust",
        }
    }

    /// The build of this name.
    pub fn named(name: &str) -> Option<Build> {
        [Build::Gcc, Build::Clang, Build::Rust].into_iter().find(|build| build.name() == name)
    }

    /// What of a record is compared: in Rust a statement may be several steps.
    fn known(self, record: &Record) -> Record {
        let mut known = *record;
        if self == Build::Rust {
            for strand in 0..STRANDS {
                known[strand * program::STRIDE] = 0;
            }
        }
        known
    }
}

/// Programs in one executable.
#[derive(Debug)]
pub struct Batch {
    executable: PathBuf,
    build: Build,
}

/// Compiles programs into one executable in this folder.
///
/// # Errors
/// In words, with what the compiler said.
pub fn compile(programs: &[Program], build: Build, folder: &Path) -> Result<Batch, String> {
    let trouble = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(trouble)?;
    let (slate, object) = (folder.join("slate.c"), folder.join("slate.o"));
    fs::write(&slate, include_str!("slate.c")).map_err(trouble)?;
    must(Command::new("gcc").args(["-O1", "-c"]).arg(&slate).arg("-o").arg(&object))?;
    let executable = folder.join("programs");
    if build == Build::Rust {
        let source = folder.join("programs.rs");
        fs::write(&source, rust::source(programs)).map_err(trouble)?;
        let mut command = tool::command(["rustc", "--edition", "2024", "-Copt-level=1"]);
        command.arg(format!("-Clink-arg={}", object.display())).arg(&source).arg("-o").arg(&executable);
        must(&mut command)?;
    } else {
        let source = folder.join("programs.c");
        fs::write(&source, c::source(programs)).map_err(trouble)?;
        let compiler = if build == Build::Clang { "clang-19" } else { "gcc" };
        let mut command = tool::command(["cc", "-O1", "-pthread", "-w"]);
        command.env("THREADBARE_CC", compiler).arg(&source).arg(&object).arg("-o").arg(&executable);
        must(&mut command)?;
    }
    Ok(Batch { executable, build })
}

fn must(command: &mut Command) -> Result<(), String> {
    let outcome = tool::finish(command, tool::PATIENCE);
    match outcome.code {
        Some(0) => Ok(()),
        _ => Err(format!("{command:?}: {}", outcome.describe())),
    }
}

/// What a campaign came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// It says that it made every order that makes a difference.
    Complete,
    /// It says why it cannot say that.
    Withdrawn(String),
    /// It ran out of runs.
    Open,
}

/// Something that is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The claim is wrong: an outcome is missing.
    Claim,
    /// The number of orders is wrong.
    Count,
    /// A run had an outcome or a failure that there is not.
    Foreign,
    /// The tool itself failed.
    Broken,
}

impl Fault {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Claim => "wrong claim",
            Fault::Count => "wrong count",
            Fault::Foreign => "foreign outcome",
            Fault::Broken => "broken",
        }
    }
}

/// What the tool said of a program, and what is wrong with that.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What it claims.
    pub claim: Claim,
    /// What is wrong, with an explanation each.
    pub faults: Vec<(Fault, String)>,
    /// Runs that repeated an order.
    pub repeated: u64,
    /// All runs.
    pub runs: u64,
}

/// A place where campaigns are made, one at a time.
#[derive(Debug)]
pub struct Bench {
    folder: tempfile::TempDir,
    slate: fs::File,
}

impl Bench {
    /// A new one.
    ///
    /// # Errors
    /// If there is no room for its files.
    pub fn new() -> Result<Bench, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        let mut options = fs::OpenOptions::new();
        let slate =
            options.create(true).truncate(true).read(true).write(true).open(folder.path().join("slate"));
        Ok(Bench { slate: slate.map_err(|error| format!("a file: {error}"))?, folder })
    }

    fn clear(&self) -> std::io::Result<()> {
        self.slate.set_len(0)?;
        self.slate.set_len(LIST + STRIDE * ROOM)
    }

    /// The records that runs left behind.
    fn records(&self) -> std::io::Result<HashSet<Record>> {
        let mut head = [0u8; 8];
        self.slate.read_exact_at(&mut head, STRIDE)?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let mut records = HashSet::new();
        let mut take = |at: u64| -> std::io::Result<()> {
            let mut record = [0; RECORD];
            self.slate.read_exact_at(&mut record, at)?;
            records.insert(record);
            Ok(())
        };
        for at in 0..u64::from(number(0)).min(ROOM) {
            take(LIST + STRIDE * at)?;
        }
        if number(4) != 0 {
            take(0)?;
        }
        Ok(records)
    }

    /// Makes a campaign over a program of a batch and judges it. Without a strategy, the default is asked.
    pub fn judge(&self, batch: &Batch, number: usize, case: &Case, strategy: Option<&str>) -> Verdict {
        match self.ask(batch, number, case, strategy) {
            Ok((report, records)) => judge(case, batch.build, &report, &records),
            Err(why) => {
                let faults = vec![(Fault::Broken, why)];
                Verdict { claim: Claim::Open, faults, repeated: 0, runs: 0 }
            }
        }
    }

    fn ask(
        &self,
        batch: &Batch,
        number: usize,
        case: &Case,
        strategy: Option<&str>,
    ) -> Result<(Value, HashSet<Record>), String> {
        self.clear().map_err(|error| format!("the slate: {error}"))?;
        let runs = (case.account.classes * 3 + 150).to_string();
        let mut command = tool::command(["run", "--format", "json", "--jobs", "1", "--seed", "1"]);
        // The model is one of sequentially consistent memory.
        command.args(["--memory-model", "sc"]);
        command.args(["--keep-going", "--shrink", "off", "--races", "off", "--runs", &runs]);
        // The model's waits end by a signal.
        command.args(["--faults", "none"]);
        if let Some(strategy) = strategy {
            command.args(["--no-predict", "--strategy", strategy]);
        }
        let out = self.folder.path().join("out");
        command.arg("--out").arg(&out).arg("--").arg(&batch.executable).arg(number.to_string());
        command.env("REFEREE_SLATE", self.folder.path().join("slate"));
        let outcome = tool::finish(&mut command, tool::PATIENCE);
        let _ = fs::remove_dir_all(&out);
        if !matches!(outcome.code, Some(0 | 1)) {
            return Err(outcome.describe());
        }
        let report =
            serde_json::from_str(&outcome.stdout).map_err(|error| format!("no JSON object: {error}"))?;
        let records = self.records().map_err(|error| format!("the slate: {error}"))?;
        Ok((report, records))
    }
}

/// Whether the number of orders is known. What Rust's std does in its locks, barriers and strands is its own matter: there are more steps than the
/// model has, which can be ordered in more ways; so it is when a strand is created or ends beside another. `pthread_exit` makes a step of the
/// unwinder's, and a mutex that cannot be destroyed is taken to have been.
fn is_counted(build: Build, program: &Program) -> bool {
    use Statement as S;
    let joined = |at: usize| program.strands[0].body.contains(&S::Join(at as u8));
    let hidden = |statement: &S| {
        matches!(
            statement,
            S::Locked(..)
                | S::TryLocked(..)
                | S::Reading(..)
                | S::Writing(..)
                | S::TryWriting(..)
                | S::Signal(_)
                | S::Broadcast(_)
                | S::Barrier(_)
                | S::Exit(_)
        )
    };
    let odd = |statement: &S| matches!(statement, S::Leave | S::Destroy(..));
    !program.has(odd)
        && (build != Build::Rust || (1..program.strands.len()).all(joined) && !program.has(hidden))
}

fn judge(case: &Case, build: Build, report: &Value, records: &HashSet<Record>) -> Verdict {
    let planner = &report["planner"];
    let account = &case.account;
    let claims = report["claim"]["kind"] == "complete"
        || planner["complete"] == true
        || report["coverage"]["estimate"]["method"] == "complete";
    let withdrawn = report["claim"]["withdrawn"].as_array().into_iter().flatten();
    let reasons = withdrawn.filter_map(|why| why["reason"].as_str());
    // Others only say that more runs would tell more.
    let mut reasons: Vec<&str> =
        reasons.filter(|why| !matches!(*why, "runs" | "time" | "unfinished")).collect();
    reasons.dedup();
    let claim = match claims {
        true => Claim::Complete,
        false if reasons.is_empty() => Claim::Open,
        false => Claim::Withdrawn(reasons.join(", ")),
    };
    let mut faults = Vec::new();
    let known = |records: &HashSet<Record>| -> HashSet<Record> {
        records.iter().map(|record| build.known(record)).collect()
    };
    let (records, outcomes, cut_short) =
        (known(records), known(&account.outcomes), known(&account.cut_short));
    let missing: Vec<&Record> = outcomes.difference(&records).collect();
    let own = |record: &Record, strand: usize| -> [u8; program::STRIDE] {
        std::array::from_fn(|at| record[strand * program::STRIDE + at])
    };
    type Failures = HashSet<(usize, [u8; program::STRIDE])>;
    let shown = |failures: &Failures| -> Failures {
        let shown = failures.iter().map(|&(strand, bytes)| {
            let mut whole = [0; RECORD];
            whole[strand * program::STRIDE..][..program::STRIDE].copy_from_slice(&bytes);
            (strand, own(&build.known(&whole), strand))
        });
        shown.collect()
    };
    let failing = shown(&account.failures);
    let is_shown = |(strand, bytes): &&(usize, [u8; program::STRIDE])| {
        records.iter().any(|record| own(record, *strand) == *bytes)
    };
    let failures = failing.iter().filter(is_shown).count();
    if claims && failures < failing.len() {
        let told =
            format!("complete after {} runs with {failures} of {} failures", report["runs"], failing.len());
        faults.push((Fault::Claim, told));
    }
    if claims && !missing.is_empty() {
        let told = format!(
            "complete after {} runs with {} of {} outcomes; told {} orders, there are {}",
            report["runs"],
            outcomes.len() - missing.len(),
            outcomes.len(),
            planner["classes"],
            account.classes
        );
        faults.push((Fault::Claim, told));
    } else if claims
        && !account.misused
        && account.failures.is_empty()
        && is_counted(build, &case.program)
        && planner["classes"] != account.classes
    {
        let told = format!("told {} orders, there are {}", planner["classes"], account.classes);
        faults.push((Fault::Count, told));
    }
    // Where a strand fails, how far the others have come makes no difference.
    let late = std::cell::OnceCell::new();
    let fails_late = |failure: &(usize, [u8; program::STRIDE])| {
        late.get_or_init(|| shown(&model::late_failures(&case.program, LATE).unwrap_or_default()))
            .contains(failure)
    };
    let is_known =
        |record: &Record| match (0..STRANDS).find(|at| record[at * program::STRIDE + program::FAILED] != 0) {
            Some(strand) => {
                let failure = (strand, own(record, strand));
                failing.contains(&failure) || build == Build::Rust && fails_late(&failure)
            }
            None => outcomes.contains(record) || cut_short.contains(record),
        };
    let foreign: Vec<&Record> = records.iter().filter(|record| !is_known(record)).collect();
    if let Some(example) = foreign.first() {
        let kept = example.iter().enumerate().filter(|(_, byte)| **byte != 0);
        let kept: Vec<String> = kept.map(|(at, byte)| format!("{at}={byte}")).collect();
        let told = format!("{} outcomes that the model has not, such as {}", foreign.len(), kept.join(" "));
        faults.push((Fault::Foreign, told));
    }
    for finding in report["findings"].as_array().into_iter().flatten() {
        let kind = finding["kind"].as_str().unwrap_or_default();
        let known = match kind {
            "deadlock" | "livelock" => account.stuck,
            "use-after-destroy" => account.misused,
            "crash" => !account.failures.is_empty(),
            _ => false,
        };
        if !known {
            faults.push((
                Fault::Foreign,
                format!("{kind}: {}", finding["message"].as_str().unwrap_or_default()),
            ));
        }
    }
    let repeated = planner["repeated_runs"].as_u64().unwrap_or(0);
    Verdict { claim, faults, repeated, runs: report["runs"].as_u64().unwrap_or(0) }
}
