//! What is known of the sampled variables in one run.

use crate::places::{Program, Spot};
use crate::recording::Recording;
use crate::regions::Found;
use crate::timeline::{Moment, Timeline};
use std::collections::{BTreeMap, HashMap};
use threadbare_symbols::NoScalar;

/// The places of the variables in one run, each with what it was.
pub(crate) struct Known {
    /// By variable: its place among those that are sampled.
    slots: HashMap<usize, usize>,
    /// By slot, then by address.
    lines: Vec<BTreeMap<u64, Timeline>>,
    /// Of each access its slot, if it is to one of the variables.
    touched: Vec<Option<usize>>,
    heap: Vec<bool>,
}

impl Known {
    pub(crate) fn new(program: &Program, run: &Recording, variables: &[usize], spots: &[Spot]) -> Self {
        let slots: HashMap<usize, usize> =
            variables.iter().enumerate().map(|(slot, &variable)| (variable, slot)).collect();
        let touched: Vec<Option<usize>> =
            spots.iter().map(|spot| spot.ok().and_then(|variable| slots.get(&variable).copied())).collect();
        let mut lines: Vec<BTreeMap<u64, Timeline>> = vec![BTreeMap::new(); variables.len()];
        for (access, slot) in run.accesses.iter().zip(&touched) {
            if let Some(slot) = slot {
                lines[*slot].entry(access.addr).or_default();
            }
        }
        for (number, access) in run.accesses.iter().enumerate() {
            if let Some(slot) = touched[number] {
                let line = lines[slot].entry(access.addr).or_default();
                line.add(number, Some(access.before), access.after);
            } else if spots[number] == Err(NoScalar::Doubtful) && access.writes() {
                // It may have written a part of one, or several.
                let end = access.addr + u64::from(access.size);
                for (lines, &variable) in lines.iter_mut().zip(variables) {
                    let before = u64::from(program.location(variable).size) - 1;
                    for (_, line) in lines.range_mut(access.addr.saturating_sub(before)..end) {
                        line.add(number, None, None);
                    }
                }
            }
        }
        let heap = variables.iter().map(|&variable| program.location(variable).heap).collect();
        Self { slots, lines, touched, heap }
    }

    /// The variables as an activation has them: of the objects that it touches.
    pub(crate) fn view<'a>(&'a self, run: &'a Recording, found: &Found) -> View<'a> {
        let mut inside: Vec<Inside> = vec![Inside::default(); self.slots.len()];
        let strand = run.accesses[found.first].strand;
        for number in found.first..=found.last {
            let access = &run.accesses[number];
            let Some(slot) = self.touched[number].filter(|_| access.strand == strand) else { continue };
            let inside = &mut inside[slot];
            inside.several |= inside.addr.is_some_and(|addr| addr != access.addr);
            inside.addr.get_or_insert(access.addr);
            if access.writes() {
                inside.replaced.get_or_insert(access.before);
            }
        }
        View { known: self, inside }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    /// The object's.
    addr: Option<u64>,
    /// There is more than one.
    several: bool,
    /// What the first write found.
    replaced: Option<u64>,
}

/// The variables as an activation has them.
pub(crate) struct View<'a> {
    known: &'a Known,
    inside: Vec<Inside>,
}

impl View<'_> {
    /// What they were at a moment, as far as that is known.
    pub(crate) fn at(&self, moment: Moment) -> Vec<Option<u64>> {
        let at = |(slot, inside): (usize, &Inside)| {
            let lines = &self.known.lines[slot];
            match inside.addr {
                // Which of them is meant nobody can say.
                Some(_) if inside.several => None,
                Some(addr) => lines.get(&addr)?.at(moment),
                None if lines.len() != 1 => None,
                None if self.known.heap[slot] => lines.values().next()?.since_first(moment),
                None => lines.values().next()?.at(moment),
            }
        };
        self.inside.iter().enumerate().map(at).collect()
    }

    /// The entry as the activation's own writes had it: what the first of them to each variable replaced.
    pub(crate) fn own(&self, entry: &[Option<u64>]) -> Vec<Option<u64>> {
        let own = |(entry, inside): (&Option<u64>, &Inside)| match inside.replaced {
            Some(replaced) if entry.is_some() => Some(replaced),
            _ => *entry,
        };
        entry.iter().zip(&self.inside).map(own).collect()
    }
}
