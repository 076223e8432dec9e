//! `rff`: reads-from fuzzing.
//!
//! After Wolff, Shi, Duck, Mathur and Roychoudhury, "Greybox Fuzzing for Concurrency Testing" (ASPLOS 2024). An abstract
//! schedule is a set of constraints: this read (by its place in the program) reads from that write, or does not. Strands
//! are held back so that the constraints come true. The driver keeps the abstract schedules that
//! showed a new pair of write and read, and makes new ones from them (`explore`'s `fuzz`).
//!
//! How a constraint is brought about: `constraints`. When every strand that can go on is held, the constraints that hold the
//! one with the highest priority are given up, so every run goes on; they are given up, too, after many points.
//!
//! The guide: the number of words of all constraints; for each constraint its [`Kind`], the place, the write (0: nobody's), the read, the read's entry, the number of
//! writes to the place, and each of them with its entry; then what the strands do ([`crate::weights`]), where the manner
//! needs it.
//!
//! Differences from the paper:
//! 1. Critical sections, reads that come first, and one more kind of constraint, `Nested`: a strand that holds a lock stops
//!    before it takes another. It shows a cycle of locks at once.
//! 2. What the constraints leave open goes by one of three [`Manner`]s, the first parameter: that of [`pos`](crate::pos), as in the
//!    paper, of [`pct`](crate::pct) or of [`urw`](crate::urw). The driver draws one for each run.

use crate::constraints::{CONSTRAINTS_WORDS, Constraints, HELD, YIELDS};
use crate::pct::Pct;
use crate::pos::Pos;
use crate::urw::Urw;
use crate::weights::WEIGHTS_WORDS;
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::strand::{MAX_STRANDS, StrandId};

pub use crate::constraints::{Kind, Told};

/// Constraints at a time.
pub const CONSTRAINTS: usize = 8;
/// Words of a guide at the most.
pub const GUIDE_WORDS: usize = 1024;
/// Words of a constraint before its writes.
pub(crate) const HEAD_WORDS: usize = 6;
/// Points for which strands are held back, beyond twice the expected ones.
const PATIENCE: u64 = 2000;
/// How often strands yield in vain while another is held back.
const YIELDS_MOST: u32 = 64;

/// How it goes on among those that the constraints treat alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Manner {
    /// By priorities of operations, as [`pos`](crate::pos).
    Operations = 1,
    /// By priorities of strands, as [`pct`](crate::pct).
    Strands = 2,
    /// By what the strands have left, as [`urw`](crate::urw).
    Weights = 3,
}

impl Manner {
    /// All of them.
    pub const ALL: [Manner; 3] = [Manner::Operations, Manner::Strands, Manner::Weights];
}

/// What a run is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Guide<'a> {
    /// The words of the constraints: each a [`Told`].
    pub constraints: &'a [u64],
    /// What the strands do ([`crate::weights`]).
    pub weights: &'a [u64],
}

impl<'a> Guide<'a> {
    /// As words.
    pub fn encode(&self, words: &mut impl Extend<u64>) {
        words.extend([self.constraints.len() as u64]);
        words.extend(self.constraints.iter().chain(self.weights).copied());
    }

    /// From words.
    pub fn decode(words: &'a [u64]) -> Guide<'a> {
        let (&count, words) = words.split_first().unwrap_or((&0, &[]));
        let (constraints, weights) = words.split_at((count as usize).min(words.len()));
        Guide { constraints, weights }
    }
}

/// Who goes on among those that the constraints treat alike.
#[derive(Debug)]
struct Base {
    manner: Manner,
    pos: Pos,
    pct: Pct,
    urw: Urw,
}

impl Base {
    #[inline]
    fn next<V: View>(&mut self, view: &V, class: impl Fn(StrandId) -> u8) -> StrandId {
        match self.manner {
            Manner::Operations => self.pos.highest(view, class),
            Manner::Strands => self.pct.next(view, class),
            Manner::Weights => self.urw.next(view, class),
        }
    }

    #[inline]
    fn goes_on<V: View>(&mut self, strand: StrandId, view: &V) {
        match self.manner {
            Manner::Operations => self.pos.goes_on(strand, view),
            Manner::Strands => {}
            Manner::Weights => self.urw.goes_on(strand, view),
        }
    }
}

/// The strategy's state.
#[derive(Debug)]
pub struct Rff {
    base: Base,
    constraints: Constraints,
    patience: u64,
    yields: u32,
}

impl Rff {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Rff {
            base: Base { manner: Manner::Operations, pos: Pos::new(), pct: Pct::new(), urw: Urw::new() },
            constraints: Constraints::new(),
            patience: 0,
            yields: 0,
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
        let (by_operation, rest) = room.split_at_mut(MAX_STRANDS + 1);
        let (by_strand, rest) = rest.split_at_mut(MAX_STRANDS + 1);
        self.base.pos.take(by_operation);
        self.base.pct.take(by_strand);
        let (constraints, rest) = rest.split_at_mut(CONSTRAINTS_WORDS);
        self.constraints.furnish(constraints);
        self.base.urw.take(&mut rest[..WEIGHTS_WORDS]);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        let Guide { constraints, weights } = Guide::decode(info.guide);
        self.constraints.begin(constraints);
        self.base.manner = match info.params[0] {
            2 => Manner::Strands,
            3 => Manner::Weights,
            _ => Manner::Operations,
        };
        // The parameter is the manner's number, not its depth.
        let info = RunInfo {
            params: {
                let mut params = info.params;
                params[0] = 0;
                params
            },
            guide: weights,
            ..*info
        };
        self.base.pos.begin(&info);
        self.base.pct.begin(&info);
        self.base.urw.begin(&info);
        self.yields = 0;
        self.patience = PATIENCE.saturating_add(info.estimate_choices.saturating_mul(2));
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.base.pos.deadline(view) {
            return Pick::Timeout(strand);
        }
        let constraints = &mut self.constraints;
        if constraints.active == 0 {
            let yields = view.any_yields();
            let strand = self.base.next(view, |strand| u8::from(!(yields && view.yields(strand))));
            self.base.goes_on(strand, view);
            constraints.goes_on(strand, view);
            return Pick::Run(strand);
        }
        constraints.look(view);
        let strand = self.base.next(view, |strand| constraints.class(strand, view));
        if constraints.class(strand, view) == HELD {
            if let Some(&first) = view.timed().first()
                && self.base.pos.may_expire()
                && self.base.pos.below(2) == 0
            {
                return Pick::Timeout(first);
            }
            constraints.release(strand, view);
        }
        // Who only yields may wait for one that is held back.
        if constraints.class(strand, view) == YIELDS
            && view.enabled().iter().any(|&other| constraints.class(other, view) == HELD)
        {
            self.yields += 1;
        }
        self.patience -= 1;
        if self.patience == 0 || self.yields == YIELDS_MOST {
            constraints.clear();
        }
        self.base.goes_on(strand, view);
        constraints.goes_on(strand, view);
        Pick::Run(strand)
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.base.pos.choose(options)
    }

    fn created(&mut self, born: Born) {
        self.constraints.created(born.strand);
        self.base.pos.created(born);
        self.base.pct.created(born);
        self.base.urw.created(born);
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        match self.base.manner {
            Manner::Operations => self.base.pos.alone(strand, view),
            _ => self.base.goes_on(strand, view),
        }
        self.constraints.goes_on(strand, view);
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
    use threadbare_abi::op::{Op, OpKind};

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
        let guide: Vec<u64> = std::iter::once(guide.len() as u64).chain(guide.iter().copied()).collect();
        let info = |seed| RunInfo { guide: &guide, ..sim::info(seed, 1 + seed % 3) };
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
    fn guides_go_through_words() {
        let writes = [[11, 10], [14, 13]];
        let list = [
            Told { kind: Kind::From, addr: A, writer: 0, reader: 21, entry: 20, writes: &writes },
            Told { kind: Kind::NotFrom, addr: B, writer: 7, reader: 1, entry: 1, writes: &[] },
            Told { kind: Kind::Nested, addr: 0, writer: 0, reader: 0, entry: 0, writes: &[] },
        ];
        let mut constraints = Vec::new();
        list.iter().for_each(|told| told.encode(&mut constraints));
        for weights in [&[][..], &[1, 2, 0]] {
            let guide = Guide { constraints: &constraints, weights };
            let mut words = Vec::new();
            guide.encode(&mut words);
            assert_eq!(Guide::decode(&words), guide);
        }
        let mut rest = &constraints[..];
        for told in list {
            let (read, behind) = Told::decode(rest).unwrap();
            assert_eq!(read, told);
            assert!(Told::decode(&rest[..rest.len() - behind.len() - 1]).is_none());
            rest = behind;
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn a_guide_that_lies_is_read_as_far_as_it_goes() {
        let machine = reorder(2);
        for guide in [&[0u64; 3][..], &[0, A, 1, 2, 3, u64::MAX], &[9, 0, 0, 0, 0, 400], &[7; 1200]] {
            assert_eq!(hits(&machine, guide, 3, |steps| steps.len() == 16), 3);
        }
    }
}
