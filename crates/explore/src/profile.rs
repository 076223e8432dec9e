//! What each strand does in a run, for the strategies that weigh strands by what they have left: the mean over the last
//! epoch. The form of guide and notes is `threadbare-strategy`'s `weights`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use threadbare_strategy::weights::{NOBODY, encode, entries};

/// The counts of an epoch.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    strands: Vec<Strand>,
    index: HashMap<u64, usize>,
    guide: Arc<[u64]>,
}

#[derive(Debug)]
struct Strand {
    path: u64,
    parent: u64,
    runs: u64,
    counts: BTreeMap<u32, u64>,
}

impl Profile {
    pub(crate) fn guide(&self) -> Arc<[u64]> {
        Arc::clone(&self.guide)
    }

    /// Adds the notes of a run.
    pub(crate) fn learn(&mut self, notes: &[u64]) {
        let mut here: Vec<usize> = Vec::new();
        for entry in entries(notes) {
            let parent = usize::try_from(entry.parent).ok().and_then(|at| here.get(at).copied());
            let next = self.strands.len();
            let at = *self.index.entry(entry.path).or_insert(next);
            if at == next {
                let parent = parent.map_or(NOBODY, |parent| parent as u64);
                self.strands.push(Strand { path: entry.path, parent, runs: 0, counts: BTreeMap::new() });
            }
            let strand = &mut self.strands[at];
            strand.runs += 1;
            for (bucket, count) in entry.counts() {
                let sum = strand.counts.entry(bucket).or_default();
                *sum = sum.saturating_add(count);
            }
            here.push(at);
        }
    }

    /// Makes the guide from the epoch's runs and begins the next. An epoch without notes changes nothing.
    pub(crate) fn open_epoch(&mut self) {
        if self.strands.is_empty() {
            return;
        }
        let mut words = Vec::new();
        for strand in &self.strands {
            // Rounded up: a strand that has something left is never without weight.
            let counts = strand.counts.iter().map(|(bucket, sum)| (*bucket, sum.div_ceil(strand.runs)));
            encode(strand.path, strand.parent, counts, &mut words);
        }
        self.guide = words.into();
        self.strands.clear();
        self.index.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_is_the_mean_of_the_last_epoch() {
        let mut profile = Profile::default();
        profile.learn(&[10, NOBODY, 1, 4 << 8 | 3, 11, 0, 2, 1 << 8 | 3, 6 << 8 | 5]);
        profile.learn(&[10, NOBODY, 1, 6 << 8 | 3]);
        assert!(profile.guide().is_empty());
        profile.open_epoch();
        assert_eq!(profile.guide()[..], [10, NOBODY, 1, 5 << 8 | 3, 11, 0, 2, 1 << 8 | 3, 6 << 8 | 5]);
        profile.learn(&[10, NOBODY, 1, 1 << 8 | 2]);
        profile.open_epoch();
        assert_eq!(profile.guide()[..], [10, NOBODY, 1, 1 << 8 | 2]);
        profile.open_epoch();
        assert_eq!(profile.guide().len(), 4);
    }

    #[test]
    fn notes_that_lie_do_no_harm() {
        let mut profile = Profile::default();
        profile.learn(&[10, 99, 1, u64::MAX, 1, 2]);
        profile.learn(&[10, 99, u64::MAX]);
        profile.open_epoch();
        assert_eq!(profile.guide()[..2], [10, NOBODY]);
    }
}
