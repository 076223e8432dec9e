//! Campaigns that are drawn from classes whose chances are known, to see how often an interval holds.

use crate::estimate::Estimate;
use crate::species::Species;
use threadbare_strategy::rng::Rng;

/// Classes with their chances.
#[derive(Clone, Debug)]
pub struct Source {
    chances: Vec<f64>,
    sums: Vec<f64>,
}

impl Source {
    /// Classes as likely as these weights say.
    pub fn new(weights: &[f64]) -> Source {
        let total: f64 = weights.iter().sum();
        let chances: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let sums = chances
            .iter()
            .scan(0.0, |sum, chance| {
                *sum += chance;
                Some(*sum)
            })
            .collect();
        Source { chances, sums }
    }

    /// How many classes there are.
    pub fn classes(&self) -> u64 {
        self.chances.len() as u64
    }

    /// One run's class.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let at = (rng.next() >> 11) as f64 / (1u64 << 53) as f64;
        self.sums.partition_point(|&sum| sum < at).min(self.chances.len().saturating_sub(1)) as u64
    }

    /// The chance of what a campaign has not seen.
    pub fn unseen(&self, species: &Species) -> f64 {
        let chance = |class: u64| self.chances.get(class as usize).copied().unwrap_or(0.0);
        let seen: f64 = species.all().iter().map(|&(class, _)| chance(class)).sum();
        // Sums of many small numbers are not exact.
        if species.classes() == self.classes() { 0.0 } else { (1.0 - seen).max(0.0) }
    }
}

/// The share of so many campaigns of `runs` runs each in which the estimate's interval held.
pub fn share(
    source: &Source,
    runs: u64,
    campaigns: u64,
    rng: &mut Rng,
    estimate: impl Fn(&Species) -> Option<Estimate>,
) -> f64 {
    let mut held = 0;
    for _ in 0..campaigns {
        let mut species = Species::default();
        for _ in 0..runs {
            species.see(source.draw(rng));
        }
        let unseen = source.unseen(&species);
        let holds = |estimate: Estimate| estimate.low <= unseen + 1e-12 && unseen <= estimate.high + 1e-12;
        held += u64::from(estimate(&species).is_some_and(holds));
    }
    held as f64 / campaigns as f64
}
