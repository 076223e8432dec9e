//! Why a failing run fails: the search for the pair of operations whose order decides, and the choice among those found.

use std::sync::Arc;
use std::time::Duration;
use threadbare_abi::fact::Fact;
use threadbare_abi::fault::Fault;
use threadbare_abi::layout::{PointMode, WATCHES_CAPACITY, Watch, WatchKind};
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::run::{Job, Request};
use threadbare_explore::shrink::{self, Budget, Reach, Subject};
use threadbare_explore::{Error, details};
use threadbare_findings::decide::{self, Candidate, Known, Passing};
use threadbare_findings::explain::explain;
use threadbare_findings::steps::{Focus, steps_about};
use threadbare_findings::waits::signal_for_one;
use threadbare_findings::{Finding, Framed, SymbolPlaces};
use threadbare_trace::pair::DecidingPair;
use threadbare_trace::report::Block;
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// Runs that the search takes at the most.
const RUNS: u64 = 400;
/// Runs that it may take whatever the time.
const LEAST_RUNS: u64 = 150;

/// What is told where the search was cut short.
const RAN_OUT: &str = "the time for it ran out before a pair of operations was found whose order decides";

/// What is told where no pair is worth it.
const SAYS_NOTHING: &str = "the order of several operations decides, and of no two alone that say why";

/// Events of a run of which every access can be looked at.
const SMALL: u64 = 4_000;

/// Adds to the finding of a run why it fails, and marks in its steps what decides.
pub fn add(
    job: &mut Job,
    request: &Request,
    known: &Arc<[u64]>,
    facts: &RunFacts,
    finding: &mut Finding,
    places: &SymbolPlaces,
    time: Duration,
) -> Result<(), Error> {
    if finding.kind == "race" {
        let object = finding.object.as_ref().and_then(|object| object.name.as_deref());
        finding.explanation = decide::of_race(&finding.accesses, object);
        return Ok(());
    }
    let subject = Subject { request, known, segments: &facts.segments, race: None, facts };
    let locks = decide::lock_words(facts, places);
    let budget = Budget { runs: RUNS, time, least: LEAST_RUNS };
    let mut plain = request.clone();
    plain.flags = 0;
    let mut pairs = shrink::decide(job, &subject, &locks, Reach::First, budget)?;
    if facts.counters.events <= SMALL {
        // A strand may fail before it is known what it shares, and neighbours in 8 bytes may hide each other.
        plain.points = PointMode::All;
        if pairs.list.is_empty() && pairs.finished {
            let subject = Subject { request: &all_points(request), ..subject };
            pairs = shrink::decide(job, &subject, &locks, Reach::First, budget)?;
        }
    }
    if pairs.list.is_empty() {
        if pairs.finished {
            no_order_passes(facts, finding, places);
        } else {
            finding.notes.push(RAN_OUT.to_owned());
        }
        return Ok(());
    }
    let facts = &details::with_long_events(job.server()?, &plain, facts)?;
    let signal = signal_for_one(facts, &Strands::from_report(&facts.report), places);
    let mut told = Told { job, plain: &plain, facts, places, signal };
    let object = finding.object.as_ref().and_then(|object| object.name.clone());
    // What is shared is known from the campaign's runs, or every access is looked at.
    let is_point = |&word: &u64| matches!(Fact::decode(word), Some(Fact::Point(_)));
    let all_accesses = facts.counters.events <= SMALL || known.iter().any(is_point);
    let known = Known { locks: &locks, blocks: &[], name: object.as_deref(), all_accesses };
    let mut best = told.best(&pairs.list, known)?;
    if best.is_none() {
        // Pairs that merely happen to decide must not hide one that says why.
        let request = if told.facts.counters.events <= SMALL { all_points(request) } else { request.clone() };
        let subject = Subject { request: &request, ..subject };
        let further = shrink::decide(told.job, &subject, &locks, Reach::Further, budget)?;
        best = told.best(&further.list, known)?;
        if best.is_none() && !notes_say_why(told.facts) {
            finding.notes.push(if further.finished { SAYS_NOTHING } else { RAN_OUT }.to_owned());
        }
    }
    let Some((mut best, pair)) = best else { return Ok(()) };
    if best.nameless {
        let blocks = told.blocks(&pair, &best.focus)?;
        if !blocks.is_empty() {
            best = told.by(&pair, Known { blocks: &blocks, ..known })?.unwrap_or(best);
        }
    }
    let Candidate { explanation, focus, .. } = best;
    finding.explanation = Some(explanation);
    mark(finding, facts, &focus, places);
    Ok(())
}

/// Whether a choice that is no order of strands is told already: an older store that was seen, a fault, a deadline that came early.
fn notes_say_why(facts: &RunFacts) -> bool {
    let report = &facts.report;
    let has_fault = || facts.segments.iter().any(|segment| Fault::of(segment).is_some());
    !report.stale.is_empty() || !report.early.is_empty() || has_fault()
}

/// The same request with every access a point.
fn all_points(request: &Request) -> Request {
    Request { points: PointMode::All, ..request.clone() }
}

/// Who tells of pairs.
struct Told<'a> {
    job: &'a mut Job,
    plain: &'a Request,
    facts: &'a RunFacts,
    places: &'a SymbolPlaces,
    /// Who signalled, and in which function, where a signal woke one of several and others are left.
    signal: Option<(String, Option<String>)>,
}

impl Told<'_> {
    /// Of these pairs the one that says most, and of several such the closest to the failure.
    fn best(
        &mut self,
        pairs: &[DecidingPair],
        known: Known<'_>,
    ) -> Result<Option<(Candidate, DecidingPair)>, Error> {
        let mut best: Option<(Candidate, &DecidingPair)> = None;
        for pair in pairs {
            let Some(candidate) = self.by(pair, known)? else { continue };
            if best.as_ref().is_none_or(|(best, _)| best.rank < candidate.rank) {
                best = Some((candidate, pair));
            }
        }
        Ok(best.map(|(candidate, pair)| (candidate, pair.clone())))
    }

    /// The pair in words, if its other order passes again.
    fn by(&mut self, pair: &DecidingPair, known: Known<'_>) -> Result<Option<Candidate>, Error> {
        let (events, passed) = details::record(self.job.server()?, self.plain, &pair.passing)?;
        if passed.verdict.kind != VerdictKind::None {
            return Ok(None);
        }
        let strands = Strands::from_report(&passed.report);
        let passing = Passing { events: &events, strands: &strands };
        let candidate = decide::decided(self.facts, pair, &passing, known, self.places);
        // What nobody did who signalled merely happens to decide who waits.
        let has_part = |candidate: &Candidate| {
            self.signal.as_ref().is_none_or(|(strand, function)| {
                let pair = candidate.explanation.pair.iter();
                pair.into_iter().any(|place| (&place.strand, &place.function) == (strand, function))
            })
        };
        Ok(candidate.filter(has_part))
    }

    /// The blocks of the heap that the named memory lies in, when the first one of the pair comes.
    fn blocks(&mut self, pair: &DecidingPair, named: &Focus) -> Result<Vec<Block>, Error> {
        let mut request = self.plain.clone();
        let (strand, event) = (u32::from(pair.first.strand.0), pair.first.event);
        let ask = |addr: u64| Watch { kind: WatchKind::Event as u32, strand, event, addr, pc: 0 };
        request.watches = named.memory.iter().map(|range| ask(range.start)).take(WATCHES_CAPACITY).collect();
        let (_, made) = details::record(self.job.server()?, &request, &self.facts.segments)?;
        let mut blocks: Vec<Block> = made.report.asked;
        blocks.extend(self.facts.report.block);
        blocks.dedup();
        Ok(blocks)
    }
}

/// The steps anew: those that decide are among them, whatever else has to go.
fn mark(finding: &mut Finding, facts: &RunFacts, named: &Focus, places: &SymbolPlaces) {
    let name = finding.object.as_ref().and_then(|object| object.name.clone());
    let focus = Focus {
        name,
        names: named.names.clone(),
        about: named.memory.clone(),
        decisive: named.decisive.clone(),
        ..Focus::of(facts)
    };
    let strands = Strands::from_report(&facts.report);
    finding.steps = steps_about(&focus, facts, &strands, &Framed::new(places, &facts.report));
}

/// A wake that comes too early is lost only if there is an order in which it does not.
fn no_order_passes(facts: &RunFacts, finding: &mut Finding, places: &SymbolPlaces) {
    if finding.kind == "deadlock" && !facts.report.lost_wakes.is_empty() {
        let mut facts = facts.clone();
        facts.report.lost_wakes.clear();
        let told = explain(&facts, &finding.program, places);
        finding.message = told.message;
        finding.notes = told.notes;
    }
}
