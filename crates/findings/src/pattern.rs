//! The patterns that bugs of order come in, known by what two strands did to the same memory around the pair that decides.

use crate::done::Done;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use threadbare_abi::does::Access;
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
    /// How much it tells, against others that a run could be explained with. What names a pair of strands and what came
    /// between tells more than that two things came in the wrong order.
    pub fn tells(self) -> u32 {
        match self {
            Pattern::OrderViolation => 0,
            Pattern::UseBeforeInit => 1,
            Pattern::TornPair | Pattern::CheckThenAct | Pattern::LostUpdate => 2,
            Pattern::LostWakeUp | Pattern::LockOrderCycle => 3,
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
    /// The operations that show it.
    pub(crate) fn operations(&self) -> impl Iterator<Item = &Done> {
        self.inner.iter().chain(self.outer.iter().flatten())
    }

    /// Whether the pair is a look and the change that comes behind it, before what is done there: with the change first, the look
    /// sees it.
    pub(crate) fn is_mended_by(&self, first: &Done, second: &Done) -> bool {
        let Some([look, act]) = &self.outer else { return false };
        let is_pair = look == first && self.inner.as_ref() == Some(second);
        matches!(self.pattern, Pattern::CheckThenAct | Pattern::LostUpdate) && is_pair && overlap(look, act)
    }

    pub(crate) fn bare(pattern: Pattern) -> Shown {
        Shown { pattern, inner: None, outer: None }
    }

    fn between(pattern: Pattern, inner: &Done, outer: [&Done; 2]) -> Shown {
        Shown { pattern, inner: Some(inner.clone()), outer: Some(outer.map(Clone::clone)) }
    }
}

/// The operations around a pair: those of the failing run, in order.
pub(crate) struct Around<'a> {
    pub(crate) done: &'a [Done],
    /// Those of the run that passes; strands have the numbers of the failing run.
    pub(crate) passed: &'a [Done],
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
    /// The run does not come to its end: a strand waits for ever.
    pub(crate) hangs: bool,
    /// Whether two operations were done for one and the same function of the program.
    pub(crate) together: &'a dyn Fn(&Done, &Done) -> bool,
    /// The program's own line that an operation was done for, 0 if it has none.
    pub(crate) line: &'a dyn Fn(&Done) -> u32,
    /// Whether a strand did the same once more.
    pub(crate) again: &'a dyn Fn(&Done, &Done) -> bool,
    /// Whether an operation is a library's own affair.
    pub(crate) noise: &'a dyn Fn(&Done) -> bool,
}

/// Operations of a strand, or lines of it, that may lie between two writes that belong together.
const NEAR: usize = 8;

/// Whether an operation looks at memory: a counter that is added to is not looked at.
pub(crate) fn looks(op: OpKind) -> bool {
    op.only_reads_memory() || op == OpKind::AtomicCas
}

/// Whether an operation writes what it was given, whatever was there.
fn only_writes(op: OpKind) -> bool {
    op.does().access == Access::Writes && op != OpKind::Free
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
        // Where nobody waits for ever, the wake was not what was missed; a wait that its deadline ends has missed it.
        if is_wake(first.op) && is_wait(second.op) && (self.hangs || second.op == OpKind::CondTimedWait) {
            return Shown::bare(Pattern::LostWakeUp);
        }
        if self.cycle && (second.waits || self.waits) && !self.is_data(first) {
            return Shown::bare(Pattern::LockOrderCycle);
        }
        if !self.is_data(first) || !self.is_data(second) {
            return self.parted().unwrap_or(Shown::bare(Pattern::OrderViolation));
        }
        let found = match self.at {
            // Where the failing run made them the other way round, what lies between them says nothing.
            (Some(first), Some(second)) if second < first => None,
            (Some(first), Some(second)) => self
                .stale(first, second)
                .or_else(|| self.torn_write(first))
                .or_else(|| self.outdated(first, second))
                .or_else(|| self.torn_read(first, second))
                .or_else(|| self.torn_middle(first, second))
                .or_else(|| self.early(first)),
            (Some(first), None) => self.torn_write(first).or_else(|| self.early(first)),
            _ => None,
        };
        found.unwrap_or(Shown::bare(Pattern::OrderViolation))
    }

    /// Both take the same lock, which the second one's strand had taken and given back before on the same errand: what it
    /// looked at then may have changed by now. What is behind the lock need not be known.
    fn parted(&self) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        // A lock of Rust's std is a word that is exchanged.
        let word = |it: &Done| it.op == OpKind::AtomicCas && self.locks.contains(&it.addr);
        let lock = |it: &Done| it.op.is_of_lock() && !it.op.gives_lock_back();
        let takes = |it: &Done| it.addr == first.addr && (lock(it) || word(it));
        let (at_first, at_second) = (self.at.0?, self.at.1?);
        if self.hangs || at_second < at_first || !takes(first) || !takes(second) {
            return None;
        }
        let own = |it: &&Done| it.strand == second.strand && !it.waits && takes(it);
        let check = self.done[..at_first].iter().rev().find(own).filter(|it| (self.together)(it, second))?;
        // What the other strand did of what this one is about to do, or else what decides.
        let same = |it: &&Done| it.strand == first.strand && !it.waits && takes(it) && it.pc == second.pc;
        let inner = self.done[at_first..at_second].iter().rev().find(same).unwrap_or(first);
        Some(Shown::between(Pattern::CheckThenAct, inner, [check, second]))
    }

    /// Whether an operation of the failing run comes in the one that passes, too.
    fn comes_again(&self, it: &Done) -> bool {
        self.passed.iter().any(|other| {
            (other.strand, other.pc, other.op) == (it.strand, it.pc, it.op) && overlap(other, it)
        })
    }

    /// Updates of this memory that are lost in a run: a strand reads, another one writes, and the first writes without
    /// a second look.
    fn lost(done: &[Done], memory: &Done) -> usize {
        let on: Vec<&Done> = done.iter().filter(|it| !it.waits && overlap(it, memory)).collect();
        let loses = |at: usize| {
            let write = on[at];
            let since = on[..at].iter().rev().take_while(|it| it.strand != write.strand);
            let before = on[..at].iter().rev().find(|it| it.strand == write.strand);
            only_writes(write.op)
                && before.is_some_and(|it| it.op.reads_memory())
                && since.into_iter().any(|it| it.op.writes_memory())
        };
        (0..on.len()).filter(|&at| loses(at)).count()
    }

    /// Whether an update of this memory is lost in the failing run, and not in the one that passes.
    fn loses(&self, memory: &Done) -> bool {
        Around::lost(self.done, memory) > Around::lost(self.passed, memory)
    }

    /// The second one's strand had read the memory before another strand changed it, and goes on as if it had not.
    fn stale(&self, at_first: usize, at_second: usize) -> Option<Shown> {
        let second = self.second;
        let by = |strand: StrandId, at: usize| self.done[at].strand == strand && !self.done[at].waits;
        let read =
            |&at: &usize| by(second.strand, at) && looks(self.done[at].op) && overlap(&self.done[at], second);
        let change = |&at: &usize| {
            by(self.first.strand, at) && self.done[at].op.writes_memory() && overlap(&self.done[at], second)
        };
        let changed = (at_first..at_second).find(change)?;
        let check = (0..changed).rev().find(read)?;
        // What the strand looked at to write it is done with when it has.
        let own = |at: usize| by(second.strand, at) && self.done[at].op.writes_memory();
        if (check + 1..changed).any(|at| own(at) && overlap(&self.done[at], second)) {
            return None;
        }
        // The first thing it writes there after the change: it may go on to look again and write once more.
        let act = (changed + 1..at_second).find(|&at| own(at) && overlap(&self.done[at], second));
        let act = act.unwrap_or(at_second);
        let looked_again = (changed..act).any(|at| read(&at));
        // Where the other strand does not write in the run that passes, what it looked at kept it from that.
        let kept = only_writes(self.done[act].op) && !looked_again && self.comes_again(&self.done[changed]);
        let pattern = match kept {
            true if self.loses(second) => Pattern::LostUpdate,
            true => return None,
            false => Pattern::CheckThenAct,
        };
        Some(Shown::between(pattern, &self.done[changed], [&self.done[check], &self.done[act]]))
    }

    /// The first one's strand has read what the second one changes, and goes on as if it had not.
    fn outdated(&self, at_first: usize, at_second: usize) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        if !looks(first.op) || !second.op.writes_memory() {
            return None;
        }
        // What the strand looked at to write it is done with when it has.
        let writes =
            |it: &Done| it.strand == first.strand && it.op.writes_memory() && !it.waits && overlap(it, first);
        if self.done[at_first..at_second].iter().any(writes) {
            return None;
        }
        let after = &self.done[at_second + 1..];
        // A loop that waits for the change has seen it when it looks again: what comes then does not hang on the look before.
        let again = |it: &Done| !it.waits && overlap(it, first) && (self.again)(it, first);
        let after = &after[..after.iter().position(again).unwrap_or(after.len())];
        let acts =
            |it: &&Done| it.strand == first.strand && !it.waits && self.is_data(it) && it.op.writes_memory();
        let later: Vec<&Done> = after.iter().filter(acts).collect();
        let of_it = later.iter().find(|it| overlap(it, first));
        if let Some(act) = of_it.filter(|act| only_writes(act.op) && self.comes_again(act)) {
            let shown = Shown::between(Pattern::LostUpdate, second, [first, act]);
            return self.loses(first).then_some(shown);
        }
        // What is done all the same when the change comes first does not hang on the look.
        let hangs = |it: &&&Done| !self.comes_again(it) && !(self.noise)(it);
        let uses = |it: &&Done| it.strand == first.strand && !it.waits && overlap(it, first);
        let used: Vec<&Done> = after.iter().filter(uses).collect();
        // What somebody looks at afterwards is nearer to the failure than what nobody asks for.
        let asked_for = |it: &&&Done| {
            let after = self.done.iter().rev().take_while(|other| !core::ptr::eq(*other, **it));
            after.into_iter().any(|other| !other.waits && looks(other.op) && overlap(other, it))
        };
        let act = of_it
            .filter(hangs)
            .or_else(|| used.iter().find(hangs))
            .or_else(|| later.iter().filter(hangs).find(asked_for))
            .or_else(|| later.iter().find(hangs))?;
        Some(Shown::between(Pattern::CheckThenAct, second, [first, act]))
    }

    /// Whether one waits and the other wakes.
    pub(crate) fn is_of_waiting(&self) -> bool {
        let of_it = |it: &Done| is_wake(it.op) || is_wait(it.op);
        of_it(self.first) || of_it(self.second)
    }

    /// Whether both strands read and write the memory of the pair, as a counter is.
    pub(crate) fn is_counter(&self) -> bool {
        let looks_at = |strand: StrandId| {
            self.done.iter().any(|it| it.strand == strand && it.op.reads_memory() && overlap(it, self.first))
        };
        [self.first, self.second]
            .iter()
            .all(|it| looks_at(it.strand) && self.is_writer(it.strand, self.first))
    }

    /// Whether a strand writes what it has read of this memory, and so is no mere reader of it. What it was made with does
    /// not count, nor that it is given back.
    fn is_writer(&self, strand: StrandId, memory: &Done) -> bool {
        let mut of_it = self.done.iter().filter(|it| it.strand == strand && overlap(it, memory));
        let changes = |it: &Done| it.op.writes_memory() && it.op != OpKind::Free;
        let read = of_it.by_ref().find(|it| it.op.reads_memory());
        read.is_some_and(&changes) || of_it.any(changes)
    }

    /// The second one's strand reads two places, and both are changed in between.
    fn torn_read(&self, at_first: usize, at_second: usize) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        if !first.op.writes_memory() || !looks(second.op) || self.is_writer(second.strand, second) {
            return None;
        }
        let changed_later = |it: &Done, from: usize| {
            self.done[from..at_second]
                .iter()
                .any(|other| other.strand == first.strand && other.op.writes_memory() && overlap(other, it))
        };
        let seen = (0..at_first).rev().find(|&at| {
            let it = &self.done[at];
            it.strand == second.strand
                && looks(it.op)
                && self.is_data(it)
                && !(self.noise)(it)
                && !overlap(it, second)
                && changed_later(it, at)
                && !self.is_writer(it.strand, it)
        })?;
        Some(Shown::between(Pattern::TornPair, first, [&self.done[seen], second]))
    }

    /// The second one's strand has changed another place that the first one's strand has read: it stands in the middle
    /// of a pair of writes.
    fn torn_write(&self, at_first: usize) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        if !looks(first.op) || !second.op.writes_memory() || self.is_writer(first.strand, first) {
            return None;
        }
        // Its last change of the place, with little between that and where it stands.
        let change_of = |it: &Done, end: usize| {
            let own = |&at: &usize| self.done[at].strand == second.strand && self.is_data(&self.done[at]);
            // What a library does for one line of the program is one thing.
            let (mut lines, mut line) = (0, None);
            let is_near = |&at: &usize| {
                let here = (self.line)(&self.done[at]);
                lines += usize::from(line.replace(here) != Some(here));
                lines <= NEAR
            };
            let near: Vec<usize> = (0..at_first).rev().filter(own).take_while(is_near).collect();
            let last =
                (0..end).rev().find(|&at| self.done[at].op.writes_memory() && overlap(&self.done[at], it))?;
            let op = self.done[last].op;
            (near.contains(&last) && (only_writes(op) || op == OpKind::AtomicRmw)).then_some(last)
        };
        (0..at_first).rev().find_map(|at| {
            let it = &self.done[at];
            let change = (it.strand == first.strand
                && looks(it.op)
                && self.is_data(it)
                && !(self.noise)(it)
                && !overlap(it, first)
                && !self.is_writer(it.strand, it))
            .then(|| change_of(it, at));
            change
                .flatten()
                .map(|change| Shown::between(Pattern::TornPair, first, [&self.done[change], second]))
        })
    }

    /// The first one is the first of two writes that belong together, and the second one's strand looks at both places before
    /// the other comes, as it does in the run that passes.
    fn torn_middle(&self, at_first: usize, at_second: usize) -> Option<Shown> {
        let (first, second) = (self.first, self.second);
        let reads = |it: &Done| it.strand == second.strand && !it.waits && looks(it.op) && self.is_data(it);
        if !first.op.writes_memory() || !looks(second.op) || self.is_writer(second.strand, second) {
            return None;
        }
        // What it looks at around the second one.
        let before = self.done[..at_second].iter().rev().filter(|it| reads(it)).take(NEAR);
        let after = self.done[at_second + 1..].iter().filter(|it| reads(it)).take(NEAR);
        let looked: Vec<&Done> = before.chain(after).collect();
        let same = |it: &Done| it.strand == first.strand && it.pc == first.pc && overlap(it, first);
        let comes = self.passed.iter().rposition(same)?;
        let mut later =
            self.passed[comes + 1..].iter().filter(|it| it.strand == first.strand && self.is_data(it));
        let other = later.by_ref().take(NEAR).find(|it| {
            only_writes(it.op)
                && !overlap(it, first)
                && !(self.noise)(it)
                && looked.iter().any(|look| overlap(look, it) && !self.is_writer(second.strand, look))
        })?;
        let comes_here =
            |it: &Done| it.strand == first.strand && it.pc == other.pc && overlap(it, other) && !it.waits;
        let last_look = self.done.iter().rposition(|it| reads(it) && overlap(it, other))?;
        let in_time = self.done[at_first..last_look.max(at_first)].iter().any(comes_here);
        (!in_time).then(|| Shown::between(Pattern::TornPair, second, [first, other]))
    }

    /// The first one is a read of what nobody has written yet, by a strand that only reads it.
    fn early(&self, at_first: usize) -> Option<Shown> {
        // What it was made with, before the reader was there, is what it is like before it is set.
        let creates = |it: &Done| it.op == OpKind::Create && it.addr == u64::from(self.first.strand.0);
        let born = self.done[..at_first].iter().position(creates).unwrap_or(0);
        let written =
            self.done[born..at_first].iter().any(|it| it.op.writes_memory() && overlap(it, self.first));
        let counts = self.is_writer(self.first.strand, self.first);
        // Who looks at it before it writes does not make it: it was made where nobody else was there yet.
        let looked =
            |it: &Done| it.strand == self.second.strand && it.op.reads_memory() && overlap(it, self.second);
        let changes = |run: &[Done]| {
            let write = |it: &Done| {
                it.strand == self.second.strand && it.pc == self.second.pc && it.op.writes_memory()
            };
            run.iter().position(write).is_some_and(|at| run[..at].iter().any(looked))
        };
        let counts = counts || changes(self.done) || changes(self.passed);
        (self.first.op.only_reads_memory() && self.second.op.writes_memory() && !written && !counts)
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
            stale: false,
        }
    }

    /// The pattern of the operations at these places, beside a run that passes.
    fn of(list: &[Done], passed: &[Done], first: usize, second: usize) -> Shown {
        let (locks, noise) = (BTreeSet::from([900]), |_: &Done| false);
        let at = (Some(first), Some(second));
        let (first, second) = (&list[first], &list[second]);
        let together = |_: &Done, _: &Done| true;
        let again =
            |one: &Done, other: &Done| one.strand == other.strand && one.pc != 0 && one.pc == other.pc;
        let around = Around {
            done: list,
            passed,
            first,
            second,
            at,
            locks: &locks,
            cycle: false,
            waits: false,
            hangs: false,
            together: &together,
            line: &|it| it.pc as u32,
            again: &again,
            noise: &noise,
        };
        around.pattern()
    }

    /// An operation at an instruction of its own.
    fn at(pc: u64, done: Done) -> Done {
        Done { pc, ..done }
    }

    #[test]
    fn a_stale_value_is_written_back() {
        use OpKind::{Read, Write};
        let list = [done(1, Read, 8), done(2, Read, 8), done(2, Write, 8), done(1, Write, 8)];
        let passed = [done(1, Read, 8), done(1, Write, 8), done(2, Read, 8), done(2, Write, 8)];
        let shown = of(&list, &passed, 1, 3);
        assert_eq!(shown.pattern, Pattern::LostUpdate);
        assert_eq!(shown.inner.as_ref(), Some(&list[2]));
        assert_eq!(shown.outer, Some([list[0].clone(), list[3].clone()]));
        assert_eq!(
            of(&list, &passed, 0, 2).pattern,
            Pattern::LostUpdate,
            "the look and the change are the pair"
        );
        let swapped = |first: usize, second: usize| {
            of(&list, &passed, first, second).is_mended_by(&list[first], &list[second])
        };
        assert!(swapped(0, 2) && !swapped(1, 3), "two writes the other way round: another one is lost");
        // The run that passes loses the update as well: that is not why it passes.
        assert_eq!(of(&list, &list, 1, 3).pattern, Pattern::OrderViolation);
        // Where it looks again before it writes, nothing is lost.
        let fresh = [done(1, Read, 8), done(2, Write, 8), done(1, Read, 8), done(1, Write, 8)];
        assert_eq!(of(&fresh, &passed, 1, 3).pattern, Pattern::CheckThenAct);
    }

    #[test]
    fn a_check_that_is_out_of_date() {
        use OpKind::{AtomicRmw, Read, Write};
        let used = [done(1, Read, 8), done(2, Write, 8), done(1, Read, 8)];
        assert_eq!(of(&used, &[], 1, 2).pattern, Pattern::CheckThenAct);
        // The check and the change are the pair; what is done in the end is to other memory, and not done when the
        // change comes first.
        let acted = [done(1, Read, 8), done(2, Write, 8), done(1, Write, 64)];
        let skipped = [done(2, Write, 8), done(1, Read, 8)];
        let shown = of(&acted, &skipped, 0, 1);
        assert_eq!(shown.pattern, Pattern::CheckThenAct);
        assert!(!shown.is_mended_by(&acted[0], &acted[1]), "the act is on other memory");
        let taken = [done(1, Read, 8), done(2, Write, 8), done(1, Read, 8), done(1, Write, 8)];
        let shown = of(&taken, &skipped, 0, 1);
        assert!(shown.is_mended_by(&taken[0], &taken[1]), "the change before the check");
        assert!(!shown.is_mended_by(&taken[1], &taken[3]), "the act before the change");
        let counts_down =
            [done(1, Read, 8), at(7, done(2, Read, 8)), at(8, done(2, Write, 8)), done(1, Read, 8)];
        assert_eq!(
            of(&counts_down, &counts_down, 0, 2).pattern,
            Pattern::OrderViolation,
            "it was made before"
        );
        // Who waits for the change looks again until it has come.
        let waited =
            [at(1, done(1, Read, 8)), done(2, Write, 8), at(1, done(1, Read, 8)), done(1, Write, 64)];
        assert_eq!(of(&waited, &skipped, 0, 1).pattern, Pattern::UseBeforeInit);
        // What a strand looks at to write it is no check of what it does then.
        let own = [at(1, done(1, Read, 8)), at(2, done(1, Write, 8)), done(2, Write, 8), done(1, Write, 64)];
        assert_eq!(of(&own, &skipped, 0, 2).pattern, Pattern::OrderViolation);
        let done_anyway = [done(2, Write, 8), done(1, Read, 8), done(1, Write, 64)];
        assert_eq!(of(&acted, &done_anyway, 0, 1).pattern, Pattern::UseBeforeInit);
        // Both write the same flag, and who comes second would not have: nothing is lost.
        let marked = [done(1, Read, 8), done(2, Read, 8), done(2, Write, 8), done(1, Write, 8)];
        let once = [done(1, Read, 8), done(1, Write, 8), done(2, Read, 8)];
        assert_eq!(of(&marked, &once, 1, 3).pattern, Pattern::CheckThenAct);
        // Adding to a counter is no look at it.
        let counted = [done(1, AtomicRmw, 8), done(2, AtomicRmw, 8), done(1, AtomicRmw, 8)];
        assert_eq!(of(&counted, &counted, 1, 2).pattern, Pattern::OrderViolation);
    }

    #[test]
    fn two_places_that_belong_together() {
        use OpKind::{Read, Write};
        let list = [done(1, Read, 8), done(2, Write, 8), done(2, Write, 16), done(1, Read, 16)];
        assert_eq!(of(&list, &[], 2, 3).pattern, Pattern::TornPair);
        // The writer stands in the middle: that it has not written the second one yet is not the mistake.
        let middle = [done(2, Write, 8), done(1, Read, 8), done(1, Read, 16), done(2, Write, 16)];
        assert_eq!(of(&middle, &[], 2, 3).pattern, Pattern::TornPair);
        // A reader that writes the one place itself counts there, and reads no pair.
        let counts = [
            at(1, done(2, Write, 8)),
            at(2, done(1, Read, 8)),
            at(3, done(1, Write, 8)),
            at(4, done(1, Read, 16)),
            at(5, done(2, Write, 16)),
        ];
        assert_eq!(of(&counts, &[], 3, 4).pattern, Pattern::UseBeforeInit);
    }

    #[test]
    fn a_look_in_the_middle_of_two_writes() {
        use OpKind::{AtomicRmw, Read, Write};
        // The failing run ends before the second of two writes comes.
        let list = [at(1, done(1, Write, 8)), at(2, done(2, Read, 16)), at(3, done(2, Read, 8))];
        let passed = [
            at(2, done(2, Read, 16)),
            at(3, done(2, Read, 8)),
            at(1, done(1, Write, 8)),
            at(4, done(1, Write, 16)),
        ];
        let shown = of(&list, &passed, 0, 2);
        assert_eq!(shown.pattern, Pattern::TornPair);
        assert_eq!(shown.outer, Some([list[0].clone(), passed[3].clone()]));
        assert_eq!(of(&list, &passed[..3], 0, 2).pattern, Pattern::OrderViolation, "nothing else is written");
        // What is counted first belongs to it, too.
        let counted = [done(1, AtomicRmw, 8), done(2, Read, 8), done(2, Read, 16), done(1, Write, 16)];
        assert_eq!(of(&counted, &[], 2, 3).pattern, Pattern::TornPair);
    }

    #[test]
    fn what_memory_is_made_with_does_not_set_it() {
        use OpKind::{Create, Read, Write};
        let (made, reads, sets) = (done(0, Write, 8), done(1, Read, 8), at(2, done(0, Write, 8)));
        let list = [made.clone(), done(0, Create, 1), reads.clone(), sets.clone()];
        assert_eq!(of(&list, &[], 2, 3).pattern, Pattern::UseBeforeInit);
        let list = [done(0, Create, 1), made, reads, sets];
        assert_eq!(
            of(&list, &[], 2, 3).pattern,
            Pattern::OrderViolation,
            "it was set while the reader was there"
        );
    }

    #[test]
    fn a_pair_that_was_made_the_other_way_round() {
        use OpKind::{Read, Write};
        let list = [done(1, Read, 16), done(1, Read, 8), done(2, Write, 8), done(2, Write, 16)];
        assert_eq!(of(&list, &[], 3, 0).pattern, Pattern::OrderViolation);
    }

    #[test]
    fn wakes_and_locks_are_no_data() {
        use OpKind::{AtomicCas, CondSignal, CondWait, Read, Write};
        let list = [done(1, CondSignal, 8), done(2, CondWait, 8)];
        assert_eq!(of(&list, &[], 0, 1).pattern, Pattern::OrderViolation, "nobody waits for ever");
        let list = [done(1, CondSignal, 8), done(2, OpKind::CondTimedWait, 8)];
        assert_eq!(of(&list, &[], 0, 1).pattern, Pattern::LostWakeUp);
        let list = [done(1, AtomicCas, 900), done(2, Write, 900), done(1, AtomicCas, 900)];
        assert_eq!(of(&list, &[], 1, 2).pattern, Pattern::OrderViolation);
        let list = [done(1, Write, 8), done(2, Read, 8)];
        assert_eq!(of(&list, &[], 0, 1).pattern, Pattern::OrderViolation);
    }

    #[test]
    fn of_a_circle_the_lock_decides() {
        let list = [done(1, OpKind::MutexLock, 900), done(2, OpKind::MutexLock, 900)];
        let (locks, noise) = (BTreeSet::new(), |_: &Done| false);
        let around = |waits| Around {
            done: &list,
            passed: &[],
            first: &list[0],
            second: &list[1],
            at: (Some(0), Some(1)),
            locks: &locks,
            cycle: true,
            waits,
            hangs: true,
            together: &|_, _| false,
            line: &|_| 0,
            again: &|_, _| false,
            noise: &noise,
        };
        assert_eq!(around(true).pattern().pattern, Pattern::LockOrderCycle);
        assert_eq!(around(false).pattern().pattern, Pattern::OrderViolation);
    }

    #[test]
    fn what_was_looked_at_under_a_lock_that_was_given_back() {
        use OpKind::{MutexLock, MutexUnlock};
        let section =
            |strand, pc| [at(pc, done(strand, MutexLock, 8)), at(pc + 1, done(strand, MutexUnlock, 8))];
        // Looks, acts: the other strand does both in between.
        let list = [section(1, 10), section(2, 10), section(2, 20), section(1, 20)].concat();
        let shown = of(&list, &[], 2, 6);
        assert_eq!(shown.pattern, Pattern::CheckThenAct);
        assert_eq!(shown.inner.as_ref(), Some(&list[4]), "what it did of the same");
        assert_eq!(shown.outer, Some([list[0].clone(), list[6].clone()]));
        assert_eq!(of(&list[2..], &[], 0, 4).pattern, Pattern::OrderViolation, "it had not looked");
        let word = |strand, pc| at(pc, done(strand, OpKind::AtomicCas, 900));
        let words = [word(1, 10), word(2, 10), word(2, 20), word(1, 20)];
        assert_eq!(of(&words, &[], 1, 3).pattern, Pattern::CheckThenAct, "a lock that is a word");
    }
}
