//! The second making of a run that showed something new: the stacks and events that are not kept while campaigning.
//!
//! The run follows its own choices strictly and streams its points; the runtime looks out for the moments the driver
//! names (where the earlier access of a race was made, where the block was allocated, where the strands were created).
//! A run that cannot be followed, and one that turns out to be another, leaves the facts as they are.
//!
//! **Details by a second run** instead of stacks kept with every access: the access path stores two words and allocates
//! nothing.

use crate::error::Error;
use crate::run::{EventSink, Follow, Request};
use crate::server::Server;
use crate::window::{self, Windows};
use std::collections::BTreeMap;
use threadbare_abi::event::{Event, Segment};
use threadbare_abi::layout::{Record, WATCHES_CAPACITY, Watch, WatchKind};
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::identity::Identity;
use threadbare_trace::report::{Holder, Moment, Warning};
use threadbare_trace::run::{RunFacts, Verdict};

/// How much longer than a bare run one may take whose events are streamed.
const SLOWER: u32 = 10;
/// Strands of a failure that concerns all, whose creation is looked for.
const STRANDS: usize = 16;

/// Adds the details to the facts of what one run showed. `verdict` is the run's own. The facts have the run's choices,
/// or stay as they are.
pub fn add(server: &mut Server, request: &Request, verdict: &Verdict, mut findings: Vec<&mut RunFacts>) {
    let Some(first) = findings.first() else { return };
    let whole = !first.end.was_cut() && first.counters.segments_lost == 0;
    if !whole || first.segments.is_empty() || !server.is_alive() {
        return;
    }
    let mut told = Told::default();
    let mut windows = Windows::new(findings.iter().map(|facts| last_event(facts)));
    if let Err(why) = make(server, request, verdict, &findings, &mut told, &mut windows) {
        for facts in findings {
            facts.report.warnings.push(Warning::new(why.clone()));
        }
        return;
    }
    for (facts, events) in findings.iter_mut().zip(windows.into_events()) {
        told.give(facts);
        facts.events = events;
        window::complete(facts);
        if facts.verdict.place.is_some() && facts.verdict.pc == 0 {
            facts.report.details.panic = window::until_panic(&mut facts.events, facts.verdict.strand);
        }
    }
}

/// The last events of a run that is made again from its choices, and its report.
pub fn record(
    server: &mut Server,
    request: &Request,
    segments: &[Segment],
) -> Result<(Vec<Event>, RunFacts), Error> {
    let mut request = request.clone().strictly(VerdictKind::None);
    request.record = Record::Points;
    request.timeout *= SLOWER;
    let mut windows = Windows::long();
    let facts = again(server, &request, segments, Some(&mut windows))?;
    Ok((windows.into_events().next().unwrap_or_default(), facts))
}

/// The facts of a failing run with many more events than they have; the run is made again for them.
pub fn with_long_events(server: &mut Server, request: &Request, facts: &RunFacts) -> Result<RunFacts, Error> {
    let request = request.clone().strictly(facts.verdict.kind);
    let (events, _) = record(server, &request, &facts.segments)?;
    let mut facts = RunFacts { events, ..facts.clone() };
    window::complete(&mut facts);
    Ok(facts)
}

/// The event up to which the run matters for this finding.
fn last_event(facts: &RunFacts) -> u64 {
    let race = facts.report.races.first().filter(|_| facts.verdict.kind == VerdictKind::Race);
    race.and_then(|race| race.accesses.first()).map_or(u64::MAX, |later| later.moment.event)
}

/// Makes the run again, as often as the watches need; the reason in words where it is another.
fn make(
    server: &mut Server,
    request: &Request,
    verdict: &Verdict,
    findings: &[&mut RunFacts],
    told: &mut Told,
    windows: &mut Windows,
) -> Result<(), String> {
    let mut watches: Vec<Watch> = findings.iter().flat_map(|facts| wanted(facts)).collect();
    let mut seen = Vec::new();
    watches.retain(|watch| {
        let new = !seen.contains(watch);
        seen.push(*watch);
        new
    });
    let mut request = request.clone().strictly(verdict.kind);
    request.timeout *= SLOWER;
    let first = Identity::of_verdict(verdict, &findings[0].report);
    let mut parts: Vec<&[Watch]> = watches.chunks(WATCHES_CAPACITY).collect();
    if parts.is_empty() {
        parts.push(&[]);
    }
    for (index, part) in parts.into_iter().enumerate() {
        request.record = if index == 0 { Record::Points } else { Record::Nothing };
        request.watches = part.to_vec();
        let sink = (index == 0).then_some(&mut *windows as &mut dyn EventSink);
        let second = again(server, &request, &findings[0].segments, sink)
            .map_err(|error| format!("the run could not be made again for its details: {error}"))?;
        if !first.is_repeated_by(&Identity::of(&second, None)) {
            let name = |verdict: &Verdict| match verdict.kind {
                VerdictKind::None => "clean",
                kind => kind.name(),
            };
            return Err(format!(
                "the run was made again for its details and was another (`{}` instead of `{}`): there are no details",
                name(&second.verdict),
                name(verdict)
            ));
        }
        told.holders.extend(&second.report.holders);
        for (index, moment) in second.report.watched {
            if let Some(watch) = usize::try_from(index).ok().and_then(|index| part.get(index)) {
                told.met(watch, moment);
            }
        }
    }
    Ok(())
}

fn again(
    server: &mut Server,
    request: &Request,
    segments: &[Segment],
    sink: Option<&mut dyn EventSink>,
) -> Result<RunFacts, Error> {
    let ended = server.run(request, Follow::Segments(segments), sink)?;
    server.facts(request, &ended, false)
}

/// The moments a finding wants to know more of.
fn wanted(facts: &RunFacts) -> Vec<Watch> {
    let report = &facts.report;
    let mut watches = Vec::new();
    let mut strands = Vec::new();
    let mut event = |strand: u16, event: u64, pc: u64| {
        watches.push(Watch { kind: WatchKind::Event as u32, strand: strand.into(), event, addr: 0, pc });
    };
    let mut block = None;
    match facts.verdict.kind {
        VerdictKind::Race => {
            for race in &report.races {
                for earlier in race.accesses.iter().skip(1) {
                    event(earlier.moment.strand, earlier.moment.event, earlier.moment.pc);
                }
                strands.extend(race.accesses.iter().map(|access| access.moment.strand));
                block = race.block;
            }
        }
        VerdictKind::Deadlock | VerdictKind::Livelock => {
            for wake in &report.lost_wakes {
                event(wake.moment.strand, wake.moment.event, wake.moment.pc);
            }
            let waiting = report.strands.iter().filter(|strand| strand.state != Some(StrandState::Ended));
            strands.extend(waiting.map(|strand| strand.index).take(STRANDS));
        }
        _ => {
            strands.push(failing_strand(facts));
            block = report.block;
        }
    }
    if let Some(block) = block {
        for kind in [WatchKind::Allocation, WatchKind::Release] {
            watches.push(Watch { kind: kind as u32, addr: block.addr, ..Watch::default() });
        }
    }
    for strand in with_ancestors(strands, facts) {
        watches.push(Watch { kind: WatchKind::Creation as u32, strand: strand.into(), ..Watch::default() });
    }
    watches
}

/// The strand of the verdict; where it was seen from outside, the one that ran last.
fn failing_strand(facts: &RunFacts) -> u16 {
    match facts.verdict.strand {
        u16::MAX => facts.counters.current,
        strand => strand,
    }
}

/// The strands and all who created them, without main.
fn with_ancestors(mut strands: Vec<u16>, facts: &RunFacts) -> Vec<u16> {
    let mut at = 0;
    while let Some(&strand) = strands.get(at) {
        if let Some(parent) = facts.report.strand(strand).map(|strand| strand.parent)
            && !strands.contains(&parent)
        {
            strands.push(parent);
        }
        at += 1;
    }
    strands.retain(|&strand| strand != StrandId::MAIN.0 && strand != StrandId::NONE.0);
    strands.sort_unstable();
    strands.dedup();
    strands
}

/// What was met.
#[derive(Default)]
struct Told {
    moments: BTreeMap<(u32, u32, u64, u64), Moment>,
    holders: Vec<Holder>,
}

impl Told {
    fn met(&mut self, watch: &Watch, moment: Moment) {
        self.moments.insert((watch.kind, watch.strand, watch.event, watch.addr), moment);
    }

    fn of(&self, watch: &Watch) -> Option<&Moment> {
        self.moments.get(&(watch.kind, watch.strand, watch.event, watch.addr))
    }

    /// Adds to the facts what was met of what they wanted.
    fn give(&self, facts: &mut RunFacts) {
        let last = last_event(facts);
        facts.report.details.holders.clone_from(&self.holders);
        for watch in wanted(facts) {
            let Some(moment) = self.of(&watch).cloned() else { continue };
            let details = &mut facts.report.details;
            match u8::try_from(watch.kind).ok().and_then(WatchKind::from_code) {
                Some(WatchKind::Event) => {
                    details.events.insert((watch.strand as u16, watch.event), moment);
                }
                // What came after the race is of another block at the same place, or the end of this one.
                Some(WatchKind::Allocation) if moment.event <= last => {
                    details.allocations.insert(watch.addr, moment);
                }
                Some(WatchKind::Release) if moment.event <= last => {
                    details.releases.insert(watch.addr, moment);
                }
                Some(WatchKind::Creation) => {
                    details.creations.insert(watch.strand as u16, moment);
                }
                _ => {}
            }
        }
        for race in &mut facts.report.races {
            for access in race.accesses.iter_mut().skip(1) {
                let moment = &mut access.moment;
                if let Some(told) = facts.report.details.events.get(&(moment.strand, moment.event)) {
                    (moment.frames, moment.held) = (told.frames.clone(), told.held.clone());
                }
            }
        }
    }
}
