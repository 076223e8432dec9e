//! The invariant that a finding breaks, for its report.
//!
//! The run of the finding, made smaller, is held against runs of the default strategy that pass: what all of these keep, and it
//! does not, in the way of `threadbare invariants --of`. All of it is bounded by a time and a number of runs, and nothing is told
//! where nothing convinces. What goes wrong here is no matter of the finding: it is told without.

use super::around::Around;
use super::campaigns;
use super::results::{self, Invariant};
use super::{Wanted, infer};
use crate::commands::replay;
use crate::exit::Trouble;
use crate::refine::Found;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use threadbare_explore::again::{SLOWER, Taken};
use threadbare_explore::campaign::Config;
use threadbare_explore::interrupt;
use threadbare_explore::run::Job;
use threadbare_explore::store::{SCHEDULE, Store};
use threadbare_findings::finding::FirstBroken;
use threadbare_findings::{BrokenInvariant, Finding, Findings, Severity};
use threadbare_trace::schedule::Schedule;

/// Runs beside the finding's own.
const RUNS: u64 = 120;
/// Fewer passing runs show nothing; where every order that makes a difference was run, a few are all.
const LEAST: u64 = 24;
const LEAST_OF_ALL: u64 = 8;
/// A run of which fewer than this fit into the time is too long for it.
const FIT: u32 = 8;
/// Findings of a campaign get this many times the time of one, all together.
const SHARES: u32 = 4;
/// Of a campaign with a time of its own, not more than such a part of it.
const PART: u32 = 4;
/// Findings that runs do not fail by, or whose runs have no end that values could explain.
const NOT_FOR: [&str; 5] = ["race", "leak", "timeout", "livelock", "deadlock"];

/// Looks for the broken invariant of each finding.
pub(crate) fn all(
    config: &Config,
    store: &Store,
    found: &[(String, Found)],
    time: Duration,
    findings: &mut Findings,
) {
    let time = config.time.map_or(time, |all| time.min(all / PART));
    let begun = Instant::now();
    for (id, found) in found {
        let left = (time * SHARES).saturating_sub(begun.elapsed()).min(time);
        if left.is_zero() || interrupt::requested() {
            break;
        }
        let Some(finding) = findings.with_id(id) else { continue };
        if finding.severity == Severity::Failure && !NOT_FOR.contains(&finding.kind.as_str()) {
            finding.invariant = of(config, store, found, finding, left).ok().flatten();
        }
    }
}

fn of(
    config: &Config,
    store: &Store,
    found: &Found,
    finding: &Finding,
    time: Duration,
) -> Result<Option<BrokenInvariant>, Trouble> {
    let deadline = Instant::now() + time;
    let schedule = schedule(store, found, finding);
    if schedule.segments.is_empty() || schedule.then.is_some() {
        return Ok(None);
    }
    let request = replay::request(&schedule);
    let mut job = Job::new(config.target.controlled(), Arc::new(AtomicBool::new(false)));
    job.set_known(&found.known);
    let server = job.server()?;
    let begun = Instant::now();
    let facts = replay::once(server, &request, &schedule)?;
    if !schedule.is_met_by(&facts) || begun.elapsed() * FIT > time {
        return Ok(None);
    }
    drop(job);
    let (verdict, segments) = (facts.verdict, Some(schedule.segments));
    let failing = Taken { request, segments, verdict, failed: true, learnt: Vec::new(), class: None };
    let (mut runs, complete) = campaigns::beside(config, failing, &found.known, RUNS, time / 3)?;
    for taken in &mut runs.taken {
        taken.request.timeout = taken.request.timeout.min(time / SLOWER);
    }
    runs.deadline = Some(deadline);
    let inferred = infer::infer(&runs, &Wanted::all(), None)?;
    let parts = &inferred.parts;
    if parts.passing_runs < if complete { LEAST_OF_ALL } else { LEAST } {
        return Ok(None);
    }
    let (around, objects) = (Around::of(finding), Objects::of(finding));
    let broken = results::broken(&inferred, &Wanted::all());
    let told = broken
        .into_iter()
        .filter(|it| convinces(it, finding))
        .filter_map(|it| Some((objects.concern(&it)?, it)));
    let told = told.min_by_key(|(concern, it)| (*concern, !around.is_at(&it.function, &it.place, it.lines)));
    let told = told.map(|(_, it)| it);
    Ok(told.map(|it| tell(it, finding, parts.passing_runs, parts.failing_runs)))
}

/// What the explanation of a finding names.
struct Objects(Vec<String>);

/// How much of what a statement is about the explanation names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Concern {
    All,
    /// Not its only variable.
    None,
}

impl Objects {
    fn of(finding: &Finding) -> Self {
        let places = finding.explanation.iter().flat_map(|it| it.pair.iter().chain(&it.others));
        // What has no name has an address.
        let named = places.filter_map(|place| place.object.clone()).filter(|name| !name.starts_with("0x"));
        Self(named.collect())
    }

    /// `None` for a relation with a variable that has nothing to do with it: of many variables some pair always happens to keep one.
    fn concern(&self, it: &Invariant) -> Option<Concern> {
        let values = it.first_broken.iter().flat_map(|first| first.values.keys());
        let names: BTreeSet<&str> =
            values.map(|name| name.trim_start_matches("orig(").trim_end_matches(')')).collect();
        let named = |name: &&str| self.0.iter().any(|object| is_same(object, name));
        match () {
            () if self.0.is_empty() || names.iter().all(named) => Some(Concern::All),
            () if names.len() < 2 => Some(Concern::None),
            () => None,
        }
    }
}

/// Whether a name of the explanation's and one of a statement's are of one variable: with or without the modules in front.
fn is_same(object: &str, name: &str) -> bool {
    let name = name.trim_start_matches("::");
    let ends = |long: &str, short: &str| {
        let rest = long.strip_suffix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with("::") || rest.ends_with(['.', '>']))
    };
    ends(object, name) || ends(name, object)
}

/// The finding's schedule as it is kept: the smallest that there is.
fn schedule(store: &Store, found: &Found, finding: &Finding) -> Schedule {
    let kept =
        threadbare_explore::files::read_text(&store.folder().join(format!("{}.{SCHEDULE}", finding.id)));
    kept.ok().and_then(|text| Schedule::parse(&text).ok()).unwrap_or_else(|| found.schedule.clone())
}

/// Whether the shown run breaks it, and so do most that fail as it does. A function that fails does not come to its end: what a panic leaves
/// behind is no exit.
fn convinces(it: &Invariant, finding: &Finding) -> bool {
    let often = it.broken_in.is_some_and(|(broken, looked_at)| broken * 2 >= looked_at);
    let failing = finding.locations.iter().filter_map(|at| at.function.as_deref());
    let fails = |function: &str| failing.clone().any(|name| name.trim_end_matches("()") == function);
    let cut = it.point == "exit" && fails(&it.function);
    often && !cut && it.first_broken.as_ref().is_some_and(|first| first.run == 0)
}

fn tell(it: Invariant, finding: &Finding, runs_passing: u64, runs_failing: u64) -> BrokenInvariant {
    let first = it.first_broken.map(|first| FirstBroken {
        place: first.place,
        strand: first.strand,
        values: first.values,
        came_between: first.came_between,
        schedule: finding.schedule.clone(),
    });
    BrokenInvariant {
        text: it.text,
        place: it.place,
        point: it.point.to_owned(),
        side: it.side.to_owned(),
        function: it.function,
        lines: it.lines,
        kind: it.kind.to_owned(),
        instead: it.instead,
        runs_passing,
        runs_failing,
        first_broken: first.unwrap_or_default(),
    }
}
