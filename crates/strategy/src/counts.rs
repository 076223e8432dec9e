//! What each strand does in a run, counted by object; see [`crate::weights`].

use crate::Born;
use crate::weights::{BUCKETS, COUNTED, NOBODY};
use threadbare_abi::strand::StrandId;

/// Words of memory a [`Counts`] needs.
pub const COUNTS_WORDS: usize = COUNTED * (2 + BUCKETS);

/// The counts of a run.
#[derive(Debug)]
pub struct Counts {
    /// By strand: path, parent.
    who: &'static mut [u64],
    counts: &'static mut [u64],
    born: usize,
}

impl Counts {
    /// Counts without memory.
    pub const fn new() -> Self {
        Counts { who: &mut [], counts: &mut [], born: 0 }
    }

    /// Takes zeroed memory of [`COUNTS_WORDS`] words.
    pub fn furnish(&mut self, words: &'static mut [u64]) {
        let (who, rest) = words.split_at_mut(2 * COUNTED);
        (self.who, self.counts) = (who, &mut rest[..COUNTED * BUCKETS]);
    }

    /// A run begins.
    pub fn begin(&mut self) {
        self.counts[..self.born * BUCKETS].fill(0);
        self.born = 0;
    }

    /// A strand is born.
    pub fn created(&mut self, born: Born) {
        let index = born.strand.index();
        if index < self.who.len() / 2 {
            self.born = self.born.max(index + 1);
            self.who[2 * index] = born.path.0;
            self.who[2 * index + 1] =
                if born.parent == StrandId::NONE { NOBODY } else { born.parent.0 as u64 };
        }
    }

    /// The strand makes an operation of this bucket.
    #[inline]
    pub fn count(&mut self, strand: StrandId, bucket: u32) {
        if let Some(count) = self.counts.get_mut(strand.index() * BUCKETS + bucket as usize) {
            *count += 1;
        }
    }

    /// Writes what was counted; returns how many words.
    pub fn finish(&self, notes: &mut [u64]) -> usize {
        let mut at = 0;
        for strand in 0..self.born {
            let counts = &self.counts[strand * BUCKETS..(strand + 1) * BUCKETS];
            let used = counts.iter().filter(|&&count| count != 0).count();
            let Some(words) = notes.get_mut(at..at + 3 + used) else { break };
            words[..3].copy_from_slice(&[self.who[2 * strand], self.who[2 * strand + 1], used as u64]);
            let set = counts.iter().enumerate().filter(|(_, count)| **count != 0);
            for (word, (bucket, &count)) in words[3..].iter_mut().zip(set) {
                *word = count << 8 | bucket as u64;
            }
            at += 3 + used;
        }
        at
    }
}

impl Default for Counts {
    fn default() -> Self {
        Self::new()
    }
}
