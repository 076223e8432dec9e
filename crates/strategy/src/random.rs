//! `random`: every enabled strand is equally likely at every point.
//!
//! A strand that asked to give way is left out while another can go on. Deadlines of timed waits fire early in one
//! run of four, at few points, so that both the usual order and the late one are seen.

use crate::rng::Rng;
use crate::{Pick, RunInfo, Strategy, View};

/// The strategy's state.
#[derive(Debug)]
pub struct Random {
    rng: Rng,
    timeout_odds: u32,
}

impl Random {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Random { rng: Rng::new(0), timeout_odds: 0 }
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Random {
    fn begin(&mut self, info: &RunInfo) {
        self.rng = Rng::new(info.seed);
        self.timeout_odds = match self.rng.below(8) {
            0 => 8,
            1 => 64,
            _ => 0,
        };
    }

    #[inline]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        let timed = view.timed();
        if self.timeout_odds != 0 && !timed.is_empty() && self.rng.below(self.timeout_odds) == 0 {
            return Pick::Timeout(timed[self.rng.below(timed.len() as u32) as usize]);
        }
        let enabled = view.enabled();
        if enabled.is_empty() {
            return Pick::Timeout(timed[0]);
        }
        let mut strand = enabled[self.rng.below(enabled.len() as u32) as usize];
        if view.yields(strand) {
            // Most points have no yielding strand, so the scan is off the common path.
            let others = enabled.iter().filter(|&&other| !view.yields(other)).count() as u32;
            if others > 0 {
                let nth = self.rng.below(others) as usize;
                if let Some(&other) = enabled.iter().filter(|&&other| !view.yields(other)).nth(nth) {
                    strand = other;
                }
            }
        }
        Pick::Run(strand)
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.rng.below(options)
    }
}
