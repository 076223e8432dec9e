//! What else could have been when a strand came to an access: the runs that differ from a run only in the order of what does not
//! depend on each other.
//!
//! A planner such as `dpor` makes one run of all those, yet at a strand's entry to a function the variables that it has not touched are
//! different ones in each of them. So their values are taken here: with accesses of others that are in no order with the strand's own
//! (by strands, by memory that both touch, by everything that is no access) put before it or after it.
//!
//! **Too much order is right, too little is not.** An operation that is no access (a lock, a join, a wake-up) is put after all that the run did before the strand's
//! next access: who holds what, and who has waited for whom, needs not be known. So what is told here has a run that shows it.

use crate::recording::Recording;
use std::collections::HashMap;

/// Longer runs are taken as they are.
const MOST_ACCESSES: usize = 600;
/// So many accesses of others are moved, one after the other.
const MOST_MOVED: usize = 12;

/// Which accesses of a run come before which in every run like it.
pub(crate) struct Order {
    /// For each access, of each strand how many of its accesses come before it, itself included.
    clocks: Vec<Vec<u32>>,
    /// For each access, its strand and its place among the strand's accesses, from 1.
    own: Vec<(usize, u32)>,
}

fn join(into: &mut [u32], from: &[u32]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = (*into).max(*from);
    }
}

impl Order {
    /// The order of a run's accesses; none of a long run.
    pub(crate) fn of(run: &Recording) -> Option<Self> {
        if run.accesses.len() > MOST_ACCESSES || run.dropped > 0 {
            return None;
        }
        let mut strands: HashMap<u16, usize> = HashMap::new();
        for access in &run.accesses {
            let next = strands.len();
            strands.entry(access.strand).or_insert(next);
        }
        let nothing = vec![0; strands.len()];
        let mut now = vec![nothing.clone(); strands.len()];
        let mut all = nothing.clone();
        // By words of memory: the writes to it, and all that touched it.
        let mut words: HashMap<u64, (Vec<u32>, Vec<u32>)> = HashMap::new();
        let mut order = Self { clocks: Vec::new(), own: Vec::new() };
        for access in &run.accesses {
            let strand = strands[&access.strand];
            if now[strand][strand] == 0
                && let Some(created) = run.creation(access.strand).and_then(|at| order.clocks.get(at))
            {
                let created: Vec<u32> = created.clone();
                join(&mut now[strand], &created);
            }
            if access.after_all {
                join(&mut now[strand], &all);
            }
            let last = access.addr + u64::from(access.size) - 1;
            for word in access.addr / 8..=last / 8 {
                let (writes, touches) =
                    words.entry(word).or_insert_with(|| (nothing.clone(), nothing.clone()));
                join(&mut now[strand], if access.writes() { touches } else { writes });
            }
            now[strand][strand] += 1;
            let clock = now[strand].clone();
            for word in access.addr / 8..=last / 8 {
                if let Some((writes, touches)) = words.get_mut(&word) {
                    join(touches, &clock);
                    if access.writes() {
                        join(writes, &clock);
                    }
                }
            }
            join(&mut all, &clock);
            order.own.push((strand, clock[strand]));
            order.clocks.push(clock);
        }
        Some(order)
    }

    /// Whether one access comes before another, or is it, in every run like this.
    fn comes_before(&self, one: usize, other: usize) -> bool {
        let (strand, place) = self.own[one];
        self.clocks[other][strand] >= place
    }

    /// The moments that an access can be at, from the earliest on; `done` is right after it.
    pub(crate) fn moments(&self, access: usize, done: bool) -> Vec<Cut<'_>> {
        let free = |&other: &usize| !self.comes_before(other, access) && !self.comes_before(access, other);
        let moved: Vec<usize> = (0..self.own.len()).filter(free).collect();
        let step = moved.len().div_ceil(MOST_MOVED).max(1);
        let mut ends: Vec<usize> = (0..=moved.len()).step_by(step).collect();
        if ends.last() != Some(&moved.len()) {
            ends.push(moved.len());
        }
        ends.into_iter().map(|end| Cut { order: self, access, done, moved: moved[..end].to_vec() }).collect()
    }
}

/// A moment of a run like the one that was made: what has been done then.
pub(crate) struct Cut<'a> {
    order: &'a Order,
    access: usize,
    done: bool,
    /// Accesses of others that need not have been before it, in their order.
    moved: Vec<usize>,
}

impl Cut<'_> {
    /// Whether an access has been made.
    pub(crate) fn has(&self, access: usize) -> bool {
        if access == self.access {
            return self.done;
        }
        self.order.comes_before(access, self.access) || self.moved.binary_search(&access).is_ok()
    }

    /// Whether all that has been made by then has been made by a later moment.
    pub(crate) fn leads_to(&self, later: &Cut<'_>) -> bool {
        self.moved.iter().all(|&access| later.has(access))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Access;
    use threadbare_abi::op::OpKind;

    fn access(strand: u16, addr: u64, op: OpKind, after_all: bool) -> Access {
        Access {
            strand,
            size: 4,
            goes_on: false,
            after_all,
            op,
            activation: 0,
            pc: 1,
            addr,
            block: None,
            frame: None,
            event: 0,
            before: 0,
            after: Some(0),
        }
    }

    fn seen(accesses: Vec<Access>, at: usize) -> Vec<Vec<bool>> {
        let mut run = Recording::new();
        run.accesses = accesses;
        let order = Order::of(&run).expect("a short run");
        let moments = order.moments(at, false);
        moments.iter().map(|cut| (0..run.accesses.len()).map(|it| cut.has(it)).collect()).collect()
    }

    #[test]
    fn what_is_in_no_order_may_be_before_or_after() {
        let (read, write) = (OpKind::Read, OpKind::Write);
        // Strand 1 reads x; strand 2 writes y, then x.
        let run =
            || vec![access(1, 16, read, false), access(2, 32, write, false), access(2, 16, write, false)];
        assert_eq!(seen(run(), 0), [[false, false, false], [false, true, false]]);
        // The write of x comes after both in any order.
        assert_eq!(seen(run(), 2), [[true, true, false]]);
    }

    #[test]
    fn what_is_no_access_comes_after_all_before_it() {
        let write = OpKind::Write;
        let run = vec![access(1, 16, write, false), access(2, 32, write, true)];
        assert_eq!(seen(run.clone(), 0), [[false, false]]);
        assert_eq!(seen(run, 1), [[true, false]]);
    }
}
