//! Who reads from whom.
//!
//! For every place that points touch, the instruction that wrote it last is kept; a point that reads tells the pair of
//! write and read, each pair once a run. Locks, condition variables and semaphores count as places: taking, waiting reads,
//! giving back, signalling, posting writes.
//!
//! An access inside a critical section cannot be held back for another strand that needs the same lock, so each is told
//! with its *entry*: where the outermost lock of the section was taken, or the access itself where no lock is held.
//!
//! What is not precise: an access counts for the address it begins at, a compare-and-exchange always as a write, and a
//! section entered by a try-lock is not seen.

use crate::table::Table;
use threadbare_abi::object::ObjectClass;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::{MAX_STRANDS, StrandId};

/// Words of a record: place, writer, its entry, reader, its entry, [`flags`] and the strand.
pub const RECORD_WORDS: usize = 6;
/// Where the strand that makes the operation is in the last word of a record.
pub const STRAND_SHIFT: u32 = 16;

/// Flags of a record.
pub mod flags {
    /// The place is an object of synchronisation.
    pub const SYNC: u64 = 1;
    /// The reader is a lock that is taken while another is held; nothing else is told.
    pub const NESTED: u64 = 2;
    /// The strand read what it wrote itself.
    pub const OWN: u64 = 4;
    /// The reader is an operation that several strands make; nothing else is told.
    pub const SEVERAL: u64 = 8;
}

/// Place (never 0), writer, its entry, its strand.
type Cells = Table<4, 8192>;
/// Pairs that were told, each a hash.
type Seen = Table<1, 8192>;
/// Instructions and the strand that makes each, or [`SEVERAL`].
type Makers = Table<2, 4096>;

/// Words of memory a [`Reads`] needs.
pub const READS_WORDS: usize = MAX_STRANDS + 1 + Cells::WORDS + Seen::WORDS + Makers::WORDS;

/// What an operation does to its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    reads: bool,
    writes: bool,
    sync: bool,
}

const fn access(kind: OpKind) -> Access {
    // Whoever takes an object reads from whoever gave it back; a futex word is read and written as memory.
    let sync = matches!(kind.does().class, Some(class) if class.is_handed_over() && !matches!(class, ObjectClass::Futex));
    Access {
        reads: kind.reads_memory() || sync && kind.acquires(),
        writes: kind.writes_memory() && !matches!(kind, OpKind::Free) || sync && kind.releases(),
        sync,
    }
}

/// What an operation does to the strand's critical sections: 1 enters one, -1 leaves one.
pub(crate) const fn nesting(kind: OpKind) -> i64 {
    match kind {
        // A wait gives the lock back; taking it again is an operation of its own.
        OpKind::CondWait | OpKind::CondTimedWait => -1,
        _ if kind.takes_lock() => 1,
        _ if kind.gives_lock_back() => -1,
        _ => 0,
    }
}

const DEPTH_SHIFT: u32 = 48;
const ENTRY: u64 = (1 << DEPTH_SHIFT) - 1;

/// The last writers of places, and the pairs told.
#[derive(Debug)]
pub struct Reads {
    /// By strand: how many locks it holds, and where it took the first.
    sections: &'static mut [u64],
    cells: Cells,
    seen: Seen,
    makers: Makers,
}

/// No strand alone.
const SEVERAL: u64 = u64::MAX;

impl Reads {
    /// Nothing known, no memory.
    pub const fn new() -> Self {
        Reads { sections: &mut [], cells: Table::new(), seen: Table::new(), makers: Table::new() }
    }

    /// Takes zeroed memory of [`READS_WORDS`] words.
    pub fn furnish(&mut self, words: &'static mut [u64]) {
        let (sections, rest) = words.split_at_mut(MAX_STRANDS + 1);
        let (cells, rest) = rest.split_at_mut(Cells::WORDS);
        let (seen, makers) = rest.split_at_mut(Seen::WORDS);
        self.sections = sections;
        self.cells.furnish(cells);
        self.seen.furnish(seen);
        self.makers.furnish(makers);
    }

    /// The instruction that last wrote here, 0 if none did.
    #[inline]
    pub fn last_writer(&mut self, addr: u64) -> u64 {
        match *self.cells.entry(place_of(addr)) {
            [place, writer, ..] if place == place_of(addr) => writer,
            _ => 0,
        }
    }

    /// The strand makes this operation now; `tell` gets each new pair.
    #[inline]
    pub fn executed(&mut self, strand: StrandId, op: &Op, mut tell: impl FnMut([u64; RECORD_WORDS])) {
        let Access { reads, writes, sync } = access(op.kind);
        let section = self.sections[strand.index()];
        let (depth, entry) = (section >> DEPTH_SHIFT, section & ENTRY);
        let entry = if depth > 0 { entry } else { op.pc };
        match nesting(op.kind) {
            1 => {
                if depth > 0 && self.is_new(op.pc, flags::NESTED) {
                    tell([op.addr, 0, 0, op.pc, entry, flags::NESTED]);
                }
                self.sections[strand.index()] = (depth + 1) << DEPTH_SHIFT | entry & ENTRY;
            }
            -1 => self.sections[strand.index()] = depth.saturating_sub(1) << DEPTH_SHIFT | entry & ENTRY,
            _ => {}
        }
        if !reads && !writes {
            return;
        }
        if self.is_several(op.pc, strand) {
            tell([0, 0, 0, op.pc, 0, flags::SEVERAL]);
        }
        let place = place_of(op.addr);
        let cell = *self.cells.entry(place);
        let sync = if sync { flags::SYNC } else { 0 } | (strand.0 as u64) << STRAND_SHIFT;
        if reads {
            let known = cell[0] == place;
            let (writer, from) = if known { (cell[1], cell[2]) } else { (0, 0) };
            let own = if known && cell[3] == strand.0 as u64 { flags::OWN } else { 0 };
            if self.is_new(writer, op.pc ^ own << 60) {
                tell([op.addr, writer, from, op.pc, entry, sync | own]);
            }
        }
        if writes {
            if self.is_new(op.pc, 0) {
                tell([op.addr, op.pc, entry, 0, 0, sync]);
            }
            *self.cells.entry(place) = [place, op.pc, entry, strand.0 as u64];
            if cell[0] == 0 {
                self.cells.count();
            }
        }
    }

    /// Whether this strand is the second to make an operation at this instruction.
    fn is_several(&mut self, pc: u64, strand: StrandId) -> bool {
        let (key, strand) = (pc.wrapping_add(1), strand.0 as u64);
        let entry = self.makers.entry(key);
        match *entry {
            [0, _] => {
                *entry = [key, strand];
                self.makers.count();
                false
            }
            [found, maker] if found == key && maker != strand && maker != SEVERAL => {
                *entry = [key, SEVERAL];
                true
            }
            _ => false,
        }
    }

    /// Whether a pair has not been told; from now on it has.
    fn is_new(&mut self, one: u64, other: u64) -> bool {
        let hash = crate::rng::mix(one.rotate_left(31) ^ other.wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1;
        let entry = self.seen.entry(hash);
        if entry[0] != 0 {
            // Its own, or that of another in a table that is full.
            return false;
        }
        entry[0] = hash;
        self.seen.count();
        true
    }
}

impl Default for Reads {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
const fn place_of(addr: u64) -> u64 {
    addr.wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec;
    use std::vec::Vec;

    fn run(ops: &[(u16, OpKind, u64, u64)]) -> Vec<[u64; RECORD_WORDS]> {
        let mut reads = Reads::new();
        reads.furnish(Box::leak(vec![0; READS_WORDS].into_boxed_slice()));
        let mut told = Vec::new();
        for &(strand, kind, addr, pc) in ops {
            reads.executed(StrandId(strand), &Op::new(kind, addr, pc), |record| told.push(record));
        }
        told
    }

    #[test]
    fn pairs_are_told_once() {
        let ops = [
            (0, OpKind::Read, 0x80, 1),
            (0, OpKind::Write, 0x80, 2),
            (1, OpKind::Read, 0x80, 3),
            (1, OpKind::Write, 0x80, 2),
            (0, OpKind::Read, 0x80, 3),
            (1, OpKind::Read, 0x80, 3),
        ];
        let told = run(&ops);
        let pairs: Vec<_> = told.iter().map(|record| (record[1], record[3], record[5])).collect();
        let one = 1 << STRAND_SHIFT;
        let several = |pc| (0, pc, flags::SEVERAL);
        let expected = [(0, 1, 0), (2, 0, 0), (2, 3, one), several(2), several(3), (2, 3, flags::OWN | one)];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn accesses_know_where_their_section_begins() {
        let ops = [
            (0, OpKind::MutexLock, 0x100, 1),
            (0, OpKind::MutexLock, 0x140, 2),
            (0, OpKind::Write, 0x80, 3),
            (0, OpKind::MutexUnlock, 0x140, 4),
            (0, OpKind::MutexUnlock, 0x100, 5),
            (0, OpKind::Write, 0x80, 6),
            (1, OpKind::MutexLock, 0x100, 7),
            (1, OpKind::CondWait, 0x180, 8),
            (1, OpKind::MutexLock, 0x100, 8),
            (1, OpKind::Read, 0x80, 9),
        ];
        let told = run(&ops);
        let find = |writer, reader| told.iter().find(|r| r[1] == writer && r[3] == reader).copied();
        assert_eq!(find(3, 0).unwrap()[2], 1);
        assert_eq!(find(6, 0).unwrap()[2], 6);
        assert_eq!(find(6, 9), Some([0x80, 6, 6, 9, 8, 1 << STRAND_SHIFT]));
        assert_eq!(find(5, 7), Some([0x100, 5, 1, 7, 7, flags::SYNC | 1 << STRAND_SHIFT]));
        assert!(told.iter().any(|r| r[3] == 2 && r[5] == flags::NESTED));
    }

    #[test]
    fn a_full_table_loses_pairs_and_nothing_else() {
        let ops: Vec<_> = (0..40_000).map(|at| (0, OpKind::ReadWrite, at * 8, at + 1)).collect();
        assert!(run(&ops).len() <= 8192);
    }
}
