//! `urw`: the uniform random walk.
//!
//! The plain form of [`surw`](crate::surw), after Zhao, Wolff, Mathur and Roychoudhury, "Selectively Uniform Concurrency
//! Testing" (ASPLOS 2025), section 3.1. A strand goes on with a probability proportional to the operations it has left
//! (those of children it has not created included), as earlier runs counted them.
//!
//! Guaranteed: where the counts are right and nobody waits, every interleaving is equally likely. A strand that does little
//! is not through before the others have begun, as in a walk that is uniform at every point.
//!
//! Differences from the paper: a strand that yields is left out while another can go on, and one that does more than
//! was counted has weight 1.

use crate::counts::COUNTS_WORDS;
use crate::rng::Rng;
use crate::uniform::Uniform;
use crate::weights::{WEIGHTS_WORDS, Weights};
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// The strategy's state.
#[derive(Debug)]
pub struct Urw {
    base: Uniform,
    rng: Rng,
    weights: Weights,
}

impl Urw {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Urw { base: Uniform::new(), rng: Rng::new(0), weights: Weights::new() }
    }

    /// Takes zeroed memory of [`WEIGHTS_WORDS`] words.
    pub(crate) fn take(&mut self, words: &'static mut [u64]) {
        self.weights.furnish(words);
    }

    /// An enabled strand among those that `class` puts highest, with a probability by what it has left.
    #[inline]
    pub(crate) fn next<V: View>(&mut self, view: &V, class: impl Fn(StrandId) -> u8) -> StrandId {
        let enabled = view.enabled();
        let (mut chosen, mut highest, mut total) = (enabled[0], 0, 0);
        // One pass: each strand takes the place of the one before it with the right probability.
        for &strand in enabled {
            let its = class(strand);
            if its < highest {
                continue;
            }
            if its > highest {
                (highest, total) = (its, 0);
            }
            let weight = self.weights.of(strand).max(1);
            total += weight;
            if total == weight || self.rng.below64(total) < weight {
                chosen = strand;
            }
        }
        chosen
    }

    /// The strand goes on with the operation it stands before.
    #[inline]
    pub(crate) fn goes_on<V: View>(&mut self, strand: StrandId, view: &V) {
        self.weights.goes_on(strand, &view.op(strand));
    }
}

impl Default for Urw {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Urw {
    fn furnish(&mut self, room: Room) {
        let (words, rest) = room.split_at_mut(WEIGHTS_WORDS);
        self.weights.furnish(words);
        self.weights.count_in(&mut rest[..COUNTS_WORDS]);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        self.base.begin(info);
        self.rng = Rng::new(info.seed ^ 0x0075_7277);
        self.weights.begin(info.guide, |_| !0);
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.base.deadline(view) {
            self.weights.goes_on(strand, &view.op(strand));
            return Pick::Timeout(strand);
        }
        let yields = view.any_yields();
        let weigh = |strand: StrandId| {
            if yields && view.yields(strand) { 0 } else { self.weights.of(strand).max(1) }
        };
        let enabled = view.enabled();
        let total: u64 = enabled.iter().map(|&strand| weigh(strand)).sum();
        let mut place = if total == 0 { 0 } else { self.rng.below64(total) };
        let mut chosen = enabled[0];
        for &strand in enabled {
            let weight = weigh(strand);
            if place < weight {
                chosen = strand;
                break;
            }
            place -= weight;
        }
        self.weights.goes_on(chosen, &view.op(chosen));
        Pick::Run(chosen)
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.base.choose(options)
    }

    fn created(&mut self, born: Born) {
        self.weights.created(born);
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        self.weights.goes_on(strand, &view.op(strand));
    }

    fn finish(&self, notes: &mut [u64]) -> usize {
        self.weights.finish(notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{self, Machine};
    use std::collections::BTreeMap;
    use std::vec::Vec;

    #[test]
    fn every_interleaving_is_equally_likely() {
        // 2 and 4 steps: 6!/(2!·4!) = 15 interleavings. Uniform choices would give the one with both of strand 0's steps
        // first a quarter of the runs.
        let machine = Machine::new(&[&[1, 2], &[3, 4, 5, 6]]);
        let mut strategy = Urw::new();
        strategy.furnish(sim::room());
        let guide = sim::notes_of(&machine, &mut strategy);
        const RUNS: u64 = 15_000;
        let mut seen: BTreeMap<Vec<u16>, u64> = BTreeMap::new();
        for seed in 0..RUNS {
            let steps = machine.run(&mut strategy, &RunInfo { guide: &guide, ..sim::info(seed, 0) });
            *seen.entry(steps.iter().map(|step| step.strand).collect()).or_default() += 1;
        }
        assert_eq!(seen.len(), 15);
        // Chi-square with 14 degrees of freedom: mean 14, standard deviation 5.3; above 50 in one case of 10^5.
        let expected = RUNS as f64 / 15.0;
        let deviation: f64 = seen.values().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        assert!(deviation < 50.0, "{deviation} {seen:?}");
    }

    #[test]
    fn strands_that_come_later_have_their_share() {
        // The first strand creates the second after one step of its own: the second's steps count for the first until then.
        // The interleavings are those of 2 and 3 steps, 10 in all.
        let machine = Machine::new(&[&[1, 2, 2], &[3, 3, 3]]).born_after(1, 0, 1);
        let mut strategy = Urw::new();
        strategy.furnish(sim::room());
        let guide = sim::notes_of(&machine, &mut strategy);
        const RUNS: u64 = 10_000;
        let mut seen: BTreeMap<Vec<u16>, u64> = BTreeMap::new();
        for seed in 0..RUNS {
            let steps = machine.run(&mut strategy, &RunInfo { guide: &guide, ..sim::info(seed, 0) });
            *seen.entry(steps.iter().map(|step| step.strand).collect()).or_default() += 1;
        }
        // 9 degrees of freedom: mean 9, standard deviation 4.2; above 40 in one case of 10^5.
        let deviation: f64 = seen.values().map(|&n| (n as f64 - 1000.0).powi(2) / 1000.0).sum();
        assert!(seen.len() == 10 && deviation < 40.0, "{deviation} {seen:?}");
    }
}
