//! What else could have been when a strand came to an access: the runs that differ from a run only in the order of what does not
//! depend on each other.
//!
//! A planner such as `dpor` makes one run of all those, yet at a strand's entry to a function the variables that it has not touched are
//! different ones in each of them. So their values are taken here, at every *cut*: what all strands have done by then, such that whatever comes before it in
//! every run like this one has been done, too.
//!
//! What comes before what: the accesses of a strand; accesses to the same bytes, one of which writes (an exchange that leaves what it found is a
//! read); a strand's creation and all that it does, and that and its join; who gives a lock back and who takes it next. An operation of any other kind
//! is put after all that the run did before the strand's next access: who has waited for whom needs not be known. **Too much order is right, too little
//! is not:** what is told here has a run that shows it.

use crate::recording::{Access, Deed, Recording};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;

/// Longer runs are taken as they are.
pub(crate) const MOST_ACCESSES: usize = 600;
/// The same of what is no access.
const MOST_DEEDS: usize = 4096;
/// Cuts at one access that are looked at.
const MOST_CUTS: usize = 40;

/// Of each strand, how many of its accesses.
pub(crate) type Clock = Box<[u32]>;

/// Which accesses of a run come before which in every run like it.
pub(crate) struct Order {
    /// For each access, what comes before it and itself.
    clocks: Vec<Clock>,
    /// The same without what comes before it only because it touches the same memory: where the strand could have made it.
    bases: Vec<Clock>,
    /// For each access, its strand and its place among the strand's accesses, from 1.
    own: Vec<(usize, u32)>,
    /// Of each strand the accesses that make a difference to values, in order.
    telling: Vec<Vec<usize>>,
}

fn join(into: &mut [u32], from: &[u32]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = (*into).max(*from);
    }
}

fn is_within(inner: &[u32], outer: &[u32]) -> bool {
    inner.iter().zip(outer).all(|(inner, outer)| inner <= outer)
}

/// Whether it makes a difference to those who read.
fn changes(access: &Access) -> bool {
    let conditional = matches!(access.op, OpKind::AtomicCas | OpKind::AtomicRmw);
    access.writes() && !(conditional && access.after == Some(access.before))
}

/// What comes before what a strand does next, while a run is gone through.
struct Progress {
    strands: HashMap<u16, usize>,
    now: Vec<Clock>,
    /// What all strands have done.
    all: Clock,
    /// What was done before a lock was given back.
    given: HashMap<u64, Clock>,
    /// The same of locks that nobody has named: who waits for a condition gives one back.
    unnamed: Clock,
    /// Locks that a strand has asked for, strands that it waits for, and whether it has done something else. It has been let go on when it comes to its next event.
    asked: Vec<(Vec<u64>, Vec<usize>, bool)>,
    /// By bytes of memory: the writes to it, and all that touched it.
    bytes: HashMap<u64, (Clock, Clock)>,
}

impl Progress {
    fn new(run: &Recording) -> Self {
        let mut strands: HashMap<u16, usize> = HashMap::default();
        let begun = run.deeds.iter().filter(|deed| deed.op == OpKind::Create).map(|deed| deed.object as u16);
        let deeds = run.deeds.iter().map(|deed| deed.strand).chain(begun);
        for strand in run.accesses.iter().map(|access| access.strand).chain(deeds) {
            let next = strands.len();
            strands.entry(strand).or_insert(next);
        }
        let nothing: Clock = vec![0; strands.len()].into();
        Self {
            now: vec![nothing.clone(); strands.len()],
            given: HashMap::default(),
            unnamed: nothing.clone(),
            asked: vec![Default::default(); strands.len()],
            bytes: HashMap::default(),
            all: nothing,
            strands,
        }
    }

    /// A strand has come to its next event: it has what it asked for.
    fn goes_on(&mut self, strand: usize) {
        let (locks, joined, _) = &mut self.asked[strand];
        for lock in locks.drain(..) {
            join(&mut self.now[strand], &self.unnamed);
            if let Some(given) = self.given.get(&lock) {
                join(&mut self.now[strand], given);
            }
        }
        for other in joined.drain(..) {
            let done = self.now[other].clone();
            join(&mut self.now[strand], &done);
        }
    }

    fn deed(&mut self, deed: &Deed) {
        let strand = self.strands[&deed.strand];
        self.goes_on(strand);
        match deed.op {
            OpKind::Start
            | OpKind::Exit
            | OpKind::Yield
            | OpKind::Fence
            | OpKind::Alloc
            | OpKind::Annotate => {}
            OpKind::Create => {
                let done = self.now[strand].clone();
                if let Some(&begun) =
                    self.strands.get(&(deed.object as u16)).filter(|begun| **begun != strand)
                {
                    join(&mut self.now[begun], &done);
                }
            }
            OpKind::Join => {
                match u16::try_from(deed.object).ok().and_then(|other| self.strands.get(&other)) {
                    Some(&other) => self.asked[strand].1.push(other),
                    None => self.asked[strand].2 = true,
                }
            }
            OpKind::MutexLock | OpKind::SpinLock => self.asked[strand].0.push(deed.object),
            OpKind::MutexUnlock | OpKind::SpinUnlock => {
                let done = &self.now[strand];
                let given = self.given.entry(deed.object).or_insert_with(|| vec![0; done.len()].into());
                join(given, done);
            }
            op => {
                if matches!(op, OpKind::CondWait | OpKind::CondTimedWait) {
                    let done = self.now[strand].clone();
                    join(&mut self.unnamed, &done);
                }
                self.asked[strand].2 = true;
            }
        }
    }

    /// The clocks of the next access: without and with what touches the same memory.
    fn access(&mut self, access: &Access) -> (usize, Clock, Clock) {
        let strand = self.strands[&access.strand];
        self.goes_on(strand);
        if std::mem::take(&mut self.asked[strand].2) {
            let all = self.all.clone();
            join(&mut self.now[strand], &all);
        }
        self.now[strand][strand] += 1;
        let base = self.now[strand].clone();
        let span = access.addr..access.addr.saturating_add(access.size.into());
        for byte in span.clone() {
            if let Some((writes, touches)) = self.bytes.get(&byte) {
                join(&mut self.now[strand], if changes(access) { touches } else { writes });
            }
        }
        let clock = self.now[strand].clone();
        for byte in span {
            let nothing = || -> Clock { vec![0; clock.len()].into() };
            let (writes, touches) = self.bytes.entry(byte).or_insert_with(|| (nothing(), nothing()));
            join(touches, &clock);
            if changes(access) {
                join(writes, &clock);
            }
        }
        join(&mut self.all, &clock);
        (strand, base, clock)
    }
}

impl Order {
    /// The order of a run's accesses; none of a long run. `tells` says which accesses are to variables that anybody asks for.
    pub(crate) fn of(run: &Recording, tells: impl Fn(usize) -> bool) -> Option<Self> {
        if run.accesses.len() > MOST_ACCESSES || run.deeds.len() > MOST_DEEDS || run.dropped > 0 {
            return None;
        }
        let mut progress = Progress::new(run);
        let telling = vec![Vec::new(); progress.strands.len()];
        let mut order = Self { clocks: Vec::new(), bases: Vec::new(), own: Vec::new(), telling };
        let mut deeds = run.deeds.iter().peekable();
        for (number, access) in run.accesses.iter().enumerate() {
            while let Some(deed) = deeds.next_if(|deed| deed.at <= number) {
                progress.deed(deed);
            }
            let (strand, base, clock) = progress.access(access);
            if access.writes() && access.after != Some(access.before) && tells(number) {
                order.telling[strand].push(number);
            }
            order.own.push((strand, clock[strand]));
            order.clocks.push(clock);
            order.bases.push(base);
        }
        Some(order)
    }

    /// Whether an access has been made at a cut.
    pub(crate) fn has(&self, cut: &[u32], access: usize) -> bool {
        let (strand, place) = self.own[access];
        cut[strand] >= place
    }

    /// Whether one access comes before another, or is it, in every run like this.
    pub(crate) fn comes_before(&self, one: usize, other: usize) -> bool {
        self.has(&self.clocks[other], one)
    }

    /// Whether one access has been made when a strand stands before another.
    pub(crate) fn stands_after(&self, one: usize, other: usize) -> bool {
        one != other && self.has(&self.bases[other], one)
    }

    /// What can have been done when an access has just been made; `early` also when what it touches was not yet as it found it.
    pub(crate) fn cuts(&self, access: usize, early: bool) -> Vec<Clock> {
        let first = if early { &self.bases[access] } else { &self.clocks[access] };
        let (strand, place) = self.own[access];
        let mut cuts: Vec<Clock> = vec![first.clone()];
        let mut known: HashSet<Clock> = HashSet::from_iter([first.clone()]);
        let mut at = 0;
        while at < cuts.len() && cuts.len() < MOST_CUTS {
            for (other, telling) in self.telling.iter().enumerate().filter(|(other, _)| *other != strand) {
                let next = telling.partition_point(|&it| self.own[it].1 <= cuts[at][other]);
                // What comes after the access has not been done.
                let Some(&next) = telling.get(next).filter(|&&it| self.clocks[it][strand] < place) else {
                    continue;
                };
                let mut more = cuts[at].clone();
                join(&mut more, &self.clocks[next]);
                if !known.contains(&more) {
                    known.insert(more.clone());
                    cuts.push(more);
                }
            }
            at += 1;
        }
        self.add_latest(access, &mut cuts, &mut known);
        cuts
    }

    /// The cuts of the run itself, from the access on, where there are too many.
    fn add_latest(&self, access: usize, cuts: &mut Vec<Clock>, known: &mut HashSet<Clock>) {
        if cuts.len() < MOST_CUTS {
            return;
        }
        let (strand, place) = self.own[access];
        let mut others: BTreeSet<usize> = self.telling.iter().flatten().copied().collect();
        others.retain(|&other| {
            !self.has(&self.clocks[access], other)
                && self.own[other].0 != strand
                && self.clocks[other][strand] < place
        });
        let mut cut = self.clocks[access].clone();
        for other in others {
            join(&mut cut, &self.clocks[other]);
            if known.insert(cut.clone()) {
                cuts.push(cut.clone());
            }
        }
    }

    /// Whether all that has been done at one cut has been done at another.
    pub(crate) fn leads_to(cut: &[u32], later: &[u32]) -> bool {
        is_within(cut, later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: OpKind = OpKind::Read;
    const WRITE: OpKind = OpKind::Write;

    fn access(strand: u16, addr: u64, op: OpKind) -> Access {
        Access {
            strand,
            size: 4,
            goes_on: false,
            op,
            activation: 0,
            pc: 1,
            addr,
            block: None,
            frame: None,
            event: 0,
            before: 0,
            after: Some(u64::from(op != OpKind::Read)),
            locals: (0, 0),
            beside: (0, 0),
        }
    }

    fn deed(at: usize, strand: u16, op: OpKind) -> Deed {
        Deed { at, strand, op, object: 64, pc: 0 }
    }

    /// For each cut at an access, which accesses have been made.
    fn seen(accesses: Vec<Access>, deeds: Vec<Deed>, at: usize, early: bool) -> BTreeSet<Vec<usize>> {
        let mut run = Recording::new();
        (run.accesses, run.deeds) = (accesses, deeds);
        let order = Order::of(&run, |_| true).expect("a short run");
        let cuts = order.cuts(at, early);
        let made = |cut: &Clock| (0..run.accesses.len()).filter(|it| order.has(cut, *it)).collect();
        cuts.iter().map(made).collect()
    }

    fn sets<const N: usize>(sets: [&[usize]; N]) -> BTreeSet<Vec<usize>> {
        sets.into_iter().map(<[usize]>::to_vec).collect()
    }

    #[test]
    fn what_is_in_no_order_may_be_before_or_after() {
        // Strand 1 reads x; strand 2 writes y, then x.
        let run = || vec![access(1, 16, READ), access(2, 32, WRITE), access(2, 16, WRITE)];
        assert_eq!(seen(run(), vec![], 0, false), sets([&[0], &[0, 1]]));
        // The write of x comes after both in any order, unless it is made too early.
        assert_eq!(seen(run(), vec![], 2, false), sets([&[0, 1, 2]]));
        assert_eq!(seen(run(), vec![], 2, true), sets([&[1, 2]]));
        // Neighbours in memory are two variables.
        let apart = vec![access(1, 16, READ), access(2, 20, WRITE)];
        assert_eq!(seen(apart, vec![], 0, false), sets([&[0], &[0, 1]]));
    }

    #[test]
    fn three_strands_have_all_their_cuts() {
        let run = vec![access(1, 16, READ), access(2, 32, WRITE), access(3, 48, WRITE)];
        assert_eq!(seen(run, vec![], 0, false), sets([&[0], &[0, 1], &[0, 2], &[0, 1, 2]]));
    }

    #[test]
    fn what_is_no_access_comes_after_all_before_it() {
        let run = || vec![access(1, 16, WRITE), access(2, 32, WRITE)];
        let waits = vec![deed(1, 2, OpKind::SemWait)];
        assert_eq!(seen(run(), waits.clone(), 0, false), sets([&[0]]));
        assert_eq!(seen(run(), waits, 1, true), sets([&[0, 1]]));
    }

    #[test]
    fn a_lock_orders_those_who_take_it_and_nobody_else() {
        let lock = |at, strand| deed(at, strand, OpKind::MutexLock);
        let unlock = |at, strand| deed(at, strand, OpKind::MutexUnlock);
        // Strand 1 writes under the lock and then outside, strand 2 under it.
        let run = || vec![access(1, 16, WRITE), access(1, 24, WRITE), access(2, 32, WRITE)];
        let one = || vec![lock(0, 1), unlock(1, 1), lock(1, 2), unlock(3, 2)];
        assert_eq!(seen(run(), one(), 2, false), sets([&[0, 2], &[0, 1, 2]]));
        assert_eq!(seen(run(), one(), 0, false), sets([&[0]]));
        let mut two = one();
        two[2].object = 128;
        assert_eq!(seen(run(), two, 2, false), sets([&[2], &[0, 2], &[0, 1, 2]]));
    }

    #[test]
    fn a_strand_is_between_its_creation_and_its_join() {
        // Strand 0 writes, creates 1, writes, joins it and writes.
        let run =
            || vec![access(0, 16, WRITE), access(1, 32, WRITE), access(0, 24, WRITE), access(0, 40, WRITE)];
        let other = |at, op| Deed { at, strand: 0, op, object: 1, pc: 0 };
        let deeds = || vec![other(1, OpKind::Create), other(3, OpKind::Join)];
        assert_eq!(seen(run(), deeds(), 0, false), sets([&[0]]));
        assert_eq!(seen(run(), deeds(), 2, false), sets([&[0, 2], &[0, 1, 2]]));
        assert_eq!(seen(run(), deeds(), 3, true), sets([&[0, 1, 2, 3]]));
    }
}
