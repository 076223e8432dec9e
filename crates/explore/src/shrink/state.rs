//! Which decisions of different runs stand before the same future.
//!
//! Two runs in which the same operations were done, and those that depend on each other in the same order, have come to
//! the same state. Each operation gets a number made of its strand's last one and of those on the same memory that it
//! comes after; the sum over all names the state, whatever the order of what is independent. With who can go on and who
//! stands there it names the decision.
//!
//! Virtual time passes with every event, so in runs that ask for it, and in those that hear from outside, no two
//! decisions are taken for the same.

use super::reach::{Reach, reach};
use std::collections::HashMap;
use threadbare_abi::decision::Decision;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_strategy::rng::mix;

/// What came last to a piece of memory: the write, and the reads since.
#[derive(Clone, Copy, Default)]
struct Last {
    write: u64,
    reads: u64,
}

/// A number for each decision, the same for decisions with the same future; `None` where that is not known.
pub(crate) fn states(decisions: &[Decision], paths: &HashMap<StrandId, u64>) -> Option<Vec<u64>> {
    let timed = |it: &Decision| {
        it.timed != StrandId::NONE
            || matches!(
                it.op,
                OpKind::Clock | OpKind::Sleep | OpKind::Io | OpKind::IoWait | OpKind::Signal | OpKind::Region
            )
    };
    if decisions.iter().any(timed) {
        return None;
    }
    let path = |id: StrandId| paths.get(&id).copied().unwrap_or(u64::from(id.0));
    let mut pending: HashMap<StrandId, &Decision> = HashMap::new();
    let mut strands: HashMap<StrandId, u64> = HashMap::new();
    let mut cells: HashMap<u64, Last> = HashMap::new();
    let mut done = 0u64;
    let mut keys = Vec::with_capacity(decisions.len());
    for decision in decisions {
        let id = decision.strand;
        // Whoever stops now has done what it stood before, unless it still stands there.
        if let Some(before) = pending.insert(id, decision)
            && (before.own, before.op) != (decision.own, decision.op)
        {
            let own = strands.entry(id).or_insert(path(id));
            let mut number = mix(*own ^ mix(before.own ^ (before.op as u64) << 56));
            let (from, to) = match reach(before) {
                Reach::Cells(from, to) => (from, to),
                Reach::Anybody => (u64::MAX, u64::MAX),
                Reach::Nobody => (1, 0),
            };
            for cell in from..=to {
                let last = cells.entry(cell).or_default();
                number = mix(number
                    ^ last.write
                    ^ if before.op.only_reads_memory() { 0 } else { last.reads.rotate_left(1) });
            }
            for cell in from..=to {
                let last = cells.entry(cell).or_default();
                match before.op.only_reads_memory() {
                    true => last.reads = last.reads.wrapping_add(number),
                    false => *last = Last { write: number, reads: 0 },
                }
            }
            *own = number;
            done = done.wrapping_add(mix(number));
        }
        let enabled = (0..64).filter(|bit| decision.enabled >> bit & 1 != 0);
        let enabled = enabled.fold(0u64, |sum, bit| sum.wrapping_add(mix(path(StrandId(bit)))));
        let stands = mix(path(id)
            ^ decision.own.rotate_left(32)
            ^ u64::from(decision.told) << 8
            ^ decision.how as u64);
        keys.push(mix(done ^ mix(enabled) ^ stands));
    }
    Some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_abi::decision::bits;
    use threadbare_abi::event::StopKind;

    fn at(strand: u16, own: u64, op: OpKind, addr: u64) -> Decision {
        Decision {
            strand: StrandId(strand),
            op,
            how: StopKind::Preempted,
            told: bits::READY,
            timed: StrandId::NONE,
            size: 4,
            own,
            enabled: 0b111,
            addr,
            event: 0,
        }
    }

    fn last(decisions: &[Decision]) -> u64 {
        *states(decisions, &HashMap::new()).unwrap().last().unwrap()
    }

    #[test]
    fn the_order_of_what_is_independent_does_not_count() {
        use OpKind::{Read, Write};
        let end = at(0, 9, Write, 900);
        let one = |addr| [at(1, 1, Write, addr), at(1, 2, Write, 800)];
        let two = |addr| [at(2, 1, Read, addr), at(2, 2, Write, 700)];
        let run = |parts: [[Decision; 2]; 2]| last(&[parts.concat(), vec![end]].concat());
        assert_eq!(run([one(16), two(32)]), run([two(32), one(16)]));
        assert_ne!(run([one(16), two(16)]), run([two(16), one(16)]), "a write and a read of the same");
        // Two reads of the same may come in any order.
        let three = |addr| [at(1, 1, Read, addr), at(1, 2, Write, 800)];
        assert_eq!(run([three(16), two(16)]), run([two(16), three(16)]));
        // Who stands there counts.
        assert_ne!(last(&[end]), last(&[at(1, 9, Write, 900)]));
    }

    #[test]
    fn time_makes_every_decision_another() {
        assert_eq!(states(&[at(0, 1, OpKind::Sleep, 0)], &HashMap::new()), None);
    }
}
