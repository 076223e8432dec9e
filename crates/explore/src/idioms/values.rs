//! What steps would read if they came in another order, and where strands go by what they read.
//!
//! A run tells what each step of its own found in memory and left there. In another order a step may find something else, and its strand
//! may go another way then: an exchange that expects a value fails, a loop goes on. Where that is known, by the exchange or because a run has come
//! to the same step with that value, the step is not made before memory has a value with which the strand does the same. What is not known keeps nobody.

use crate::futures::simulate::Gate;
use crate::planner::trace::{Event, Trace};
use std::collections::{HashMap, HashSet};
use threadbare_abi::op::OpKind;

/// Steps with their values that are kept.
const MOST: usize = 1 << 16;
/// Ways of one step with one value; what has more is not decided by the value.
const WAYS: usize = 4;

/// What a strand did with a value: the instruction it came to next, and whether the step changed memory.
type Way = (u64, bool);

/// Where strands went by what they read: by instruction with its callers, and value.
#[derive(Debug, Default)]
pub(super) struct Ways {
    seen: HashMap<(u64, u64, u64), Vec<Way>>,
}

/// Whether a step's values are told.
fn is_told(event: &Event) -> bool {
    let kind = event.op.kind;
    let access = kind.is_atomic_access() || matches!(kind, OpKind::Read | OpKind::Write | OpKind::ReadWrite);
    access && (1..=8).contains(&event.op.size) && !event.is_stale() && !event.fails
}

/// For each event the instruction that its strand comes to next; 0 where none is known.
fn nexts(trace: &Trace) -> Vec<u64> {
    let mut last: HashMap<u16, usize> = HashMap::new();
    let mut nexts = vec![0; trace.events.len()];
    for (at, event) in trace.events.iter().enumerate() {
        if let Some(before) = last.insert(event.index, at) {
            nexts[before] = event.op.pc;
        }
    }
    for event in trace.blocked() {
        if let Some(before) = last.get(&event.index) {
            nexts[*before] = event.op.pc;
        }
    }
    nexts
}

impl Ways {
    /// Takes what a run did.
    pub(super) fn learn(&mut self, trace: &Trace) {
        let nexts = nexts(trace);
        for (event, next) in trace.events.iter().zip(nexts) {
            if next == 0 || !is_told(event) || !event.op.kind.reads_memory() || self.seen.len() >= MOST {
                continue;
            }
            let ways = self.seen.entry((event.op.pc, event.context, event.before)).or_default();
            let way = (next, event.before != event.after);
            if ways.len() <= WAYS && !ways.contains(&way) {
                ways.push(way);
            }
        }
    }

    /// Whether a strand that reads this value there may do as it did.
    fn may(&self, event: &Event, value: u64, does: impl Fn(&Way) -> bool) -> bool {
        match self.seen.get(&(event.op.pc, event.context, value)) {
            Some(ways) if ways.len() <= WAYS => ways.iter().any(does),
            _ => true,
        }
    }
}

/// Memory while the steps of a run are gone through in another order.
pub(super) struct Memory<'a> {
    trace: &'a Trace,
    ways: &'a Ways,
    nexts: Vec<u64>,
    /// The last goal of a strand: what it does after that does not matter.
    goals: HashMap<u16, usize>,
    /// Bytes by address, and their value where it is known.
    words: HashMap<u64, (u32, Option<u64>)>,
    /// Strands that have read something else than they did, so that what they write is not known.
    astray: HashSet<u16>,
}

impl<'a> Memory<'a> {
    pub(super) fn new(trace: &'a Trace, ways: &'a Ways, goals: &[usize]) -> Memory<'a> {
        let mut words = HashMap::new();
        for event in &trace.events {
            for touch in event.touches.iter().filter(|touch| touch.op.kind.writes_memory()) {
                let own = is_told(event) && touch.op.addr == event.op.addr;
                words.entry(touch.op.addr).or_insert((touch.op.size, own.then_some(event.before)));
            }
            if is_told(event) {
                words.entry(event.op.addr).or_insert((event.op.size, Some(event.before)));
            }
        }
        let mut last = HashMap::new();
        for &goal in goals {
            let last = last.entry(trace.events[goal].index).or_insert(goal);
            *last = goal.max(*last);
        }
        Memory { trace, ways, nexts: nexts(trace), goals: last, words, astray: HashSet::new() }
    }

    /// What a step would find, if that is known.
    fn value(&self, event: &Event) -> Option<u64> {
        let &(size, value) = self.words.get(&event.op.addr)?;
        value.filter(|_| size == event.op.size)
    }

    fn put(&mut self, addr: u64, size: u32, value: Option<u64>) {
        const LONGEST: u64 = 8;
        let end = addr + u64::from(size.max(1));
        let overlaps = |&at: &u64, &(other, _): &(u32, _)| at < end && at + u64::from(other) > addr;
        for at in addr.saturating_sub(LONGEST - 1)..end.min(addr + 4096) {
            if let Some(word) = self.words.get_mut(&at).filter(|word| overlaps(&at, word)) {
                word.1 = None;
            }
        }
        self.words.insert(addr, (size, value));
    }
}

impl Gate for Memory<'_> {
    fn lets(&self, at: usize) -> bool {
        let event = &self.trace.events[at];
        if !is_told(event) || !event.op.kind.reads_memory() {
            return true;
        }
        let Some(value) = self.value(event).filter(|&value| value != event.before) else { return true };
        if let Some((expected, _)) = event.wants
            && (value == expected) != (event.before == expected)
            && !self.astray.contains(&event.index)
        {
            return false;
        }
        let (next, changes) = (self.nexts[at], event.before != event.after);
        let ends = self.goals.get(&event.index).is_some_and(|&goal| at >= goal);
        self.ways.may(event, value, |way| way.1 == changes && (ends || next == 0 || way.0 == next))
    }

    fn make(&mut self, at: usize) {
        let event = &self.trace.events[at];
        let told = is_told(event);
        for touch in event.touches.iter().filter(|touch| touch.op.kind.writes_memory()) {
            if !told || touch.op.addr != event.op.addr {
                self.put(touch.op.addr, touch.op.size, None);
            }
        }
        if !told {
            return;
        }
        if event.op.kind.reads_memory() && self.value(event) != Some(event.before) {
            self.astray.insert(event.index);
        }
        if event.op.kind.writes_memory() && (!event.op.kind.reads_memory() || event.before != event.after) {
            let known = !self.astray.contains(&event.index);
            self.put(event.op.addr, event.op.size, known.then_some(event.after));
        }
    }
}
