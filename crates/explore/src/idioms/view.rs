//! The steps of a run as the idioms' crate takes them.
//!
//! What comes before another in every run is only what creations, joins and barriers order: who woke whom may be another in the next run.

use crate::futures::wish::Reference;
use crate::planner::trace::{Event, Trace};
use std::collections::HashMap;
use std::sync::Arc;
use threadbare_abi::op::{Op, OpKind};
use threadbare_idioms::run::Wants;
use threadbare_idioms::{Access, Does, Held, RunAccesses};
use threadbare_trace::order::clock::join;

/// Bytes of an access that are looked at.
const LONGEST: u64 = 4096;

/// The blocks that an event frees.
fn frees(event: &Event) -> impl Iterator<Item = &Op> {
    event.touches.iter().map(|touch| &touch.op).filter(|op| op.kind == OpKind::Free)
}

/// The byte after the last of a block that is looked at.
fn end_of(op: &Op) -> u64 {
    op.addr + u64::from(op.size).min(LONGEST)
}

/// What the strands of a run did.
pub(super) fn of(reference: &Reference) -> RunAccesses {
    use crate::futures::sections::Does as Section;
    let (trace, sections) = (&reference.trace, &reference.sections);
    let mut run = RunAccesses::default();
    let clocks = clocks(trace);
    let count =
        |step: usize, lock: u64| sections.held[step].iter().filter(|(other, ..)| *other == lock).count();
    let mut ordinals: HashMap<u16, u32> = HashMap::new();
    let mut data = reference.reads.accesses.iter().peekable();
    let freed: Vec<(u64, u64)> =
        trace.events.iter().flat_map(frees).map(|op| (op.addr, end_of(op))).collect();
    for (step, event) in trace.events.iter().enumerate() {
        let ordinal = ordinals.entry(event.index).or_default();
        *ordinal += 1;
        if run.accesses.len() >= RunAccesses::LONGEST {
            break;
        }
        let own = match sections.does[step] {
            Section::Takes(lock, _) | Section::Gives(lock) => Some(lock),
            Section::Nothing => None,
        };
        let held = sections.held[step].iter().filter(|(lock, ..)| Some(*lock) != own);
        let mut locks: Vec<Held> = Vec::new();
        for &(lock, taken, shared) in held {
            // A lock that is taken several times is held once.
            if !locks.iter().any(|held| held.lock == lock) {
                locks.push(Held { lock, section: taken as u64, shared });
            }
        }
        let held: Arc<[Held]> = locks.into();
        let access = |does, place, start, end| Access {
            strand: u32::from(event.index),
            step,
            place,
            does,
            start,
            end,
            ordinal: *ordinal,
            clock: Arc::clone(&clocks[step]),
            held: Arc::clone(&held),
        };
        match sections.does[step] {
            // Of a lock that is taken several times the first and the last count.
            Section::Takes(lock, _) if count(step, lock) == 1 => {
                run.accesses.push(access(Does::Lock, event.op.pc, lock, lock + 1));
            }
            Section::Gives(lock) if count(step, lock) == 0 => {
                run.accesses.push(access(Does::Unlock, event.op.pc, lock, lock + 1));
            }
            Section::Takes(..) | Section::Gives(_) => {}
            Section::Nothing => {}
        }
        while let Some(next) = data.next_if(|next| next.event <= step) {
            let does = match (next.reads, next.writes) {
                (true, true) => Does::Update,
                (_, true) => Does::Write,
                _ => Does::Read,
            };
            run.accesses.push(access(does, next.pc, next.addr, next.addr + next.size.min(LONGEST)));
        }
        // Who frees memory writes to all of it: nobody may come after that. Locks, condition variables and the like in it are looked at by who uses them.
        let (kind, addr) = (event.op.kind, event.op.addr);
        let uses = kind.has_memory_address() && !kind.is_plain_access() && !kind.is_atomic_access();
        let lies = |&(start, end): &(u64, u64)| (start..end).contains(&addr);
        if uses && !matches!(kind, OpKind::Free | OpKind::Alloc) && freed.iter().any(lies) {
            run.accesses.push(access(Does::Read, event.op.pc, addr, addr + 1));
        }
        for op in frees(event) {
            run.accesses.push(access(Does::Write, op.pc, op.addr, end_of(op)));
        }
    }
    for event in trace.blocked().filter(|event| event.op.kind.takes_lock()) {
        let (strand, place) = (u32::from(event.index), event.op.pc);
        run.wants.push(Wants { strand, place, lock: event.op.addr });
    }
    run
}

/// For each event, how many of each strand's come before it in every run.
pub(crate) fn clocks(trace: &Trace) -> Vec<Arc<[u32]>> {
    let mut clocks: Vec<Arc<[u32]>> = Vec::with_capacity(trace.events.len());
    let mut last: HashMap<u16, (Arc<[u32]>, u32)> = HashMap::new();
    let mut counts: Vec<u32> = Vec::with_capacity(trace.events.len());
    let mut barriers: HashMap<u64, Vec<u32>> = HashMap::new();
    for (at, event) in trace.events.iter().enumerate() {
        let before = last.get(&event.index).cloned();
        let first = before.is_none();
        let (mut clock, count) = before.unwrap_or_default();
        let barrier = event.op.kind == OpKind::BarrierWait;
        let joins = matches!(event.op.kind, OpKind::Join | OpKind::TryJoin | OpKind::TimedJoin);
        let mut more: Vec<u32> = Vec::new();
        if first || joins {
            for &other in trace.made_possible_by(at) {
                join(&mut more, &clocks[other]);
                let strand = trace.events[other].index as usize;
                if more.len() <= strand {
                    more.resize(strand + 1, 0);
                }
                more[strand] = more[strand].max(counts[other]);
            }
        }
        let count = count + 1;
        if barrier {
            let arrived = barriers.entry(event.op.addr).or_default();
            join(&mut more, arrived);
            join(arrived, &clock);
            let strand = event.index as usize;
            if arrived.len() <= strand {
                arrived.resize(strand + 1, 0);
            }
            arrived[strand] = count;
        }
        let adds = |(strand, &count): (usize, &u32)| clock.get(strand).copied().unwrap_or(0) < count;
        if more.iter().enumerate().any(adds) {
            join(&mut more, &clock);
            clock = more.into();
        }
        last.insert(event.index, (Arc::clone(&clock), count));
        clocks.push(clock);
        counts.push(count);
    }
    clocks
}
