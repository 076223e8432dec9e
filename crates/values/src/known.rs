//! What is known of the sampled variables in one run.

use crate::array::Array;
use crate::location::Home;
use crate::places::{Program, Spot};
use crate::recording::Recording;
use crate::regions::Found;
use crate::timeline::{Moment, Timeline};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use threadbare_abi::op::OpKind;
use threadbare_symbols::NoScalar;

/// What is sampled.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// A variable: of those in heap blocks and frames, that of the first object an activation touches, or of the second.
    One(One),
    /// An array, put together from its elements.
    All(Array),
}

/// A variable of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct One {
    pub(crate) variable: usize,
    pub(crate) nth: usize,
}

impl Slot {
    /// The variables that it is made of, the first object of each.
    fn ones(&self) -> Vec<One> {
        match self {
            Self::One(one) => vec![*one],
            Self::All(array) => {
                array.elements.iter().flatten().map(|&variable| One { variable, nth: 0 }).collect()
            }
        }
    }
}

/// What a slot was, as far as that is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    One(Option<u64>),
    All(Vec<Option<u64>>),
}

/// The places of the variables in one run, each with what it was.
pub(crate) struct Known {
    slots: Vec<Slot>,
    /// By variable, then by address.
    lines: HashMap<usize, BTreeMap<u64, Timeline>>,
    /// Of each access its variable, if it is sampled.
    touched: Vec<Option<usize>>,
    /// Those that are in heap blocks or frames, with how many of their objects are told apart.
    several: HashMap<usize, usize>,
    /// Those that are in frames.
    framed: HashSet<usize>,
}

impl Known {
    pub(crate) fn new(program: &Program, run: &Recording, slots: &[Slot], spots: &[Spot]) -> Self {
        let mut lines: HashMap<usize, BTreeMap<u64, Timeline>> = HashMap::new();
        let (mut several, mut framed) = (HashMap::new(), HashSet::new());
        let ones: BTreeSet<(usize, usize)> =
            slots.iter().flat_map(Slot::ones).map(|one| (one.variable, one.nth)).collect();
        for (variable, _) in ones {
            lines.entry(variable).or_default();
            if program.location(variable).home != Home::Fixed {
                *several.entry(variable).or_insert(0) += 1;
            }
            if program.location(variable).home == Home::Stack {
                framed.insert(variable);
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
                // What the first write to a frame replaces is no value of the variable.
                let fresh = framed.contains(&touched[number].unwrap_or(usize::MAX))
                    && matches!(access.op, OpKind::Write | OpKind::WriteRange)
                    && line.last() != Some(access.before);
                line.add(number, (!fresh).then_some(access.before), access.after);
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
        Self { slots: slots.to_vec(), lines, touched, several, framed }
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
                None if objects.len() > self.several.get(&variable).copied().unwrap_or(1) => continue,
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
    fn object(&self, one: One) -> Option<&Object> {
        let most = self.known.several.get(&one.variable).copied().unwrap_or(1);
        self.inside.get(&one.variable).filter(|objects| objects.len() <= most)?.get(one.nth)
    }

    fn one_at(&self, one: One, moment: Moment) -> Option<u64> {
        let lines = self.known.lines.get(&one.variable)?;
        if self.inside.contains_key(&one.variable) {
            return lines.get(&self.object(one)?.addr)?.at(moment);
        }
        let only = lines.values().next().filter(|_| lines.len() == 1 && one.nth == 0)?;
        if self.known.framed.contains(&one.variable) {
            // A frame is gone some time after the last access.
            only.since_first(moment).filter(|_| only.has_more(moment))
        } else if self.known.several.contains_key(&one.variable) {
            only.since_first(moment)
        } else {
            only.at(moment)
        }
    }

    /// Every slot, by what each of its variables was.
    fn each(&self, mut at: impl FnMut(One) -> Option<u64>) -> Vec<Seen> {
        let element = |variable| One { variable, nth: 0 };
        let seen = |slot: &Slot| match slot {
            Slot::One(one) => Seen::One(at(*one)),
            Slot::All(array) => {
                Seen::All(array.elements.iter().map(|variable| at(element((*variable)?))).collect())
            }
        };
        self.known.slots.iter().map(seen).collect()
    }

    /// What they were at a moment, as far as that is known.
    pub(crate) fn at(&self, moment: Moment) -> Vec<Seen> {
        self.each(|one| self.one_at(one, moment))
    }

    /// What they were when just these accesses had been made.
    pub(crate) fn after_those(&self, made: impl Fn(usize) -> bool) -> Vec<Seen> {
        self.each(|one| {
            let lines = self.known.lines.get(&one.variable)?;
            if self.inside.contains_key(&one.variable) {
                return lines.get(&self.object(one)?.addr)?.after_those(&made);
            }
            let only = lines.values().next().filter(|_| lines.len() == 1 && one.nth == 0)?;
            let is_there = !self.known.several.contains_key(&one.variable) || only.has_any(&made);
            only.after_those(&made).filter(|_| is_there && !self.known.framed.contains(&one.variable))
        })
    }

    /// The entry at a moment as the activation's own writes had it: what the first of them to each variable replaced.
    pub(crate) fn own(&self, entry: Moment) -> Vec<Seen> {
        self.each(|one| {
            let replaced = self.object(one).and_then(|object| object.replaced);
            self.one_at(one, entry).map(|entry| replaced.unwrap_or(entry))
        })
    }
}
