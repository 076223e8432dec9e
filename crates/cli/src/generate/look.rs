//! What runs and the code say: which pairs there are, and how many each filter leaves out.

use super::Wanted;
use super::functions::{Function, Namer};
use super::kept::{Material, Runs};
use super::table::Funnel;
use crate::conduct::{self, Paired};
use crate::exit::Trouble;
use crate::futures;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use threadbare_abi::layout::{MemoryModel, PointMode};
use threadbare_code::{Code, Names};
use threadbare_explore::again::Taker;
use threadbare_explore::campaign::Config;
use threadbare_explore::pairs::Order;
use threadbare_explore::store::Store;
use threadbare_explore::{Races, Search};
use threadbare_findings::{Finding, Places, Suppressions, SymbolPlaces};
use threadbare_pairs::{Apart, Book, Joint, Meeting, PathPair, Rules, Way, calls, choose, running};
use threadbare_report::progress::ProgressLine;
use threadbare_strategy::{Spec, StrategyId};

/// Runs that are looked at, and those of them in which all accesses are.
const LOOKS: u64 = 32;
const WIDE_LOOKS: u64 = 16;
/// How long runs are looked at, and how long one of a test may take.
const LONGEST: Duration = Duration::from_secs(60);
pub(super) const LONGEST_RUN: Duration = Duration::from_secs(3);

/// Two paths through two functions that are worth a test.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) functions: [Function; 2],
    /// What they meet at, by name.
    pub(super) object: String,
    /// All that they meet at.
    pub(super) objects: BTreeSet<String>,
    /// The texts of the lines at which they meet, of each function.
    pub(super) lines: [BTreeSet<String>; 2],
    /// The same as places.
    pub(super) places: [BTreeSet<String>; 2],
    /// Which of the pairs of paths it is, from 1, and how many there are.
    pub(super) path: (usize, usize),
    pub(super) strong: bool,
    pub(super) meetings: Vec<Meeting>,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {} on {}", self.functions[0].name, self.functions[1].name, self.object)
    }
}

/// Two calls that met in no run, as each may be recorded in a run of its own.
#[derive(Clone, Debug)]
pub(super) struct Alone {
    pub(super) candidate: Candidate,
    /// The runs of the two calls, for each of the candidate's meetings.
    pub(super) runs: Vec<[u64; 2]>,
}

/// What a look gave.
pub(super) struct Look {
    pub(super) funnel: Funnel,
    pub(super) candidates: Vec<Candidate>,
    /// Pairs of calls that met in no run, and touched the same.
    pub(super) alone: Vec<Alone>,
    /// The runs that were looked at.
    pub(super) material: Material,
    /// All pairs in words.
    pub(super) pairs: Vec<String>,
    pub(super) known: Arc<[u64]>,
    pub(super) findings: Vec<Finding>,
    pub(super) runs: u64,
    /// The first looks: how many runs, and how long they took.
    pub(super) looked: (u64, f64),
    pub(super) warnings: Vec<String>,
}

/// A campaign about calls.
pub(super) fn conduct(
    config: &Config,
    store: &Store,
    suppressions: &Arc<Suppressions>,
) -> Result<(Paired, conduct::Conducted), Trouble> {
    let line = ProgressLine::on_stderr();
    let mut made = conduct::campaign(config, store, line, None, suppressions, None)?;
    let lacks = || Trouble::internal("a campaign did not tell of its calls", "please report it");
    Ok((made.pairs.take().ok_or_else(lacks)?, made))
}

fn looking(config: &Config, runs: u64, known: &[u64], points: PointMode) -> Config {
    Config {
        search: Search::Strategy(Spec::of(StrategyId::Random)),
        runs: Some(runs),
        // A program that loops for ever is not looked at for ever.
        time: Some(config.time.unwrap_or(LONGEST).min(LONGEST)),
        timeout: config.timeout.min(LONGEST_RUN),
        keep_going: true,
        ends_complete: false,
        check_replay: false,
        predict: false,
        points,
        shrink: None,
        coverage: false,
        until: None,
        pairs: Some(Arc::new(Order { known: known.to_vec(), ..Order::default() })),
        // Who sees what follows from the order of steps, here.
        model: MemoryModel::Sc,
        ..config.clone()
    }
}

/// Looks at some runs, and at the code. With `all`, all pairs of paths are candidates, not only those that make up the tests.
pub(super) fn look(
    config: &Config,
    store: &Store,
    suppressions: &Arc<Suppressions>,
    wanted: &Wanted,
    all: bool,
) -> Result<Look, Trouble> {
    let (seen, made) = conduct(&looking(config, LOOKS, &[], config.points), store, suppressions)?;
    let taken = Arc::new(Runs::default());
    let taker = Some(Arc::clone(&taken) as Arc<dyn Taker>);
    let wide =
        Config { races: Races::Off, taker, ..looking(config, WIDE_LOOKS, &seen.known, PointMode::All) };
    let (wider, more) = conduct(&wide, store, suppressions)?;
    let looked = (made.report.runs, made.report.elapsed_s);
    let mut runs = made.report.runs + more.report.runs;
    let mut warnings = made.report.warnings;
    let mut findings = made.report.findings;
    // A run that fails at once may not have come to its calls; what it shows is told all the same.
    findings.extend(more.report.findings.into_iter().filter(|it| !it.id.is_empty()));
    findings.dedup_by(|a, b| a.id == b.id);
    let (mut seen, mut known) = (seen, Vec::new());
    known.extend(seen.known.iter().copied());
    if seen.found.runs.is_empty() {
        // All of them taught something: now that it is known, others need not.
        let (again, made) = conduct(&looking(config, LOOKS, &known, config.points), store, suppressions)?;
        runs += made.report.runs;
        known.extend(again.known.iter().copied());
        seen = again;
    }
    let program = &config.target.program;
    let code = futures::code(config)?;
    let places = SymbolPlaces::new(&seen.modules, program);
    let base = seen.modules.first().map_or(0, |module| module.base);
    if !places.has_debug_info(base.wrapping_add(code.functions.first().map_or(1, |it| it.start + 1))) {
        return Err(Trouble::usage(
            format!("`{}` has no debug info, so its functions and lines have no names", program.display()),
            "compile it with `-g`; for Rust, `debug = true` in the profile",
        ));
    }
    let mut namer = Namer::new(&places);
    let said = namer.read(&code, base);
    let (by_code, own_by_code) = (said.pairs(&|function| namer.is_own(function)), said.own_pairs());
    let (mut book, rules) = (Book::default(), Rules { weak: wanted.weak, margin: wanted.margin });
    let (mut parallel, mut dropped, mut apart) = (BTreeSet::new(), 0, Apart::default());
    for run in &seen.found.runs {
        let calls = calls(run, &mut namer);
        book.take(run, &calls, rules);
        parallel.extend(running(run, &calls, wanted.margin));
        dropped += usize::from(run.dropped > 0);
    }
    for run in &wider.found.runs {
        let calls = calls(run, &mut namer);
        parallel.extend(running(run, &calls, wanted.margin));
        apart.take(run, &calls);
    }
    if dropped > 0 {
        warnings.push(format!("{dropped} runs were too long to be looked at to their ends"));
    }
    let own = |pair: &(u32, u32)| namer.is_own(pair.0) && namer.is_own(pair.1);
    let functions = namer.count();
    let met: BTreeSet<(u32, u32)> = book.pairs.keys().copied().collect();
    parallel.extend(&met);
    let mut funnel = Funnel {
        functions,
        all: functions * (functions + 1) / 2,
        by_code: by_code.iter().filter(|pair| own(pair)).count(),
        running: parallel.iter().filter(|pair| own(pair)).count(),
        strong: parallel.iter().filter(|pair| own(pair) && own_by_code.contains(pair)).count(),
        over_calls: parallel.iter().filter(|pair| own(pair) && by_code.contains(pair)).count(),
        same_object: book.pairs.values().filter(|pair| pair.is_own()).count(),
        met: met.len(),
        paths: book.pairs.values().map(|pair| pair.ways.len()).sum(),
        far: book.far.difference(&met).count(),
        guarded: book.guarded.difference(&met).count(),
        ..Funnel::default()
    };
    let names = Names::of(program);
    let source = Source { places: &places, names: &names, code: &code, base };
    let mut candidates: Vec<(PathPair, Candidate)> = Vec::new();
    for (&functions, pair) in &book.pairs {
        for (number, (&paths, way)) in pair.ways.iter().enumerate() {
            let names = [namer.function(functions.0), namer.function(functions.1)];
            let candidate = source.candidate(names, (number + 1, pair.ways.len()), pair.strong, way);
            candidates.push((PathPair { functions, paths }, candidate));
        }
    }
    funnel.unwanted = candidates.iter().filter(|(_, candidate)| !wanted.has(candidate)).count();
    let is_wanted = |choice: PathPair| {
        candidates.iter().any(|(other, candidate)| *other == choice && wanted.has(candidate))
    };
    let chosen = choose(&book, wanted.all_paths || all, &is_wanted);
    funnel.covered = candidates.len() - funnel.unwanted - chosen.len();
    let chosen = chosen.iter().filter_map(|choice| {
        let found = candidates.iter().find(|(other, _)| other == choice);
        found.map(|(_, candidate)| candidate.clone())
    });
    let chosen = chosen.collect();
    let strangers = |pair: (u32, u32)| {
        own(&pair) && own_by_code.contains(&pair) && !met.contains(&pair) && !book.guarded.contains(&pair)
    };
    let joints = apart.joints(&strangers, &|address| places.variable(address, 1).is_some());
    let alone = joints
        .into_iter()
        .map(|((f, g), joints)| source.alone([namer.function(f), namer.function(g)], &joints));
    let alone: Vec<Alone> = alone.filter(|alone| wanted.has(&alone.candidate)).collect();
    let mut known_pairs: Vec<String> =
        candidates.iter().map(|(_, candidate)| candidate.to_string()).collect();
    known_pairs.sort();
    known_pairs.dedup();
    let known: Arc<[u64]> = known.into();
    let modules = seen.modules.clone();
    let material = Material { runs: taken, modules, known: Arc::clone(&known) };
    let (candidates, pairs) = (chosen, known_pairs);
    Ok(Look { funnel, candidates, alone, material, pairs, known, findings, runs, looked, warnings })
}

/// What the source says of a pair.
struct Source<'a> {
    places: &'a SymbolPlaces,
    names: &'a Names,
    code: &'a Code,
    base: u64,
}

impl Source<'_> {
    /// Calls of different runs: each two of them are a meeting that no run has.
    fn alone(&self, functions: [Function; 2], joints: &[Joint]) -> Alone {
        let meeting = |joint: &Joint| Meeting {
            run: joint.runs[0],
            spans: joint.spans.clone(),
            distance: 0,
            object: joint.object,
            way: Vec::new(),
        };
        let way = Way {
            meetings: joints.iter().map(meeting).collect(),
            conflicts: joints.iter().flat_map(|joint| joint.conflicts.clone()).collect(),
            objects: joints.iter().map(|joint| joint.object).collect(),
            around: 0,
        };
        let candidate = self.candidate(functions, (1, 1), true, &way);
        Alone { candidate, runs: joints.iter().map(|joint| joint.runs).collect() }
    }

    fn candidate(
        &self,
        functions: [Function; 2],
        path: (usize, usize),
        strong: bool,
        way: &Way,
    ) -> Candidate {
        let Way { meetings, conflicts, .. } = way;
        let sides = [0, 1].map(|side| {
            let pcs = conflicts.iter().map(|&(a, b)| if side == 0 { a } else { b });
            pcs.map(|pc| self.line(pc, &functions[side])).collect::<BTreeSet<_>>()
        });
        let lines = [0, 1].map(|side: usize| sides[side].iter().map(|(_, text)| text.clone()).collect());
        let places = [0, 1].map(|side: usize| sides[side].iter().map(|(place, _)| place.clone()).collect());
        let pcs = conflicts.iter().flat_map(|&(a, b)| [a, b]);
        let by_code: BTreeSet<String> = pcs.filter_map(|pc| self.object(pc)).collect();
        let named = |&(start, end): &(u64, u64)| self.places.variable(start, end - start);
        let first = meetings.first().and_then(|meeting| named(&meeting.object));
        // What an argument leads to says less than a field or a variable.
        let shortest = || by_code.iter().min_by_key(|name| (name.starts_with('*'), name.len())).cloned();
        let object = first.or_else(shortest).unwrap_or_else(|| "memory without a name".to_owned());
        let mut objects: BTreeSet<String> = way.objects.iter().filter_map(named).collect();
        objects.insert(object.clone());
        objects.extend(by_code);
        Candidate { functions, object, objects, lines, places, path, strong, meetings: meetings.clone() }
    }

    /// The line of an instruction as a function has it: its own, or that of the call that leads there.
    fn line(&self, pc: u64, function: &Function) -> (String, String) {
        let frames = self.places.at(pc);
        let own = frames.iter().find(|place| place.function.as_deref() == Some(function.name.as_str()));
        let Some(place) = own.or_else(|| threadbare_findings::places::shown(&frames)) else {
            return Default::default();
        };
        let (file, line) = (place.file.clone().unwrap_or_default(), place.line.unwrap_or(0));
        let text = self.places.source(&file, line).unwrap_or_default().trim().to_owned();
        let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        (format!("{name}:{line}"), text)
    }

    /// What an instruction touches, by name.
    fn object(&self, pc: u64) -> Option<String> {
        if self.places.at(pc).first().is_some_and(|place| place.library) {
            return None;
        }
        let (function, accesses) = self.code.at(pc.wrapping_sub(self.base))?;
        let access = accesses.first()?;
        self.names.address(self.code, function, &access.address, access.size)
    }
}
