//! The pair of operations whose order decides.
//!
//! From the failure backwards, each operation is tried against those of other strands that it depends on: the run is made
//! again up to the earlier one, its strand is held there until the other one has done the later operation, and then the
//! failing schedule goes on as far as it fits. If that run passes, the order of the two decides, and the run is the nearest
//! one that passes. An operation is also held until another strand has come as far as it can: what would have had to come
//! first may not have happened at all when the run failed.
//!
//! Data comes before locks: where a lock keeps an operation from being held, its strand is held before it takes the
//! lock, and the operation is still what is told. Of a deadlock the waits are tried first.

use super::acts::{acts, depend, done_at, is_wake};
use super::plan::{Plan, Stretch};
use super::trial::{Halt, Made, Trials};
use super::{Budget, Subject};
use crate::error::Error;
use crate::run::Job;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use threadbare_abi::decision::{Decision, bits};
use threadbare_abi::event::StopKind;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::identity::Identity;
use threadbare_trace::pair::{Act, DecidingPair};
use threadbare_trace::shape::is_strand;

/// Operations that one is tried against, at the most.
const PARTNERS: usize = 8;
/// Locks that a strand is held before, for one operation.
const LOCKS: usize = 3;
/// Operations that a strand may have done too many of in a run that passes.
const NEARER: usize = 5;
/// Pairs that are looked for.
const ENOUGH: usize = 12;
/// Pairs on the same memory that are looked for: a journal that all strands write to must not hide what is wrong.
const ENOUGH_OF_ONE: usize = 5;
/// Operations of the failing strand that its failure may hang on, whatever they are.
const LAST: usize = 4;
/// Bytes of an operation that are looked at for others' operations on them.
const MOST_BYTES: u32 = 512;
/// Runs by chance that are made first, so that it is known what strands share.
const SCOUTS: u64 = 8;

/// What the search for pairs came to.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The pairs that decide whether the run fails, the one closest to the failure first.
    pub list: Vec<DecidingPair>,
    /// Whether all was tried that there is to try: with none found, no order of two operations passes.
    pub finished: bool,
}

/// How far the search goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Until pairs are found.
    First,
    /// Operations that met with nothing of another strand's are tried as well, whatever was found before: those pairs may say nothing.
    Further,
}

/// The pairs that decide whether the run of the subject fails, as far as they were found. `locks` are words of memory that
/// are locks, though the operations on them do not say so.
pub fn decide(
    job: &mut Job,
    subject: &Subject<'_>,
    locks: &BTreeSet<u64>,
    reach: Reach,
    budget: Budget,
) -> Result<Pairs, Error> {
    let goal = Identity::of(subject.facts, subject.race);
    if goal.is_race() {
        return Ok(Pairs::default());
    }
    let trials =
        Trials::new(job, subject.request, subject.known, goal, subject.facts.counters.points, budget);
    let mut found = Vec::new();
    match find(trials, subject, locks, reach, &mut found) {
        Ok(finished) => Ok(Pairs { list: found, finished }),
        Err(Halt::Spent) => Ok(Pairs { list: found, finished: false }),
        Err(Halt::Failed(error)) => Err(error),
    }
}

fn find(
    mut trials: Trials<'_>,
    subject: &Subject<'_>,
    locks: &BTreeSet<u64>,
    reach: Reach,
    found: &mut Vec<DecidingPair>,
) -> Result<bool, Halt> {
    for seed in 0..SCOUTS {
        trials.scout(seed)?;
    }
    trials.learn();
    // As often as it takes for all that is shared to be known.
    let plan = Plan::of(subject.segments);
    let mut failing = trials.make(&plan)?;
    while trials.learn() {
        failing = trials.make(&plan)?;
    }
    if failing.facts.is_none() {
        return Ok(false);
    }
    let block = subject.facts.report.block.map(|block| block.addr..block.addr + block.size.max(1));
    let mut born = HashMap::new();
    for decision in &failing.decisions {
        for bit in (0..64).filter(|bit| decision.enabled >> bit & 1 != 0) {
            born.entry(StrandId(bit)).or_insert(decision.event);
        }
    }
    let over = over(&failing, subject);
    let (mut acts, gaps) = (acts(&failing), gaps(&failing));
    if let Some(panic) = &subject.facts.report.details.panic {
        // What comes after a panic (telling of it, unwinding, the end of the other strands) is not why it came.
        acts.retain(|act| act.event <= panic.event);
    }
    want_locks(&mut acts, locks);
    let meets = meets(&acts, subject);
    let sections = sections(&acts, |act| act.op.is_of_lock() || locks.contains(&act.addr));
    let failed = match &subject.facts.report.details.panic {
        Some(panic) => StrandId(panic.strand),
        None => StrandId(subject.facts.verdict.strand),
    };
    let mut search = Search {
        trials,
        failing,
        acts,
        locks,
        block,
        born,
        over,
        gaps,
        meets,
        sections,
        failed,
        alone: false,
        counters: false,
        tried: BTreeSet::new(),
        in_vain: BTreeSet::new(),
        found,
    };
    if matches!(subject.facts.verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock) {
        search.pass(|_, act| act.waits, How::Both)?;
    }
    if search.found.is_empty() {
        search.pass(|search, act| !search.is_lock(act), How::Across)?;
        search.pass(|search, act| !search.is_lock(act), How::Both)?;
    }
    if search.found.is_empty() {
        search.pass(|search, act| search.is_lock(act) && takes(act.op), How::Both)?;
    }
    if search.found.is_empty() || reach == Reach::Further {
        search.alone = true;
        search.pass(|search, act| !search.is_lock(act), How::Both)?;
    }
    // Counts of references decide who gives back: where nothing else says why, they are tried as well.
    if search.found.is_empty() || reach == Reach::Further {
        search.counters = true;
        search.pass(|search, act| !search.is_lock(act), How::Both)?;
    }
    Ok(!search.failing.partial)
}

/// Who waits for a lock that is a word of memory wants to take it where it tried to: waiting is another operation, which
/// does not come when the lock is free.
fn want_locks(acts: &mut [Act], locks: &BTreeSet<u64>) {
    for at in 0..acts.len() {
        let wait = acts[at];
        if !wait.waits || wait.op != OpKind::FutexWait || !locks.contains(&wait.addr) {
            continue;
        }
        let tried =
            |it: &&Act| it.strand == wait.strand && it.addr == wait.addr && it.op == OpKind::AtomicCas;
        if let Some(&Act { op, size, event, own, .. }) = acts[..at].iter().rev().find(tried) {
            acts[at] = Act { op, size, event, own, ..wait };
        }
    }
}

/// A strand was preempted: who, and the events from then until it goes on.
#[derive(Clone, Copy, Debug)]
struct Gap {
    strand: StrandId,
    from: u64,
    to: u64,
}

fn gaps(made: &Made) -> Vec<Gap> {
    let mut list: Vec<Gap> = Vec::new();
    for (at, decision) in made.decisions.iter().enumerate() {
        for gap in list.iter_mut().filter(|gap| gap.strand == decision.strand && gap.to == u64::MAX) {
            // It has gone on by now; what came before that is in the gap.
            gap.to = at.checked_sub(1).map_or(gap.from, |before| made.decisions[before].event);
        }
        let ready = decision.how == StopKind::Preempted
            && decision.told & (bits::READY | bits::YIELDS) == bits::READY;
        let left = made.decisions.get(at + 1).is_some_and(|next| next.strand != decision.strand);
        if ready && left {
            list.push(Gap { strand: decision.strand, from: decision.event, to: u64::MAX });
        }
    }
    list
}

/// Of each operation, whether another strand has done something with the same memory, or stands before that. What is not on
/// memory may meet with anything, and so may what gives back a block, which is all of it.
fn meets(acts: &[Act], subject: &Subject<'_>) -> Vec<bool> {
    let words = |op: OpKind, addr: u64, size: u32| {
        let end = addr.saturating_add(u64::from(size.clamp(1, MOST_BYTES)));
        let of_memory = op.has_memory_address() && op != OpKind::Free;
        let words = of_memory.then(|| addr / 8..end.div_ceil(8));
        words.into_iter().flatten()
    };
    // Who touches a word, and whether others do.
    let mut by: HashMap<u64, (StrandId, bool)> = HashMap::new();
    let mut touch = |strand: StrandId, word: u64| {
        let (first, others) = by.entry(word).or_insert((strand, false));
        *others |= *first != strand;
    };
    for act in acts {
        words(act.op, act.addr, act.size).for_each(|word| touch(act.strand, word));
    }
    for strand in &subject.facts.report.strands {
        if let Some(it) = strand.pending {
            words(it.op, it.addr, it.size).for_each(|word| touch(StrandId(strand.index), word));
        }
    }
    let met = |act: &Act| {
        let mut words = words(act.op, act.addr, act.size).peekable();
        words.peek().is_none() || words.any(|word| by.get(&word).is_some_and(|(_, others)| *others))
    };
    acts.iter().map(met).collect()
}

/// Of each strand that had ended when the run failed, the last decision at which it could go on: nobody is held for it
/// behind that.
fn over(made: &Made, subject: &Subject<'_>) -> HashMap<StrandId, u64> {
    let mut over = HashMap::new();
    for decision in &made.decisions {
        let enabled = (0..64).filter(|bit| decision.enabled >> bit & 1 != 0).map(StrandId);
        for strand in enabled.chain([decision.strand]) {
            over.insert(strand, decision.event);
        }
    }
    let lives = |strand: &StrandId| {
        subject.facts.report.strand(strand.0).and_then(|strand| strand.state) != Some(StrandState::Ended)
    };
    over.retain(|strand, _| !lives(strand));
    over
}

/// Where the strand of each operation took the first of the locks that it had in hand then, or the operation itself.
fn sections(acts: &[Act], is_lock: impl Fn(&Act) -> bool) -> Vec<usize> {
    let mut held: HashMap<StrandId, Vec<(u64, usize)>> = HashMap::new();
    let mut section = |(at, act): (usize, &Act)| {
        let held = held.entry(act.strand).or_default();
        if is_lock(act) && !act.waits {
            if takes(act.op) {
                held.push((act.addr, at));
            } else {
                held.retain(|(addr, _)| *addr != act.addr);
            }
        }
        held.first().map_or(at, |(_, first)| *first)
    };
    acts.iter().enumerate().map(&mut section).collect()
}

/// What is tried of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    /// The other way round with others, on both sides of a preemption.
    Across,
    /// The other way round with others, and held until another strand has come as far as it can.
    Both,
}

struct Search<'a, 'b> {
    trials: Trials<'a>,
    failing: Made,
    acts: Vec<Act>,
    locks: &'b BTreeSet<u64>,
    block: Option<Range<u64>>,
    /// The first decision at which each strand could go on.
    born: HashMap<StrandId, u64>,
    /// The last decision at which each strand that has ended could go on.
    over: HashMap<StrandId, u64>,
    gaps: Vec<Gap>,
    /// Whether another strand has done, or stands before, something that each operation depends on.
    meets: Vec<bool>,
    /// Where the strand of each operation took the first of the locks that it had in hand then, or the operation itself.
    sections: Vec<usize>,
    /// The strand that fails.
    failed: StrandId,
    /// Whether operations are held, too, that met with nothing of another strand's.
    alone: bool,
    /// Whether two additions to one counter are tried, too.
    counters: bool,
    /// Pairs that were tried, by their places among the operations.
    tried: BTreeSet<(usize, usize)>,
    /// Who was held before which of its events for whom, and nothing passed; for all others, if that is itself.
    in_vain: BTreeSet<(u64, u64, u64)>,
    found: &'b mut Vec<DecidingPair>,
}

impl Search<'_, '_> {
    fn is_lock(&self, act: &Act) -> bool {
        act.op.is_of_lock() || self.locks.contains(&act.addr)
    }

    /// Tries the operations that are wanted, the last one first.
    fn pass(&mut self, wanted: impl Fn(&Self, &Act) -> bool, how: How) -> Result<(), Halt> {
        let before = self.found.len();
        for at in (0..self.acts.len()).rev() {
            let later = self.acts[at];
            if !wanted(self, &later) {
                continue;
            }
            // Its strand is held before all of a critical section or not at all: one operation of each will do.
            let mut sections = BTreeSet::new();
            let mut partners: Vec<usize> = (0..at)
                .rev()
                .filter(|&before| {
                    let earlier = &self.acts[before];
                    (later.waits || wanted(self, earlier))
                        && (self.counters || !counts(earlier, &later))
                        && depend(earlier, &later, self.block.as_ref())
                        && self.can_swap(before, at)
                        && (how == How::Both || self.is_across(earlier, &later))
                        && sections.insert(self.sections[before])
                })
                .take(PARTNERS)
                .collect();
            if later.waits {
                // What it misses is a wake, what it lacks is taken.
                let tells = |act: &Act| is_wake(act.op) || self.is_lock(act) && takes(act.op);
                partners.sort_by_key(|&before| !tells(&self.acts[before]));
            }
            for before in partners {
                if !self.has_enough_of(before) && self.tried.insert((before, at)) {
                    let found = self.swap(before, at)?;
                    self.found.extend(found);
                }
            }
            if !later.waits
                && how == How::Both
                && (self.counters || later.op != OpKind::AtomicRmw || self.is_last(at))
                && (self.alone || self.meets[at] || self.is_last(at))
                && !self.has_enough_of(at)
                && self.tried.insert((at, at))
            {
                let found = self.hold(at)?;
                self.found.extend(found);
            }
            if self.found.len() >= before + ENOUGH {
                break;
            }
        }
        Ok(())
    }

    /// Whether pairs on this memory were found often enough. Those that begin with a look are counted apart, and so are the failing strand's: two
    /// writes the other way round may pass because what the one wrote is lost.
    fn has_enough_of(&self, first: usize) -> bool {
        let kind = |act: &Act| (act.addr, act.op.only_reads_memory(), act.strand == self.failed);
        let wanted = kind(&self.acts[first]);
        self.found.iter().filter(|pair| kind(&pair.first) == wanted).count() >= ENOUGH_OF_ONE
    }

    /// Whether one of the two is by a strand that was preempted, and the other came while it was.
    fn is_across(&self, earlier: &Act, later: &Act) -> bool {
        self.gaps.iter().any(|gap| {
            let inside = |act: &Act| act.strand != gap.strand && (gap.from..=gap.to).contains(&act.event);
            let outside = |act: &Act| act.strand == gap.strand;
            outside(earlier) && inside(later) || inside(earlier) && outside(later)
        })
    }

    /// Whether it is among the last things that the failing strand did.
    fn is_last(&self, at: usize) -> bool {
        let after = self.acts[at..].iter().filter(|act| act.strand == self.failed);
        self.acts[at].strand == self.failed && after.count() <= LAST
    }

    /// Whether nothing that always holds keeps the two in their order: creation and join.
    fn can_swap(&self, before: usize, at: usize) -> bool {
        let (earlier, later) = (&self.acts[before], &self.acts[at]);
        let created = self.born.get(&later.strand).is_none_or(|&born| born <= earlier.event);
        let joined = self.acts[before..at].iter().any(|act| {
            act.op == OpKind::Join && act.strand == later.strand && act.addr == u64::from(earlier.strand.0)
        });
        created && !joined
    }

    fn path(&self, strand: StrandId) -> Option<u64> {
        self.failing.paths.get(&strand).copied()
    }

    /// The failing plan up to an operation, whose strand is stopped before it, and what comes after that.
    fn parted(&self, act: &Act) -> Option<(Plan, Vec<Stretch>)> {
        let path = self.path(act.strand)?;
        let mut own = 0;
        let index = self.failing.segments.iter().position(|segment| {
            if is_strand(segment) && segment.path == path {
                own += segment.events;
            }
            is_strand(segment) && segment.path == path && own >= act.own
        })?;
        let mut plan = Plan::up_to(&self.failing.segments, Some((index, act.own)));
        if let Some(last) = plan.stretches.last_mut() {
            last.stops = true;
        }
        let whole = Plan::of(&self.failing.segments);
        let rest = whole.stretches[plan.stretches.len() - 1..].to_vec();
        plan.choices = whole.choices;
        Some((plan, rest))
    }

    /// The operations before which the strand may be held: this one, and where it took the locks it has in hand, the last
    /// one first.
    fn holds(&self, at: usize) -> Vec<Act> {
        let act = self.acts[at];
        let mut held: Vec<Act> = Vec::new();
        for it in self.acts[..at].iter().filter(|it| it.strand == act.strand && self.is_lock(it)) {
            if takes(it.op) {
                held.push(*it);
            } else {
                held.retain(|lock| lock.addr != it.addr);
            }
        }
        std::iter::once(act).chain(held.into_iter().rev().take(LOCKS)).collect()
    }

    /// Tries the two the other way round.
    fn swap(&mut self, before: usize, at: usize) -> Result<Option<DecidingPair>, Halt> {
        let (earlier, later) = (self.acts[before], self.acts[at]);
        let (Some(held), Some(goes)) = (self.path(earlier.strand), self.path(later.strand)) else {
            return Ok(None);
        };
        for hold in self.holds(before) {
            let Some((mut plan, rest)) = self.parted(&hold) else { continue };
            plan.stretches.push(Stretch { target: later.own + 1, stops: true, ..Stretch::open(goes) });
            plan.stretches.extend(rest);
            let made = self.trials.make(&plan)?;
            let when = |path, act| done_at(&made, path, act).unwrap_or(usize::MAX);
            let swapped = when(goes, &later) < when(held, &earlier);
            if swapped {
                return Ok(made.passed.then(|| self.pair(earlier, later, false, &made)));
            }
        }
        Ok(None)
    }

    /// Holds an operation until another strand has come as far as it can.
    fn hold(&mut self, at: usize) -> Result<Option<DecidingPair>, Halt> {
        let act = self.acts[at];
        let Some(held) = self.path(act.strand) else { return Ok(None) };
        let others: Vec<(StrandId, u64)> = self
            .failing
            .paths
            .iter()
            .map(|(&id, &path)| (id, path))
            .filter(|(id, _)| *id != act.strand && self.born.get(id).is_some_and(|&born| born <= act.event))
            .filter(|(id, _)| self.over.get(id).is_none_or(|&over| over > act.event))
            .collect::<std::collections::BTreeMap<_, _>>()
            .into_iter()
            .collect();
        for &(_, goes) in &others {
            for hold in self.holds(at) {
                let key = (held, hold.own, goes);
                if self.in_vain.contains(&key) {
                    continue;
                }
                let Some((plan, rest)) = self.parted(&hold) else { continue };
                let with = |stretch: Stretch| {
                    let mut plan = plan.clone();
                    plan.stretches.push(stretch);
                    plan.stretches.extend(&rest);
                    plan
                };
                let mut made = self.trials.make(&with(Stretch::open(goes)))?;
                if !made.passed {
                    self.in_vain.insert(key);
                    continue;
                }
                let mut partners = self.partners(&act, held, goes, &made);
                if partners.is_empty() {
                    // What uses a block that was given back need not be a point.
                    partners.extend(self.uses_freed(&act, goes));
                }
                let Some(mut partner) = partners.last().copied() else { continue };
                // The nearest run that passes does no more than it takes.
                for nearer in
                    partners.into_iter().rev().skip(1).take(NEARER).collect::<Vec<_>>().into_iter().rev()
                {
                    let stop = Stretch { target: nearer.own + 1, stops: true, ..Stretch::open(goes) };
                    let less = self.trials.make(&with(stop))?;
                    if less.passed {
                        (partner, made) = (nearer, less);
                        break;
                    }
                }
                return Ok(Some(self.missed(act, partner, goes, &made)));
            }
        }
        // What a look is too early for, several strands may do, and several may have to be done with what is given back.
        let is_early = act.op.only_reads_memory() || act.op == OpKind::Free;
        let for_all = others.len() > 1 && (self.alone || is_early);
        if for_all { self.hold_for_all(at, held, &others) } else { Ok(None) }
    }

    /// The use of the block that this operation gives back, by which the run fails.
    fn uses_freed(&self, act: &Act, goes: u64) -> Option<Act> {
        let last = self.acts.iter().rev().find(|it| !it.waits)?;
        let uses = act.op == OpKind::Free
            && self.path(last.strand) == Some(goes)
            && depend(act, last, self.block.as_ref());
        uses.then_some(*last)
    }

    /// Holds an operation until all others have come as far as they can: who would have to come first may wait for a third strand.
    fn hold_for_all(
        &mut self,
        at: usize,
        held: u64,
        others: &[(StrandId, u64)],
    ) -> Result<Option<DecidingPair>, Halt> {
        let act = self.acts[at];
        for hold in self.holds(at) {
            if !self.in_vain.insert((held, hold.own, held)) {
                continue;
            }
            let Some((mut plan, rest)) = self.parted(&hold) else { continue };
            let round = others.iter().map(|&(_, goes)| Stretch::open(goes));
            plan.stretches.extend(round.clone().chain(round).chain(rest));
            let made = self.trials.make(&plan)?;
            if !made.passed {
                continue;
            }
            let partners = others.iter().filter_map(|&(_, goes)| {
                let partner = self.partners(&act, held, goes, &made).pop();
                let partner = partner.or_else(|| self.uses_freed(&act, goes))?;
                Some((done_at(&made, goes, &partner), goes, partner))
            });
            let Some((_, goes, partner)) = partners.max_by_key(|(done, ..)| *done) else { continue };
            return Ok(Some(self.missed(act, partner, goes, &made)));
        }
        Ok(None)
    }

    /// The pair of an operation that was held and of one that a strand has done before it in this run. That may have come in the failing run, too, only
    /// later.
    fn missed(&self, act: Act, partner: Act, goes: u64, made: &Made) -> DecidingPair {
        let like =
            |it: &Act| !it.waits && (it.op, it.addr, it.size) == (partner.op, partner.addr, partner.size);
        let here: Vec<&Act> =
            self.acts.iter().filter(|it| self.path(it.strand) == Some(goes) && like(it)).collect();
        // Where the strand had to wait for a lock in one of the runs, it counts more events there: then the one that is as often made is the same.
        let before =
            acts(made).into_iter().filter(|it| made.paths.get(&it.strand) == Some(&goes) && like(it));
        let nth = before.take_while(|it| it.own < partner.own).count();
        let same = here.iter().find(|it| it.own == partner.own).or(here.get(nth));
        let second = same.filter(|it| it.event > act.event).map(|it| **it);
        self.pair(act, second.unwrap_or(partner), second.is_none(), made)
    }

    /// What a strand has done in this run before an operation of another one that depends on it, and had not in the
    /// failing run.
    fn partners(&self, act: &Act, held: u64, goes: u64, made: &Made) -> Vec<Act> {
        let until = done_at(made, held, act).unwrap_or(usize::MAX);
        let wanted = |it: &Act| {
            // The same object in another run, and by another number of the strand.
            let other = Act { strand: other_than(act.strand), ..*it };
            made.paths.get(&it.strand) == Some(&goes)
                && depend(act, &other, self.block.as_ref())
                && done_at(made, goes, it).is_some_and(|at| at < until)
                && !self.was_before(goes, it, act)
        };
        acts(made).into_iter().filter(wanted).collect()
    }

    /// Whether the strand had done the operation before this one in the failing run, too.
    fn was_before(&self, path: u64, it: &Act, act: &Act) -> bool {
        let Some(held) = self.path(act.strand) else { return false };
        let when = |path, act| done_at(&self.failing, path, act).unwrap_or(usize::MAX);
        when(path, it) < when(held, act)
    }

    fn pair(&self, first: Act, second: Act, comes_too_late: bool, made: &Made) -> DecidingPair {
        let event = |path: Option<u64>, act: &Act| {
            let of_it = |it: &&Decision| made.paths.get(&it.strand).copied() == path && it.own == act.own;
            made.decisions.iter().find(of_it).map(|it| it.event)
        };
        let second_path = match comes_too_late {
            true => made.paths.get(&second.strand).copied(),
            false => self.path(second.strand),
        };
        DecidingPair {
            first,
            second,
            comes_too_late,
            passing: made.segments.to_vec(),
            first_in_passing: event(self.path(first.strand), &first),
            second_in_passing: event(second_path, &second),
        }
    }
}

/// Whether both add to a counter: in which order they do seldom matters.
fn counts(one: &Act, other: &Act) -> bool {
    one.op == OpKind::AtomicRmw && other.op == OpKind::AtomicRmw
}

/// Whether an operation on a lock takes it, as far as its kind tells.
fn takes(op: OpKind) -> bool {
    use OpKind::{AtomicLoad, AtomicRmw, AtomicStore, FutexWait, FutexWake};
    !op.gives_lock_back() && !matches!(op, AtomicStore | AtomicRmw | AtomicLoad | FutexWait | FutexWake)
}

fn other_than(strand: StrandId) -> StrandId {
    StrandId(strand.0.wrapping_add(1))
}
