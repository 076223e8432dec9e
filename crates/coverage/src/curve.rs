//! How much was covered after how many runs.

use crate::books::Counts;
use serde::{Deserialize, Serialize};

/// What was covered after so many runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sample<C = Counts> {
    /// Runs.
    pub runs: u64,
    /// What they covered.
    #[serde(flatten)]
    pub counts: C,
}

/// Samples at numbers of runs that grow like powers, four for each doubling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Curve<C = Counts> {
    samples: Vec<Sample<C>>,
    next: u64,
}

impl<C> Default for Curve<C> {
    fn default() -> Self {
        Curve { samples: Vec::new(), next: 0 }
    }
}

impl<C: Copy> Curve<C> {
    /// A run was taken; `runs` and `counts` include it.
    pub fn see(&mut self, runs: u64, counts: &C) {
        if runs >= self.next {
            self.samples.push(Sample { runs, counts: *counts });
            let octave = 1u64 << runs.max(1).ilog2();
            self.next = runs + (octave / 4).max(1);
        }
    }

    /// The samples, the last one after all runs.
    pub fn samples(&self, runs: u64, counts: &C) -> Vec<Sample<C>> {
        let mut samples = self.samples.clone();
        if samples.last().is_none_or(|last| last.runs < runs) && runs > 0 {
            samples.push(Sample { runs, counts: *counts });
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_few_and_end_at_the_end() {
        let mut curve = Curve::default();
        let counts = |runs| Counts { classes: runs, ..Counts::default() };
        for runs in 1..=1000 {
            curve.see(runs, &counts(runs));
        }
        let samples = curve.samples(1000, &counts(1000));
        let runs: Vec<u64> = samples.iter().map(|sample| sample.runs).collect();
        assert_eq!(runs[..12], [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16]);
        assert_eq!(runs.last(), Some(&1000));
        assert!(runs.len() < 40, "{runs:?}");
        assert!(samples.iter().all(|sample| sample.counts.classes == sample.runs));
        assert!(Curve::<Counts>::default().samples(0, &counts(0)).is_empty());
    }
}
