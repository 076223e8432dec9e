//! One run of two calls, looked at with all its accesses: what the calls touch, what was there before, and which blocks of the heap that is in.

use super::view;
use crate::again::{SLOWER, Taken};
use crate::error::Error;
use crate::futures::sections::{Does, Sections};
use crate::planner;
use crate::planner::trace::Trace;
use crate::run::{EventSink, Follow, Request};
use crate::server::Server;
use std::collections::BTreeMap;
use threadbare_abi::event::{Event, EventKind};
use threadbare_abi::layout::{PointMode, Record, WATCHES_CAPACITY, Watch, WatchKind, flags};
use threadbare_abi::op::OpKind;
use threadbare_pairs::RunSteps;
use threadbare_trace::run::RunFacts;

/// A run with every access that the compiler tells of.
#[derive(Clone, Debug, Default)]
pub struct Close {
    /// Its steps.
    pub run: RunSteps,
    /// What was in memory at the address of each step before and after it.
    pub values: Vec<(u64, u64)>,
    /// What each step is.
    pub kinds: Vec<OpKind>,
    /// Locks that the strand has together with others at each step, but for one that it takes by it.
    pub shared: Vec<Vec<u64>>,
    /// Blocks of the heap that strands touched, with their sizes.
    pub blocks: BTreeMap<u64, u64>,
}

impl EventSink for Close {
    fn events(&mut self, events: &[Event]) {
        for event in events.iter().filter(|event| event.kind == EventKind::Block as u8 && event.pc == 0) {
            self.blocks.insert(event.addr, event.value);
        }
    }

    fn restart(&mut self) {
        self.blocks.clear();
    }
}

/// Makes a run again and looks closely. `None` if it is too long for that, or is another one.
pub fn closely(server: &mut Server, taken: &Taken) -> Result<Option<Close>, Error> {
    let Some(segments) = &taken.segments else { return Ok(None) };
    let request = Request { flags: flags::STRICT, ..taken.request.clone() };
    let (facts, close) = look(server, &request, Follow::Segments(segments))?;
    let same = (facts.verdict.kind, facts.verdict.code) == (taken.verdict.kind, taken.verdict.code);
    Ok(close.filter(|_| same))
}

/// Who allocated a block last: the strand, the instruction and its callers.
pub type Allocation = (u16, u64, Vec<u64>);

/// Makes a run again, and tells who allocated each of these blocks; nothing where that was not seen, or if it is another run.
pub fn allocations(
    server: &mut Server,
    taken: &Taken,
    blocks: &[u64],
) -> Result<Vec<Option<Allocation>>, Error> {
    let watch = |&addr: &u64| Watch { kind: WatchKind::Allocation as u32, addr, ..Watch::default() };
    let segments = taken.segments.as_deref().unwrap_or_default();
    let request = Request {
        flags: flags::STRICT,
        watches: blocks.iter().take(WATCHES_CAPACITY).map(watch).collect(),
        timeout: taken.request.timeout * SLOWER,
        races: false,
        ..taken.request.clone()
    };
    let ended = server.run(&request, Follow::Segments(segments), None)?;
    let facts = server.facts(&request, &ended, false)?;
    let told = |at: usize| {
        let moment = facts.report.watched.get(&(at as u64))?;
        Some((moment.strand, moment.pc, moment.frames.clone()))
    };
    Ok((0..blocks.len()).map(told).collect())
}

/// Makes a run and looks closely; its steps are not there if they are too many.
pub fn look(
    server: &mut Server,
    request: &Request,
    follow: Follow<'_>,
) -> Result<(RunFacts, Option<Close>), Error> {
    let request = Request {
        points: PointMode::All,
        record: Record::Values,
        flags: request.flags | flags::STEPS | flags::READS | flags::FUNCTIONS,
        timeout: request.timeout * SLOWER,
        races: false,
        ..request.clone()
    };
    let mut close = Close::default();
    let ended = server.run(&request, follow, Some(&mut close))?;
    let facts = server.facts(&request, &ended, false)?;
    let lessons = server.lessons(&ended);
    if lessons.steps_lost > 0 {
        return Ok((facts, None));
    }
    let trace = Trace::read(&planner::steps(&lessons));
    close.run = view::of(request.run, &trace);
    let sections = Sections::of(&trace);
    let shared = sections.held.iter().zip(&sections.does).map(|(held, does)| {
        let takes = match does {
            Does::Takes(lock, _) => Some(*lock),
            Does::Gives(_) | Does::Nothing => None,
        };
        let held = held.iter().filter(|(lock, _, shared)| *shared && takes != Some(*lock));
        held.map(|(lock, ..)| *lock).collect()
    });
    close.shared = shared.collect();
    close.kinds = trace.events.iter().map(|event| event.op.kind).collect();
    close.values = trace.events.iter().map(|event| (event.before, event.after)).collect();
    Ok((facts, Some(close)))
}
