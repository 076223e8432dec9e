//! Whether an order can be: a run's steps are gone through again, each strand in its own order, with strands held back.
//!
//! It is a guess, since strands may do something else when they see other values, and since of several ways only one is gone. Where it does
//! not come to its goal it tells who waits for whom.

use super::gates::counts;
use super::sections::Does;
use super::wish::Reference;
use crate::planner::trace::Trace;
use std::collections::HashMap;
use threadbare_abi::op::OpKind;

/// A step that waits for another; both by event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Hold {
    pub(crate) held: usize,
    pub(crate) until: usize,
}

/// Why a strand cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// It is held until another step is made, by its instruction.
    Held(Stand),
    /// It needs a lock that another strand took at this instruction.
    Lock(Stand),
    /// Another strand's step makes it possible, by its instruction: a creation, a wake.
    After(Stand),
    /// It joins another strand.
    Join,
}

/// A strand that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waits {
    /// The strand's path.
    pub strand: u64,
    /// Where it stands: the instruction that it is about to make.
    pub at: Stand,
    /// What it is about to do there.
    pub kind: OpKind,
    /// Why.
    pub why: Why,
    /// For whom.
    pub whom: u64,
}

/// An instruction and what called it, innermost first; 0 where nothing is known.
pub type Stand = [u64; 4];

/// Who waits for whom, from the first to one that was there before.
pub type Stuck = Vec<Waits>;

/// What else may keep a step from being made.
pub(crate) trait Gate {
    /// Whether the step may be made now.
    fn lets(&self, event: usize) -> bool;
    /// It is made.
    fn make(&mut self, event: usize);
    /// Whether deadlines may come at any time, and not only when nobody else can go on.
    fn hurries(&self) -> bool {
        false
    }
}

/// Nothing does.
pub(crate) struct Anything;

impl Gate for Anything {
    fn lets(&self, _: usize) -> bool {
        true
    }
    fn make(&mut self, _: usize) {}
}

/// Nothing does, and sleeps end at any time.
pub(crate) struct Hurry;

impl Gate for Hurry {
    fn lets(&self, _: usize) -> bool {
        true
    }
    fn make(&mut self, _: usize) {}
    fn hurries(&self) -> bool {
        true
    }
}

struct State<'a> {
    trace: &'a Trace,
    reference: &'a Reference,
    gate: &'a mut dyn Gate,
    /// Counts of semaphores that are known.
    counts: HashMap<u64, i64>,
    /// What each event waits for.
    holds: HashMap<usize, Vec<usize>>,
    /// Events of each strand, and how many of them are made.
    strands: Vec<(u64, Vec<usize>, usize)>,
    made: Vec<bool>,
    /// Who has a lock: strand, event; several where it is shared.
    locks: HashMap<u64, Vec<(u64, usize, bool)>>,
}

impl State<'_> {
    fn next(&self, strand: usize) -> Option<usize> {
        let (_, events, made) = &self.strands[strand];
        events.get(*made).copied()
    }

    fn stand(&self, event: usize) -> Stand {
        let event = &self.trace.events[event];
        let [a, b, c] = self.trace.callers.get(&event.context).copied().unwrap_or_default();
        [event.op.pc, a, b, c]
    }

    /// Why the strand cannot make its next step: the reason, and the event that has to come first.
    fn obstacle(&self, event: usize) -> Option<(Why, usize)> {
        let stand = |event: usize| self.stand(event);
        let path = self.trace.events[event].path;
        let unmade = |&&before: &&usize| !self.made[before];
        let sleeps = self.trace.events[event].by_deadline && self.gate.hurries();
        if let Some(&before) = self.trace.made_possible_by(event).iter().find(|it| !sleeps && unmade(it)) {
            let joins = self.trace.events[event].op.kind == OpKind::Join;
            return Some((if joins { Why::Join } else { Why::After(stand(before)) }, before));
        }
        if let Some(&until) = self.holds.get(&event).into_iter().flatten().find(unmade) {
            return Some((Why::Held(stand(until)), until));
        }
        if let Some(&end) = self.reference.gates.after.get(&event).into_iter().flatten().find(unmade) {
            return Some((Why::After(stand(end)), end));
        }
        if let Some((semaphore, -1)) = counts(&self.trace.events[event])
            && self.counts.get(&semaphore).is_some_and(|&count| count <= 0)
        {
            let posts =
                |at: &usize| !self.made[*at] && counts(&self.trace.events[*at]) == Some((semaphore, 1));
            let post = (0..self.made.len()).find(posts).unwrap_or(event);
            return Some((Why::After(stand(post)), post));
        }
        if !self.gate.lets(event) {
            return Some((Why::After(stand(event)), event));
        }
        let Does::Takes(lock, shared) = self.reference.sections.does[event] else { return None };
        let holders = self.locks.get(&lock)?;
        let (_, taken, _) = holders.iter().find(|(by, _, theirs)| *by != path && !(shared && *theirs))?;
        Some((Why::Lock(stand(*taken)), *taken))
    }

    fn make(&mut self, strand: usize, event: usize) {
        self.strands[strand].2 += 1;
        self.made[event] = true;
        self.gate.make(event);
        if let Some((semaphore, by)) = counts(&self.trace.events[event])
            && let Some(count) = self.counts.get_mut(&semaphore)
        {
            *count += by;
        }
        let path = self.strands[strand].0;
        match self.reference.sections.does[event] {
            Does::Nothing => {}
            Does::Takes(lock, shared) => self.locks.entry(lock).or_default().push((path, event, shared)),
            Does::Gives(lock) => {
                if let Some(holders) = self.locks.get_mut(&lock)
                    && let Some(at) = holders.iter().position(|(by, ..)| *by == path)
                {
                    holders.remove(at);
                }
            }
        }
    }

    /// The strands that wait for each other, from the strand of an event on.
    fn cycle(&self, from: usize) -> Stuck {
        let mut stuck: Stuck = Vec::new();
        let mut path = self.trace.events[from].path;
        loop {
            if stuck.iter().any(|waits| waits.strand == path) {
                return stuck;
            }
            let next =
                self.strands.iter().position(|(other, ..)| *other == path).and_then(|at| self.next(at));
            let Some((event, (why, first))) = next.and_then(|event| Some((event, self.obstacle(event)?)))
            else {
                return stuck;
            };
            let whom = self.trace.events[first].path;
            let op = self.trace.events[event].op;
            stuck.push(Waits { strand: path, at: self.stand(event), kind: op.kind, why, whom });
            path = whom;
        }
    }
}

/// Goes through the run until the goals are made; who waits for whom if that does not come to be.
pub(crate) fn simulate(
    reference: &Reference,
    holds: &[Hold],
    goals: &[usize],
    gate: &mut dyn Gate,
) -> Result<(), Stuck> {
    let trace = &reference.trace;
    let mut strands: Vec<(u64, Vec<usize>, usize)> = Vec::new();
    for (at, event) in trace.events.iter().enumerate() {
        match strands.iter_mut().find(|(path, ..)| *path == event.path) {
            Some((_, events, _)) => events.push(at),
            None => strands.push((event.path, vec![at], 0)),
        }
    }
    // Those first whom others wait for, then those who are to come to a goal.
    let wanted = |path: &u64| {
        let is = |event: usize| trace.events[event].path == *path;
        (!holds.iter().any(|hold| is(hold.until)), !goals.iter().any(|&goal| is(goal)))
    };
    strands.sort_by_key(|(path, ..)| wanted(path));
    let made = vec![false; trace.events.len()];
    let mut waits: HashMap<usize, Vec<usize>> = HashMap::new();
    for hold in holds {
        waits.entry(hold.held).or_default().push(hold.until);
    }
    let counts = reference.gates.counts.clone();
    let locks = HashMap::new();
    let mut state = State { trace, reference, gate, counts, holds: waits, strands, made, locks };
    // Who could not go on by what is in memory goes on as soon as he can: it may not stay like that.
    let mut waiting = vec![false; state.strands.len()];
    while goals.iter().any(|&goal| !state.made[goal]) {
        let can = |&at: &usize| state.next(at).is_some_and(|event| state.obstacle(event).is_none());
        let first = (0..state.strands.len()).filter(|&at| waiting[at]).find(can);
        let Some(strand) = first.or_else(|| (0..state.strands.len()).find(can)) else {
            let open = goals.iter().copied().find(|&goal| !state.made[goal]).unwrap_or_default();
            return Err(state.cycle(open));
        };
        for (at, waits) in waiting.iter_mut().enumerate() {
            *waits = state.next(at).is_some_and(|event| !state.gate.lets(event));
        }
        if let Some(event) = state.next(strand) {
            state.make(strand, event);
        }
    }
    Ok(())
}
