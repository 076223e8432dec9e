//! A finding made smaller: another run that shows the same, with fewer preemptions, strands and switches.

use crate::replay::kept;
use crate::{follow, why};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use threadbare_explore::files;
use threadbare_explore::run::{Job, Request};
use threadbare_explore::server::Target;
use threadbare_explore::shrink::{self, Budget, Subject};
use threadbare_explore::store::{SCHEDULE, Store};
use threadbare_explore::{Error, details, interrupt, of_race};
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, Findings, Shrunk, SymbolPlaces, identity, orders};
use threadbare_strategy::StrategyId;
use threadbare_trace::identity::Identity;
use threadbare_trace::run::RunFacts;
use threadbare_trace::schedule::Schedule;
use threadbare_trace::strands::Strands;

/// How a schedule's file is called that a shrunk one has replaced: the schedule's own name and this.
pub const ORIGINAL: &str = "original";
/// Runs that shrinking a finding takes at the most while a campaign waits for it.
pub const RUNS: u64 = 4000;
/// What is told of a finding that cannot be made smaller at all.
const NOT_FOLLOWED: &str =
    "no run that follows its schedule loosely shows it: it was neither made smaller nor explained";
/// Findings of a campaign that are shrunk, at the most: each is kept with its run until the campaign is over.
pub const MOST: usize = 32;

/// A finding with all that is needed to shrink it.
#[derive(Debug)]
pub struct Found {
    /// Its schedule.
    pub schedule: Schedule,
    /// What the run knew.
    pub known: Arc<[u64]>,
    /// The facts; of a race, as its own.
    pub facts: Box<RunFacts>,
}

/// What came of it.
#[derive(Debug)]
pub struct Refined {
    /// The schedule of the smaller run.
    pub schedule: Schedule,
    /// Whether nothing more would be tried in a longer time.
    pub finished: bool,
}

/// Shrinks a finding and tells it anew; `None` where nothing smaller was found, or it has no choices to leave out.
pub fn refine(
    job: &mut Job,
    found: &Found,
    budget: Budget,
    program: &Path,
    finding: &mut Finding,
) -> Result<Option<Refined>, Error> {
    let Found { schedule, known, facts } = found;
    if schedule.segments.is_empty() || schedule.then.is_some() {
        return Ok(None);
    }
    let request = follow::request(schedule);
    let subject =
        Subject { request: &request, known, segments: &schedule.segments, race: schedule.race, facts };
    let Some(shrunk) = shrink::shrink(job, &subject, budget)? else {
        finding.notes.push(NOT_FOLLOWED.to_owned());
        return Ok(None);
    };
    let before = finding.shrunk.unwrap_or(Shrunk {
        switches: shrunk.from.switches,
        preemptions: shrunk.from.preemptions,
        ..Shrunk::default()
    });
    let told =
        Shrunk { minimal: shrunk.minimal || before.minimal, runs: before.runs + shrunk.runs, ..before };
    let mut smaller = shrunk.facts;
    let verdict = smaller.verdict.clone();
    let mut new = schedule.clone();
    new.set_segments(smaller.segments.clone(), &Strands::from_report(&smaller.report));
    new.trace_hash = smaller.counters.trace_hash;
    new.verdict = verdict.kind;
    new.failure = Some(Identity::of(&smaller, schedule.race));
    if schedule.race.is_none() {
        // The values in it may be others.
        new.message.clone_from(&verdict.message);
    }
    if let Some(race) = schedule.race.and_then(|pair| smaller.report.race_of(pair).cloned()) {
        smaller = of_race(&smaller, race);
    } else {
        smaller.report.races.clear();
    }
    smaller.run = finding.run;
    add_details(job, &request, &verdict, &mut smaller)?;
    let places = SymbolPlaces::new(&smaller.report.modules, program);
    let mut made = explain(&smaller, &finding.program, &places);
    if !identity::is_same(finding, &made) {
        // A run that fails elsewhere tells of something else: better a long schedule of this finding.
        return Ok(None);
    }
    let time = budget.time.max(Duration::from_millis(500));
    why::add(job, &request, &shrunk.known, &smaller, &mut made, &places, time)?;
    // The verdict's own words, and of a race, which has none, the finding's.
    new.message = if schedule.race.is_some() { made.message.clone() } else { verdict.message.clone() };
    let mut notes = made.notes;
    if finding.strategy == StrategyId::Directed.name() {
        notes.push(orders::predicted(finding.run));
    }
    *finding = Finding {
        id: std::mem::take(&mut finding.id),
        schedule: std::mem::take(&mut finding.schedule),
        severity: finding.severity,
        run: finding.run,
        count: finding.count,
        strategy: std::mem::take(&mut finding.strategy),
        notes,
        shrunk: Some(told),
        // A search that was cut short does not unsay what an earlier one found.
        explanation: made.explanation.take().or(finding.explanation.take()),
        invariant: finding.invariant.take(),
        ..made
    };
    Ok(Some(Refined { schedule: new, finished: shrunk.finished }))
}

/// Findings that an earlier part of the campaign has shrunk are told as they were.
pub fn recall(store: &Store, findings: &mut Findings) {
    let ids: Vec<String> = findings.all().iter().map(|finding| finding.id.clone()).collect();
    for id in ids {
        let kept = kept(&store.folder().join(format!("{id}.json")));
        let Some(finding) = findings.with_id(&id) else { continue };
        if let Some(kept) = kept.filter(|kept| kept.shrunk.is_some() && finding.shrunk.is_none()) {
            let (count, warnings) = (finding.count, std::mem::take(&mut finding.warnings));
            *finding = Finding { count, warnings, ..kept };
        }
    }
}

/// A finding of an earlier sitting of the campaign that was not shrunk, made again from its schedule.
pub fn found_before(
    target: &Arc<Target>,
    store: &Store,
    id: String,
    known: Arc<[u64]>,
) -> Option<(String, Found)> {
    let path = store.folder().join(format!("{id}.{SCHEDULE}"));
    let schedule = Schedule::parse(&files::read_text(&path).ok()?).ok()?;
    let mut job = Job::new(Arc::clone(target), Arc::new(AtomicBool::new(false)));
    job.set_known(&schedule.known.clone().into());
    let request = follow::request(&schedule);
    let facts = follow::once(job.server().ok()?, &request, &schedule).ok()?;
    let facts = follow::judge(facts, &schedule, &target.program).ok()?;
    let facts = Box::new(RunFacts { segments: schedule.segments.clone(), ..facts });
    Some((id, Found { schedule, known, facts }))
}

/// Findings that are shrunk at the end of a campaign get this many times the time of one, all together.
const SHARES: u32 = 8;

/// Shrinks the findings of a campaign, each within its time. What cannot be shrunk stays as it is.
pub fn all(
    target: &Arc<Target>,
    store: &Store,
    found: &[(String, Found)],
    time: Duration,
    findings: &mut Findings,
) -> Result<(), Error> {
    let begun = Instant::now();
    // What a free run showed has the schedule of a controlled one.
    let target = &target.controlled();
    let mut job = Job::new(Arc::clone(target), Arc::new(AtomicBool::new(false)));
    for (id, found) in found {
        let left = (time * SHARES).saturating_sub(begun.elapsed()).min(time);
        let Some(finding) = findings.with_id(id) else { continue };
        if left.is_zero() || interrupt::requested() {
            break;
        }
        let refined = match refine(
            &mut job,
            found,
            Budget { runs: RUNS, time: left, least: 0 },
            &target.program,
            finding,
        ) {
            Ok(Some(refined)) => refined,
            Ok(None) => continue,
            Err(error) => {
                finding.warnings.push(format!("the schedule could not be shrunk: {error}"));
                continue;
            }
        };
        // In this order: whatever happens in between, a schedule that shows the finding is there.
        let name = format!("{id}.{SCHEDULE}");
        store.write(&format!("{name}.{ORIGINAL}"), found.schedule.to_text().as_bytes())?;
        store.write(&name, refined.schedule.to_text().as_bytes())?;
    }
    Ok(())
}

fn add_details(
    job: &mut Job,
    request: &Request,
    verdict: &threadbare_trace::run::Verdict,
    facts: &mut RunFacts,
) -> Result<(), Error> {
    let mut request = request.clone();
    request.flags = 0;
    details::add(job.server()?, &request, verdict, vec![facts]);
    Ok(())
}
