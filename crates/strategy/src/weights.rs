//! How much each strand still has to do, by what earlier runs did.
//!
//! `urw` and `surw` weigh strands by the operations they have left. A run counts, for each strand, its operations by
//! object; the driver brings the counts of earlier runs as the guide. Objects are told apart by a hash of their address
//! ([`BUCKETS`]): it is the same in most runs, and a clash makes two objects one.
//!
//! The guide and the notes have one form, strands in order of creation: path, index of the parent (`u64::MAX` for the main
//! strand), number of counts, and that many words `count << 8 | bucket`.

use crate::Born;
use crate::counts::Counts;
use threadbare_abi::does::Impact;
use threadbare_abi::op::Op;
use threadbare_abi::strand::StrandId;

/// Buckets of objects; the last one is for operations that concern none.
pub const BUCKETS: usize = 64;
/// The bucket of operations that no other strand can see.
pub const OTHER: u32 = BUCKETS as u32 - 1;
/// Strands that are counted.
pub const COUNTED: usize = 1024;
/// Words of memory that [`Weights`] need.
pub const WEIGHTS_WORDS: usize = 3 * COUNTED;
/// No parent.
pub const NOBODY: u64 = u64::MAX;

/// The bucket of an operation.
#[inline]
pub fn bucket(op: &Op) -> u32 {
    if op.kind.does().impact == Impact::None || !op.kind.has_memory_address() {
        return OTHER;
    }
    let hash = (op.addr >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    ((hash * OTHER as u64) >> 32) as u32
}

/// One strand of a guide.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its name.
    pub path: u64,
    /// The index of its parent.
    pub parent: u64,
    counts: &'a [u64],
}

impl Entry<'_> {
    /// Buckets and how many operations concerned them.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.counts.iter().map(|word| ((word & 0xFF) as u32 % BUCKETS as u32, word >> 8))
    }
}

/// Adds a strand to a guide or to notes, with its buckets and how many operations concerned them; more than fit a word are as many as do.
pub fn encode(
    path: u64,
    parent: u64,
    counts: impl ExactSizeIterator<Item = (u32, u64)>,
    words: &mut impl Extend<u64>,
) {
    words.extend([path, parent, counts.len() as u64]);
    words.extend(counts.map(|(bucket, count)| count.min(u64::MAX >> 8) << 8 | bucket as u64));
}

/// The strands of a guide; one that is cut short ends early.
pub fn entries(guide: &[u64]) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = guide;
    core::iter::from_fn(move || {
        let (head, tail) = rest.split_at_checked(3)?;
        let (counts, tail) = tail.split_at_checked(usize::try_from(head[2]).ok()?)?;
        rest = tail;
        Some(Entry { path: head[0], parent: head[1], counts })
    })
}

/// The weights of a run's strands.
#[derive(Debug)]
pub struct Weights {
    /// Interesting operations a strand has left, those of children it has not created yet included.
    remaining: &'static mut [u64],
    /// By index in the guide: path, and interesting operations with all descendants'.
    expected: &'static mut [u64],
    counts: Counts,
    known: usize,
    born: usize,
    mask: u64,
    total: u64,
}

impl Weights {
    /// Weights without memory.
    pub const fn new() -> Self {
        Weights {
            remaining: &mut [],
            expected: &mut [],
            counts: Counts::new(),
            known: 0,
            born: 0,
            mask: 0,
            total: 0,
        }
    }

    /// Takes zeroed memory of [`WEIGHTS_WORDS`] words.
    pub fn furnish(&mut self, words: &'static mut [u64]) {
        let (remaining, rest) = words.split_at_mut(COUNTED);
        (self.remaining, self.expected) = (remaining, &mut rest[..2 * COUNTED]);
    }

    /// Takes zeroed memory of [`COUNTS_WORDS`](crate::counts::COUNTS_WORDS) words, without which nothing is counted.
    pub fn count_in(&mut self, words: &'static mut [u64]) {
        self.counts.furnish(words);
    }

    /// A run begins: `select` picks the interesting buckets from those that several strands use.
    pub fn begin(&mut self, guide: &[u64], select: impl FnOnce(u64) -> u64) {
        self.remaining[..self.born.min(COUNTED)].fill(0);
        self.counts.begin();
        let (mut once, mut twice) = (0u64, 0u64);
        for entry in entries(guide) {
            let used = entry.counts().fold(0, |used, (bucket, _)| used | 1u64 << bucket);
            twice |= once & used;
            once |= used;
        }
        self.mask = select(twice & !(1 << OTHER));
        self.known = 0;
        for (index, entry) in entries(guide).take(COUNTED).enumerate() {
            let interesting = entry.counts().filter(|(bucket, _)| self.mask >> bucket & 1 != 0);
            self.expected[2 * index] = entry.path;
            self.expected[2 * index + 1] = interesting.map(|(_, count)| count).sum();
            // Needed below only; the strands are not born yet.
            self.remaining[index] = entry.parent;
            self.known += 1;
        }
        for index in (0..self.known).rev() {
            let parent = core::mem::take(&mut self.remaining[index]);
            if (parent as usize) < index {
                self.expected[2 * parent as usize + 1] += self.expected[2 * index + 1];
            }
        }
        (self.born, self.total) = (0, 0);
    }

    /// A strand is born, with its share of its parent's weight; returns both weights: the strand's and what the parent's
    /// was.
    pub fn created(&mut self, born: Born) -> (u64, u64) {
        let index = born.strand.index();
        self.born = self.born.max(index + 1);
        self.counts.created(born);
        let weight = self.expected_of(born.path.0, index);
        let mut before = 0;
        if let Some(parent) = self.remaining.get_mut(born.parent.index()) {
            before = *parent;
            *parent = before.saturating_sub(weight);
            self.total -= before - *parent;
        }
        if let Some(remaining) = self.remaining.get_mut(index) {
            *remaining = weight;
            self.total += weight;
        }
        (weight, before)
    }

    /// The weight of a strand; most strands have the index they had in the run that was counted.
    fn expected_of(&self, path: u64, index: usize) -> u64 {
        let order = (index.min(self.known)..self.known).chain(0..index.min(self.known));
        let found = order.into_iter().find(|&at| self.expected[2 * at] == path);
        found.map_or(0, |at| self.expected[2 * at + 1])
    }

    /// Whether an operation is interesting.
    #[inline]
    pub fn is_interesting(&self, op: &Op) -> bool {
        self.mask >> bucket(op) & 1 != 0
    }

    /// What a strand has left.
    #[inline]
    pub fn of(&self, strand: StrandId) -> u64 {
        self.remaining.get(strand.index()).copied().unwrap_or(0)
    }

    /// What all strands have left.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The strand at this place of the total weight.
    pub fn at(&self, mut place: u64) -> StrandId {
        for (index, &weight) in self.remaining[..self.born.min(COUNTED)].iter().enumerate() {
            if place < weight {
                return StrandId(index as u16);
            }
            place -= weight;
        }
        StrandId::NONE
    }

    /// The strand goes on with this operation; true if that is interesting.
    #[inline]
    pub fn goes_on(&mut self, strand: StrandId, op: &Op) -> bool {
        let bucket = bucket(op);
        self.counts.count(strand, bucket);
        let interesting = self.mask >> bucket & 1 != 0;
        if interesting && let Some(left) = self.remaining.get_mut(strand.index()) {
            let taken = (*left > 0) as u64;
            *left -= taken;
            self.total -= taken;
        }
        interesting
    }

    /// Writes what was counted; returns how many words.
    pub fn finish(&self, notes: &mut [u64]) -> usize {
        self.counts.finish(notes)
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;
    use threadbare_abi::op::OpKind;
    use threadbare_abi::strand::StrandPath;

    fn born(strand: u16, parent: u16, path: StrandPath) -> Born {
        Born { strand: StrandId(strand), parent: StrandId(parent), path }
    }

    #[test]
    fn what_is_counted_is_expected_next_time() {
        let mut weights = Weights::new();
        let (words, counts) = sim::room().split_at_mut(WEIGHTS_WORDS);
        weights.furnish(words);
        weights.count_in(counts);
        let (main, one) = (StrandPath::MAIN, StrandPath::MAIN.child(1));
        let op = Op::new(OpKind::AtomicStore, 0x1000, 0);
        let count = |weights: &mut Weights| {
            weights.created(born(0, StrandId::NONE.0, main));
            weights.created(born(1, 0, one));
            weights.goes_on(StrandId(0), &op);
            (0..4).for_each(|_| _ = weights.goes_on(StrandId(1), &op));
            weights.goes_on(StrandId(1), &Op::new(OpKind::Exit, 0, 0));
        };
        weights.begin(&[], |_| !0);
        count(&mut weights);
        let mut notes = [0; 32];
        let used = weights.finish(&mut notes);
        // The object is used by both, the end of the strand by one.
        weights.begin(&notes[..used], |shared| {
            assert_eq!(shared, 1 << bucket(&op));
            shared
        });
        // The main strand has the weight of its child until that is born.
        assert_eq!(weights.created(born(0, StrandId::NONE.0, main)), (5, 0));
        assert_eq!(weights.created(born(1, 0, one)), (4, 5));
        assert_eq!((weights.of(StrandId(0)), weights.of(StrandId(1)), weights.total()), (1, 4, 5));
        assert_eq!((weights.at(0), weights.at(1), weights.at(4)), (StrandId(0), StrandId(1), StrandId(1)));
        assert!(weights.goes_on(StrandId(1), &op));
        assert_eq!((weights.of(StrandId(1)), weights.total()), (3, 4));
    }

    #[test]
    fn strands_go_through_words() {
        let strands = [(10, NOBODY, &[(3, 4)][..]), (11, 0, &[(0, 1), (OTHER, u64::MAX >> 8)]), (12, 0, &[])];
        let mut words = std::vec::Vec::new();
        for (path, parent, counts) in strands {
            encode(path, parent, counts.iter().copied(), &mut words);
        }
        for (entry, (path, parent, counts)) in entries(&words).zip(strands) {
            assert_eq!((entry.path, entry.parent), (path, parent));
            assert!(entry.counts().eq(counts.iter().copied()));
        }
        assert_eq!(entries(&words).count(), 3);
        assert_eq!(entries(&words[..words.len() - 1]).count(), 2);
    }

    #[test]
    fn a_guide_that_is_cut_short_or_lies_is_read_as_far_as_it_goes() {
        let mut weights = Weights::new();
        let (words, counts) = sim::room().split_at_mut(WEIGHTS_WORDS);
        weights.furnish(words);
        weights.count_in(counts);
        for guide in [&[1, 2][..], &[1, NOBODY, 5, 3], &[1, 7, 1, !0], &[1, NOBODY, u64::MAX]] {
            weights.begin(guide, |_| !0);
            weights.created(born(0, StrandId::NONE.0, StrandPath::MAIN));
        }
    }
}
