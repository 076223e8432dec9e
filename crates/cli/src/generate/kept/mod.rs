//! Kept tests: a pair of calls as a source file that a person can read, edit, keep and run again, in the program's own image in place of `main`.
//!
//! A kept test (`cli::generate::kept`) is written from runs of the live one that are made again.
//! `explore::pairs::closely` makes one with every access a point: what the calls touch, what was there before, which
//! blocks. `explore::trap` makes it once more under `ptrace`, with breakpoints at the two entries for the arguments,
//! until both strands stand before their calls (`WatchKind::Step`); there the memory is read. `state` follows pointers
//! by types (`symbols::types`) from arguments and touched variables to *things*, so what two pointers share is one
//! thing; `values` and `ctypes` write them in C. The file and `threadbare-kept.c` become a shared object that is
//! preloaded: with the runtime it announces itself (`threadbare_rt_in_place_of_main`), without it it interposes
//! `__libc_start_main`. What was not recorded is a page that is not there, and a fault in it ends the run with code 77,
//! which the driver takes as no finding. Of calls that met in no run each is recorded in one of its own, and the states
//! are one if they are compatible (`combine`).

mod arguments;
mod combine;
mod ctypes;
mod layout;
mod record;
mod settle;
mod source;
mod state;
mod values;
mod ways;

use super::look::{Alone, Candidate};
use super::table::Test;
use super::{Bench, NOT_ATOMIC};
use crate::conduct::{self, cannot};
use crate::exit::Trouble;
use record::Recording;
use source::Source;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use threadbare_explore::again::{Taken, Taker};
use threadbare_explore::campaign::Config;
use threadbare_explore::files;
use threadbare_explore::pairs::Progress;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_findings::{Finding, Places, StrandDetail, SymbolPlaces};
use threadbare_report::progress::ProgressLine;
use ways::{Lines, Ways};

/// How the files' names end.
pub(super) const EXTENSION: &str = "c";
/// How the names of files with their ways end.
const WAYS: &str = "ways";
/// What every test includes, and what it is linked with.
const SUPPORT: [(&str, &str); 2] = [
    ("threadbare-kept.h", include_str!("threadbare-kept.h")),
    ("threadbare-kept.c", include_str!("threadbare-kept.c")),
];
/// The folder for what is built, and for what the tests find.
const BUILT: &str = "kept";
/// How a test ends that comes to memory nobody recorded.
const MISSING: i32 = 77;
/// Where pointers to it lead, as in the file that tests are linked with: `MISSING_BASE`, and a page for each name.
const MISSING_PAGES: Range<u64> = 0x6d69_7373_0000..0x6d69_7373_0000 + 256 * 4096;
/// Runs whose choices are kept at a time.
const MOST_RUNS: usize = 20_000;

/// Keeps the choices of runs, for those that are made again.
#[derive(Debug, Default)]
pub(super) struct Runs(Mutex<BTreeMap<u64, Taken>>);

impl Taker for Runs {
    fn take(&self, taken: Taken) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST_RUNS {
            all.insert(taken.request.run, taken);
        }
    }
}

impl Runs {
    fn any(&self) -> Option<Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().next().cloned()
    }

    fn get(&self, run: Option<u64>) -> Option<Taken> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&run?).cloned()
    }
}

/// What live tests left that kept ones are made of.
pub(super) struct Material {
    pub(super) runs: Arc<Runs>,
    pub(super) modules: Vec<threadbare_trace::report::Module>,
    pub(super) known: Arc<[u64]>,
}

/// A test, tried once in the orders that were recorded.
pub(super) struct Written {
    pub(super) file: PathBuf,
    library: Result<PathBuf, String>,
    /// Its source without what is expected.
    bare: Option<String>,
}

/// Writes a test, if the state that it needs can be recorded and it does with it what the program did; else why there is none.
pub(super) fn make(
    bench: &Bench,
    material: &Material,
    candidate: &Candidate,
    progress: &Progress,
    (folder, name): (&Path, &str),
    fails: bool,
) -> Result<Result<Written, String>, Trouble> {
    match source(bench, material, candidate, progress, name, fails) {
        Ok(made) => tried(bench, material, made, (folder, name)),
        Err(why) => Ok(Err(why)),
    }
}

/// Writes a test of two calls that met in no run: of states recorded apart, if they are compatible; else why there is none.
pub(super) fn combine(
    bench: &Bench,
    material: &Material,
    alone: &Alone,
    (folder, name): (&Path, &str),
) -> Result<Result<Written, String>, Trouble> {
    let mut why = "none of the two calls' runs is there any more".to_owned();
    for (meeting, runs) in alone.candidate.meetings.iter().zip(&alone.runs) {
        let [one, two] = runs.map(|run| material.runs.get(Some(run)));
        let recording = Recording {
            config: &bench.config,
            modules: &material.modules,
            known: &material.known,
            candidate: &alone.candidate,
            meeting,
            runs: [one.as_ref(), two.as_ref()],
            expects: false,
            fails: false,
        };
        match recording.combined(name) {
            Ok(made) => match tried(bench, material, made, (folder, name))? {
                Ok(written) => return Ok(Ok(written)),
                Err(other) => why = other,
            },
            Err(other) => why = other,
        }
    }
    Ok(Err(why))
}

/// Writes a test, and keeps it if its calls do what was recorded.
fn tried(
    bench: &Bench,
    material: &Material,
    (source, ways): (Source, Ways),
    (folder, name): (&Path, &str),
) -> Result<Result<Written, String>, Trouble> {
    let file = write(folder, name, &source.text)?;
    let library = build(&file, folder);
    if let Ok(library) = &library
        && let Some(why) = ways.differ(&with(bench, library))
    {
        // It is no test; whoever wants to mend it finds it beside what is built.
        let aside = folder.join(BUILT).join(format!("{name}.{EXTENSION}"));
        fs::rename(&file, &aside).map_err(|error| cannot(&format!("write `{}`", aside.display()), &error))?;
        return Ok(Err(why));
    }
    let places = SymbolPlaces::new(&material.modules, &bench.config.target.program);
    let beside = file.with_extension(WAYS);
    fs::write(&beside, ways.lines(&|pc| line(&places, pc)).to_text())
        .map_err(|error| cannot(&format!("write `{}`", beside.display()), &error))?;
    Ok(Ok(Written { file, library, bare: source.bare }))
}

/// A line of source, with its file.
fn line(places: &SymbolPlaces, pc: u64) -> Option<String> {
    let frames = places.at(pc);
    let place = threadbare_findings::places::shown(&frames)?;
    let file = place.file.as_deref()?;
    let text = places.source(file, place.line?)?.trim().to_owned();
    Some(format!("{}: {text}", Path::new(file).file_name()?.to_string_lossy()))
}

/// Whether the calls of a test that was read take the ways that were recorded: what is to be told if not. Nothing is known without a run of the program.
pub(super) fn other_way(bench: &Bench, material: &Material, file: &Path, out: &Path) -> Option<String> {
    let recorded = Lines::parse(&files::read_text(&file.with_extension(WAYS)).ok()?)?;
    let taken = material.runs.any()?;
    let library = build(file, out).ok()?;
    let module = material.modules.first()?;
    let ways = Ways {
        request: taken.request,
        known: material.known.to_vec(),
        program: module.base..module.base + module.size,
        functions: Default::default(),
        orders: Vec::new(),
        fails: false,
    };
    let places = SymbolPlaces::new(&material.modules, &bench.config.target.program);
    match ways.others(&with(bench, &library), &recorded, &|pc| line(&places, pc)) {
        Ok(other) if other.is_empty() => None,
        Ok(other) => {
            let names: Vec<&str> = other.iter().map(|&call| ["first", "second"][call]).collect();
            Some(format!("the {} call takes another way than when it was recorded", names.join(" and the ")))
        }
        Err(why) => Some(why),
    }
}

/// The program with a test in it.
fn with(bench: &Bench, library: &Path) -> Target {
    let mut target: Target = (*bench.config.target).clone();
    let own = target.env.iter().position(|(name, _)| name == "LD_PRELOAD").map(|at| target.env.remove(at).1);
    let mut preload: OsString = library.as_os_str().to_owned();
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        preload.push(":");
        preload.push(own);
    }
    target.env.push(("LD_PRELOAD".into(), preload));
    target
}

/// The source of a test with the ways of its calls, or why there is none.
fn source(
    bench: &Bench,
    material: &Material,
    candidate: &Candidate,
    progress: &Progress,
    name: &str,
    fails: bool,
) -> Result<(Source, Ways), String> {
    let meeting = progress.meeting.and_then(|at| candidate.meetings.get(at));
    let meeting = meeting.ok_or("no run had both calls, one after the other, with nobody else in between")?;
    let [one, two] = progress.plain.map(|run| material.runs.get(run));
    let recording = Recording {
        config: &bench.config,
        modules: &material.modules,
        known: &material.known,
        candidate,
        meeting,
        runs: [one.as_ref(), two.as_ref()],
        // Calls that are not atomic, and no more than that, are told and do not fail.
        expects: progress.torn.is_none() || fails,
        fails,
    };
    recording.test(name)
}

/// Writes a test with what it needs; gives the file.
fn write(folder: &Path, name: &str, source: &str) -> Result<PathBuf, Trouble> {
    let refused = |error: &std::io::Error| cannot(&format!("write to `{}`", folder.display()), error);
    fs::create_dir_all(folder).map_err(|error| refused(&error))?;
    for (file, text) in SUPPORT {
        fs::write(folder.join(file), text).map_err(|error| refused(&error))?;
    }
    let path = folder.join(format!("{name}.{EXTENSION}"));
    fs::write(&path, source).map_err(|error| refused(&error))?;
    Ok(path)
}

/// Whether a test says that its states were recorded apart.
pub(super) fn is_combined(file: &Path) -> bool {
    files::read_text(file).is_ok_and(|text| text.contains(source::COMBINED))
}

/// The kept tests of a folder, by name.
pub(super) fn read(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        let is_source = path.extension().is_some_and(|it| it == EXTENSION);
        is_source && files::read_text(path).is_ok_and(|text| text.contains("kept_test"))
    });
    paths.retain(|path| SUPPORT.iter().all(|(name, _)| path.file_name().is_none_or(|it| it != *name)));
    paths.sort();
    paths
}

/// Compiles a test. The compiler's words if it cannot.
fn build(file: &Path, out: &Path) -> Result<PathBuf, String> {
    let given = std::env::var("THREADBARE_CC").ok().filter(|words| !words.trim().is_empty());
    let given = given.unwrap_or_else(|| "cc".to_owned());
    let mut words = given.split_whitespace();
    let folder = out.join(BUILT);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let library = folder.join(format!("{name}.so"));
    let support = file.with_file_name(SUPPORT[1].0);
    let output = Command::new(words.next().unwrap_or("cc"))
        .args(words)
        .args(["-g", "-shared", "-fPIC", "-w", "-o"])
        .args([&library, file, &support])
        .args(["-pthread", "-ldl"])
        .output()
        .map_err(|error| format!("the compiler cannot be started: {error}"))?;
    if output.status.success() {
        // The loader takes a path with a slash in it as it is.
        return fs::canonicalize(&library).map_err(|error| error.to_string());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(text.lines().find(|line| line.contains("error")).unwrap_or("the compiler failed").to_owned())
}

/// What came of a kept test.
pub(super) struct Outcome {
    pub(super) verdict: &'static str,
    pub(super) findings: Vec<Finding>,
    pub(super) runs: u64,
    /// Why it was not run.
    pub(super) why: Option<String>,
}

/// Builds a test and runs it in the program's image, in many orders.
pub(super) fn run(bench: &Bench, file: &Path, out: &Path) -> Result<Outcome, Trouble> {
    let written = Written { file: file.to_owned(), library: build(file, out), bare: None };
    written.run(bench, out)
}

impl Written {
    /// Runs it in the program's image, in many orders.
    pub(super) fn run(&self, bench: &Bench, out: &Path) -> Result<Outcome, Trouble> {
        let library = match &self.library {
            Ok(library) => library,
            Err(why) => {
                return Ok(Outcome {
                    verdict: "not-built",
                    findings: Vec::new(),
                    runs: 0,
                    why: Some(why.clone()),
                });
            }
        };
        let target = with(bench, library);
        let config = Config {
            target: Arc::new(target),
            runs: Some(bench.each),
            pairs: None,
            taker: None,
            keep_going: true,
            coverage: false,
            until: None,
            ..bench.config.clone()
        };
        let store = Store::open(out.join(BUILT))?;
        let made =
            conduct::campaign(&config, &store, ProgressLine::on_stderr(), None, &bench.suppressions, None)?;
        let (missing, findings): (Vec<Finding>, Vec<Finding>) =
            made.report.findings.into_iter().partition(lacks_state);
        let (waiting, findings): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(waits_for_others);
        let verdict = match () {
            () if !findings.is_empty() => "fail",
            () if !missing.is_empty() => "state-missing",
            () if !waiting.is_empty() => "waits",
            () => "pass",
        };
        Ok(Outcome { verdict, findings, runs: made.report.runs, why: None })
    }
}

/// Whether a finding says only that a call waits for what neither of the two does: the rest of the program may do it. It may also give back what a call that is over has taken.
fn waits_for_others(finding: &Finding) -> bool {
    let goes_on = |name: &String| finding.strands.iter().any(|strand| strand.strand == *name);
    let open =
        |strand: &StrandDetail| strand.state == "blocked" && !strand.held_by.as_ref().is_some_and(goes_on);
    match finding.kind.as_str() {
        "deadlock" => finding.strands.iter().any(open),
        "livelock" | "timeout" => true,
        _ => false,
    }
}

/// Whether a finding says only that memory was not recorded.
fn lacks_state(finding: &Finding) -> bool {
    finding.kind == "exit" && finding.code == MISSING || MISSING_PAGES.contains(&finding.fault)
}

/// The row of a test.
pub(super) fn row(name: &str, file: &Path, outcome: &Outcome, live: Option<&Test>) -> Test {
    let ids = outcome.findings.iter().map(|finding| finding.id.clone()).collect();
    let empty = || Test {
        name: name.to_owned(),
        file: None,
        form: "kept",
        first: String::new(),
        second: String::new(),
        object: String::new(),
        places: Default::default(),
        paths: String::new(),
        dependence: "strong",
        states: "together",
        atomic: None,
        verdict: "pass",
        findings: Vec::new(),
        runs: 0,
        met: 0,
        why: None,
    };
    Test {
        file: Some(file.display().to_string()),
        form: "kept",
        atomic: (outcome.verdict == NOT_ATOMIC).then_some(false),
        verdict: outcome.verdict,
        findings: ids,
        runs: outcome.runs,
        met: outcome.runs,
        why: outcome.why.clone(),
        ..live.cloned().unwrap_or_else(empty)
    }
}
