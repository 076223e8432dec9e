//! `delay`: a plain order, and a few delays.
//!
//! After Emmi, Qadeer and Rakamarić, "Delay-Bounded Scheduling" (POPL 2011). Without a delay, a strand goes on until it
//! waits, yields or ends, and then the next one in order of creation does. At d steps, drawn from the k that a run is
//! expected to have, the strand about to go on is passed over once.
//!
//! Guaranteed: a schedule with d delays among at most k steps comes with probability at least d!/k^d, however many strands
//! there are: most bugs need few delays.
//!
//! Differences from the paper:
//! 1. Delays are drawn, not enumerated, and exactly d are made where a run is as long as expected.
//! 2. Steps are choices, their number is estimated, and there is an end to patience: see [`crate::pct`].

use crate::pct::{expected_steps, patience};
use crate::rng::Rng;
use crate::round_robin::next_after;
use crate::uniform::Uniform;
use crate::{Pick, RunInfo, Strategy, View};

/// The number of delays unless a parameter sets it.
const DELAYS: u64 = 2;
/// The most delays.
pub const MOST: u64 = 64;

/// The strategy's state.
#[derive(Debug)]
pub struct Delay {
    base: Uniform,
    step: u64,
    at: [u64; MOST as usize],
    next: usize,
    count: usize,
    patience: u64,
}

impl Delay {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Delay { base: Uniform::new(), step: 0, at: [0; MOST as usize], next: 0, count: 0, patience: u64::MAX }
    }
}

impl Default for Delay {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Delay {
    fn begin(&mut self, info: &RunInfo<'_>) {
        self.base.begin(info);
        let mut rng = Rng::new(info.seed ^ 0x6465_6c61);
        let steps = expected_steps(info.estimate_choices, &mut rng);
        self.count = if info.params[0] == 0 { DELAYS } else { info.params[0].min(MOST) } as usize;
        self.at[..self.count].fill_with(|| 1 + rng.below64(steps));
        self.at[..self.count].sort_unstable();
        (self.next, self.step) = (0, 0);
        self.patience = patience(info.estimate_choices);
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.base.deadline(view) {
            return Pick::Timeout(strand);
        }
        self.step += 1;
        if self.step >= self.patience {
            return self.base.pick(view);
        }
        let current = view.current();
        let mut strand = current;
        if !view.current_enabled() || view.yields(current) {
            strand = next_after(current, view);
        }
        while self.next < self.count && self.at[self.next] <= self.step {
            strand = next_after(strand, view);
            self.next += 1;
        }
        Pick::Run(strand)
    }

    fn choose(&mut self, _options: u32) -> u32 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{self, Machine};

    #[test]
    fn delays_are_what_makes_runs_differ() {
        // Two strands of 5 steps. With one delay, drawn from 10 steps, strand 1 begins after 0 to 4 steps of strand 0;
        // a delay while only one strand is left has no effect.
        let machine = Machine::new(&[&[1; 5], &[2; 5]]);
        let mut strategy = Delay::new();
        let mut seen = [0; 6];
        for seed in 0..1000 {
            let info = RunInfo { estimate_choices: 10, ..sim::info(seed, 1) };
            let steps = machine.run(&mut strategy, &info);
            let begins = steps.iter().position(|step| step.strand == 1).unwrap();
            seen[begins] += 1;
            // It then goes on to its end: there is no other delay.
            assert!(steps[begins..begins + 5].iter().all(|step| step.strand == 1));
        }
        // 100 expected for each place, with standard deviation 9.5.
        assert!(seen[..5].iter().all(|&count| count > 43), "{seen:?}");
    }
}
