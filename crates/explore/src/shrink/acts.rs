//! The operations of a run in the order they were done, from its decisions.

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
    let mut pending: HashMap<StrandId, Decision> = HashMap::new();
    let mut list = Vec::new();
    for decision in &made.decisions {
        match pending.insert(decision.strand, *decision) {
            // It still stands before what it came to then.
            Some(before) if (before.own, before.op) == (decision.own, decision.op) => {
                pending.insert(decision.strand, Decision { event: before.event, ..*decision });
            }
            Some(before) => list.push(act(&before, false)),
            None => {}
        }
    }
    let Some(facts) = &made.facts else { return list };
    let last = StrandId(facts.counters.current);
    if let Some(decision) = pending.get(&last).filter(|decision| decision.how == StopKind::Preempted) {
        list.push(act(decision, false));
    }
    list.extend(final_access(made, facts).filter(|act| {
        let same = |last: &&Act| (last.strand, last.op, last.addr) == (act.strand, act.op, act.addr);
        list.last().filter(same).is_none()
    }));
    let mut waits: Vec<Act> = Vec::new();
    for strand in &facts.report.strands {
        let Some(wanted) = strand.pending else { continue };
        if strand.state != Some(StrandState::Blocked) && !strand.stuck {
            continue;
        }
        let id = StrandId(strand.index);
        let decision = pending.get(&id).filter(|it| it.op == wanted.op && it.addr == wanted.addr);
        // Who closes a circle has no decision any more: the run ends there.
        let (own, event) = match decision {
            Some(decision) => (decision.own, decision.event),
            None => (made_in_all(made, id), facts.counters.events),
        };
        waits.push(Act {
            strand: id,
            op: wanted.op,
            addr: wanted.addr,
            size: wanted.size,
            event,
            own,
            waits: true,
        });
    }
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
    let pending =
        facts.report.strand(verdict.strand)?.pending.filter(|it| it.pc == verdict.pc && it.pc != 0)?;
    let access = pending.op.is_plain_access() || pending.op.is_atomic_access() || pending.op == OpKind::Free;
    if !access {
        return None;
    }
    let strand = StrandId(verdict.strand);
    let own = made_in_all(made, strand);
    // Where the events of the run's details have it.
    let event = facts.counters.events + 1;
    Some(Act { strand, op: pending.op, addr: verdict.addr, size: pending.size, event, own, waits: false })
}

/// Events a strand made in the whole run.
fn made_in_all(made: &Made, strand: StrandId) -> u64 {
    let path = made.paths.get(&strand);
    made.segments.iter().filter(|it| is_strand(it) && Some(&it.path) == path).map(|it| it.events).sum()
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
    if one.strand == other.strand || one.op.only_reads_memory() && other.op.only_reads_memory() {
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
    let waits =
        matches!(act.op, BarrierWait | CondTimedWait | CondWait | FutexWait | IoWait | Join | SemWait);
    let mut of_it =
        made.decisions.iter().enumerate().filter(|(_, it)| made.paths.get(&it.strand) == Some(&path));
    // At the same count it may do something else in another run.
    if of_it.clone().any(|(_, it)| it.own == act.own && (it.op, it.addr) != (act.op, act.addr)) {
        return None;
    }
    let done =
        of_it.find(|(_, it)| it.own > act.own || waits && it.own == act.own && it.how == StopKind::Blocked);
    done.map(|(at, _)| at)
}

/// Whether an operation wakes strands.
pub(crate) fn is_wake(op: OpKind) -> bool {
    matches!(op, OpKind::CondSignal | OpKind::CondBroadcast | OpKind::FutexWake | OpKind::SemPost)
}
