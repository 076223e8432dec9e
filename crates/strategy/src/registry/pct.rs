//! `pct`: priorities, and a few points at which they change.
//!
//! After Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
//! Finding Bugs" (ASPLOS 2010). Every strand has a random priority, and the highest one that can go on does. At d - 1
//! steps, drawn from the k that a run is expected to have, the strand about to go on falls below all others.
//!
//! Guaranteed: a bug of depth d, one that d ordering constraints suffice for, shows with probability at least
//! 1/(n·k^(d-1)) in a run with n strands and at most k steps.
//!
//! Differences from the paper:
//! 1. Steps are choices: points at which only one strand can go on do not count. A change there would have the effect
//!    it has at the next choice, and k is smaller.
//! 2. k is what the longest of earlier runs had (but for the longest eighth), not given by the user. The first run draws
//!    it.
//! 3. A strand that yields falls below all others, and after many times the expected steps every strand is equally
//!    likely: a strand that waits in a way the runtime cannot see must not starve the one it waits for.

use crate::rng::Rng;
use crate::uniform::Uniform;
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// The depth unless a parameter sets it.
const DEPTH: u64 = 3;
/// The most depth.
pub const DEEPEST: u64 = 33;
/// Changes of priority in a run at the most.
const CHANGES: usize = DEEPEST as usize - 1;

/// Initial priorities have this bit, the ones a change gives do not.
const INITIAL: u64 = 1 << 63;
/// Changed priorities are above it, those of strands that yielded are below.
const YIELDED: u64 = 1 << 32;

/// Steps after which strands are treated alike, beyond a multiple of the expected ones.
const PATIENCE: u64 = 1 << 12;
/// The same where nothing is known of the program.
const PATIENCE_AT_FIRST: u64 = 1 << 14;

/// The strategy's state.
#[derive(Debug)]
pub struct Pct {
    base: Uniform,
    rng: Rng,
    priorities: &'static mut [u64],
    step: u64,
    /// The step of the next change, or of the end of patience.
    next: u64,
    /// Steps and the priorities they give, by step.
    changes: [(u64, u64); CHANGES],
    at: usize,
    count: usize,
    lowest: u64,
    patience: u64,
}

impl Pct {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Pct {
            base: Uniform::new(),
            rng: Rng::new(0),
            priorities: &mut [],
            step: 0,
            next: u64::MAX,
            changes: [(0, 0); CHANGES],
            at: 0,
            count: 0,
            lowest: YIELDED,
            patience: u64::MAX,
        }
    }

    /// The enabled strand with the highest priority among those that `class` puts highest.
    #[inline]
    fn highest<V: View>(&self, view: &V, class: &impl Fn(StrandId) -> u8) -> StrandId {
        let enabled = view.enabled();
        let mut best = enabled[0];
        let mut rank = (class(best), self.priorities[best.index()]);
        for &strand in &enabled[1..] {
            let other = (class(strand), self.priorities[strand.index()]);
            if other > rank {
                (best, rank) = (strand, other);
            }
        }
        best
    }

    /// Takes the memory for the priorities.
    pub(crate) fn take(&mut self, words: &'static mut [u64]) {
        self.priorities = words;
    }

    /// The enabled strand that goes on, among those that `class` puts highest.
    #[inline]
    pub(crate) fn next<V: View>(&mut self, view: &V, class: impl Fn(StrandId) -> u8) -> StrandId {
        self.step += 1;
        if view.any_yields() && view.yields(view.current()) {
            self.lowest -= 1;
            self.priorities[view.current().index()] = self.lowest;
        }
        if self.step >= self.next { self.change(view, &class) } else { self.highest(view, &class) }
    }

    /// Changes the priorities that are due at this step; the strand that goes on then.
    #[cold]
    #[inline(never)]
    fn change<V: View>(&mut self, view: &V, class: &impl Fn(StrandId) -> u8) -> StrandId {
        if self.step >= self.patience {
            return self.base.pick_enabled(view);
        }
        while self.at < self.count && self.changes[self.at].0 <= self.step {
            let best = self.highest(view, class);
            self.priorities[best.index()] = self.changes[self.at].1;
            self.at += 1;
        }
        self.next =
            if self.at < self.count { self.changes[self.at].0.min(self.patience) } else { self.patience };
        self.highest(view, class)
    }
}

impl Default for Pct {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Pct {
    fn furnish(&mut self, room: Room) {
        self.priorities = room;
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        self.base.begin(info);
        self.rng = Rng::new(info.seed ^ 0x0070_6374);
        let steps = expected_steps(info.estimate_choices, &mut self.rng);
        let depth = if info.params[0] == 0 { DEPTH } else { info.params[0].min(DEEPEST) };
        self.count = depth as usize - 1;
        for (index, change) in self.changes[..self.count].iter_mut().enumerate() {
            // The order in time is drawn, the priorities are not: any of them may be the lowest.
            *change = (1 + self.rng.below64(steps), YIELDED + 1 + index as u64);
        }
        self.changes[..self.count].sort_unstable();
        self.at = 0;
        self.step = 0;
        self.lowest = YIELDED;
        self.patience = patience(info.estimate_choices);
        self.next = if self.count > 0 { self.changes[0].0 } else { self.patience };
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.base.deadline(view) {
            return Pick::Timeout(strand);
        }
        Pick::Run(self.next(view, |_| 0))
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.base.choose(options)
    }

    fn created(&mut self, born: Born) {
        self.priorities[born.strand.index()] = self.rng.next() | INITIAL;
    }
}

/// The steps to expect: what earlier runs had, or a power of two when there were none.
pub(crate) fn expected_steps(estimate: u64, rng: &mut Rng) -> u64 {
    if estimate == 0 { 8 << rng.below(8) } else { estimate }
}

/// The step from which on all strands are treated alike.
pub(crate) fn patience(estimate: u64) -> u64 {
    if estimate == 0 { PATIENCE_AT_FIRST } else { PATIENCE.saturating_add(estimate.saturating_mul(8)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{self, Machine, Step};
    use std::vec;

    /// The share of runs of `machine` with depth `depth` that `is_bug` holds for.
    fn hits(machine: &Machine, depth: u64, runs: u64, is_bug: impl Fn(&[Step]) -> bool) -> f64 {
        let mut strategy = Pct::new();
        strategy.furnish(sim::room());
        let steps = machine.choices_at_most();
        let shown = (0..runs).filter(|&seed| {
            let info = RunInfo { estimate_choices: steps, ..sim::info(seed, depth) };
            is_bug(&machine.run(&mut strategy, &info))
        });
        shown.count() as f64 / runs as f64
    }

    /// The least share that a strategy with chance `chance` shows in `runs` runs, but for one case in 10^9: six
    /// standard deviations below.
    fn least(chance: f64, runs: u64) -> f64 {
        chance - 6.0 * (chance * (1.0 - chance) / runs as f64).sqrt()
    }

    const RUNS: u64 = 10_000;

    #[test]
    fn depth_1_orders_two_strands() {
        // Figure 1 of the paper: a strand uses what another initialises. One constraint: the use comes before the
        // initialisation, which comes last of 20 steps. n = 2, so at least one run of two shows it; uniform choices would in
        // one of a million.
        let machine = Machine::new(&[&[1; 20], &[2]]);
        let share = hits(&machine, 1, RUNS, |steps| {
            let last = |strand| steps.iter().rposition(|step| step.strand == strand);
            last(1) < last(0)
        });
        assert!(share >= least(0.5, RUNS), "{share}");
    }

    #[test]
    fn depth_2_splits_a_pair() {
        // Figure 2: a check and a use in one strand (steps 5 and 6 of 10), and a write in another (step 3 of 10) that
        // comes in between: two constraints. n = 2, k = 20: at least 1/40 of the runs.
        let machine = Machine::new(&[&[1, 1, 1, 1, 5, 6, 1, 1, 1, 1], &[2, 2, 7, 2, 2, 2, 2, 2, 2, 2]]);
        let share = hits(&machine, 2, RUNS, |steps| {
            let at = |addr| steps.iter().position(|step| step.addr == addr);
            at(5) < at(7) && at(7) < at(6)
        });
        assert!(share >= least(1.0 / 40.0, RUNS), "{share}");
    }

    #[test]
    fn depth_3_needs_two_changes() {
        // A write of each strand between two accesses of the other: three constraints (a1 < b1 < a2 < b2, where the last
        // comes from the second one's place after b1). n = 2, k = 12: at least 1/288.
        let machine = Machine::new(&[&[9, 1, 2, 9, 9, 9], &[9, 9, 9, 3, 4, 9]]);
        let share = hits(&machine, 3, RUNS, |steps| {
            let at = |addr| steps.iter().position(|step| step.addr == addr);
            at(1) < at(3) && at(3) < at(2) && at(2) < at(4)
        });
        assert!(share >= least(1.0 / 288.0, RUNS), "{share}");
        // The same with one change less cannot happen in the order it needs more often than by luck: the strands would
        // have to change places twice.
        let shallow = hits(&machine, 2, RUNS, |steps| {
            let at = |addr| steps.iter().position(|step| step.addr == addr);
            at(1) < at(3) && at(3) < at(2) && at(2) < at(4)
        });
        assert_eq!(shallow, 0.0);
    }

    #[test]
    fn one_of_many_strands_first_and_last() {
        // n = 16: the last strand created is the first to go on in at least one run of 16, and the last in as many.
        let programs = vec![&[1u64, 1, 1][..]; 16];
        let machine = Machine::new(&programs);
        let first = hits(&machine, 1, RUNS, |steps| steps[0].strand == 15);
        let last = hits(&machine, 1, RUNS, |steps| steps.last().is_some_and(|step| step.strand == 15));
        assert!(first >= least(1.0 / 16.0, RUNS) && last >= least(1.0 / 16.0, RUNS), "{first} {last}");
    }

    #[test]
    fn a_strand_that_waits_unseen_starves_nobody() {
        // Strand 0 goes round and round until strand 1 has ended.
        let machine = Machine::new(&[&[1; 4], &[2; 4]]).spins(0, 1);
        let mut strategy = Pct::new();
        strategy.furnish(sim::room());
        for seed in 0..6 {
            let steps = machine.run(&mut strategy, &sim::info(seed, 1));
            assert_eq!(steps.iter().filter(|step| step.strand == 1).count(), 4);
        }
    }
}
