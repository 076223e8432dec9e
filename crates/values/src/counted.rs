//! Samples that came before are counted, not made again: most activations of most runs show what others have shown.

use crate::known::Raw;
use rustc_hash::FxHashMap as HashMap;
use threadbare_invariants::{PointId, Sample};

/// So many different samples are kept until they are taken.
const MOST: usize = 4096;

/// Different samples, each with how often it came.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    places: HashMap<u64, usize>,
    samples: Vec<(Sample, u64)>,
}

impl Counted {
    /// Counts a sample that stands for what was read; false if it is to be made first.
    pub(crate) fn again(&mut self, hash: u64, times: u64) -> bool {
        let Some(&at) = self.places.get(&hash) else { return false };
        self.samples[at].1 += times;
        true
    }

    /// A sample that did not come before.
    pub(crate) fn add(&mut self, hash: u64, sample: Sample, times: u64) {
        self.places.insert(hash, self.samples.len());
        self.samples.push((sample, times));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.samples.len() >= MOST
    }

    /// All of them; nothing is known then.
    pub(crate) fn drain(&mut self) -> Vec<(Sample, u64)> {
        self.places.clear();
        std::mem::take(&mut self.samples)
    }
}

/// Stands for what was read at an entry, or at an exit with its entry. Equal numbers of different ones do not come up by chance.
pub(crate) fn hash(point: PointId, entry: &[Option<u64>], left: Option<&Raw>, locals: &[Option<u64>]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15 ^ u64::from(point.0);
    let mut word = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    };
    for value in entry.iter().chain(left.into_iter().flatten()).chain(locals) {
        word(value.map_or(0x5851_f42d_4c95_7f2d, |value| value.wrapping_mul(0xc4ce_b9fe_1a85_ec53)));
    }
    hash
}

/// How often a place is looked at: less and less while nothing new comes of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Looks in a row without anything new.
    calm: u32,
}

impl Pace {
    /// Whether it is looked at this time. After so many looks without anything new it is every second time, then every third, and so on;
    /// `dice` are random bits.
    pub(crate) fn looks(&self, enough: u32, least: u32, dice: u32) -> bool {
        let every = (self.calm / enough + 1).min(least);
        dice.is_multiple_of(every)
    }

    /// What came of a look.
    pub(crate) fn note(&mut self, new: bool) {
        self.calm = if new { 0 } else { self.calm.saturating_add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_looked_at_less_often_until_it_shows_something_new() {
        let mut pace = Pace::default();
        (0..20).for_each(|_| pace.note(false));
        assert_eq!((0..9).filter(|dice| pace.looks(10, 8, *dice)).count(), 3);
        (0..1000).for_each(|_| pace.note(false));
        assert_eq!((0..64).filter(|dice| pace.looks(10, 8, *dice)).count(), 8);
        pace.note(true);
        assert!((0..9).all(|dice| pace.looks(10, 8, dice)));
    }

    #[test]
    fn what_was_read_is_told_apart() {
        let of = |point, entry: &[u64], left: &[u64]| {
            let raw = |values: &[u64]| values.iter().map(|value| Some(*value)).collect::<Raw>();
            hash(PointId(point), &raw(entry), Some(&raw(left)), &[])
        };
        let all = [of(1, &[0, 1], &[1]), of(1, &[1, 0], &[1]), of(1, &[0, 1], &[0]), of(2, &[0, 1], &[1])];
        assert!((0..4).all(|one| (0..one).all(|other| all[one] != all[other])));
        assert_ne!(hash(PointId(1), &[None], None, &[]), hash(PointId(1), &[Some(0)], None, &[]));
    }
}
