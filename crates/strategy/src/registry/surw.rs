//! `surw`: the selectively uniform random walk.
//!
//! After Zhao, Wolff, Mathur and Roychoudhury, "Selectively Uniform Concurrency Testing" (ASPLOS 2025), section 3.2. Some
//! operations are interesting. Who makes the next one of these is drawn with weights: the interesting operations each
//! strand has left, as earlier runs counted them. All others stop when they come to an interesting one; what is not
//! interesting goes on in any order.
//!
//! Interesting are the operations on one, two, four or all of the objects that several strands use; how many and which, each
//! run draws.
//!
//! Guaranteed: where the counts are right and nobody waits, every interleaving of the interesting operations is equally
//! likely, however many others there are; and every interleaving of all operations is possible.
//!
//! Differences from the paper:
//! 1. Which operations are interesting is drawn by object, from what earlier runs saw. The first run has no interesting ones.
//! 2. When every strand that can go on stands before an interesting operation, and the one whose turn it is waits for
//!    something else, the turn is drawn anew among those that can. So it is when strands have been stopped for longer than
//!    whole runs take: the one whose turn it is may be waiting for them in a way the runtime cannot see.

use crate::counts::COUNTS_WORDS;
use crate::rng::Rng;
use crate::uniform::Uniform;
use crate::weights::{WEIGHTS_WORDS, Weights};
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// The strategy's state.
#[derive(Debug)]
pub struct Surw {
    base: Uniform,
    rng: Rng,
    weights: Weights,
    /// Whose turn it is to make the next interesting operation.
    turn: StrandId,
    /// Points for which others may still be stopped in this turn, and how many those are at its beginning.
    patience: u64,
    patience_most: u64,
}

/// Points for which strands are stopped, beyond twice the expected ones.
const PATIENCE: u64 = 1024;

impl Surw {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Surw {
            base: Uniform::new(),
            rng: Rng::new(0),
            weights: Weights::new(),
            turn: StrandId::NONE,
            patience: PATIENCE,
            patience_most: PATIENCE,
        }
    }

    #[inline]
    fn goes_on<V: View>(&mut self, strand: StrandId, view: &V) {
        if self.weights.goes_on(strand, &view.op(strand)) {
            self.turn = StrandId::NONE;
        }
    }

    /// Draws whose turn it is, among all strands that have something left.
    fn draw_turn(&mut self) {
        self.patience = self.patience_most;
        let total = self.weights.total();
        if total > 0 {
            let place = self.rng.below64(total);
            self.turn = self.weights.at(place);
        }
    }

    /// Draws among the enabled that stand before an interesting operation.
    #[cold]
    #[inline(never)]
    fn draw_enabled<V: View>(&mut self, view: &V) -> StrandId {
        let yields = view.any_yields();
        let weigh = |strand: StrandId| {
            let stopped = self.weights.is_interesting(&view.op(strand)) && !(yields && view.yields(strand));
            if stopped { self.weights.of(strand).max(1) } else { 0 }
        };
        let enabled = view.enabled();
        let total: u64 = enabled.iter().map(|&strand| weigh(strand)).sum();
        let mut place = if total == 0 { 0 } else { self.rng.below64(total) };
        for &strand in enabled {
            if place < weigh(strand) {
                return strand;
            }
            place -= weigh(strand);
        }
        enabled[0]
    }
}

impl Default for Surw {
    fn default() -> Self {
        Self::new()
    }
}

/// Some of the set bits: one, two, four or all.
fn select(shared: u64, rng: &mut Rng) -> u64 {
    let count = shared.count_ones();
    let wanted = match rng.below(4) {
        0 => 1,
        1 => 2,
        2 => 4,
        _ => count,
    };
    let mut selected = shared;
    for left in (wanted + 1..=count).rev() {
        let mut rest = selected;
        for _ in 0..rng.below(left) {
            rest &= rest - 1;
        }
        selected &= !(rest & rest.wrapping_neg());
    }
    selected
}

impl Strategy for Surw {
    fn furnish(&mut self, room: Room) {
        let (words, rest) = room.split_at_mut(WEIGHTS_WORDS);
        self.weights.furnish(words);
        self.weights.count_in(&mut rest[..COUNTS_WORDS]);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        self.base.begin(info);
        self.rng = Rng::new(info.seed ^ 0x7375_7277);
        let rng = &mut self.rng;
        self.weights.begin(info.guide, |shared| select(shared, rng));
        self.turn = StrandId::NONE;
        self.patience_most = PATIENCE.saturating_add(info.estimate_choices.saturating_mul(2));
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.base.deadline(view) {
            self.goes_on(strand, view);
            return Pick::Timeout(strand);
        }
        if self.turn == StrandId::NONE {
            self.draw_turn();
        }
        let yields = view.any_yields();
        let turn = self.turn;
        let weights = &self.weights;
        let free = |strand: StrandId| {
            (strand == turn || !weights.is_interesting(&view.op(strand))) && !(yields && view.yields(strand))
        };
        // One pass: each free strand takes the place of the one before it with the right probability.
        let mut count = 0;
        let mut chosen = StrandId::NONE;
        for &strand in view.enabled() {
            if free(strand) {
                count += 1;
                if count == 1 || self.rng.below(count) == 0 {
                    chosen = strand;
                }
            }
        }
        if (count as usize) < view.enabled().len() {
            self.patience = self.patience.saturating_sub(1);
            if count == 0 || self.patience == 0 {
                chosen = self.draw_enabled(view);
            }
        }
        self.goes_on(chosen, view);
        Pick::Run(chosen)
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.base.choose(options)
    }

    fn created(&mut self, born: Born) {
        let (weight, before) = self.weights.created(born);
        // The turn was drawn when this strand's operations were its parent's.
        if self.turn == born.parent && before > 0 && self.rng.below64(before) < weight {
            self.turn = born.strand;
        }
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        self.goes_on(strand, view);
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
    fn interleavings_of_what_is_interesting_are_equally_likely() {
        // Both strands use object 1 three times; strand 0 does much else in between, and object 1 is the only one that both
        // use. 6!/(3!·3!) = 20 interleavings of the six operations.
        let machine = Machine::new(&[&[1, 50, 51, 52, 53, 54, 55, 1, 56, 57, 58, 59, 1, 60], &[1, 1, 1]]);
        let mut strategy = Surw::new();
        strategy.furnish(sim::room());
        let guide = sim::notes_of(&machine, &mut strategy);
        const RUNS: u64 = 20_000;
        let mut seen: BTreeMap<Vec<u16>, u64> = BTreeMap::new();
        for seed in 0..RUNS {
            let steps = machine.run(&mut strategy, &RunInfo { guide: &guide, ..sim::info(seed, 0) });
            let order = steps.iter().filter(|step| step.addr == 1).map(|step| step.strand);
            *seen.entry(order.collect()).or_default() += 1;
        }
        assert_eq!(seen.len(), 20);
        // Chi-square with 19 degrees of freedom: mean 19, standard deviation 6.2; above 60 in one case of 10^5.
        let deviation: f64 = seen.values().map(|&n| (n as f64 - 1000.0).powi(2) / 1000.0).sum();
        assert!(deviation < 60.0, "{deviation} {seen:?}");
    }

    #[test]
    fn strands_with_locks_come_to_their_end() {
        let machine = Machine::new(&[&[9, 1, 8, 1, 9], &[8, 1, 1, 8], &[9, 1, 2, 9]]).locks(&[8, 9]);
        let mut strategy = Surw::new();
        strategy.furnish(sim::room());
        let guide = sim::notes_of(&machine, &mut strategy);
        for seed in 0..500 {
            machine.run(&mut strategy, &RunInfo { guide: &guide, ..sim::info(seed, 0) });
        }
    }

    #[test]
    fn a_strand_that_waits_unseen_starves_nobody() {
        // Strand 0 goes round at a place of its own until strand 1, which stands before what both use, has ended.
        let machine = Machine::new(&[&[1, 1, 1, 5], &[1, 1, 1]]).spins(0, 1);
        let mut strategy = Surw::new();
        strategy.furnish(sim::room());
        // As counted when strand 0 did something interesting at its end.
        let counted = Machine::new(&[&[1, 1, 1, 1, 1], &[1, 1, 1]]);
        let guide = sim::notes_of(&counted, &mut strategy);
        for seed in 0..100 {
            let steps = machine.run(&mut strategy, &RunInfo { guide: &guide, ..sim::info(seed, 0) });
            assert!(steps.len() < 20_000);
        }
    }

    #[test]
    fn the_selection_is_part_of_what_is_shared() {
        let mut rng = Rng::new(3);
        for _ in 0..200 {
            let shared = rng.next() & rng.next();
            let selected = select(shared, &mut rng);
            assert_eq!(selected & !shared, 0);
            assert!(selected != 0 || shared == 0);
        }
    }
}
