//! Atomic regions and orders, tried: lines whose invariant failing runs break are made atomic, places whose order only they break are
//! put in order, and the campaign is made once more.
//!
//! A region is a block of lines that a broken transition is about, the smallest ones first. While a strand is in it, nobody
//! else goes on. Of an order, who comes to the second place waits until somebody has made the first. Where neither helps, the lines of all functions
//! that touch the variables of the likeliest statements are made atomic together, then those of all that touch what strands share, named or not; if that helps, those that it does not need are left out. Whether that takes the failures
//! away is found by runs, not by reasoning; and it is told when it does not, or when strands wait for each other then.

use super::campaigns::Runs;
use super::infer::Inferred;
use super::orders::{Line, Order};
use super::results::{Invariant, Results};
use super::widen;
use crate::conduct;
use crate::exit::Trouble;
use crate::futures;
use crate::options::CampaignOptions;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use threadbare_code::Code;
use threadbare_explore::campaign::{Config, Parts};
use threadbare_explore::store::Store;
use threadbare_explore::{Search, interrupt};
use threadbare_findings::Suppressions;
use threadbare_report::progress::ProgressLine;
use threadbare_symbols::{Module, Pc, Symbols};
use threadbare_values::{Reach, Span};

/// Runs of a region, and of the program as it is, unless the user says otherwise.
const RUNS: u64 = 500;
/// How long the runs of one region may take.
const TIME: Duration = Duration::from_secs(10);
/// Broken statements that regions are taken from, and regions that are tried.
const LOOKED_AT: usize = 24;
const MOST: usize = 10;
/// Orders that are tried.
const ORDERS: usize = 4;
/// Statements whose variables are put together, and functions that are.
const TOGETHER: usize = 3;
const FUNCTIONS: usize = 8;
/// Stretches of code that the runtime takes.
const STRETCHES: usize = 128;
/// Verdicts of strands that wait for each other, or do not come to an end.
const STUCK: [&str; 3] = ["deadlock", "livelock", "timeout"];

/// A region or an order that was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tried {
    pub(crate) kind: &'static str,
    pub(crate) file: String,
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    pub(crate) function: String,
    pub(crate) variables: Vec<String>,
    /// Further lines that were made atomic with these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) together: Vec<Lines>,
    /// Of an order, the place that comes first, and the one that waits for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<(String, String)>,
    /// A lock that some of the lines are under, made wider; where they take the failures away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
    /// `removes`, `remains` or `deadlocks`.
    pub(crate) outcome: &'static str,
    pub(crate) runs: u64,
    pub(crate) runs_failed: u64,
    /// Of as many runs of the program as it is.
    pub(crate) runs_failed_without: u64,
    pub(crate) runs_without: u64,
    /// Every order that makes a difference was run.
    pub(crate) complete: bool,
}

impl Tried {
    /// Whether a single line was made atomic.
    pub(super) fn is_one_line(&self) -> bool {
        self.before.is_none() && self.together.is_empty() && self.first_line == self.last_line
    }

    /// Whether these lines are among those that were tried.
    pub(super) fn has(&self, file: &str, (first, last): (u32, u32)) -> bool {
        if let Some((one, other)) = &self.before {
            return first == last && [one, other].iter().any(|place| **place == format!("{file}:{first}"));
        }
        let within = |of: &str, lines: (u32, u32)| of == file && lines.0 <= first && last <= lines.1;
        let mut together = self.together.iter();
        within(&self.file, (self.first_line, self.last_line))
            || together.any(|lines| within(&lines.file, (lines.first_line, lines.last_line)))
    }
}

/// Lines of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Lines {
    pub(crate) file: String,
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    pub(crate) function: String,
}

/// Lines that may have to be atomic, and what for.
struct Region {
    lines: Vec<Lines>,
    variables: BTreeSet<String>,
}

/// Tries regions until one takes the failures away.
pub(super) fn tried(
    runs: &Runs,
    inferred: &Inferred,
    results: &Results,
    options: &CampaignOptions,
    store: &Store,
) -> Result<Vec<Tried>, Trouble> {
    // Where no run fails nothing is to be taken away.
    if results.runs_failing == 0 {
        return Ok(Vec::new());
    }
    let regions = candidates(results);
    let mut orders = inferred.orders.likely();
    orders.truncate(ORDERS);
    let together = together(inferred, results);
    if regions.is_empty() && orders.is_empty() && together.is_empty() || interrupt::requested() {
        return Ok(Vec::new());
    }
    let config = Config {
        search: Search::default(),
        runs: Some(options.runs.unwrap_or(RUNS)),
        time: Some(options.time.map_or(TIME, |time| time.min(TIME))),
        keep_going: true,
        ends_complete: true,
        shrink: None,
        predict: false,
        taker: None,
        ..runs.config.clone()
    };
    // What these runs show is not the program's, and is not kept.
    let folder = store.folder().join("invariants").join("regions");
    let mut trials = Trials {
        scratch: Store::open(&folder)?,
        code: futures::code(&config)?,
        source: Source::new(runs, inferred),
        without: None,
        config,
        known: &runs.known,
    };
    let tried = trials.all(regions, orders, together);
    let _ = std::fs::remove_dir_all(&folder);
    let mut tried = tried?;
    for it in tried.iter_mut().filter(|it| it.kind == "atomic" && it.outcome == "removes") {
        let source = trials.source.lines(&it.file);
        it.diff =
            widen::diff(&it.file, &source, (it.first_line, it.last_line)).filter(|_| it.together.is_empty());
    }
    Ok(tried)
}

/// Campaigns with something made atomic or put in order.
struct Trials<'a> {
    config: Config,
    scratch: Store,
    code: Code,
    source: Source,
    known: &'a [u64],
    /// The program as it is.
    without: Option<Made>,
}

impl Trials<'_> {
    /// Tries them all up to what takes the failures away: blocks, orders, then what may have to be atomic together.
    fn all(
        &mut self,
        regions: Vec<Region>,
        orders: Vec<Order>,
        together: Vec<Region>,
    ) -> Result<Vec<Tried>, Trouble> {
        let mut tried: Vec<Tried> = Vec::new();
        let mended = |tried: &[Tried]| tried.last().is_some_and(|it| it.outcome == "removes");
        for region in regions {
            tried.extend(self.atomic(&region)?);
            if mended(&tried) {
                return Ok(tried);
            }
        }
        for order in orders {
            tried.extend(self.order(order)?);
            if mended(&tried) {
                return Ok(tried);
            }
        }
        for region in together {
            tried.extend(self.atomic(&region)?);
            if mended(&tried) {
                let fewer = self.fewer(region)?;
                tried.pop_if(|_| fewer.is_some());
                tried.extend(fewer);
                break;
            }
        }
        Ok(tried)
    }

    fn atomic(&mut self, region: &Region) -> Result<Option<Tried>, Trouble> {
        let parts: Vec<Vec<_>> =
            region.lines.iter().map(|lines| self.source.stretches(&self.code, lines)).collect();
        let stretches = parts.iter().map(Vec::len).sum();
        if !(1..=STRETCHES).contains(&stretches) {
            return Ok(None);
        }
        let parts = Arc::new(Parts { atomic: parts, ..Parts::default() });
        let Some(made) = self.campaign(parts)? else { return Ok(None) };
        let [Lines { file, first_line, last_line, function }, together @ ..] = &region.lines[..] else {
            return Ok(None);
        };
        Ok(Some(Tried {
            kind: "atomic",
            file: file.clone(),
            first_line: *first_line,
            last_line: *last_line,
            function: function.clone(),
            variables: region.variables.iter().cloned().collect(),
            together: together.to_vec(),
            ..made
        }))
    }

    fn order(&mut self, order: Order) -> Result<Option<Tried>, Trouble> {
        if order.pcs.0.len() + order.pcs.1.len() > STRETCHES {
            return Ok(None);
        }
        // Both places have to be points from the first run on.
        let parts = Arc::new(Parts { before: order.pcs, known: self.known.to_vec(), ..Parts::default() });
        let Some(made) = self.campaign(parts)? else { return Ok(None) };
        let place = |line: &Line| format!("{}:{}", line.file, line.line);
        Ok(Some(Tried {
            kind: "order",
            before: Some((place(&order.first), place(&order.second))),
            file: order.first.file,
            first_line: order.first.line,
            last_line: order.second.line,
            function: order.first.function,
            ..made
        }))
    }

    /// Leaves out what is not needed of lines that take the failures away together. None if all are.
    fn fewer(&mut self, mut region: Region) -> Result<Option<Tried>, Trouble> {
        let mut smallest = None;
        for at in (0..region.lines.len()).rev() {
            if region.lines.len() == 1 {
                break;
            }
            let mut lines = region.lines.clone();
            lines.remove(at);
            let fewer = Region { lines, variables: region.variables.clone() };
            if let Some(tried) = self.atomic(&fewer)?.filter(|it| it.outcome == "removes") {
                smallest = Some(tried);
                region = fewer;
            }
        }
        Ok(smallest)
    }

    /// Makes a campaign, and before the first one that of the program as it is. None if it is to end.
    fn campaign(&mut self, parts: Arc<Parts>) -> Result<Option<Tried>, Trouble> {
        if interrupt::requested() {
            return Ok(None);
        }
        let with = campaign(&Config { parts, ..self.config.clone() }, &self.scratch)?;
        if self.without.is_none() {
            self.without = Some(campaign(&self.config, &self.scratch)?);
        }
        Ok(self.without.as_ref().map(|without| with.against(without)))
    }
}

/// What came of a campaign.
struct Made {
    runs: u64,
    failed: u64,
    stuck: bool,
    complete: bool,
}

impl Made {
    /// What came of a trial, beside what comes of the program as it is.
    fn against(&self, without: &Made) -> Tried {
        let outcome = match () {
            () if self.failed == 0 => "removes",
            () if self.stuck && !without.stuck => "deadlocks",
            () => "remains",
        };
        Tried {
            outcome,
            runs: self.runs,
            runs_failed: self.failed,
            runs_failed_without: without.failed,
            runs_without: without.runs,
            complete: self.complete,
            ..Tried::default()
        }
    }
}

fn campaign(config: &Config, scratch: &Store) -> Result<Made, Trouble> {
    let none = Arc::new(Suppressions::new());
    let report = conduct::campaign(config, scratch, ProgressLine::on_stderr(), None, &none, None)?.report;
    Ok(Made {
        runs: report.runs,
        failed: report.runs_failed,
        stuck: report.findings.iter().any(|finding| STUCK.contains(&finding.kind.as_str())),
        complete: report.claim.as_ref().is_some_and(|claim| claim.kind == "complete"),
    })
}

/// Blocks of lines whose transition is broken, the smallest first; of the same size, the likelier one.
fn candidates(results: &Results) -> Vec<Region> {
    let broken = results.invariants.iter().filter(|it| it.broken && it.kind == "transition");
    let mut regions: Vec<Region> = Vec::new();
    for it in broken.take(LOOKED_AT) {
        let Some((first_line, last_line)) = it.lines else { continue };
        let file = it.place.rsplit_once(':').map_or(it.place.as_str(), |(file, _)| file).to_owned();
        let lines = vec![Lines { file, first_line, last_line, function: it.function.clone() }];
        match regions.iter_mut().find(|region| region.lines == lines) {
            Some(region) => region.variables.extend(variables(it)),
            None => regions.push(Region { lines, variables: variables(it).collect() }),
        }
    }
    regions.truncate(MOST);
    regions.sort_by_key(|region| region.lines[0].last_line - region.lines[0].first_line);
    regions
}

/// All that functions do to the variables of the likeliest statement, and then of the first few: what is nearest around it, then the whole.
fn together(inferred: &Inferred, results: &Results) -> Vec<Region> {
    let mut texts = BTreeSet::new();
    let broken = results.invariants.iter().filter(|it| it.broken && texts.insert(it.text.as_str()));
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut regions: Vec<Region> = Vec::new();
    for it in broken.take(TOGETHER) {
        let before = names.len();
        names.extend(variables(it));
        if names.len() == before {
            continue;
        }
        for reach in [Reach::Inner, Reach::Outer, Reach::Whole] {
            let spans = inferred.spans.of(&names, reach).into_iter();
            let lines: Vec<Lines> = spans.map(Lines::from).take(FUNCTIONS).collect();
            if !lines.is_empty() && regions.iter().all(|region| region.lines != lines) {
                regions.push(Region { lines, variables: names.clone() });
            }
        }
    }
    for reach in [Reach::Inner, Reach::Outer, Reach::Whole] {
        let lines: Vec<Lines> =
            inferred.spans.all(reach).into_iter().map(Lines::from).take(FUNCTIONS).collect();
        if !lines.is_empty() && regions.iter().all(|region| region.lines != lines) {
            regions.push(Region { lines, variables: names.clone() });
        }
    }
    regions
}

impl From<Span> for Lines {
    fn from(span: Span) -> Self {
        let Span { file, lines: (first_line, last_line), function } = span;
        Self { file, first_line, last_line, function }
    }
}

/// What a statement is about.
fn variables(it: &Invariant) -> impl Iterator<Item = String> {
    let names = it.first_broken.iter().flat_map(|first| first.values.keys());
    // `orig(sum(::cells@2))` is about `::cells`.
    names.map(|name| {
        let inner = name.rsplit('(').next().unwrap_or(name).trim_end_matches(')');
        inner.split('@').next().unwrap_or(inner).to_owned()
    })
}

/// Which code belongs to which lines.
struct Source {
    symbols: Symbols,
    base: u64,
}

impl Source {
    fn new(runs: &Runs, inferred: &Inferred) -> Self {
        let base = inferred.modules.first().map_or(0, |module| module.base);
        let size = inferred.modules.first().map_or(0, |module| module.size);
        Self { symbols: Symbols::new([Module::new(runs.target.program.as_path(), base, size)]), base }
    }

    /// The return addresses of hooks and calls in these lines, as stretches that no other such address is in.
    fn stretches(&self, code: &Code, lines: &Lines) -> Vec<(u64, u64)> {
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        for function in code.functions.iter().filter(|function| function.instrumented) {
            let accesses = function.accesses.iter().map(|access| access.place);
            let calls = function.calls.iter().filter(|call| !call.tail).map(|call| call.place);
            let places: BTreeSet<u64> = accesses.chain(calls).collect();
            let mut open: Option<(u64, u64)> = None;
            for place in places.into_iter().map(|place| self.base.wrapping_add(place)) {
                if self.is_in(place, lines) {
                    open = Some((open.map_or(place, |(first, _)| first), place));
                } else {
                    stretches.extend(open.take());
                }
            }
            stretches.extend(open);
        }
        stretches
    }

    /// The lines of a source file, as far as it is there.
    fn lines(&self, file: &str) -> Vec<String> {
        (1..).map_while(|line| self.symbols.source_line(Path::new(file), line)).collect()
    }

    fn is_in(&self, pc: u64, lines: &Lines) -> bool {
        self.symbols.frames(Pc::Return(pc)).iter().any(|frame| {
            let line = frame.line.is_some_and(|line| (lines.first_line..=lines.last_line).contains(&line));
            line && frame.file.as_deref().is_some_and(|file| self.symbols.shown_path(file) == lines.file)
        })
    }
}
