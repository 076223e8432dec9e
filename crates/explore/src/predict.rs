//! Deadlocks that did not happen: cycles in the order of locks, and runs directed to them.
//!
//! A run that passed tells which locks each strand took while it held others. Where strands took locks in a cycle, each
//! with one in hand that the one before it in the cycle wants, they might have waited for each other. A cycle is left out when it
//! cannot close (after Havelund's Goodlock and its successors):
//!
//! - two of its strands held a common third lock (a gate) on these occasions, not both for reading;
//! - creation and join order two of its occasions, so they are never under way at the same time;
//! - the lock that two of them meet at was taken for reading by both.
//!
//! What is left may still be impossible for reasons nobody sees here, so it is tried: a few runs under the `directed`
//! strategy, each made again like any other run. Only a run that really fails is told as a finding.

use crate::outcome::Outcome;
use crate::run::Request;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use threadbare_abi::strand::StrandId;
use threadbare_strategy::directed::{TARGETS, target};
use threadbare_strategy::{StrategyId, rng};
use threadbare_trace::locks::LockOrder;

/// Runs that try one cycle.
pub(crate) const TRIES: u64 = 20;
/// Cycles that are tried in one campaign.
const CYCLES_MOST: usize = 32;
/// Cycles with the same places that are tried in one campaign.
const ALIKE_MOST: usize = 2;
/// Strands of a cycle at the most.
const LENGTH_MOST: usize = TARGETS;
/// Steps of the search for cycles in one run.
const STEPS_MOST: usize = 50_000;

/// Orders that make a cycle: each strand holds the lock that the one before it takes.
pub type Cycle = Vec<LockOrder>;

/// A cycle to be tried.
#[derive(Clone, Debug)]
pub(crate) struct Prediction {
    /// Its place among the predictions.
    pub(crate) number: u64,
    /// The run that showed it.
    pub(crate) run: u64,
    pub(crate) cycle: Cycle,
}

/// A cycle that was tried and did not fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unproved {
    /// The cycle.
    pub cycle: Cycle,
    /// Runs that tried it.
    pub tries: u64,
}

/// What the tries of a prediction came to.
#[derive(Debug)]
pub struct Tried {
    pub(crate) prediction: Arc<Prediction>,
    pub(crate) tries: u64,
    /// The run that failed, if one did.
    pub(crate) outcome: Option<Box<Outcome>>,
}

impl Prediction {
    /// The request of one try; `base` is that of the run that showed the cycle.
    pub(crate) fn request(&self, base: &Request, number: u64) -> Request {
        let mut request = base.clone();
        request.strategy = StrategyId::Directed;
        request.params[..TARGETS].fill(0);
        request.seed = rng::mix(rng::mix(base.seed ^ self.number) ^ number);
        // Addresses and the order of creation may be other ones in another run: the last tries do not ask for them.
        for (param, order) in request.params.iter_mut().zip(&self.cycle) {
            *param = match number {
                _ if number < TRIES / 2 => target(StrandId(order.strand), order.taken, order.pc),
                _ if number < TRIES * 3 / 4 => target(StrandId(order.strand), 0, order.pc),
                _ => target(StrandId::NONE, 0, order.pc),
            };
        }
        request
    }
}

/// The predictions of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Predictions {
    seen: BTreeSet<Vec<(u16, u64, u64, u64)>>,
    alike: BTreeMap<Vec<(u64, u64)>, usize>,
    queue: VecDeque<Arc<Prediction>>,
    made: u64,
    under_way: u64,
}

impl Predictions {
    /// A run that passed showed this cycle.
    pub(crate) fn see(&mut self, run: u64, cycle: Cycle) {
        if self.made as usize >= CYCLES_MOST {
            return;
        }
        let mut name: Vec<_> = cycle.iter().map(|it| (it.strand, it.held, it.taken, it.pc)).collect();
        name.sort_unstable();
        let mut places: Vec<_> = cycle.iter().map(|it| (it.held_pc, it.pc)).collect();
        places.sort_unstable();
        if self.seen.contains(&name) {
            return;
        }
        let alike = self.alike.entry(places).or_default();
        if *alike == ALIKE_MOST {
            return;
        }
        *alike += 1;
        self.seen.insert(name);
        self.queue.push_back(Arc::new(Prediction { number: self.made, run, cycle }));
        self.made += 1;
    }

    /// The next one to be tried.
    pub(crate) fn take(&mut self) -> Option<Arc<Prediction>> {
        let next = self.queue.pop_front()?;
        self.under_way += 1;
        Some(next)
    }

    /// One was tried, or given up.
    pub(crate) fn done(&mut self) {
        self.under_way -= 1;
    }

    /// Whether some are still to be tried or under way.
    pub(crate) fn are_open(&self) -> bool {
        self.under_way > 0 || !self.queue.is_empty()
    }
}

/// The cycles in the lock orders of one run that may close.
pub(crate) fn cycles(orders: &[LockOrder]) -> Vec<Cycle> {
    let mut search = Search::of(orders);
    for at in 0..orders.len() {
        search.extend(&mut vec![at]);
    }
    search.found
}

struct Search<'a> {
    orders: &'a [LockOrder],
    /// Orders by the lock that is held.
    by_held: BTreeMap<u64, Vec<usize>>,
    /// Orders by occasion.
    by_occasion: BTreeMap<u32, Vec<usize>>,
    found: Vec<Cycle>,
    steps: usize,
}

impl<'a> Search<'a> {
    fn of(orders: &'a [LockOrder]) -> Search<'a> {
        let mut by_held: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut by_occasion: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, order) in orders.iter().enumerate() {
            by_held.entry(order.held).or_default().push(index);
            by_occasion.entry(order.occasion).or_default().push(index);
        }
        Search { orders, by_held, by_occasion, found: Vec::new(), steps: 0 }
    }

    /// Tries every way to go on with the path; the strand with the lowest number begins it, so each cycle comes once.
    fn extend(&mut self, path: &mut Vec<usize>) {
        self.steps += 1;
        let (first, last) = (&self.orders[path[0]], &self.orders[path[path.len() - 1]]);
        if self.steps > STEPS_MOST || self.found.len() >= CYCLES_MOST {
            return;
        }
        if path.len() > 1 && last.taken == first.held && !(last.taken_shared && first.held_shared) {
            self.found.push(path.iter().map(|&at| self.orders[at].clone()).collect());
            return;
        }
        if path.len() == LENGTH_MOST {
            return;
        }
        let Some(next) = self.by_held.get(&last.taken).cloned() else { return };
        for at in next {
            let order = &self.orders[at];
            let meets = !(last.taken_shared && order.held_shared);
            if meets && order.strand > first.strand && path.iter().all(|&other| self.may_meet(other, at)) {
                path.push(at);
                self.extend(path);
                path.pop();
            }
        }
    }

    /// Whether the two occasions can be under way at the same time.
    fn may_meet(&self, one: usize, other: usize) -> bool {
        let (a, b) = (&self.orders[one], &self.orders[other]);
        if a.strand == b.strand || a.comes_before(b) || b.comes_before(a) {
            return false;
        }
        let (of_a, of_b) = (&self.by_occasion[&a.occasion], &self.by_occasion[&b.occasion]);
        !of_a.iter().any(|&x| of_b.iter().any(|&y| self.orders[x].excludes(&self.orders[y])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strand's occasion: the locks it holds, in order, and the one it takes.
    fn occasion(orders: &mut Vec<LockOrder>, strand: u16, held: &[u64], taken: u64) {
        let occasion = orders.len() as u32 + 1;
        for &lock in held {
            // All strands were created by main before any lock was taken.
            let mut clock = vec![0; usize::from(strand) + 1];
            clock[0] = 1;
            clock[usize::from(strand)] = 1;
            let pc = 0x1000 + u64::from(occasion);
            orders.push(LockOrder { strand, held: lock, taken, pc, occasion, clock, ..LockOrder::default() });
        }
    }

    fn made(list: &[(u16, &[u64], u64)]) -> Vec<LockOrder> {
        let mut orders = Vec::new();
        for &(strand, held, taken) in list {
            occasion(&mut orders, strand, held, taken);
        }
        orders
    }

    #[test]
    fn opposite_orders_are_a_cycle() {
        let found = cycles(&made(&[(1, &[10], 20), (2, &[20], 10)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].iter().map(|it| it.strand).collect::<Vec<_>>(), [1, 2]);
        // Both by the same strand, or in the same order.
        assert!(cycles(&made(&[(1, &[10], 20), (1, &[20], 10)])).is_empty());
        assert!(cycles(&made(&[(1, &[10], 20), (2, &[10], 20)])).is_empty());
    }

    #[test]
    fn longer_cycles_are_found_once() {
        let found = cycles(&made(&[(3, &[30], 10), (1, &[10], 20), (2, &[20], 30)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].len(), 3);
        // A strand cannot be in it twice.
        assert!(cycles(&made(&[(1, &[30], 10), (1, &[10], 20), (2, &[20], 30)])).is_empty());
    }

    #[test]
    fn a_gate_keeps_it_open() {
        assert!(cycles(&made(&[(1, &[7, 10], 20), (2, &[7, 20], 10)])).is_empty());
        // Only one of them holds it.
        assert_eq!(cycles(&made(&[(1, &[7, 10], 20), (2, &[20], 10)])).len(), 1);
        // Readers do not keep each other out.
        let mut orders = made(&[(1, &[7, 10], 20), (2, &[7, 20], 10)]);
        for order in orders.iter_mut().filter(|order| order.held == 7) {
            order.held_shared = true;
        }
        assert_eq!(cycles(&orders).len(), 1);
    }

    #[test]
    fn readers_do_not_wait_for_readers() {
        let mut orders = made(&[(1, &[10], 20), (2, &[20], 10)]);
        orders[0].held_shared = true;
        assert_eq!(cycles(&orders).len(), 1);
        orders[1].taken_shared = true;
        assert!(cycles(&orders).is_empty());
    }

    #[test]
    fn what_join_orders_cannot_meet() {
        let mut orders = made(&[(1, &[10], 20), (2, &[20], 10)]);
        // Strand 2 was created when strand 1 had been joined.
        orders[1].clock = vec![3, 1, 1];
        assert!(cycles(&orders).is_empty());
    }

    #[test]
    fn each_cycle_is_tried_once() {
        let mut predictions = Predictions::default();
        let cycle = cycles(&made(&[(1, &[10], 20), (2, &[20], 10)])).remove(0);
        predictions.see(4, cycle.clone());
        predictions.see(5, cycle);
        let first = predictions.take().unwrap();
        assert_eq!((first.run, first.number), (4, 0));
        assert!(predictions.take().is_none() && predictions.are_open());
        predictions.done();
        assert!(!predictions.are_open());
    }
}
