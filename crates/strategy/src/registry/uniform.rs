//! `uniform`: every enabled strand is equally likely at every point.
//!
//! A strand that asked to give way is left out while another can go on. Deadlines of timed waits fire early in one
//! run of four, at few points, so that both the usual order and the late one are seen.

use crate::rng::{Rng, scale};
use crate::{IN_ORDER, Pick, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// The strategy's state.
#[derive(Debug)]
pub struct Uniform {
    rng: Rng,
    in_order: bool,
    timeout_odds: u32,
    /// Drawn at the point before: the number is at hand when it is needed.
    drawn: u64,
}

impl Uniform {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Uniform { rng: Rng::new(0), in_order: false, timeout_odds: 0, drawn: 0 }
    }

    /// Whether a deadline may fire while a strand can go on.
    pub(crate) fn may_expire(&self) -> bool {
        !self.in_order
    }

    /// One of the enabled strands.
    #[inline(always)]
    pub(crate) fn pick_enabled<V: View>(&mut self, view: &V) -> StrandId {
        let drawn = core::mem::replace(&mut self.drawn, self.rng.next());
        let mut strand = view.enabled_nth(scale(drawn, view.enabled_count() as u32) as usize);
        if view.any_yields() && view.yields(strand) {
            // Most points have no yielding strand, so the scan is off the common path.
            let enabled = view.enabled();
            let others = enabled.iter().filter(|&&other| !view.yields(other)).count() as u32;
            if others > 0 {
                let nth = self.rng.below(others) as usize;
                if let Some(&other) = enabled.iter().filter(|&&other| !view.yields(other)).nth(nth) {
                    strand = other;
                }
            }
        }
        strand
    }

    /// The strand whose deadline fires now, if one does.
    #[inline(always)]
    pub(crate) fn deadline<V: View>(&mut self, view: &V) -> Option<StrandId> {
        if self.timeout_odds == 0 { None } else { self.draw_deadline(view) }
    }

    fn draw_deadline<V: View>(&mut self, view: &V) -> Option<StrandId> {
        let first = *view.timed().first()?;
        (self.rng.below(self.timeout_odds) == 0).then_some(first)
    }
}

impl Default for Uniform {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Uniform {
    fn begin(&mut self, info: &RunInfo<'_>) {
        self.rng = Rng::new(info.seed);
        self.in_order = info.params[IN_ORDER] != 0;
        self.timeout_odds = match self.rng.below(8) {
            _ if self.in_order => 0,
            0 => 8,
            1 => 64,
            _ => 0,
        };
        self.drawn = self.rng.next();
    }

    #[inline(always)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        match self.deadline(view) {
            Some(strand) => Pick::Timeout(strand),
            None => Pick::Run(self.pick_enabled(view)),
        }
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.rng.below(options)
    }
}
