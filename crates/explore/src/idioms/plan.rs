//! From an instance of an iroot to steps that wait for others.
//!
//! For each dependency e → f the step of f waits for the step of e, the strand of e stays before its next access to those bytes until f is
//! made, and what the strand of f does to them before f comes before e. Of the writes of other strands each comes before all of it or after all of it.

use crate::futures::simulate::{Hold, simulate};
use crate::futures::wish::Reference;
use std::collections::BTreeMap;
use threadbare_idioms::local::Local;
use threadbare_idioms::{Instance, Iroot, Run};

/// How strands are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manner {
    /// Before the outermost lock, or right before the access.
    outside: bool,
    others: Others,
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

pub(super) const MANNERS: [Manner; 4] = [
    Manner { outside: true, others: Others::Later },
    Manner { outside: true, others: Others::Earlier },
    Manner { outside: false, others: Others::Later },
    Manner { outside: false, others: Others::Earlier },
];

/// The two strands come first of all: whatever the others would make good afterwards is not there yet.
pub(super) const FIRST: [Manner; 2] =
    [Manner { outside: true, others: Others::After }, Manner { outside: false, others: Others::After }];

/// A run to plan by.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) reference: Reference,
    pub(super) run: Run,
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
        if iroot.idiom == 6 {
            return holds;
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

    /// Whether strands that hold back like this come to the instance's accesses, as far as can be told.
    pub(super) fn seems_possible(&self, iroot: &Iroot, instance: &Instance, holds: &[Hold]) -> bool {
        // Of a deadlock only what is taken is made.
        let made = if iroot.idiom == 6 { &[0, 2][..] } else { &[0, 1, 2, 3][..] };
        let accesses = instance.accesses();
        let goals = made.iter().filter_map(|&at| Some(self.run.accesses[*accesses.get(at)?].step));
        let goals: Vec<usize> = goals.collect();
        simulate(&self.reference.trace, &self.reference.sections, holds, &goals).is_ok()
    }
}
