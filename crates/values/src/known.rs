//! What is known of the sampled variables in one run.

use crate::places::{Program, Spot};
use crate::recording::Recording;
use crate::regions::Found;
use crate::timeline::{Moment, Timeline};
use std::collections::{BTreeMap, HashMap};
use threadbare_symbols::NoScalar;

/// A variable that is sampled: of fields in heap blocks, that of the first object an activation touches, or of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) variable: usize,
    pub(crate) nth: usize,
}

/// The places of the variables in one run, each with what it was.
pub(crate) struct Known {
    slots: Vec<Slot>,
    /// By variable, then by address.
    lines: HashMap<usize, BTreeMap<u64, Timeline>>,
    /// Of each access its variable, if it is sampled.
    touched: Vec<Option<usize>>,
    /// Those that are fields in heap blocks, with how many of their objects are told apart.
    heap: HashMap<usize, usize>,
}

impl Known {
    pub(crate) fn new(program: &Program, run: &Recording, slots: &[Slot], spots: &[Spot]) -> Self {
        let mut lines: HashMap<usize, BTreeMap<u64, Timeline>> = HashMap::new();
        let mut heap = HashMap::new();
        for slot in slots {
            lines.entry(slot.variable).or_default();
            if program.location(slot.variable).heap {
                *heap.entry(slot.variable).or_insert(0) += 1;
            }
        }
        let touched: Vec<Option<usize>> =
            spots.iter().map(|spot| spot.ok().filter(|variable| lines.contains_key(variable))).collect();
        for (access, variable) in run.accesses.iter().zip(&touched) {
            if let Some(lines) = variable.and_then(|variable| lines.get_mut(&variable)) {
                lines.entry(access.addr).or_default();
            }
        }
        for (number, access) in run.accesses.iter().enumerate() {
            if let Some(lines) = touched[number].and_then(|variable| lines.get_mut(&variable)) {
                let line = lines.entry(access.addr).or_default();
                line.add(number, Some(access.before), access.after);
            } else if spots[number] == Err(NoScalar::Doubtful) && access.writes() {
                // It may have written a part of one, or several.
                let end = access.addr + u64::from(access.size);
                for (&variable, lines) in &mut lines {
                    let before = u64::from(program.location(variable).size) - 1;
                    for (_, line) in lines.range_mut(access.addr.saturating_sub(before)..end) {
                        line.add(number, None, None);
                    }
                }
            }
        }
        Self { slots: slots.to_vec(), lines, touched, heap }
    }

    /// The variables as an activation has them: of the objects that it touches.
    pub(crate) fn view<'a>(&'a self, run: &'a Recording, found: &Found) -> View<'a> {
        let mut inside: HashMap<usize, Vec<Object>> = HashMap::new();
        let strand = run.accesses[found.first].strand;
        for number in found.first..=found.last {
            let access = &run.accesses[number];
            let Some(variable) = self.touched[number].filter(|_| access.strand == strand) else { continue };
            let objects = inside.entry(variable).or_default();
            let at = match objects.iter().position(|object| object.addr == access.addr) {
                Some(at) => at,
                // More than are told apart, so that none of them can be meant.
                None if objects.len() > self.heap.get(&variable).copied().unwrap_or(1) => continue,
                None => {
                    objects.push(Object { addr: access.addr, replaced: None });
                    objects.len() - 1
                }
            };
            if access.writes() {
                objects[at].replaced.get_or_insert(access.before);
            }
        }
        View { known: self, inside }
    }
}

/// An object that an activation touches.
#[derive(Clone, Copy, Debug)]
struct Object {
    addr: u64,
    /// What the first write to it found.
    replaced: Option<u64>,
}

/// The variables as an activation has them.
pub(crate) struct View<'a> {
    known: &'a Known,
    inside: HashMap<usize, Vec<Object>>,
}

impl View<'_> {
    /// The object that a slot is of, where the activation touches it.
    fn object(&self, slot: Slot) -> Option<&Object> {
        let most = self.known.heap.get(&slot.variable).copied().unwrap_or(1);
        self.inside.get(&slot.variable).filter(|objects| objects.len() <= most)?.get(slot.nth)
    }

    /// What they were at a moment, as far as that is known.
    pub(crate) fn at(&self, moment: Moment) -> Vec<Option<u64>> {
        let at = |&slot: &Slot| {
            let lines = self.known.lines.get(&slot.variable)?;
            if self.inside.contains_key(&slot.variable) {
                return lines.get(&self.object(slot)?.addr)?.at(moment);
            }
            let only = lines.values().next().filter(|_| lines.len() == 1 && slot.nth == 0)?;
            if self.known.heap.contains_key(&slot.variable) {
                only.since_first(moment)
            } else {
                only.at(moment)
            }
        };
        self.known.slots.iter().map(at).collect()
    }

    /// The entry as the activation's own writes had it: what the first of them to each variable replaced.
    pub(crate) fn own(&self, entry: &[Option<u64>]) -> Vec<Option<u64>> {
        let own = |(entry, &slot): (&Option<u64>, &Slot)| {
            let replaced = self.object(slot).and_then(|object| object.replaced);
            entry.map(|entry| replaced.unwrap_or(entry))
        };
        entry.iter().zip(&self.known.slots).map(own).collect()
    }
}
