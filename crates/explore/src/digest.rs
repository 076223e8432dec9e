//! What a run has taught, without what earlier runs had taught already: most runs of a campaign show what others did, and a
//! campaign's books and journal are to stay small.

use crate::advice::Lessons;
use std::collections::{BTreeSet, HashSet};
use threadbare_strategy::reads::{RECORD_WORDS, flags};
use threadbare_trace::hash::Fnv;

/// Records that are kept track of; further ones stay in every run's lessons.
const RECORDS: usize = 1 << 16;

/// The records of all runs in the books.
#[derive(Debug, Default)]
pub(crate) struct Digest {
    known: HashSet<[u64; RECORD_WORDS]>,
}

impl Digest {
    /// Takes the lessons of the next run. Those of a run from a journal have been taken before, and stay what they are.
    pub(crate) fn take(&mut self, lessons: &mut Lessons) {
        if lessons.reads.is_empty() {
            return;
        }
        let (records, _) = lessons.reads.as_chunks::<RECORD_WORDS>();
        lessons.combination.get_or_insert_with(|| combination(records));
        let room = RECORDS.saturating_sub(self.known.len());
        let known = &mut self.known;
        let mut taken = 0;
        let is_new = |record: &&[u64; RECORD_WORDS]| match known.contains(*record) {
            true => false,
            false if taken < room => {
                taken += 1;
                known.insert(**record)
            }
            false => true,
        };
        lessons.reads = records.iter().filter(is_new).flatten().copied().collect();
    }
}

/// A hash of the pairs of write and read.
fn combination(records: &[[u64; RECORD_WORDS]]) -> u64 {
    let is_pair = |told: u64| told & (flags::NESTED | flags::SEVERAL) == 0;
    let pairs: BTreeSet<(u64, u64, bool)> = records
        .iter()
        .filter(|&&[_, _, _, reader, _, told]| reader != 0 && is_pair(told))
        .map(|&[_, writer, _, reader, _, told]| (writer, reader, told & flags::OWN != 0))
        .collect();
    let mut hash = Fnv::new();
    for (writer, reader, own) in pairs {
        hash.write(&writer.to_le_bytes());
        hash.write(&reader.to_le_bytes());
        hash.write(&[u8::from(own)]);
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lessons(readers: &[u64]) -> Lessons {
        let reads = readers.iter().flat_map(|&reader| [0x10, 1, 1, reader, reader, 0]).collect();
        Lessons { reads, ..Lessons::default() }
    }

    #[test]
    fn what_was_taught_before_is_left_out() {
        let mut digest = Digest::default();
        let (mut one, mut two, mut three) = (lessons(&[5, 6]), lessons(&[6, 5]), lessons(&[6, 7]));
        for lessons in [&mut one, &mut two, &mut three] {
            digest.take(lessons);
        }
        assert_eq!((one.reads.len(), two.reads.len()), (2 * RECORD_WORDS, 0));
        assert_eq!(three.reads[3], 7);
        assert_eq!(one.combination, two.combination);
        assert!(one.combination.is_some() && one.combination != three.combination);
        // The same from a journal.
        let mut again = Digest::default();
        let before = (one.reads.clone(), one.combination);
        again.take(&mut one);
        assert_eq!((one.reads, one.combination), before);
    }
}
