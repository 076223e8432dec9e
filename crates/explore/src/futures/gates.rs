//! What a step has to wait for besides locks: semaphores that others post, an initialisation that another strand makes once, and
//! whoever has to come to a barrier.

use crate::planner::trace::{Event, Trace};
use std::collections::HashMap;
use threadbare_abi::op::OpKind;
use threadbare_abi::step::flags::SHUT;

/// The gates of a run.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// Counts of semaphores when the first of the steps was made, of those whose count is known.
    pub(crate) counts: HashMap<u64, i64>,
    /// For a step that found an initialisation made by another strand: the step that ended it. For the last one at a barrier: those at which others came there.
    pub(crate) after: HashMap<usize, Vec<usize>>,
}

/// What a step does to a semaphore: its address, and by how much.
pub(crate) fn counts(event: &Event) -> Option<(u64, i64)> {
    let by = match event.op.kind {
        OpKind::SemWait if !event.by_deadline => -1,
        OpKind::SemTryWait if event.before != event.after => -1,
        OpKind::SemPost => 1,
        _ => return None,
    };
    Some((event.op.addr, by))
}

impl Gates {
    pub(crate) fn of(trace: &Trace) -> Gates {
        let mut gates = Gates::default();
        let mut sums: HashMap<u64, i64> = HashMap::new();
        // Who made an initialisation, and its last step.
        let mut made: HashMap<u64, (u64, usize)> = HashMap::new();
        // Who has come to each barrier, and waits.
        let mut waiting: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, event) in trace.events.iter().enumerate() {
            if event.op.kind == OpKind::BarrierWait && !event.resumed {
                let arrived = waiting.entry(event.op.addr).or_default();
                match passes(trace, at) {
                    true => gates.after.entry(at).or_default().append(arrived),
                    false => arrived.push(at),
                }
            }
            if let Some((semaphore, by)) = counts(event) {
                let sum = sums.entry(semaphore).or_default();
                // It was empty then, so what it began with is what was taken of it.
                if by > 0 && event.shut(semaphore, SHUT) {
                    gates.counts.entry(semaphore).or_insert(-*sum);
                }
                *sum += by;
            }
            let own = event.op.kind == OpKind::Once;
            if own
                && let Some(&(path, end)) = made.get(&event.op.addr)
                && path != event.path
            {
                gates.after.entry(at).or_default().push(end);
            }
            for touch in event.touches.iter().filter(|touch| touch.op.kind == OpKind::Once) {
                if touch.shut & SHUT != 0 {
                    made.insert(touch.op.addr, (event.path, at));
                }
            }
        }
        gates
    }
}

/// Whether who comes to a barrier goes on at once, as the last one does. A run that ends there does not say.
fn passes(trace: &Trace, at: usize) -> bool {
    let strand = trace.events[at].path;
    let next = trace.events[at + 1..].iter().find(|event| event.path == strand);
    next.is_some_and(|next| !(next.op.kind == OpKind::BarrierWait && next.resumed))
}
