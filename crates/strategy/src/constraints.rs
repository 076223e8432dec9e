//! The constraints of [`rff`](crate::rff), and what they say of a strand.
//!
//! How a positive constraint is brought about: a strand stops before the read until the place was last written by
//! the write, and strands stop before other writes to the place from then on until the read is made, which then comes first.
//! Where the read or write is inside a critical section, the strand stops before the section (see [`crate::reads`]).

use crate::View;
use crate::reads::nesting;
use crate::rff::{CONSTRAINTS, GUIDE_WORDS, HEAD_WORDS};
use threadbare_abi::op::Op;
use threadbare_abi::strand::{MAX_STRANDS, StrandId};

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

impl Kind {
    const fn from_word(word: u64) -> Kind {
        match word {
            0 => Kind::From,
            1 => Kind::NotFrom,
            _ => Kind::Nested,
        }
    }
}

/// A constraint as a guide tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told<'a> {
    /// What it asks for.
    pub kind: Kind,
    /// The place.
    pub addr: u64,
    /// The write; 0 is nobody's.
    pub writer: u64,
    /// The read.
    pub reader: u64,
    /// Where strands stop before the read.
    pub entry: u64,
    /// Writes to the place, each with where strands stop before it.
    pub writes: &'a [[u64; 2]],
}

impl<'a> Told<'a> {
    /// How many writes one may have behind so many words of other constraints; `None` if there is no room for it.
    pub fn room_for_writes(before: usize) -> Option<usize> {
        GUIDE_WORDS.checked_sub(before + HEAD_WORDS).map(|room| room / 2)
    }

    /// As words.
    pub fn encode(&self, words: &mut impl Extend<u64>) {
        let Told { kind, addr, writer, reader, entry, writes } = *self;
        words.extend([kind as u64, addr, writer, reader, entry, writes.len() as u64]);
        words.extend(writes.as_flattened().iter().copied());
    }

    /// The first of some words, and the words behind it; `None` if there is no whole one.
    pub fn decode(words: &'a [u64]) -> Option<(Told<'a>, &'a [u64])> {
        let (&[kind, addr, writer, reader, entry, count], rest) = words.split_first_chunk()?;
        let count = usize::try_from(count).ok()?;
        let (writes, rest) = rest.split_at_checked(count.checked_mul(2)?)?;
        let (writes, _) = writes.as_chunks();
        Some((Told { kind: Kind::from_word(kind), addr, writer, reader, entry, writes }, rest))
    }
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
pub(crate) const HELD: u8 = 0;
pub(crate) const YIELDS: u8 = 1;
pub(crate) const FREE: u8 = 2;
pub(crate) const WANTED: u8 = 3;

/// Words of memory that [`Constraints`] need.
pub(crate) const CONSTRAINTS_WORDS: usize = GUIDE_WORDS + MAX_STRANDS + 1;

/// The constraints of a run.
#[derive(Debug)]
pub(crate) struct Constraints {
    list: [Constraint; CONSTRAINTS],
    count: usize,
    /// How many are not met or given up yet.
    pub(crate) active: usize,
    guide: &'static mut [u64],
    /// Locks each strand holds.
    depth: &'static mut [u64],
    strands: usize,
}

impl Constraints {
    /// None, without memory.
    pub(crate) const fn new() -> Self {
        Constraints {
            list: [NONE; CONSTRAINTS],
            count: 0,
            active: 0,
            guide: &mut [],
            depth: &mut [],
            strands: 0,
        }
    }

    /// Takes zeroed memory of [`CONSTRAINTS_WORDS`] words.
    pub(crate) fn furnish(&mut self, words: &'static mut [u64]) {
        let (depth, rest) = words.split_at_mut(MAX_STRANDS + 1);
        (self.depth, self.guide) = (depth, &mut rest[..GUIDE_WORDS]);
    }

    /// A run begins.
    pub(crate) fn begin(&mut self, guide: &[u64]) {
        self.read_guide(guide);
        self.active = self.count;
        self.depth[..self.strands].fill(0);
        self.strands = 0;
    }

    /// A strand was created.
    pub(crate) fn created(&mut self, strand: StrandId) {
        self.strands = self.strands.max(strand.index() + 1);
    }

    /// Gives all up.
    pub(crate) fn clear(&mut self) {
        (self.active, self.count) = (0, 0);
    }

    fn read_guide(&mut self, words: &[u64]) {
        let words = &words[..words.len().min(self.guide.len())];
        self.guide[..words.len()].copy_from_slice(words);
        self.count = 0;
        let mut rest = words;
        while self.count < CONSTRAINTS
            && let Some((Told { kind, addr, writer, reader, entry, .. }, behind)) = Told::decode(rest)
        {
            let first = words.len() - rest.len() + HEAD_WORDS;
            let writes = (first as u16, (words.len() - behind.len()) as u16);
            self.list[self.count] =
                Constraint { kind, active: true, addr, writer, reader, entry, writes, now: 0 };
            self.count += 1;
            rest = behind;
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

    /// How urgent a strand is.
    pub(crate) fn class(&self, strand: StrandId, view: &impl View) -> u8 {
        let op = view.op(strand);
        let mut class = if view.yields(strand) { YIELDS } else { FREE };
        for constraint in self.list[..self.count].iter().filter(|constraint| constraint.active) {
            match self.class_by(constraint, strand, &op, view) {
                HELD => return HELD,
                WANTED => class = WANTED,
                _ => {}
            }
        }
        class
    }

    /// Looks who wrote the places last; a constraint that cannot come true any more is given up.
    pub(crate) fn look(&mut self, view: &impl View) {
        for constraint in self.list[..self.count].iter_mut().filter(|constraint| constraint.active) {
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
    pub(crate) fn release(&mut self, strand: StrandId, view: &impl View) {
        let op = view.op(strand);
        for index in 0..self.count {
            let constraint = self.list[index];
            // The lock that is taken now closes no cycle; later ones may.
            let keeps = constraint.kind == Kind::Nested;
            if constraint.active && !keeps && self.class_by(&constraint, strand, &op, view) == HELD {
                self.list[index].active = false;
                self.active -= 1;
            }
        }
    }

    /// The strand goes on with the operation it stands before.
    pub(crate) fn goes_on(&mut self, strand: StrandId, view: &impl View) {
        let op = view.op(strand);
        let depth = &mut self.depth[strand.index()];
        *depth = depth.saturating_add_signed(nesting(op.kind));
        if self.active == 0 {
            return;
        }
        for constraint in self.list[..self.count].iter_mut() {
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
