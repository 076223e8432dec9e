//! Whether a step could have come before another one.
//!
//! An operation that waits cannot come before what it waits for. Most objects order all that is done to them, so it is known
//! from what came right after. Those who read together under one lock are not ordered: who wants to write may have to come
//! before several of them at once.

use super::trace::{Analysis, Event, Touch, Trace};
use super::waits::Waits;
use threadbare_abi::op::OpKind;
use threadbare_abi::step::flags;

/// Whether the operation waits until it can take its object: alone, or together with others.
pub(super) fn acquires(kind: OpKind) -> Option<u32> {
    match kind {
        OpKind::MutexLock
        | OpKind::MutexTimedLock
        | OpKind::WriteLock
        | OpKind::SpinLock
        | OpKind::SemWait
        | OpKind::TimedJoin
        | OpKind::Once => Some(flags::SHUT),
        OpKind::ReadLock => Some(flags::SHUT_SHARED),
        _ => None,
    }
}

/// How the operation takes its object if it can, and does something else if it cannot.
fn tries(kind: OpKind) -> Option<u32> {
    match kind {
        OpKind::MutexTryLock | OpKind::SpinTryLock | OpKind::SemTryWait | OpKind::WriteTryLock => {
            Some(flags::SHUT)
        }
        _ => None,
    }
}

/// What would have come of a step just before another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Before {
    /// It could have been made, if these had come later as well.
    Made(Vec<usize>),
    /// It would have waited for what came earlier, its deadline if it has one.
    Waits,
    /// It would have gone on with a loop in vain.
    InVain,
    /// The same, unless it had seen an older store.
    Perhaps,
}

/// Whether the event holds the lock for reading when it is done.
fn reads(event: &Event, addr: u64) -> bool {
    let takes = |kind| matches!(kind, OpKind::ReadLock | OpKind::ReadTryLock);
    !event.by_deadline
        && event.op.addr == addr
        && takes(event.op.kind)
        && !event.shut(addr, flags::SHUT_SHARED)
}

fn gives_back(event: &Event, addr: u64) -> bool {
    event.op.addr == addr && event.op.kind == OpKind::ReadUnlock
}

impl Analysis {
    /// What would have come of `event` just before the event `at`; `clock` has what it could never come before.
    pub(super) fn before(
        &self,
        trace: &Trace,
        at: usize,
        event: &Event,
        last: Option<usize>,
        clock: &[u32],
        waits: &Waits,
    ) -> Before {
        let mut later = Vec::new();
        for mine in event.touches.iter().filter(|mine| mine.shut & flags::COMES == 0) {
            let Some(mode) = acquires(mine.op.kind) else { continue };
            match self.takers(trace, at, mine.op.addr, mode, clock) {
                Some(takers) => later.extend(takers),
                None => return Before::Waits,
            }
        }
        let done = self.clocks.len();
        let comes_before =
            |other: usize| other < at || other < done && other != at && !self.precedes(at, other, trace);
        match waits.would_wait(trace, &self.states, event, last, at, &comes_before) {
            true if waits.may_see_older(trace, &self.states, event, last, &comes_before) => Before::Perhaps,
            true => Before::InVain,
            false => Before::Made(later),
        }
    }

    /// Who would have to come later, besides the event `at`, so that the object is free just before it; `None` if it is
    /// taken whatever comes later.
    fn takers(&self, trace: &Trace, at: usize, addr: u64, mode: u32, clock: &[u32]) -> Option<Vec<usize>> {
        let theirs = &trace.events[at];
        let touches = |event: &Event| event.touches.iter().any(|touch| touch.op.addr == addr);
        let done = self.clocks.len();
        if touches(theirs) && !reads(theirs, addr) {
            return (!theirs.shut(addr, mode)).then(Vec::new);
        }
        if !touches(theirs) {
            // What the last one left behind is what the next one found.
            let changes = |touch: &Touch| touch.op.addr == addr && !touch.op.kind.looks();
            let left = |other: &usize| {
                (*other < at || !self.precedes(at, *other, trace))
                    && trace.events[*other].touches.iter().any(changes)
            };
            let next = (0..done).rev().find(left).map_or(0, |last| last + 1);
            let next = (next..done).find(|&next| touches(&trace.events[next]));
            if next
                .is_some_and(|next| !reads(&trace.events[next], addr) && trace.events[next].shut(addr, mode))
            {
                return None;
            }
        }
        if mode != flags::SHUT {
            return (!theirs.shut(addr, mode)).then(Vec::new);
        }
        let mut later: Vec<usize> = Vec::new();
        loop {
            let stays = |other: usize| {
                let after = |first: usize| first == other || self.precedes(first, other, trace);
                other < at || !after(at) && !later.iter().any(|&first| after(first))
            };
            let mut readers: Vec<usize> = Vec::new();
            for other in (0..done).filter(|&other| stays(other)) {
                let event = &trace.events[other];
                if reads(event, addr) {
                    readers.push(other);
                } else if gives_back(event, addr) {
                    let own = |&reader: &usize| trace.events[reader].index == event.index;
                    readers.iter().rposition(own).map(|place| readers.remove(place));
                }
            }
            if readers.is_empty() {
                return Some(later);
            }
            let ordered = |&reader: &usize| {
                let strand = trace.events[reader].index as usize;
                clock.get(strand).is_some_and(|&count| count >= self.ordinals[reader])
            };
            if readers.iter().any(|reader| *reader < at || ordered(reader)) {
                return None;
            }
            later.extend(readers);
        }
    }

    /// The same step just before the event `at`, as far as it is known what it would do there.
    pub(super) fn earlier(&self, trace: &Trace, at: usize, event: &Event, by_deadline: bool) -> Event {
        // Which of its options there would be is not known.
        let mut earlier = Event { by_deadline, choices: Vec::new(), ..event.clone() };
        let op = event.op;
        if op.kind.deciding_word(op.size).is_some() {
            let kind = if self.looks_only(trace, at, event) { OpKind::AtomicLoad } else { op.kind };
            earlier.touches.iter_mut().filter(|it| it.op.addr == op.addr).for_each(|it| it.op.kind = kind);
        }
        earlier
    }

    /// Whether an exchange or a try that was made would surely change nothing just before the event `at`.
    fn looks_only(&self, trace: &Trace, at: usize, event: &Event) -> bool {
        let (op, theirs) = (event.op, &trace.events[at]);
        let unchanged = event.before == event.after;
        if let Some(mode) = tries(op.kind) {
            // Whoever asks for the value never takes it.
            let asks = unchanged && !event.shut(op.addr, mode);
            return asks || self.takers(trace, at, op.addr, mode, &[]).is_none_or(|later| !later.is_empty());
        }
        // Nobody else changes what is there, or it would come later.
        let is_there = theirs.op.addr == op.addr && theirs.op.size == op.size;
        match event.wants {
            _ if !is_there || !theirs.op.kind.is_atomic_access() => false,
            Some((expected, new)) => theirs.before != expected || expected == new,
            None => theirs.before == event.before && unchanged,
        }
    }
}
