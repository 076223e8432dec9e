//! `random`: in each run another way to be random.
//!
//! A strand that does little is through before another has begun if all go on at the same pace, so a walk that is
//! uniform at every point hardly ever shows an order in which somebody is slow. Each run therefore draws its manner from
//! its seed:
//!
//! - one run of four is [`Uniform`];
//! - one of four stays with the strand that runs, and goes to another at one point of 2, 4, … 64;
//! - two of four hold strands back: about half of the strands stand still for a while (8, 32 or 128 points on average),
//!   then others do.
//!
//! Every order of points has a chance in the first manner, so every order has one. Deadlines fire early in one run of
//! four, as under `uniform`.
//!
//! The first parameter, the stickiness, makes every run of the second manner: a switch at one point of that many.
//!
//! **Deadlines fire early in one run of four** under `random` and `uniform`, the earliest first: often enough to find
//! code that trusts a sleep, rarely enough that a generous timeout does not drown everything else.
//!
//! **`random` is several manners, one drawn for each run**: a uniform walk alone hardly ever keeps a strand waiting for
//! long, and most bugs need that.

use crate::rng::{Rng, mix};
use crate::uniform::Uniform;
use crate::{Pick, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// Strands that are too many to look at each, and draws among them before that is done all the same.
const MANY: usize = 64;
const DRAWS: u32 = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manner {
    Uniform,
    /// Switches at one point of so many.
    Sticky(u32),
    /// Draws anew who stands still at one point of so many.
    HoldBack(u32),
}

/// The strategy's state.
#[derive(Debug)]
pub struct Random {
    uniform: Uniform,
    rng: Rng,
    manner: Manner,
    /// Who stands still is a function of this number.
    held: u64,
}

impl Random {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Random { uniform: Uniform::new(), rng: Rng::new(0), manner: Manner::Uniform, held: 0 }
    }

    /// One of the enabled strands that do not stand still, if there are any.
    fn pick_moving<V: View>(&mut self, view: &V) -> Option<StrandId> {
        let held = self.held;
        let moving = |&&strand: &&StrandId| mix(held ^ strand.0 as u64) & 1 == 0 && !view.yields(strand);
        let all = view.enabled_count();
        if all > MANY {
            // About half of them move: one is soon drawn, without a look at each.
            for _ in 0..DRAWS {
                let strand = view.enabled_nth(self.rng.below(all as u32) as usize);
                if moving(&&strand) {
                    return Some(strand);
                }
            }
        }
        let count = view.enabled().iter().filter(moving).count() as u32;
        if count == 0 {
            return None;
        }
        let nth = self.rng.below(count) as usize;
        view.enabled().iter().filter(moving).nth(nth).copied()
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Random {
    fn begin(&mut self, info: &RunInfo<'_>) {
        self.uniform.begin(info);
        self.rng = Rng::new(info.seed ^ 0x6d61_6e6e_6572);
        self.manner = match self.rng.below(4) {
            _ if info.params[0] != 0 => Manner::Sticky(info.params[0].min(u32::MAX as u64) as u32),
            0 => Manner::Uniform,
            1 => Manner::Sticky(2 << self.rng.below(6)),
            _ => Manner::HoldBack(8 << (2 * self.rng.below(3))),
        };
        self.held = self.rng.next();
    }

    #[inline]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.uniform.deadline(view) {
            return Pick::Timeout(strand);
        }
        match self.manner {
            Manner::Uniform => {}
            Manner::Sticky(points) => {
                let current = view.current();
                if view.current_enabled() && !view.yields(current) && self.rng.below(points) != 0 {
                    return Pick::Run(current);
                }
            }
            Manner::HoldBack(points) => {
                if self.rng.below(points) == 0 {
                    self.held = self.rng.next();
                }
                if let Some(strand) = self.pick_moving(view) {
                    return Pick::Run(strand);
                }
            }
        }
        self.uniform.pick(view)
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.uniform.choose(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{self, Fake};

    /// Points for which the main strand runs alone before strand 1 makes its first, over the runs of one seed range.
    fn head_start(run: u64) -> usize {
        let mut strategy = Random::new();
        strategy.begin(&sim::info(run, 0));
        let mut fake = Fake::new(2);
        (0..100)
            .find(|_| {
                let Pick::Run(strand) = strategy.pick(&fake) else { return true };
                fake.current = strand;
                strand == StrandId(1)
            })
            .unwrap_or(100)
    }

    #[test]
    fn one_strand_can_be_far_ahead() {
        // Uniform alone would need 2^30 runs for one of these on average.
        let far = (0..400).filter(|&run| head_start(run) >= 30).count();
        assert!(far > 10, "{far} of 400 runs gave one strand 30 points in a row");
    }

    #[test]
    fn equal_seeds_give_equal_picks() {
        let picks = |seed| {
            let mut strategy = Random::new();
            strategy.begin(&sim::info(seed, 0));
            let fake = Fake::new(3);
            (0..50).map(|_| strategy.pick(&fake)).collect::<std::vec::Vec<_>>()
        };
        for seed in 0..20 {
            assert_eq!(picks(seed), picks(seed));
        }
    }

    #[test]
    fn a_sticky_run_switches_as_rarely_as_asked() {
        let mut strategy = Random::new();
        let mut switches = 0;
        for run in 0..100 {
            strategy.begin(&sim::info(run, 16));
            let mut fake = Fake::new(2);
            for _ in 0..160 {
                let Pick::Run(strand) = strategy.pick(&fake) else { continue };
                switches += usize::from(strand != fake.current);
                fake.current = strand;
            }
        }
        // One point of 16, and then the other strand in one of two cases: 500 expected, with standard deviation 22.
        assert!((368..=632).contains(&switches), "{switches}");
    }
}
