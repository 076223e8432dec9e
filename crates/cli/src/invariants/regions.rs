//! Atomic regions and orders, tried: lines whose invariant failing runs break are made atomic, places whose order only they break are
//! put in order, and the campaign is made once more.
//!
//! A region is a block of lines that a broken transition is about, the smallest ones first. While a strand is in it, nobody
//! else goes on. Of an order, who comes to the second place waits until somebody has made the first. Whether that takes the failures
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

/// Runs of a region, and of the program as it is, unless the user says otherwise.
const RUNS: u64 = 500;
/// How long the runs of one region may take.
const TIME: Duration = Duration::from_secs(10);
/// Broken statements that regions are taken from, and regions that are tried.
const LOOKED_AT: usize = 24;
const MOST: usize = 10;
/// Orders that are tried.
const ORDERS: usize = 4;
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

/// Lines that may have to be atomic.
struct Region {
    file: String,
    lines: (u32, u32),
    function: String,
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
    let regions = candidates(results);
    let mut orders = inferred.orders.likely();
    orders.truncate(ORDERS);
    if regions.is_empty() && orders.is_empty() || interrupt::requested() {
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
    let code = futures::code(&config)?;
    let lines = Lines::new(runs, inferred);
    // What these runs show is not the program's, and is not kept.
    let folder = store.folder().join("invariants").join("regions");
    let scratch = Store::open(&folder)?;
    let tried = all(&config, &scratch, regions, orders, &runs.known, |region| lines.stretches(&code, region));
    let _ = std::fs::remove_dir_all(&folder);
    let mut tried = tried?;
    for it in tried.iter_mut().filter(|it| it.kind == "atomic" && it.outcome == "removes") {
        let source = lines.source(&it.file);
        it.diff = widen::diff(&it.file, &source, (it.first_line, it.last_line));
    }
    Ok(tried)
}

/// Tries them all, regions first, up to one that takes the failures away.
fn all(
    config: &Config,
    scratch: &Store,
    regions: Vec<Region>,
    orders: Vec<Order>,
    known: &[u64],
    stretches: impl Fn(&Region) -> Vec<(u64, u64)>,
) -> Result<Vec<Tried>, Trouble> {
    let without = campaign(config, scratch)?;
    let mut tried: Vec<Tried> = Vec::new();
    for region in regions {
        if interrupt::requested() {
            break;
        }
        let parts = stretches(&region);
        if parts.is_empty() || parts.len() > STRETCHES {
            continue;
        }
        let parts = Arc::new(Parts { atomic: parts, ..Parts::default() });
        let with = campaign(&Config { parts, ..config.clone() }, scratch)?;
        tried.push(Tried {
            kind: "atomic",
            file: region.file,
            first_line: region.lines.0,
            last_line: region.lines.1,
            function: region.function,
            variables: region.variables.into_iter().collect(),
            before: None,
            ..with.against(&without)
        });
        if tried.last().is_some_and(|it| it.outcome == "removes") {
            break;
        }
    }
    // Lines that are one step leave nothing for an order to mend.
    let mended = tried.last().is_some_and(|it| it.outcome == "removes");
    for order in orders.into_iter().filter(|_| !mended) {
        if interrupt::requested() || order.pcs.0.len() + order.pcs.1.len() > STRETCHES {
            break;
        }
        // Both places have to be points from the first run on.
        let parts = Arc::new(Parts { before: order.pcs, known: known.to_vec(), ..Parts::default() });
        let with = campaign(&Config { parts, ..config.clone() }, scratch)?;
        let place = |line: &Line| format!("{}:{}", line.file, line.line);
        tried.push(Tried {
            kind: "order",
            before: Some((place(&order.first), place(&order.second))),
            file: order.first.file,
            first_line: order.first.line,
            last_line: order.second.line,
            function: order.first.function,
            ..with.against(&without)
        });
        if tried.last().is_some_and(|it| it.outcome == "removes") {
            break;
        }
    }
    Ok(tried)
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
        let Some(lines) = it.lines else { continue };
        let file = it.place.rsplit_once(':').map_or(it.place.as_str(), |(file, _)| file).to_owned();
        match regions.iter_mut().find(|region| region.file == file && region.lines == lines) {
            Some(region) => region.variables.extend(variables(it)),
            None => regions.push(Region {
                file,
                lines,
                function: it.function.clone(),
                variables: variables(it).collect(),
            }),
        }
    }
    regions.truncate(MOST);
    regions.sort_by_key(|region| region.lines.1 - region.lines.0);
    regions
}

/// What a statement is about.
fn variables(it: &Invariant) -> impl Iterator<Item = String> {
    let names = it.first_broken.iter().flat_map(|first| first.values.keys());
    names.map(|name| name.trim_start_matches("orig(").trim_end_matches(')').to_owned())
}

/// Which code belongs to which lines.
struct Lines {
    symbols: Symbols,
    base: u64,
}

impl Lines {
    fn new(runs: &Runs, inferred: &Inferred) -> Lines {
        let base = inferred.modules.first().map_or(0, |module| module.base);
        let size = inferred.modules.first().map_or(0, |module| module.size);
        Lines { symbols: Symbols::new([Module::new(runs.target.program.as_path(), base, size)]), base }
    }

    /// The return addresses of hooks and calls in these lines, as stretches that no other such address is in.
    fn stretches(&self, code: &Code, region: &Region) -> Vec<(u64, u64)> {
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        for function in code.functions.iter().filter(|function| function.instrumented) {
            let accesses = function.accesses.iter().map(|access| access.place);
            let calls = function.calls.iter().filter(|call| !call.tail).map(|call| call.place);
            let places: BTreeSet<u64> = accesses.chain(calls).collect();
            let mut open: Option<(u64, u64)> = None;
            for place in places.into_iter().map(|place| self.base.wrapping_add(place)) {
                if self.is_in(place, region) {
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
    fn source(&self, file: &str) -> Vec<String> {
        (1..).map_while(|line| self.symbols.source_line(Path::new(file), line)).collect()
    }

    fn is_in(&self, pc: u64, region: &Region) -> bool {
        self.symbols.frames(Pc::Return(pc)).iter().any(|frame| {
            let line = frame.line.is_some_and(|line| (region.lines.0..=region.lines.1).contains(&line));
            line && frame.file.as_deref().is_some_and(|file| self.symbols.shown_path(file) == region.file)
        })
    }
}
