//! `directed`: a deadlock that was predicted from the order of locks is tried.
//!
//! The driver has seen strands take locks in a cycle, each with one lock in hand before the next, in a run that did not
//! deadlock. Each parameter names one such moment: the strand, the lock it is about to take and the place, as a hash
//! ([`target`]). A strand that stands before a target is held back while any other can go on, so the next strand of the
//! cycle can take that lock first; when it has, the held one waits for it, and the cycle closes.
//!
//! Who goes on otherwise is decided as under `random`. A moment may come many times in a run, and not every time is the
//! right one: of each target a few may be let pass, drawn from the seed.

use crate::random::Random;
use crate::rng::{Rng, mix};
use crate::{IN_ORDER, Pick, RunInfo, Strategy, View};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// The most targets of a run.
pub const TARGETS: usize = IN_ORDER;
/// Deadlines that come before a strand that is held back, at a stretch.
const PATIENCE: u32 = 256;

/// The parameter for a target: a strand, the lock it is about to take and the place. `StrandId::NONE` and 0 stand for any
/// strand and any lock.
pub fn target(strand: StrandId, lock: u64, pc: u64) -> u64 {
    mix(mix(pc ^ (strand.0 as u64) << 48) ^ lock) | 1
}

/// The strategy's state.
#[derive(Debug)]
pub struct Directed {
    random: Random,
    rng: Rng,
    targets: [u64; TARGETS],
    /// Times each target is let pass.
    passes: [u8; TARGETS],
    patience: u32,
}

impl Directed {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Directed {
            random: Random::new(),
            rng: Rng::new(0),
            targets: [0; TARGETS],
            passes: [0; TARGETS],
            patience: PATIENCE,
        }
    }

    fn index(&self, strand: StrandId, op: Op) -> Option<usize> {
        let waits = matches!(op.kind, OpKind::AtomicCas | OpKind::FutexWait)
            || op.kind.takes_lock() && op.kind != OpKind::MutexTimedLock;
        if !waits {
            return None;
        }
        let names =
            [target(strand, op.addr, op.pc), target(strand, 0, op.pc), target(StrandId::NONE, 0, op.pc)];
        self.targets.iter().position(|target| names.contains(target))
    }

    fn holds<V: View>(&self, view: &V, strand: StrandId) -> bool {
        self.index(strand, view.op(strand)).is_some_and(|index| self.passes[index] == 0)
    }

    /// The strand goes on: if it stood before a target that is let pass, that was one time.
    fn let_go<V: View>(&mut self, view: &V, strand: StrandId) -> Pick {
        if let Some(index) = self.index(strand, view.op(strand)) {
            self.passes[index] = self.passes[index].saturating_sub(1);
        }
        Pick::Run(strand)
    }
}

impl Default for Directed {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Directed {
    fn begin(&mut self, info: &RunInfo<'_>) {
        let mut params = [0; 8];
        params[IN_ORDER] = info.params[IN_ORDER];
        self.random.begin(&RunInfo { params, ..*info });
        self.rng = Rng::new(info.seed ^ 0x6469_7265_6374);
        self.targets.copy_from_slice(&info.params[..TARGETS]);
        for passes in &mut self.passes {
            *passes = if self.rng.below(4) == 0 { 1 + self.rng.below(3) as u8 } else { 0 };
        }
        self.patience = PATIENCE;
    }

    // Kept out of the other strategies' way.
    #[cold]
    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        match self.random.pick(view) {
            Pick::Run(strand) if self.holds(view, strand) => {}
            Pick::Run(strand) => return self.let_go(view, strand),
            timeout => return timeout,
        }
        let free = |&&strand: &&StrandId| !self.holds(view, strand);
        let count = view.enabled().iter().filter(free).count() as u32;
        if count > 0 {
            let nth = self.rng.below(count) as usize;
            if let Some(&strand) = view.enabled().iter().filter(|strand| !self.holds(view, **strand)).nth(nth)
            {
                return self.let_go(view, strand);
            }
        }
        // All that can go on are held back. What sleeps comes first, unless it sleeps again and again.
        if self.patience > 0
            && let Some(&strand) = view.timed().first()
        {
            self.patience -= 1;
            return Pick::Timeout(strand);
        }
        self.patience = PATIENCE;
        let nth = self.rng.below(view.enabled().len() as u32) as usize;
        Pick::Run(view.enabled()[nth])
    }

    fn choose(&mut self, options: u32) -> u32 {
        self.random.choose(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Strands that each stand before a lock at the pc of their number.
    struct Locks(Vec<StrandId>);

    impl View for Locks {
        fn enabled(&self) -> &[StrandId] {
            &self.0
        }
        fn current(&self) -> StrandId {
            self.0[0]
        }
        fn current_enabled(&self) -> bool {
            true
        }
        fn op(&self, strand: StrandId) -> Op {
            Op::new(OpKind::MutexLock, 0x1000, strand.0 as u64)
        }
        fn any_yields(&self) -> bool {
            false
        }
        fn yields(&self, _strand: StrandId) -> bool {
            false
        }
        fn timed(&self) -> &[StrandId] {
            &[]
        }
        fn last_writer(&self, _addr: u64) -> u64 {
            0
        }
    }

    fn begun(seed: u64, targets: &[u64]) -> Directed {
        let mut params = [0; 8];
        params[..targets.len()].copy_from_slice(targets);
        let mut strategy = Directed::new();
        strategy.begin(&RunInfo { params, ..crate::sim::info(seed, 0) });
        strategy
    }

    #[test]
    fn a_strand_before_its_target_waits_for_the_others() {
        let one = StrandId(1);
        for name in [target(one, 0x1000, 1), target(one, 0, 1), target(StrandId::NONE, 0, 1)] {
            // Three runs of four hold the first time.
            let held = (0..400).filter(|&seed| {
                let mut strategy = begun(seed, &[name]);
                let view = Locks([0, 1, 2].map(StrandId).to_vec());
                (0..20).all(|_| strategy.pick(&view) != Pick::Run(one))
            });
            assert!((250..350).contains(&held.count()));
        }
        // Another lock, another strand.
        for name in [target(one, 0x2000, 1), target(StrandId(2), 0, 1)] {
            let mut strategy = begun(1, &[name]);
            let view = Locks([0, 1].map(StrandId).to_vec());
            assert!((0..200).any(|_| strategy.pick(&view) == Pick::Run(one)));
        }
    }

    #[test]
    fn when_all_are_held_back_one_goes_on() {
        let targets = [target(StrandId(0), 0x1000, 0), target(StrandId(1), 0x1000, 1)];
        let mut strategy = begun(3, &targets);
        let view = Locks([0, 1].map(StrandId).to_vec());
        assert!(matches!(strategy.pick(&view), Pick::Run(_)));
    }
}
