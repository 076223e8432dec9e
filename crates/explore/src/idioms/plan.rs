//! From an instance of an iroot to steps that wait for others.
//!
//! For each dependency e → f the step of f waits for the step of e, the strand of e stays before its next access to those bytes until f is
//! made, and what the strand of f does to them before f comes before e. Of the writes of other strands each comes before all of it or after all of it.

use super::values::{Memory, Ways};
use crate::futures::simulate::{Anything, Hold, simulate};
use crate::futures::wish::Reference;
use std::collections::BTreeMap;
use std::sync::Arc;
use threadbare_abi::op::OpKind;
use threadbare_idioms::local::Local;
use threadbare_idioms::{Instance, Iroot, RunAccesses};
use threadbare_strategy::ordered::HOLDS;

/// What the strategy `ordered` is told.
pub(super) type Guide = Arc<[u64]>;

/// How strands are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manner {
    /// Before the outermost lock, or right before the access.
    outside: bool,
    others: Others,
    early: Early,
    /// Whoever has made the first of two that depend on each other does nothing more until the second is made: the run may end by what it does.
    still: bool,
}

/// Who is held in its place before the other strand begins: what it reads on the way is not changed yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Early {
    /// Nobody.
    No,
    /// Who makes the second event of the first dependency.
    First,
    /// Who makes the last event: one strand is stopped on its way, the other makes all of its own, and the first goes on.
    Last,
}

/// When the writes of other strands come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Others {
    /// As they came; those in between come after.
    Later,
    /// As they came; those in between come before.
    Earlier,
    /// All of them after.
    After,
}

const fn manner(outside: bool, others: Others, early: Early) -> Manner {
    Manner { outside, others, early, still: false }
}

pub(super) const MANNERS: [Manner; 8] = [
    manner(true, Others::Later, Early::No),
    manner(true, Others::Earlier, Early::No),
    manner(false, Others::Later, Early::Last),
    Manner { still: true, ..manner(false, Others::Later, Early::No) },
    manner(false, Others::Later, Early::No),
    manner(false, Others::Earlier, Early::No),
    manner(true, Others::Later, Early::First),
    manner(false, Others::Later, Early::First),
];

/// The two strands come first of all: whatever the others would make good afterwards is not there yet.
pub(super) const FIRST: [Manner; 2] =
    [manner(true, Others::After, Early::No), manner(false, Others::After, Early::No)];

/// The same, and with who is held in its place before the other strand begins.
pub(super) const AGAIN: [Manner; 4] = [
    manner(false, Others::After, Early::Last),
    manner(false, Others::After, Early::First),
    manner(false, Others::After, Early::No),
    manner(true, Others::After, Early::No),
];

/// A run to plan by.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) reference: Reference,
    pub(super) run: RunAccesses,
    pub(super) local: Local,
}

impl Profile {
    /// The dependencies of an idiom, by the numbers of their events.
    fn dependencies(idiom: u8) -> &'static [(usize, usize)] {
        match idiom {
            1 => &[(0, 1)],
            2 => &[(0, 1), (1, 2)],
            _ => &[(0, 1), (2, 3)],
        }
    }

    /// What the strategy is told of holds.
    pub(super) fn guide(&self, holds: &[Hold]) -> Guide {
        let mark = |step: usize| self.reference.reads.mark(step);
        let named = holds.iter().take(HOLDS).flat_map(|hold| {
            let (held, until) = (mark(hold.held), mark(hold.until));
            [held.path, held.pc, held.number, until.path, until.pc, until.number]
        });
        std::iter::once(holds.len().min(HOLDS) as u64).chain(named).collect()
    }

    /// The holds that make an instance come true.
    pub(super) fn holds(&self, iroot: &Iroot, instance: &Instance, manner: Manner) -> Vec<Hold> {
        let accesses = instance.accesses();
        let step = |at: usize| self.run.accesses[at].step;
        let strand = |at: usize| self.run.accesses[at].strand;
        let dependencies = Profile::dependencies(iroot.idiom);
        // Steps that others wait for: their strands are not stopped before them.
        let awaited: Vec<usize> = dependencies.iter().map(|&(first, _)| accesses[first]).collect();
        let before = |at: usize| {
            let entry = self.reference.sections.entry(step(at));
            let own = awaited.iter().filter(|&&it| strand(it) == strand(at) && step(it) < step(at));
            match manner.outside && own.map(|&it| step(it)).max().is_none_or(|own| entry > own) {
                true => entry,
                false => step(at),
            }
        };
        let mut holds = Vec::new();
        for &(first, second) in dependencies {
            let (first, second) = (accesses[first], accesses[second]);
            holds.push(Hold { held: before(second), until: step(first) });
        }
        let early = match manner.early {
            Early::No => None,
            Early::First => dependencies.first(),
            Early::Last => dependencies.last(),
        };
        if let Some(&(first, second)) = early {
            holds.extend(self.comes_first(strand(accesses[first]), before(accesses[second])));
        }
        if iroot.idiom == 6 {
            return holds;
        }
        // Where both strands have one of each, nobody could go on.
        if manner.still && iroot.idiom != 5 {
            let events = &self.reference.trace.events;
            holds.extend(dependencies.iter().filter_map(|&(first, second)| {
                let (first, until) = (step(accesses[first]), step(accesses[second]));
                let held = (first + 1..events.len()).find(|&at| events[at].index == events[first].index)?;
                Some(Hold { held, until })
            }));
        }
        for &(first, second) in dependencies {
            let (first, second) = (accesses[first], accesses[second]);
            if let Some(next) = self.local.next[first].filter(|next| !accesses.contains(next)) {
                holds.push(Hold { held: before(next), until: step(second) });
            }
            if let Some(prev) = self.local.prev[second].filter(|prev| !accesses.contains(prev)) {
                holds.push(Hold { held: before(first), until: step(prev) });
            }
        }
        if !self.run.accesses[accesses[0]].does.is_sync() {
            self.keep_others_away(accesses, manner, &before, &mut holds);
        }
        let last = accesses.iter().map(|&at| step(at));
        let trace = &self.reference.trace;
        if let (Some(end), Some(last)) = (trace.end(), last.max())
            && trace.events[end].path != trace.events[last].path
        {
            holds.push(Hold { held: end, until: last });
        }
        holds
    }

    /// A strand stays at its beginning until another has come to an event.
    fn comes_first(&self, strand: u32, event: usize) -> Option<Hold> {
        let events = &self.reference.trace.events;
        let other = events[event].index;
        let until = (0..event).rev().find(|&at| events[at].index == other)?;
        let makes =
            |at: &usize| events[*at].op.kind == OpKind::Create && events[*at].op.addr == u64::from(other);
        // Who makes the other strand, or somebody before it, has to have done so.
        let made = (0..until).rev().find(makes).unwrap_or(0);
        let held = (made..events.len()).find(|&at| u32::from(events[at].index) == strand && at > made)?;
        Some(Hold { held, until })
    }

    fn keep_others_away(
        &self,
        accesses: &[usize],
        manner: Manner,
        before: &dyn Fn(usize) -> usize,
        holds: &mut Vec<Hold>,
    ) {
        let all = &self.run.accesses;
        let strands: Vec<u32> = accesses.iter().map(|&at| all[at].strand).collect();
        let (start, end) = (accesses.iter().min(), accesses.iter().max());
        let (Some(&start), Some(&end)) = (start, end) else { return };
        let border = match manner.others {
            Others::Later => start,
            Others::Earlier => end,
            Others::After => 0,
        };
        let mut others: BTreeMap<u32, (Option<usize>, Option<usize>)> = BTreeMap::new();
        for (at, access) in all.iter().enumerate() {
            let meets = || accesses.iter().any(|&it| all[it].common(access).is_some());
            if !access.does.writes() || strands.contains(&access.strand) || !meets() {
                continue;
            }
            let (last, next) = others.entry(access.strand).or_default();
            match at < border {
                true => *last = Some(at),
                false => _ = next.get_or_insert(at),
            }
        }
        let (first, last) = (accesses[0], accesses[accesses.len() - 1]);
        for (earlier, later) in others.into_values() {
            if let Some(earlier) = earlier {
                holds.push(Hold { held: before(first), until: all[earlier].step });
            }
            if let Some(later) = later {
                holds.push(Hold { held: before(later), until: all[last].step });
            }
        }
    }

    /// Whether strands that hold back like this come to the instance's accesses, as far as can be told; by what they would read, too, if it is known where they go then.
    pub(super) fn seems_possible(
        &self,
        iroot: &Iroot,
        instance: &Instance,
        holds: &[Hold],
        ways: Option<&Ways>,
    ) -> bool {
        // Of a deadlock only what is taken is made.
        let made = if iroot.idiom == 6 { &[0, 2][..] } else { &[0, 1, 2, 3][..] };
        let accesses = instance.accesses();
        let goals = made.iter().filter_map(|&at| Some(self.run.accesses[*accesses.get(at)?].step));
        let goals: Vec<usize> = goals.collect();
        match ways.map(|ways| Memory::new(&self.reference.trace, ways, &goals)) {
            Some(mut memory) => simulate(&self.reference, holds, &goals, &mut memory).is_ok(),
            None => simulate(&self.reference, holds, &goals, &mut Anything).is_ok(),
        }
    }
}
