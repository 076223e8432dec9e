//! The operations of a run in the order they were done, from its decisions.

use super::reach::is_read;
use super::trial::Made;
use std::collections::HashMap;
use std::ops::Range;
use threadbare_abi::decision::Decision;
use threadbare_abi::event::StopKind;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_trace::pair::Act;
use threadbare_trace::run::RunFacts;
use threadbare_trace::shape::is_strand;

/// The operations of a run; those that strands wait for come last.
pub(crate) fn acts(made: &Made) -> Vec<Act> {
    let mut pending: HashMap<StrandId, &Decision> = HashMap::new();
    let mut list = Vec::new();
    for decision in &made.decisions {
        if let Some(before) = pending.insert(decision.strand, decision)
            && (before.own, before.op) != (decision.own, decision.op)
        {
            list.push(act(before, false));
        }
    }
    let Some(facts) = &made.facts else { return list };
    let last = StrandId(facts.counters.current);
    if let Some(decision) = pending.get(&last).filter(|decision| decision.how == StopKind::Preempted) {
        list.push(act(decision, false));
    }
    list.extend(final_access(made, facts).filter(|act| !list.iter().any(|it| it.event == act.event)));
    let mut waits: Vec<Act> = pending.values().map(|decision| act(decision, true)).collect();
    let waiting = |act: &Act| {
        let strand = facts.report.strand(act.strand.0);
        strand.is_some_and(|strand| {
            let stands = strand.pending.is_some_and(|it| it.op == act.op && it.addr == act.addr);
            stands && strand.state == Some(StrandState::Blocked)
        })
    };
    waits.retain(waiting);
    let stuck = |act: &Act| facts.report.strand(act.strand.0).is_some_and(|strand| strand.stuck);
    waits.sort_by_key(|act| (stuck(act), act.event));
    list.extend(waits);
    list
}

fn act(decision: &Decision, waits: bool) -> Act {
    Act {
        strand: decision.strand,
        op: decision.op,
        addr: decision.addr,
        size: decision.size,
        event: decision.event,
        own: decision.own,
        waits,
    }
}

/// The access that ended the run, which need not have been a point.
fn final_access(made: &Made, facts: &RunFacts) -> Option<Act> {
    let verdict = &facts.verdict;
    let pending = facts.report.strand(verdict.strand)?.pending.filter(|it| it.pc == verdict.pc && it.pc != 0)?;
    let access = pending.op.is_plain_access() || pending.op.is_atomic_access() || pending.op == OpKind::Free;
    if !access {
        return None;
    }
    let strand = StrandId(verdict.strand);
    let path = *made.paths.get(&strand)?;
    let of_it = made.segments.iter().filter(|it| is_strand(it) && it.path == path);
    let own = of_it.map(|it| it.events).sum();
    let event = facts.counters.events;
    Some(Act { strand, op: pending.op, addr: verdict.addr, size: pending.size, event, own, waits: false })
}

/// The memory of an operation; a freed block is all of it.
fn range(act: &Act, block: Option<&Range<u64>>) -> Option<Range<u64>> {
    if act.op == OpKind::Free {
        return block.filter(|block| block.contains(&act.addr)).cloned().or(Some(act.addr..act.addr + 1));
    }
    match act.op {
        op if op.is_plain_access() || op.is_atomic_access() => {
            Some(act.addr..act.addr.saturating_add(u64::from(act.size.max(1))))
        }
        op if op.has_memory_address() => Some(act.addr..act.addr + 1),
        _ => None,
    }
}

/// Whether the order of two operations can make a difference. `block` is the block that was freed too early.
pub(crate) fn depend(one: &Act, other: &Act, block: Option<&Range<u64>>) -> bool {
    if one.strand == other.strand || is_read(one.op) && is_read(other.op) {
        return false;
    }
    match (range(one, block), range(other, block)) {
        (Some(one), Some(other)) => one.start < other.end && other.start < one.end,
        _ => false,
    }
}

/// The decision by which a strand has done an operation, or begun to wait in it.
pub(crate) fn done_at(made: &Made, path: u64, act: &Act) -> Option<usize> {
    use OpKind::{BarrierWait, CondTimedWait, CondWait, FutexWait, IoWait, Join, SemWait};
    let waits = matches!(act.op, BarrierWait | CondTimedWait | CondWait | FutexWait | IoWait | Join | SemWait);
    let of_it = |it: &Decision| made.paths.get(&it.strand) == Some(&path);
    made.decisions.iter().position(|it| {
        of_it(it) && (it.own > act.own || waits && it.own == act.own && it.how == StopKind::Blocked)
    })
}

/// Whether an operation is one on a lock.
pub(crate) fn is_lock(op: OpKind) -> bool {
    use OpKind::{MutexLock, MutexTimedLock, MutexTryLock, MutexUnlock};
    use OpKind::{ReadLock, ReadTryLock, RwUnlock, SpinLock, SpinTryLock, SpinUnlock, WriteLock, WriteTryLock};
    matches!(
        op,
        MutexLock
            | MutexTimedLock
            | MutexTryLock
            | MutexUnlock
            | ReadLock
            | ReadTryLock
            | RwUnlock
            | SpinLock
            | SpinTryLock
            | SpinUnlock
            | WriteLock
            | WriteTryLock
    )
}
