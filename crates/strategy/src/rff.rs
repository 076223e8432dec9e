//! `rff`: reads-from fuzzing.
//!
//! After Wolff, Shi, Duck, Mathur and Roychoudhury, "Greybox Fuzzing for Concurrency Testing" (ASPLOS 2024). An abstract
//! schedule is a set of constraints: this read (by its place in the program) reads from that write, or does not. Strands
//! are held back so that the constraints come true; all else goes by [`pos`](crate::pos). The driver keeps the abstract schedules that
//! showed a new pair of write and read, and makes new ones from them (`explore`'s `fuzz`).
//!
//! How a positive constraint is brought about: a strand stops before the read until the place was last written by
//! the write, and strands stop before other writes to the place from then on until the read is made, which then comes first.
//! Where the read or write is inside a critical section, the strand stops before the section (see [`crate::reads`]). When
//! every strand that can go on is held, the constraints that hold the one with the highest priority are given up, so every
//! run goes on; they are given up, too, after many points.
//!
//! The guide: for each constraint its [`Kind`], the place, the write (0: nobody's), the read, the read's entry, the number of
//! writes to the place, and each of them with its entry.
//!
//! Differences from the paper: sections, reads that come first, and one more kind of constraint, `Nested`: a strand
//! that holds a lock stops before it takes another. It shows a cycle of locks at once.

use crate::pos::Pos;
use crate::reads::nesting;
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::op::Op;
use threadbare_abi::strand::{MAX_STRANDS, StrandId};

/// Constraints at a time.
pub const CONSTRAINTS: usize = 8;
/// Words of a guide at the most.
pub const GUIDE_WORDS: usize = 1024;
/// Words of a constraint before its writes.
pub const HEAD_WORDS: usize = 6;
/// Points for which strands are held back, beyond twice the expected ones.
const PATIENCE: u64 = 2000;

/// What a constraint asks for, as a word of the guide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Kind {
    /// The read reads from the write.
    From = 0,
    /// The read does not read from the write.
    NotFrom = 1,
    /// Who holds a lock takes no other while others can go on.
    Nested = 2,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Constraint {
    kind: Kind,
    active: bool,
    addr: u64,
    writer: u64,
    reader: u64,
    entry: u64,
    /// Writes to the place: where they are in the guide.
    writes: (u16, u16),
    /// Who wrote the place last, as of this point.
    now: u64,
}

const NONE: Constraint = Constraint {
    kind: Kind::From,
    active: false,
    addr: 0,
    writer: 0,
    reader: 0,
    entry: 0,
    writes: (0, 0),
    now: 0,
};

/// How urgent a strand is; the highest goes on.
const HELD: u8 = 0;
const YIELDS: u8 = 1;
const FREE: u8 = 2;
const WANTED: u8 = 3;

/// The strategy's state.
#[derive(Debug)]
pub struct Rff {
    pos: Pos,
    constraints: [Constraint; CONSTRAINTS],
    count: usize,
    active: usize,
    guide: &'static mut [u64],
    /// Locks each strand holds.
    depth: &'static mut [u64],
    patience: u64,
    strands: usize,
}

impl Rff {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Rff {
            pos: Pos::new(),
            constraints: [NONE; CONSTRAINTS],
            count: 0,
            active: 0,
            guide: &mut [],
            depth: &mut [],
            patience: 0,
            strands: 0,
        }
    }

    fn read_guide(&mut self, words: &[u64]) {
        let words = &words[..words.len().min(self.guide.len())];
        self.guide[..words.len()].copy_from_slice(words);
        self.count = 0;
        let mut at = 0;
        while self.count < CONSTRAINTS
            && let Some(&[kind, addr, writer, reader, entry, writes]) = words.get(at..at + HEAD_WORDS)
        {
            let first = at + HEAD_WORDS;
            let Some(last) = usize::try_from(writes).ok().and_then(|n| n.checked_mul(2)?.checked_add(first))
            else {
                return;
            };
            if last > words.len() {
                return;
            }
            let kind = match kind {
                0 => Kind::From,
                1 => Kind::NotFrom,
                _ => Kind::Nested,
            };
            let writes = (first as u16, last as u16);
            self.constraints[self.count] =
                Constraint { kind, active: true, addr, writer, reader, entry, writes, now: 0 };
            self.count += 1;
            at = last;
        }
    }

    /// What a constraint says of a strand that stands before `op`.
    fn class_by(&self, constraint: &Constraint, strand: StrandId, op: &Op, view: &impl View) -> u8 {
        let &Constraint { kind, writer, reader, entry, writes, now, .. } = constraint;
        if kind == Kind::Nested {
            let nests = nesting(op.kind) == 1 && self.depth[strand.index()] > 0;
            return if nests { HELD } else { FREE };
        }
        let reads = if op.pc == reader {
            // The object may be another one than it was when the constraint was made.
            Some(if op.addr == constraint.addr { now } else { view.last_writer(op.addr) })
        } else if op.pc == entry && self.depth[strand.index()] == 0 {
            Some(now)
        } else {
            None
        };
        if let Some(now) = reads {
            return match kind {
                Kind::From if now == writer => WANTED,
                Kind::From => HELD,
                Kind::NotFrom if now == writer => HELD,
                _ => FREE,
            };
        }
        if kind == Kind::From && now == writer {
            // The read can come now: other writes have to wait for it.
            let writes = self.guide[writes.0 as usize..writes.1 as usize].chunks_exact(2);
            let outside = self.depth[strand.index()] == 0;
            for write in writes {
                if write[0] != writer && (op.pc == write[0] || outside && op.pc == write[1]) {
                    return HELD;
                }
            }
        }
        FREE
    }

    fn class(&self, strand: StrandId, view: &impl View) -> u8 {
        let op = view.op(strand);
        let mut class = if view.yields(strand) { YIELDS } else { FREE };
        for constraint in self.constraints[..self.count].iter().filter(|constraint| constraint.active) {
            match self.class_by(constraint, strand, &op, view) {
                HELD => return HELD,
                WANTED => class = WANTED,
                _ => {}
            }
        }
        class
    }

    /// Looks who wrote the places last; a constraint that cannot come true any more is given up.
    fn look(&mut self, view: &impl View) {
        for constraint in self.constraints[..self.count].iter_mut().filter(|constraint| constraint.active) {
            if constraint.kind != Kind::Nested {
                constraint.now = view.last_writer(constraint.addr);
            }
            if constraint.kind == Kind::From && constraint.writer == 0 && constraint.now != 0 {
                constraint.active = false;
                self.active -= 1;
            }
        }
    }

    /// Gives up the constraints that hold this strand.
    fn release(&mut self, strand: StrandId, view: &impl View) {
        let op = view.op(strand);
        for index in 0..self.count {
            let constraint = self.constraints[index];
            // The lock that is taken now closes no cycle; later ones may.
            let keeps = constraint.kind == Kind::Nested;
            if constraint.active && !keeps && self.class_by(&constraint, strand, &op, view) == HELD {
                self.constraints[index].active = false;
                self.active -= 1;
            }
        }
    }

    fn goes_on(&mut self, strand: StrandId, view: &impl View) {
        let op = view.op(strand);
        let depth = &mut self.depth[strand.index()];
        *depth = depth.saturating_add_signed(nesting(op.kind));
        if self.active == 0 {
            return;
        }
        for constraint in self.constraints[..self.count].iter_mut() {
            if constraint.active
                && constraint.kind == Kind::From
                && op.pc == constraint.reader
                && view.last_writer(op.addr) == constraint.writer
            {
                constraint.active = false;
                self.active -= 1;
            }
        }
    }
}

impl Default for Rff {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Rff {
    fn furnish(&mut self, room: Room) {
        let (priorities, rest) = room.split_at_mut(MAX_STRANDS + 1);
        let (depth, rest) = rest.split_at_mut(MAX_STRANDS + 1);
        self.pos.take(priorities);
        (self.depth, self.guide) = (depth, &mut rest[..GUIDE_WORDS]);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        self.pos.begin(info);
        self.read_guide(info.guide);
        self.active = self.count;
        self.patience = PATIENCE.saturating_add(info.estimate_choices.saturating_mul(2));
        self.depth[..self.strands].fill(0);
        self.strands = 0;
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.pos.deadline(view) {
            return Pick::Timeout(strand);
        }
        if self.active == 0 {
            let strand = self.pos.pick_enabled(view);
            self.goes_on(strand, view);
            return Pick::Run(strand);
        }
        self.look(view);
        let strand = self.pos.highest(view, |strand| self.class(strand, view));
        if self.class(strand, view) == HELD {
            if let Some(&first) = view.timed().first()
                && self.pos.may_expire()
                && self.pos.below(2) == 0
            {
                return Pick::Timeout(first);
            }
            self.release(strand, view);
        }
        self.patience -= 1;
        if self.patience == 0 {
            self.active = 0;
            self.count = 0;
        }
        self.pos.goes_on(strand, view);
        self.goes_on(strand, view);
        Pick::Run(strand)
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.pos.choose(options)
    }

    fn created(&mut self, born: Born) {
        self.strands = self.strands.max(born.strand.index() + 1);
        self.pos.created(born);
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        self.pos.alone(strand, view);
        self.goes_on(strand, view);
    }

    fn wants_reads(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{self, Machine, Step};
    use std::vec;
    use std::vec::Vec;
    use threadbare_abi::op::OpKind;

    fn op(kind: OpKind, addr: u64, pc: u64) -> Op {
        Op { size: 8, ..Op::new(kind, addr, pc) }
    }

    const A: u64 = 0x100;
    const B: u64 = 0x200;
    const LOCK: u64 = 0x300;

    /// `n` setters write A and B under one lock, each in a section of its own; a checker reads both in one section.
    fn reorder(setters: usize) -> Machine {
        let setter = vec![
            op(OpKind::MutexLock, LOCK, 10),
            op(OpKind::AtomicStore, A, 11),
            op(OpKind::MutexUnlock, LOCK, 12),
            op(OpKind::MutexLock, LOCK, 13),
            op(OpKind::AtomicStore, B, 14),
            op(OpKind::MutexUnlock, LOCK, 15),
        ];
        let checker = vec![
            op(OpKind::MutexLock, LOCK, 20),
            op(OpKind::AtomicLoad, A, 21),
            op(OpKind::AtomicLoad, B, 22),
            op(OpKind::MutexUnlock, LOCK, 23),
        ];
        let mut strands = vec![setter; setters];
        strands.push(checker);
        Machine::of(strands)
    }

    fn torn(steps: &[Step]) -> bool {
        let from = |pc| steps.iter().find(|step| step.pc == pc).map(|step| step.from);
        from(21) == Some(11) && from(22) == Some(0)
    }

    fn hits(machine: &Machine, guide: &[u64], runs: u64, is_it: impl Fn(&[Step]) -> bool) -> u64 {
        let mut strategy = Rff::new();
        strategy.furnish(sim::room());
        let info = |seed| RunInfo { guide, ..sim::info(seed, 0) };
        (0..runs).filter(|&seed| is_it(&machine.run(&mut strategy, &info(seed)))).count() as u64
    }

    #[test]
    fn constraints_come_true_through_critical_sections() {
        // The read of A reads a setter's write, the read of B nobody's. Both are in reach whatever the priorities are.
        let mut guide: Vec<u64> = vec![Kind::From as u64, A, 11, 21, 20, 1, 11, 10];
        guide.extend([Kind::From as u64, B, 0, 22, 20, 1, 14, 13]);
        for setters in [1, 5, 60] {
            assert_eq!(hits(&reorder(setters), &guide, 200, torn), 200, "{setters} setters");
        }
        // Without constraints it is rare: all setters must stand between their sections, or not have begun.
        assert!(hits(&reorder(60), &[], 200, torn) < 40);
    }

    #[test]
    fn a_negative_constraint_waits_for_another_write() {
        let writer = |pc| vec![op(OpKind::AtomicStore, A, pc)];
        let machine = Machine::of(vec![writer(1), writer(2), vec![op(OpKind::AtomicLoad, A, 3)]]);
        let guide = [Kind::NotFrom as u64, A, 1, 3, 3, 2, 1, 1, 2, 2];
        let from =
            |steps: &[Step], pc| steps.iter().find(|step| step.pc == 3).is_some_and(|step| step.from == pc);
        // Reads from 1 only if nothing else can go on any more: strand 0 came last of the writers.
        let shown = hits(&machine, &guide, 300, |steps| from(steps, 1) && steps[2].strand != 2);
        assert_eq!(shown, 0);
        assert!(hits(&machine, &guide, 300, |steps| from(steps, 2)) > 60);
    }

    #[test]
    fn what_cannot_come_true_is_given_up() {
        // The only write comes after the read in the same strand.
        let machine = Machine::of(vec![
            vec![op(OpKind::AtomicLoad, A, 1), op(OpKind::AtomicStore, A, 2)],
            vec![op(OpKind::AtomicLoad, B, 3)],
        ]);
        let guide = [Kind::From as u64, A, 2, 1, 1, 1, 2, 2];
        assert_eq!(hits(&machine, &guide, 50, |steps| steps.len() == 3), 50);
    }

    #[test]
    fn nested_locks_close_their_cycle() {
        // Seven philosophers; the run stops short when all wait.
        let seats = 7u64;
        let fork = |at: u64| 0x1000 + at % seats * 0x40;
        let dine = |seat: u64| {
            let (left, right) = (fork(seat), fork(seat + 1));
            vec![
                op(OpKind::MutexLock, left, 1),
                op(OpKind::MutexLock, right, 2),
                op(OpKind::MutexUnlock, right, 3),
                op(OpKind::MutexUnlock, left, 4),
            ]
        };
        let machine = Machine::of((0..seats).map(dine).collect());
        let guide = [Kind::Nested as u64, 0, 0, 0, 0, 0];
        assert_eq!(hits(&machine, &guide, 50, |steps| steps.len() == 7), 50);
    }

    #[test]
    fn a_guide_that_lies_is_read_as_far_as_it_goes() {
        let machine = reorder(2);
        for guide in [&[0u64; 3][..], &[0, A, 1, 2, 3, u64::MAX], &[9, 0, 0, 0, 0, 400], &[7; 1200]] {
            assert_eq!(hits(&machine, guide, 3, |steps| steps.len() == 16), 3);
        }
    }
}
