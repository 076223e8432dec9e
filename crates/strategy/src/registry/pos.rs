//! `pos`: partial order sampling.
//!
//! After Yuan, Yang and Gu, "Partial Order Aware Concurrency Sampling" (CAV 2018). Every pending operation has a random
//! priority, and the highest one goes on. When it has, the pending operations that race with it get new priorities, and
//! so does the strand's next one. Operations that do not race keep theirs, so the order of those that do is drawn anew
//! at each race, however much else the strands do in between.
//!
//! Guaranteed: every partial order of racing operations has a chance, one that falls with the number of races and not
//! with the number of steps. (Where nothing races but one pair, with m other operations before one of them, that one
//! comes first with probability 1/(m + 2), where a walk that is uniform at every point gives it 2^-(m + 1).)
//!
//! Differences from the paper:
//! 1. An operation that waits is not among the enabled; it keeps its priority until somebody that races with it goes on
//!    while it is enabled.
//! 2. A strand that yields comes last, until somebody else has moved.

use crate::conflict::conflict;
use crate::rng::Rng;
use crate::uniform::Uniform;
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// The strategy's state.
#[derive(Debug)]
pub struct Pos {
    base: Uniform,
    rng: Rng,
    priorities: &'static mut [u64],
}

impl Pos {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Pos { base: Uniform::new(), rng: Rng::new(0), priorities: &mut [] }
    }

    /// The strand goes on: its next operation gets its priority, and so do those that race with this one.
    #[inline]
    pub(crate) fn goes_on<V: View>(&mut self, strand: StrandId, view: &V) {
        let op = view.op(strand);
        for &other in view.enabled() {
            if other != strand && conflict(&op, &view.op(other)) {
                self.priorities[other.index()] = self.rng.next();
            }
        }
        self.priorities[strand.index()] = self.rng.next();
    }

    /// The enabled strand with the highest priority among those that `class` puts highest.
    #[inline]
    pub(crate) fn highest<V: View>(&self, view: &V, class: impl Fn(StrandId) -> u8) -> StrandId {
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

    /// The strand whose deadline fires now, if one does.
    #[inline]
    pub(crate) fn deadline<V: View>(&mut self, view: &V) -> Option<StrandId> {
        let strand = self.base.deadline(view)?;
        self.priorities[strand.index()] = self.rng.next();
        Some(strand)
    }

    /// Whether a deadline may fire while a strand can go on.
    pub(crate) fn may_expire(&self) -> bool {
        self.base.may_expire()
    }

    /// Takes the memory for the priorities.
    pub(crate) fn take(&mut self, words: &'static mut [u64]) {
        self.priorities = words;
    }

    /// The enabled strand that goes on.
    #[inline]
    pub(crate) fn pick_enabled<V: View>(&mut self, view: &V) -> StrandId {
        let strand = if view.any_yields() {
            self.highest(view, |strand| u8::from(!view.yields(strand)))
        } else {
            self.highest(view, |_| 0)
        };
        self.goes_on(strand, view);
        strand
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }
}

impl Default for Pos {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Pos {
    fn furnish(&mut self, room: Room) {
        self.priorities = room;
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        self.base.begin(info);
        self.rng = Rng::new(info.seed ^ 0x0070_6f73);
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if let Some(strand) = self.deadline(view) {
            return Pick::Timeout(strand);
        }
        Pick::Run(self.pick_enabled(view))
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.base.choose(options)
    }

    fn created(&mut self, born: Born) {
        self.priorities[born.strand.index()] = self.rng.next();
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, _view: &V) {
        self.priorities[strand.index()] = self.rng.next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{self, Machine, Step};

    const RUNS: u64 = 20_000;

    fn share(machine: &Machine, is_it: impl Fn(&[Step]) -> bool) -> f64 {
        let mut strategy = Pos::new();
        strategy.furnish(sim::room());
        let shown = (0..RUNS).filter(|&seed| is_it(&machine.run(&mut strategy, &sim::info(seed, 0))));
        shown.count() as f64 / RUNS as f64
    }

    /// Six standard deviations of the share of an event with this chance.
    fn tolerance(chance: f64) -> f64 {
        6.0 * (chance * (1.0 - chance) / RUNS as f64).sqrt()
    }

    #[test]
    fn one_race_after_many_independent_steps() {
        // Strand 0 makes m operations of its own and then races with strand 1's only one. That one keeps its priority
        // meanwhile, so it comes second if it is the least of m + 2 independent uniform numbers: 1/(m + 2).
        for m in [0u64, 3, 14] {
            let own: std::vec::Vec<u64> = (0..m).map(|at| 100 + at).chain([1]).collect();
            let machine = Machine::new(&[&own, &[1]]);
            let second = share(&machine, |steps| steps.last().is_some_and(|step| step.strand == 1));
            let chance = 1.0 / (m + 2) as f64;
            assert!((second - chance).abs() < tolerance(chance), "{m}: {second} for {chance}");
        }
    }

    #[test]
    fn racing_writers_come_in_every_order() {
        // Three writers to one variable: all race, so each choice is drawn anew and the 3! orders, which are the classes,
        // are equally likely.
        let machine = Machine::new(&[&[1], &[1], &[1]]);
        for first in 0..3 {
            for second in (0..3).filter(|&second| second != first) {
                let seen = share(&machine, |steps| steps[0].strand == first && steps[1].strand == second);
                assert!((seen - 1.0 / 6.0).abs() < tolerance(1.0 / 6.0), "{first} {second}: {seen}");
            }
        }
    }

    #[test]
    fn a_narrow_window_is_hit_as_often_as_its_races_say() {
        // Strand 0: x, then 8 steps of its own, x again; strand 1: x once. Three classes. The one with strand 1 first: the
        // higher of two numbers, 1/2. Otherwise strand 1's number is drawn anew at the race; it comes in between unless it
        // is the least of 10 numbers (its own, 8 steps, the second x): 1/2 · 9/10.
        let machine = Machine::new(&[&[1, 100, 101, 102, 103, 104, 105, 106, 107, 1], &[1]]);
        let between = share(&machine, |steps| {
            let at = steps.iter().position(|step| step.strand == 1).unwrap();
            at > 0 && at < steps.len() - 1
        });
        assert!((between - 0.45).abs() < tolerance(0.45), "{between}");
    }
}
