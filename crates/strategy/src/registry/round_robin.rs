//! `round-robin`: the strands in turn, a fixed number of points each.
//!
//! The turn's length is drawn from the seed (1 to 16 points) unless the first parameter sets it, so that different
//! seeds of a campaign give different runs. Waiters are woken first come, first served.

use crate::rng::Rng;
use crate::{Pick, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// The enabled strand that comes after this one in order of creation, going round.
pub(crate) fn next_after<V: View>(strand: StrandId, view: &V) -> StrandId {
    let first = |after: Option<StrandId>| {
        view.enabled().iter().copied().filter(|&other| after.is_none_or(|a| other > a)).min()
    };
    first(Some(strand)).or_else(|| first(None)).unwrap_or(strand)
}

/// The strategy's state.
#[derive(Debug)]
pub struct RoundRobin {
    turn: u32,
    left: u32,
}

impl RoundRobin {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        RoundRobin { turn: 1, left: 1 }
    }
}

impl Default for RoundRobin {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for RoundRobin {
    fn begin(&mut self, info: &RunInfo<'_>) {
        self.turn = match info.params[0] {
            0 => 1 + Rng::new(info.seed).below(16),
            n => n.min(u32::MAX as u64) as u32,
        };
        self.left = self.turn;
    }

    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        let current = view.current();
        if self.left > 1 && view.current_enabled() && !view.yields(current) {
            self.left -= 1;
            return Pick::Run(current);
        }
        self.left = self.turn;
        Pick::Run(next_after(current, view))
    }

    fn choose(&mut self, _options: u32) -> u32 {
        0
    }
}
