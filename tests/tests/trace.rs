//! Recorded runs: what the trace says came before what is what the race check of the run says; programs of every language are recorded, and
//! printed when they are gone; what is asked of a trace in vain, or of what is none, is told.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use threadbare_abi::event::Event;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode, Record, flags};
use threadbare_explore::run::{EventSink, Follow, Request};
use threadbare_explore::server::{Server, Target};
use threadbare_strategy::StrategyId;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::tool::{self, Outcome};
use threadbare_tests::{campaign, compile, extent};
use threadbare_trace::conflicts::Conflicts;
use threadbare_trace::order::{dependence, happens_before, unordered};
use threadbare_trace::recording::{Entry, StrandRow, Table, Taker};

fn program(name: &str) -> Program {
    let found = corpus::programs().into_iter().find(|program| program.name == name);
    found.unwrap_or_else(|| panic!("the corpus has no `{name}`"))
}

fn built(program: &Program) -> PathBuf {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    compile::instrumented(program, compile::compilers(program)[0], &builds)
        .unwrap_or_else(|message| panic!("{message}"))
}

#[derive(Default)]
struct Found(Conflicts);

impl EventSink for Found {
    fn events(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.0.event(event));
    }

    fn restart(&mut self) {
        self.0 = Conflicts::default();
    }
}

struct Taken {
    taker: Taker,
    kept: Vec<u64>,
    entries: Vec<Entry>,
}

impl Taken {
    fn keeping(kept: Vec<u64>) -> Taken {
        Taken { taker: Taker::keeping(kept.iter().copied()), entries: Vec::new(), kept }
    }
}

impl EventSink for Taken {
    fn events(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.taker.event(event, &mut self.entries));
    }

    fn restart(&mut self) {
        *self = Taken::keeping(std::mem::take(&mut self.kept));
    }
}

fn request(seed: u64, record: Record) -> Request {
    Request {
        run: seed,
        seed,
        entropy: 7,
        strategy: StrategyId::Uniform,
        params: [0; 8],
        points: PointMode::Shared,
        record,
        flags: 0,
        max_points: 0,
        timeout: tool::PATIENCE / 4,
        estimates: (0, 0),
        guide: Arc::from([]),
        races: true,
        // Loads that see older stores acquire what those published.
        model: if seed % 2 == 1 { MemoryModel::C11 } else { MemoryModel::Sc },
        watches: Vec::new(),
        faults: Faults::SPURIOUS,
    }
}

/// A run of a program, recorded; the pairs of instructions that its race check told.
fn recorded(server: &mut Server, seed: u64) -> (Table, Vec<Entry>, BTreeSet<[u64; 2]>) {
    let first = server.run(&request(seed, Record::Nothing), Follow::Nothing, None).expect("a run");
    let segments = server.facts(&request(seed, Record::Nothing), &first, true).expect("its facts").segments;
    let follow = Follow::Segments(&segments);
    let strictly = |record| Request { flags: flags::STRICT, ..request(seed, record) };
    let mut found = Found::default();
    server.run(&strictly(Record::Everything), follow, Some(&mut found)).expect("the run again");
    server.run(&strictly(Record::Effects), follow, Some(&mut found)).expect("the run again");
    server.set_known(&found.0.pcs());
    let mut taken = Taken::keeping(found.0.pcs());
    let ended = server.run(&strictly(Record::Effects), follow, Some(&mut taken)).expect("the run once more");
    let facts = server.facts(&strictly(Record::Effects), &ended, false).expect("its facts");
    assert!(!facts.verdict.is_internal(), "{}", facts.verdict.message);
    taken.taker.finish(&mut taken.entries);
    let places = taken
        .taker
        .places()
        .iter()
        .map(|pcs| threadbare_trace::recording::PlaceRow { offset: pcs[0], ..Default::default() });
    let table = Table {
        strands: vec![StrandRow::default(); taken.taker.strands().len() + 1],
        places: places.collect(),
        objects: taken.taker.objects().to_vec(),
        ..Table::default()
    };
    let told = facts.report.races.iter().map(|race| {
        let mut pcs = [0, 1].map(|at| race.accesses[at].moment.pc);
        pcs.sort_unstable();
        pcs
    });
    (table, taken.entries, told.collect())
}

/// In some runs, the trace has every race that the run's own check told, and none where it told none; what races depends on each other.
fn agrees(name: &str) -> usize {
    const SEEDS: u64 = 6;
    let program = program(name);
    let folder = tempfile::tempdir().expect("a folder");
    let mut target = Target { cwd: folder.path().to_owned(), ..Target::new(built(&program), Vec::new()) };
    // This tool's, whatever other one has been used last.
    target.runtime = Some(PathBuf::from(tool::run(["runtime-path"]).stdout.trim()));
    let mut server = Server::start(&target).expect("the program starts");
    let mut races = 0;
    for seed in 0..SEEDS {
        let (table, entries, told) = recorded(&mut server, seed);
        let order = happens_before(&entries, &table);
        let found = unordered(&entries, &table, &order);
        let pairs: BTreeSet<[u64; 2]> = found
            .iter()
            .map(|&(first, second)| {
                assert!(order.concurrent(first, second));
                let mut pcs =
                    [first, second].map(|at| table.place(entries[at].place).map_or(0, |place| place.offset));
                pcs.sort_unstable();
                pcs
            })
            .collect();
        let missed: Vec<_> = told.difference(&pairs).collect();
        assert!(missed.is_empty(), "{name}, seed {seed}: ordered by the trace, but told: {missed:x?}");
        assert!(!told.is_empty() || pairs.is_empty(), "{name}, seed {seed}: only in the trace: {pairs:x?}");
        let depends = dependence(&entries, &table);
        for &(first, second) in &found {
            assert!(depends.precedes(first, second), "{name}, seed {seed}: {first} and {second} conflict");
        }
        races += told.len();
    }
    races
}

#[test]
fn races_are_unordered_and_the_rest_is_ordered() {
    for rule in [
        "adjacent_racy.c",
        "atomic_plain_racy.c",
        "barrier_phases_racy.c",
        "condvar_racy.c",
        "create_grandchild_racy.c",
        "fence_acquire_racy.c",
        "fence_release_racy.c",
        "calloc_racy.c",
        "call_once_racy.cc",
        "async_racy.cc",
        "arc_drop_racy.rs",
        "condvar_racy.rs",
    ] {
        let right = rule.replace("_racy", "_right");
        assert_eq!(agrees(&format!("race/{right}")), 0, "{right}");
        assert!(agrees(&format!("race/{rule}")) > 0, "{rule}");
    }
}

/// Of all programs for the race check, where there is time.
#[test]
fn all_programs_agree() {
    if extent::is_full() {
        // What a program declares benign is not ordered by that.
        let fits = |program: &Program| program.name.starts_with("race/") && !program.name.contains("benign");
        let programs = corpus::programs().into_iter().filter(fits);
        programs.for_each(|program| _ = agrees(&program.name));
    }
}

/// A folder with a failing run of a program, recorded in `run.trace`.
struct Kept {
    folder: TempDir,
    outcome: Outcome,
}

fn kept(name: &str) -> Kept {
    let program = program(name);
    let folder = tempfile::tempdir().expect("a folder");
    let executable = folder.path().join("program");
    fs::copy(built(&program), &executable).expect("a copy");
    let found = campaign::run(&program, &executable, folder.path(), &["--runs", "300"]).expect("a campaign");
    let finding = found.findings().first().unwrap_or_else(|| panic!("{}", found.complain("nothing found")));
    let schedule = finding["schedule"].as_str().expect("a schedule").to_owned();
    let outcome = tool::finish(
        tool::command(["replay", &schedule, "--record", "run.trace"]).current_dir(folder.path()),
        tool::PATIENCE,
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.describe());
    // What is printed needs neither the program nor what the campaign left.
    fs::remove_file(executable).expect("the program goes");
    Kept { folder, outcome }
}

impl Kept {
    fn ask(&self, arguments: &[&str]) -> Outcome {
        let arguments = ["trace", "run.trace"].iter().chain(arguments);
        tool::finish(tool::command(arguments).current_dir(self.folder.path()), tool::PATIENCE)
    }

    fn text(&self, arguments: &[&str]) -> String {
        let outcome = self.ask(arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
        outcome.stdout
    }

    fn entries(&self, arguments: &[&str]) -> Vec<Value> {
        let text = self.text(&[arguments, &["--format", "json"]].concat());
        let value: Value = serde_json::from_str(&text).expect("one object");
        let entries = value["entries"].as_array().expect("entries").clone();
        assert_eq!(value["shown"].as_u64(), Some(entries.len() as u64));
        entries
    }
}

#[test]
fn programs_of_every_language_are_recorded_and_printed() {
    for name in ["lost-update/counter.c", "lost-update/counter_atomic.cc", "lost-update/counter.rs"] {
        let kept = kept(name);
        assert!(kept.outcome.stderr.contains("recorded"), "{}", kept.outcome.describe());
        let text = kept.text(&[]);
        let file = Path::new(name).file_name().unwrap().to_str().unwrap();
        assert!(text.lines().any(|line| line.contains("created") && line.contains("by 0")), "{text}");
        assert!(text.contains(&format!("{file}:")), "{name}: places\n{text}");
        assert!(text.contains("  -> 0.1"), "{text}");
        let entries = kept.entries(&[]);
        let numbers: Vec<u64> = entries.iter().filter_map(|entry| entry["event"].as_u64()).collect();
        assert!(numbers.iter().copied().eq(1..=entries.len() as u64));
    }
}

#[test]
fn a_trace_is_filtered() {
    let kept = kept("lost-update/counter.c");
    let all = kept.entries(&[]);
    let mine = kept.entries(&["--strand", "0.1"]);
    assert!(!mine.is_empty() && mine.len() < all.len() && mine.iter().all(|entry| entry["strand"] == "0.1"));
    let accesses = kept.entries(&["--kind", "access"]);
    assert!(!accesses.is_empty() && accesses.iter().all(|entry| entry["group"] == "access"));
    let object = accesses[0]["object"]["name"].as_str().expect("a variable").to_owned();
    let of_it = kept.entries(&["--object", &object]);
    assert!(of_it.len() >= 2 && of_it.iter().all(|entry| entry["object"]["name"] == object.as_str()));
    let address = accesses[0]["object"]["address"].as_str().expect("an address").to_owned();
    assert!(kept.entries(&["--object", &address]).len() >= of_it.len());
    let frame = &accesses[0]["frames"][0];
    let function = frame["function"].as_str().expect("a function").to_owned();
    let line = format!("{}:{}", frame["file"].as_str().unwrap(), frame["line"]);
    assert!(!kept.entries(&["--at", &function, "--kind", "access"]).is_empty());
    assert!(!kept.entries(&["--at", &line]).is_empty());
    let some = kept.entries(&["--events", "3..5"]);
    assert_eq!(some.iter().filter_map(|entry| entry["event"].as_u64()).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(kept.entries(&["--events", "2"]).len(), 1);
    assert!(kept.entries(&["--events", "100000000.."]).is_empty());
    // Every line fits.
    let narrow = kept.text(&["--kind", "access", "--events", "..50"]);
    assert!(narrow.lines().skip(3).all(|line| line.chars().count() <= 160), "{narrow}");
}

#[test]
fn what_a_trace_has_not_is_told() {
    let kept = kept("lost-update/counter.c");
    for (arguments, reason) in [
        (["--strand", "0.9"], "no strand `0.9`"),
        (["--object", "nothing_like_it"], "no object `nothing_like_it`"),
        (["--kind", "wirte"], "no kind of event `wirte`"),
        (["--at", "elsewhere.c:1"], "no place `elsewhere.c:1`"),
        (["--events", "9..3"], "no event"),
        (["--events", "x"], "no event's number"),
    ] {
        let outcome = kept.ask(&arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.describe());
        assert!(
            outcome.stderr.contains(reason) && outcome.stderr.contains("help:"),
            "{}",
            outcome.describe()
        );
        assert!(outcome.stdout.is_empty(), "{}", outcome.describe());
    }
}

#[test]
fn what_is_no_whole_trace_is_refused() {
    let kept = kept("lost-update/counter.c");
    let path = kept.folder.path().join("run.trace");
    let whole = fs::read(&path).expect("the trace");
    let mut damaged = whole.clone();
    damaged[40] ^= 0xff;
    let newer = [b"threadbare trace 9\n".as_slice(), &whole[19..]].concat();
    for (bytes, reason) in [
        (&whole[..whole.len() - 1], "cut off"),
        (&whole[..whole.len() / 2], "cut off"),
        (&b"#!/bin/sh\n"[..], "no trace"),
        (&b""[..], "no trace"),
        (&newer[..], "version 9"),
        (&damaged[..], "damaged"),
    ] {
        fs::write(&path, bytes).expect("another file");
        let outcome = kept.ask(&[]);
        assert_eq!(outcome.code, Some(2), "{reason}: {}", outcome.describe());
        assert!(
            outcome.stderr.contains(reason) && outcome.stderr.contains("help:"),
            "{}",
            outcome.describe()
        );
    }
    for other in ["/dev/zero", ".", "missing"] {
        let outcome =
            tool::finish(tool::command(["trace", other]).current_dir(kept.folder.path()), tool::PATIENCE);
        assert_eq!(outcome.code, Some(2), "{}", outcome.describe());
        assert!(outcome.stderr.contains("help:"), "{}", outcome.describe());
    }
    // No file is left where none can be written.
    let outcome = tool::run(["replay", "missing", "--record", "/nowhere/run.trace"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.describe());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let kept = kept("lost-update/counter.c");
    for format in ["text", "json"] {
        let mut command = tool::command(["trace", "run.trace", "--format", format]);
        let ended = tool::abandon(command.current_dir(kept.folder.path()));
        assert_eq!(ended.code, Some(0), "{}", ended.describe());
        assert!(ended.stderr.is_empty(), "{}", ended.describe());
    }
}
