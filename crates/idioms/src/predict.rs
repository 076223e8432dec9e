//! Which iroots the program could show with the same input, by one run of it.
//!
//! Every pair of conflicting accesses of two strands is a candidate in both orders. Three rules keep out what no run can have:
//!
//! - *Order*: what comes before another in every run (by creations, joins and barriers) is not predicted the other way round, nor across an
//!   access that always comes in between.
//! - *Locks*: of accesses under a common lock only the last of one critical section can be followed by the first of another; nobody who needs a
//!   lock comes in between two accesses of one section of it.
//! - *Window*: the two accesses that a strand has in idioms 4 and 5 are at most [`Limits::window`] accesses apart.
//!
//! What is left may still be impossible, because a value decides or because strands wait for each other in other ways: that is for runs to
//! tell. Of what a loop does again and again the first two and the last two times stand for all. At most [`Limits::most`] iroots are predicted by a run,
//! simple idioms first; [`Predicted::cut`] says whether there were more.

use crate::iroot::{Does, Iroot};
use crate::local::{GRAIN, Local, Pair, grains};
use crate::run::{Access, RunAccesses};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// How much is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Accesses of a strand between the two of a pair, at the most.
    pub window: usize,
    /// Iroots of a run, at the most.
    pub most: usize,
    /// The highest idiom.
    pub idioms: u8,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { window: 64, most: 20_000, idioms: crate::IDIOMS as u8 }
    }
}

/// Accesses of a run that would be an iroot if they came in the right order, by their place in the run: e0, e1 and so on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance {
    accesses: [usize; 4],
    count: u8,
}

impl Instance {
    /// e0, e1 and so on.
    pub fn accesses(&self) -> &[usize] {
        &self.accesses[..usize::from(self.count)]
    }

    /// How far apart they were.
    fn spread(&self) -> usize {
        let all = self.accesses();
        all.iter().max().unwrap_or(&0) - all.iter().min().unwrap_or(&0)
    }
}

/// What was predicted.
#[derive(Clone, Debug, Default)]
pub struct Predicted {
    /// The iroots, each with a few instances, the closest ones.
    pub iroots: BTreeMap<Iroot, Vec<Instance>>,
    /// There were more than the limit.
    pub cut: bool,
}

/// Instances of an iroot that are kept.
const INSTANCES: usize = 4;
/// Pairs that are looked at, at the most.
const LOOKS: usize = 4 << 20;

/// The iroots that could be.
pub fn predict(run: &RunAccesses, limits: &Limits) -> Predicted {
    let local = Local::of(run, limits.window);
    let mut at_work = AtWork {
        run,
        local: &local,
        limits,
        predicted: Predicted::default(),
        looks: LOOKS,
        singles: HashMap::new(),
    };
    let singles: Vec<usize> = thin((0..run.accesses.len()).collect(), |&at| at_work.key(at));
    for &at in &singles {
        for grain in grains(&run.accesses[at]) {
            at_work.singles.entry(grain).or_default().push(at);
        }
    }
    at_work.one();
    if limits.idioms >= 2 {
        let same = thin(local.same.clone(), |pair| (at_work.key(pair.first), at_work.key(pair.second)));
        at_work.two(&same);
        if limits.idioms >= 3 {
            at_work.three(&same);
        }
    }
    if limits.idioms >= 6 {
        at_work.six(&singles);
    }
    if limits.idioms >= 4 {
        let other = thin(local.other.clone(), |pair| (at_work.key(pair.first), at_work.key(pair.second)));
        at_work.four_and_five(&other);
    }
    at_work.predicted
}

/// Of those with the same key, the first two and the last two.
fn thin<T: Copy, K: Hash + Eq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut by_key: HashMap<K, (usize, [usize; 4])> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        let (count, kept) = by_key.entry(key(item)).or_insert((0, [usize::MAX; 4]));
        match *count {
            0..4 => kept[*count] = at,
            _ => (kept[2], kept[3]) = (kept[3], at),
        }
        *count += 1;
    }
    let mut left: Vec<usize> =
        by_key.into_values().flat_map(|(_, kept)| kept).filter(|&at| at != usize::MAX).collect();
    left.sort_unstable();
    left.into_iter().map(|at| items[at]).collect()
}

/// What makes accesses alike.
type Key = (u32, u64, Does, u64, u64, usize, usize);

struct AtWork<'a> {
    run: &'a RunAccesses,
    local: &'a Local,
    limits: &'a Limits,
    predicted: Predicted,
    looks: usize,
    singles: HashMap<(bool, u64), Vec<usize>>,
}

impl AtWork<'_> {
    fn access(&self, at: usize) -> &Access {
        &self.run.accesses[at]
    }

    fn key(&self, at: usize) -> Key {
        let access = self.access(at);
        let held = access.held.iter().fold(0usize, |sum, held| {
            sum.wrapping_add(
                (held.lock as usize ^ usize::from(held.shared)).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            )
        });
        (
            access.strand,
            access.place,
            access.does,
            access.start,
            access.end,
            access.clock.as_ptr() as usize,
            held,
        )
    }

    /// Whether there is room for more.
    fn may_go_on(&mut self) -> bool {
        self.looks = self.looks.saturating_sub(1);
        self.predicted.cut |= self.looks == 0 || self.predicted.iroots.len() >= self.limits.most;
        !self.predicted.cut
    }

    fn add(&mut self, idiom: u8, accesses: &[usize]) {
        let events: Vec<_> = accesses.iter().map(|&at| self.access(at).event()).collect();
        let mut all = [0; 4];
        all[..accesses.len()].copy_from_slice(accesses);
        let iroot = Iroot::new(idiom, &events);
        // Where the iroot names the other dependency first, so does the instance.
        if idiom >= 5 && events.as_slice() != iroot.events() {
            all = [all[2], all[3], all[0], all[1]];
        }
        let instance = Instance { accesses: all, count: accesses.len() as u8 };
        let list = self.predicted.iroots.entry(iroot).or_default();
        let place = list.partition_point(|other| other.spread() <= instance.spread());
        if place < INSTANCES {
            list.insert(place, instance);
            list.truncate(INSTANCES);
        }
    }

    /// Whether the second can depend on the first.
    fn may(&self, first: usize, second: usize) -> bool {
        let (one, other) = (self.access(first), self.access(second));
        if one.strand == other.strand || !one.does.then(other.does) || other.precedes(one) {
            return false;
        }
        let Some(common) = one.common(other) else { return false };
        let own = |at: Option<usize>| at.map(|at| self.access(at)).filter(|access| access.covers(common));
        let (next, prev) = (own(self.local.next[first]), own(self.local.prev[second]));
        if next.is_some_and(|next| next.precedes(other)) || prev.is_some_and(|prev| one.precedes(prev)) {
            return false;
        }
        if one.precedes(other) && self.is_overwritten(one, other, common) {
            return false;
        }
        let in_section = |access: Option<&Access>, held: &crate::Held| {
            access.and_then(|access| access.section(held.lock)).is_some_and(|it| it.section == held.section)
        };
        one.held.iter().all(|ours| {
            other.section(ours.lock).is_none_or(|theirs| {
                (ours.shared && theirs.shared) || !(in_section(next, ours) || in_section(prev, theirs))
            })
        })
    }

    /// Whether a third strand always writes in between.
    fn is_overwritten(&self, one: &Access, other: &Access, common: (u64, u64)) -> bool {
        let list = self.singles.get(&(false, common.0 / GRAIN)).filter(|_| !one.does.is_sync());
        list.into_iter().flatten().map(|&at| self.access(at)).any(|between| {
            between.does.writes()
                && between.covers(common)
                && one.precedes(between)
                && between.precedes(other)
        })
    }

    /// Whether a lock keeps the other strand's access from coming between the two.
    fn shuts_out(&self, first: usize, second: usize, between: usize) -> bool {
        let (first, second, between) = (self.access(first), self.access(second), self.access(between));
        first.held.iter().any(|held| {
            second.section(held.lock).is_some_and(|it| it.section == held.section)
                && between.section(held.lock).is_some_and(|it| !(it.shared && held.shared))
        })
    }

    fn one(&mut self) {
        let mut lists: Vec<((bool, u64), Vec<usize>)> =
            self.singles.iter().map(|(grain, list)| (*grain, list.clone())).collect();
        lists.sort_unstable();
        for ((_, grain), list) in lists {
            for &first in &list {
                for &second in &list {
                    if !self.may_go_on() {
                        return;
                    }
                    // What has several grains in common is looked at in the first of them.
                    let common = self.access(first).common(self.access(second));
                    if common.is_some_and(|(start, _)| start / GRAIN == grain) && self.may(first, second) {
                        self.add(1, &[first, second]);
                    }
                }
            }
        }
    }

    fn two(&mut self, same: &[Pair]) {
        for pair in same {
            let common = self.access(pair.first).common(self.access(pair.second));
            let Some((start, _)) = common else { continue };
            let list = self.singles.get(&(false, start / GRAIN)).cloned().unwrap_or_default();
            for between in list {
                if !self.may_go_on() {
                    return;
                }
                if self.may(pair.first, between)
                    && self.may(between, pair.second)
                    && !self.shuts_out(pair.first, pair.second, between)
                {
                    self.add(2, &[pair.first, between, pair.second]);
                }
            }
        }
    }

    fn three(&mut self, same: &[Pair]) {
        let mut by_grain: HashMap<u64, Vec<Pair>> = HashMap::new();
        for &pair in same {
            by_grain.entry(self.access(pair.first).start / GRAIN).or_default().push(pair);
        }
        for pair in same {
            let grain = self.access(pair.first).start / GRAIN;
            for other in by_grain.get(&grain).into_iter().flatten() {
                if !self.may_go_on() {
                    return;
                }
                self.around(3, *pair, *other);
            }
        }
    }

    /// The pair has the other one in between, if that may be.
    fn around(&mut self, idiom: u8, pair: Pair, other: Pair) {
        if self.may(pair.first, other.first)
            && self.may(other.second, pair.second)
            && !self.shuts_out(pair.first, pair.second, other.first)
            && !self.shuts_out(pair.first, pair.second, other.second)
        {
            self.add(idiom, &[pair.first, other.first, other.second, pair.second]);
        }
    }

    fn four_and_five(&mut self, pairs: &[Pair]) {
        let key = |at_work: &Self, pair: &Pair| {
            (at_work.access(pair.first).start / GRAIN, at_work.access(pair.second).start / GRAIN)
        };
        let mut by_grains: HashMap<(u64, u64), Vec<Pair>> = HashMap::new();
        for &pair in pairs {
            by_grains.entry(key(self, &pair)).or_default().push(pair);
        }
        for &pair in pairs {
            let (one, two) = key(self, &pair);
            for &other in by_grains.get(&(one, two)).into_iter().flatten() {
                if !self.may_go_on() {
                    return;
                }
                self.around(4, pair, other);
            }
            for &other in by_grains.get(&(two, one)).into_iter().flatten().filter(|_| self.limits.idioms >= 5)
            {
                if !self.may_go_on() {
                    return;
                }
                let (crossed, strands) =
                    ([pair.first, other.second, other.first, pair.second], [pair, other]);
                if self.may(crossed[0], crossed[1])
                    && self.may(crossed[2], crossed[3])
                    && !self.exclude(strands)
                {
                    self.add(5, &crossed);
                }
            }
        }
    }

    /// Whether each strand makes both of its accesses in one section of the same lock.
    fn exclude(&self, [one, other]: [Pair; 2]) -> bool {
        let whole = |pair: Pair| {
            let (first, second) = (self.access(pair.first), self.access(pair.second));
            let stays =
                |held: &&crate::Held| second.section(held.lock).is_some_and(|it| it.section == held.section);
            first.held.iter().filter(stays).map(|held| (held.lock, held.shared)).collect::<Vec<_>>()
        };
        let theirs = whole(other);
        let meets =
            |(lock, shared): &(u64, bool)| theirs.iter().any(|it| it.0 == *lock && !(it.1 && *shared));
        whole(one).iter().any(meets)
    }

    fn six(&mut self, singles: &[usize]) {
        // Where a lock was taken, by the number of the section.
        let taken: HashMap<u64, usize> = self
            .run
            .accesses
            .iter()
            .enumerate()
            .filter(|(_, access)| access.does == Does::Lock)
            .map(|(at, access)| (access.step as u64, at))
            .collect();
        let mut nested = Vec::new();
        for &at in singles.iter().filter(|&&at| self.access(at).does == Does::Lock) {
            let held = self.access(at).held.iter().filter(|held| !held.shared);
            nested.extend(held.filter_map(|held| Some((*taken.get(&held.section)?, at))));
        }
        for &(e0, e3) in &nested {
            for &(e2, e1) in &nested {
                if !self.may_go_on() {
                    return;
                }
                let lock = |at: usize| self.access(at).start;
                let crossed = lock(e0) == lock(e1) && lock(e2) == lock(e3) && lock(e0) != lock(e2);
                let apart = self.access(e0).strand != self.access(e2).strand
                    && !self.access(e3).precedes(self.access(e2))
                    && !self.access(e1).precedes(self.access(e0));
                let guarded = self.access(e3).held.iter().any(|held| {
                    held.lock != lock(e0)
                        && self.access(e1).section(held.lock).is_some_and(|it| !(it.shared && held.shared))
                });
                if crossed && apart && !guarded {
                    self.add(6, &[e0, e1, e2, e3]);
                }
            }
        }
    }
}
