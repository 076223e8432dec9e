//! How often each class was seen.

use std::collections::HashMap;

/// How often the rare ones are told apart.
const RARE: usize = 4;

/// Classes and how often each was seen.
#[derive(Clone, Debug, Default)]
pub struct Species {
    counts: HashMap<u64, u32>,
    runs: u64,
    /// How many classes were seen once, twice, …
    rare: [u64; RARE],
    /// Runs, counted from 0, that showed a class for the first time.
    first: Vec<u64>,
}

impl Species {
    /// A run was of this class; true if it was the first.
    pub fn see(&mut self, class: u64) -> bool {
        let count = self.counts.entry(class).or_default();
        *count = count.saturating_add(1);
        let seen = *count as usize;
        if seen == 1 {
            self.first.push(self.runs);
        }
        if let Some(before) = seen.checked_sub(2).and_then(|at| self.rare.get_mut(at)) {
            *before -= 1;
        }
        if let Some(now) = self.rare.get_mut(seen - 1) {
            *now += 1;
        }
        self.runs += 1;
        seen == 1
    }

    /// Runs whose class is known.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Classes seen.
    pub fn classes(&self) -> u64 {
        self.counts.len() as u64
    }

    /// Classes that were seen so often (1 to 4).
    pub fn seen(&self, times: usize) -> u64 {
        times.checked_sub(1).and_then(|at| self.rare.get(at)).copied().unwrap_or(0)
    }

    /// How many of the last runs showed a new class.
    pub fn new_in_last(&self, runs: u64) -> u64 {
        let from = self.runs.saturating_sub(runs);
        (self.first.len() - self.first.partition_point(|&run| run < from)) as u64
    }

    /// All classes with their counts, in order.
    pub fn all(&self) -> Vec<(u64, u32)> {
        let mut all: Vec<_> = self.counts.iter().map(|(&class, &count)| (class, count)).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow() {
        let mut species = Species::default();
        let new: Vec<bool> = [7, 7, 8, 9, 7, 7, 7, 8].map(|class| species.see(class)).into();
        assert_eq!(new, [true, false, true, true, false, false, false, false]);
        assert_eq!((species.runs(), species.classes()), (8, 3));
        assert_eq!([1, 2, 3, 4, 5, 0].map(|times| species.seen(times)), [1, 1, 0, 0, 0, 0]);
        assert_eq!((species.new_in_last(4), species.new_in_last(5), species.new_in_last(100)), (0, 1, 3));
        assert_eq!(species.all(), [(7, 5), (8, 2), (9, 1)]);
    }
}
