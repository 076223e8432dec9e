//! The patterns that bugs of order come in, known by what two strands did to the same memory around the pair that decides.

use crate::done::Done;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;

/// What kind of mistake it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// A strand writes what it made of an old value, over what another one has written meanwhile.
    LostUpdate,
    /// Of two places that belong together, one is seen from before a change and the other from after it.
    TornPair,
    /// What a strand has looked at changes before it acts on it.
    CheckThenAct,
    /// Something is used before it is set.
    UseBeforeInit,
    /// Two things come in the wrong order.
    OrderViolation,
    /// Strands take locks in opposite orders.
    LockOrderCycle,
    /// A wake comes before the wait.
    LostWakeUp,
}

impl Pattern {
    /// How much it tells, against others that a run could be explained with.
    pub fn tells(self) -> u32 {
        match self {
            Pattern::OrderViolation | Pattern::UseBeforeInit => 1,
            Pattern::TornPair => 2,
            Pattern::CheckThenAct => 4,
            Pattern::LostUpdate => 5,
            Pattern::LostWakeUp | Pattern::LockOrderCycle => 6,
        }
    }

    /// The words for it.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::LostUpdate => "lost update",
            Pattern::TornPair => "torn pair",
            Pattern::CheckThenAct => "check-then-act",
            Pattern::UseBeforeInit => "use before init",
            Pattern::OrderViolation => "order violation",
            Pattern::LockOrderCycle => "lock-order cycle",
            Pattern::LostWakeUp => "lost wake-up",
        }
    }
}

/// A pattern with the operations that show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shown {
    pub(crate) pattern: Pattern,
    /// What came in between.
    pub(crate) inner: Option<Done>,
    /// The operations it came between: one strand's.
    pub(crate) outer: Option<[Done; 2]>,
}

impl Shown {
    fn bare(pattern: Pattern) -> Shown {
        Shown { pattern, inner: None, outer: None }
    }

    fn between(pattern: Pattern, inner: &Done, outer: [&Done; 2]) -> Shown {
        Shown { pattern, inner: Some(inner.clone()), outer: Some(outer.map(Clone::clone)) }
    }
}

/// The operations around a pair: those of the failing run, in order.
pub(crate) struct Around<'a> {
    pub(crate) done: &'a [Done],
    pub(crate) first: &'a Done,
    /// Of the failing run, or of the passing one.
    pub(crate) second: &'a Done,
    /// Where they are in the failing run.
    pub(crate) at: (Option<usize>, Option<usize>),
    /// Words of memory that are locks.
    pub(crate) locks: &'a BTreeSet<u64>,
    /// Strands wait for each other in a circle.
    pub(crate) cycle: bool,
    /// The second one is what its strand waits for.
    pub(crate) waits: bool,
    /// Whether an operation is a library's own affair.
    pub(crate) noise: &'a dyn Fn(&Done) -> bool,
}

fn reads(op: OpKind) -> bool {
    use OpKind::{AtomicCas, AtomicLoad, AtomicRmw, Read, ReadRange, ReadWrite};
    matches!(op, Read | ReadRange | AtomicLoad | ReadWrite | AtomicRmw | AtomicCas)
}

fn only_reads(op: OpKind) -> bool {
    matches!(op, OpKind::Read | OpKind::ReadRange | OpKind::AtomicLoad)
}

fn writes(op: OpKind) -> bool {
    op.is_plain_access() && !matches!(op, OpKind::Read | OpKind::ReadRange)
        || matches!(op, OpKind::AtomicStore | OpKind::AtomicRmw | OpKind::AtomicCas | OpKind::Free)
}

fn is_data(op: OpKind) -> bool {
    op.is_plain_access() || op.is_atomic_access() || op == OpKind::Free
}

fn is_wake(op: OpKind) -> bool {
    matches!(op, OpKind::CondSignal | OpKind::CondBroadcast | OpKind::FutexWake | OpKind::SemPost)
}

fn is_wait(op: OpKind) -> bool {
    matches!(op, OpKind::CondWait | OpKind::CondTimedWait | OpKind::FutexWait | OpKind::SemWait)
}

/// Whether two operations touch the same memory.
pub(crate) fn overlap(one: &Done, other: &Done) -> bool {
    let end = |it: &Done| it.addr.saturating_add(u64::from(it.size.max(1)));
    is_data(one.op) && is_data(other.op) && one.addr < end(other) && other.addr < end(one)
}

impl Around<'_> {
    /// Whether an operation is on data, not on a lock or what strands wait on.
    fn is_data(&self, done: &Done) -> bool {
        is_data(done.op) && !self.locks.contains(&done.addr)
    }

    /// The pattern.
    pub(crate) fn pattern(&self) -> Shown {
        let (first, second) = (self.first, self.second);
        if is_wake(first.op) && is_wait(second.op) {
            return Shown::bare(Pattern::LostWakeUp);
        }
        if self.cycle && (second.waits || self.waits) && !self.is_data(first) {
            return Shown::bare(Pattern::LockOrderCycle);
        }
        if !self.is_data(first) || !self.is_data(second) {
            return Shown::bare(Pattern::OrderViolation);
        }
        let found = match self.at {
            (Some(first), Some(second)) => self
                .stale(first, second)
                .or_else(|| self.outdated(second))
                .or_else(|| self.torn_read(first, second)),
            (Some(first), None) => self.torn_write(first).or_else(|| self.early(first)),
            _ => None,
        };
        found.unwrap_or(Shown::bare(Pattern::OrderViolation))
    }

    /// The second one's strand had read the memory before another strand changed it, and goes on as if it had not.
    fn stale(&self, at_first: usize, at_second: usize) -> Option<Shown> {
        let second = self.second;
        let by = |strand: StrandId, at: usize| self.done[at].strand == strand && !self.done[at].waits;
        let read =
            |&at: &usize| by(second.strand, at) && reads(self.done[at].op) && overlap(&self.done[at], second);
        let change = |&at: &usize| {
            by(self.first.strand, at) && writes(self.done[at].op) && overlap(&self.done[at], second)
        };
        let changed = (at_first..at_second).find(change)?;
        let check = (0..changed).rev().find(read)?;
        let pattern = match second.op {
            OpKind::Write | OpKind::WriteRange | OpKind::AtomicStore => Pattern::LostUpdate,
            _ => Pattern::CheckThenAct,
        };
        Some(Shown::between(pattern, &self.done[changed], [&self.done[check], second]))
    }

    /// The first one's strand has read what the second one changes, and goes on as if it had not.
    fn outdated(&self, at_second: usize) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        if !only_reads(first.op) || !writes(second.op) {
            return None;
        }
        let acts = |&at: &usize| self.done[at].strand == first.strand && !self.done[at].waits;
        let later: Vec<usize> = (at_second + 1..self.done.len()).filter(acts).collect();
        let changes = |at: &&usize| self.is_data(&self.done[**at]) && writes(self.done[**at].op);
        let of_it = |at: &&usize| changes(at) && overlap(&self.done[**at], first);
        let own = |at: &&usize| changes(at) && !(self.noise)(&self.done[**at]);
        let act = later.iter().find(of_it).or_else(|| later.iter().find(own))?;
        Some(Shown::between(Pattern::CheckThenAct, second, [first, &self.done[*act]]))
    }

    /// The second one's strand reads two places, and both are changed in between.
    fn torn_read(&self, at_first: usize, at_second: usize) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        if !writes(first.op) || !reads(second.op) {
            return None;
        }
        let changed_later = |it: &Done, from: usize| {
            self.done[from..at_second]
                .iter()
                .any(|other| other.strand == first.strand && writes(other.op) && overlap(other, it))
        };
        let seen = (0..at_first).rev().find(|&at| {
            let it = &self.done[at];
            it.strand == second.strand
                && reads(it.op)
                && self.is_data(it)
                && !overlap(it, second)
                && changed_later(it, at)
        })?;
        Some(Shown::between(Pattern::TornPair, first, [&self.done[seen], second]))
    }

    /// The second one's strand has changed another place that the first one's strand has read.
    fn torn_write(&self, at_first: usize) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        if !reads(first.op) || !writes(second.op) {
            return None;
        }
        let change_of = |it: &Done, end: usize| {
            (0..end).rev().find(|&at| {
                let other = &self.done[at];
                other.strand == second.strand && writes(other.op) && overlap(other, it)
            })
        };
        (0..at_first).rev().find_map(|at| {
            let it = &self.done[at];
            let change =
                (it.strand == first.strand && reads(it.op) && self.is_data(it) && !overlap(it, first))
                    .then(|| change_of(it, at));
            change
                .flatten()
                .map(|change| Shown::between(Pattern::TornPair, first, [&self.done[change], second]))
        })
    }

    /// The first one is a read of what nobody has written yet.
    fn early(&self, at_first: usize) -> Option<Shown> {
        let written = self.done[..at_first].iter().any(|it| writes(it.op) && overlap(it, self.first));
        (only_reads(self.first.op) && writes(self.second.op) && !written)
            .then_some(Shown::bare(Pattern::UseBeforeInit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(strand: u16, op: OpKind, addr: u64) -> Done {
        Done {
            strand: StrandId(strand),
            op,
            size: 4,
            addr,
            pc: 0,
            callers: Vec::new(),
            event: 0,
            waits: false,
            by_deadline: false,
        }
    }

    /// The pattern of the operations at these places.
    fn of(list: &[Done], first: usize, second: usize) -> Shown {
        let (locks, noise) = (BTreeSet::from([900]), |_: &Done| false);
        let at = (Some(first), Some(second));
        let (first, second) = (&list[first], &list[second]);
        Around { done: list, first, second, at, locks: &locks, cycle: false, waits: false, noise: &noise }
            .pattern()
    }

    #[test]
    fn a_stale_value_is_written_back() {
        use OpKind::{Read, Write};
        let list = [done(1, Read, 8), done(2, Read, 8), done(2, Write, 8), done(1, Write, 8)];
        let shown = of(&list, 1, 3);
        assert_eq!(shown.pattern, Pattern::LostUpdate);
        assert_eq!(shown.inner.as_ref(), Some(&list[2]));
        assert_eq!(shown.outer, Some([list[0].clone(), list[3].clone()]));
    }

    #[test]
    fn a_check_that_is_out_of_date() {
        use OpKind::{Read, Write};
        let used = [done(1, Read, 8), done(2, Write, 8), done(1, Read, 8)];
        assert_eq!(of(&used, 1, 2).pattern, Pattern::CheckThenAct);
        // The check and the change are the pair; what is done in the end is to other memory.
        let acted = [done(1, Read, 8), done(2, Write, 8), done(1, Write, 64)];
        assert_eq!(of(&acted, 0, 1).pattern, Pattern::CheckThenAct);
    }

    #[test]
    fn two_places_that_belong_together() {
        use OpKind::{Read, Write};
        let list = [done(1, Read, 8), done(2, Write, 8), done(2, Write, 16), done(1, Read, 16)];
        assert_eq!(of(&list, 2, 3).pattern, Pattern::TornPair);
    }

    #[test]
    fn wakes_and_locks_are_no_data() {
        use OpKind::{AtomicCas, CondSignal, CondWait, Read, Write};
        let list = [done(1, CondSignal, 8), done(2, CondWait, 8)];
        assert_eq!(of(&list, 0, 1).pattern, Pattern::LostWakeUp);
        let list = [done(1, AtomicCas, 900), done(2, Write, 900), done(1, AtomicCas, 900)];
        assert_eq!(of(&list, 1, 2).pattern, Pattern::OrderViolation);
        let list = [done(1, Write, 8), done(2, Read, 8)];
        assert_eq!(of(&list, 0, 1).pattern, Pattern::OrderViolation);
    }

    #[test]
    fn of_a_circle_the_lock_decides() {
        let list = [done(1, OpKind::MutexLock, 900), done(2, OpKind::MutexLock, 900)];
        let (locks, noise) = (BTreeSet::new(), |_: &Done| false);
        let around = |waits| Around {
            done: &list,
            first: &list[0],
            second: &list[1],
            at: (Some(0), Some(1)),
            locks: &locks,
            cycle: true,
            waits,
            noise: &noise,
        };
        assert_eq!(around(true).pattern().pattern, Pattern::LockOrderCycle);
        assert_eq!(around(false).pattern().pattern, Pattern::OrderViolation);
    }
}
