//! Which variables of a program are sampled: those that strands share, the ones that are touched most first.

use crate::array::{Array, FEW};
use crate::known::{One, Slot};
use crate::location::{Home, LeftOut, Read};
use crate::objects::{self, Objects};
use crate::places::{Program, Spot};
use crate::recording::Recording;
use crate::sequence::{LONGEST, Sequence, Told};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use threadbare_invariants::Type;
use threadbare_symbols::NoScalar;

/// How many variables a point has at most. Those that strands touch most come first.
pub const MAX_VARIABLES: usize = 16;

/// How many of them are arrays: each is a length, a least and a greatest element, a sum and an order, too.
const MAX_ARRAYS: usize = 4;

/// Arrays and what is told of sequences on the heap together.
const MAX_SEQUENCES: usize = 8;

/// What is known of a variable while it is not settled which ones are sampled.
#[derive(Clone, Debug, Default)]
struct Use {
    shared: bool,
    /// A run had more than one object with it.
    several: bool,
    accesses: u64,
    /// How many of them were to elements of a sequence that is told.
    elements: u64,
    /// The objects that it led to.
    objects: BTreeSet<u64>,
}

/// What runs have shown of the variables.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    uses: BTreeMap<usize, Use>,
    /// Where sequences begin whose elements strands share, by the variables that say so.
    filled: BTreeSet<usize>,
    pub(crate) left_out: LeftOut,
    /// Of the run that shared most.
    pub(crate) read: Read,
}

impl Choice {
    /// Looks which variables the strands of a run share.
    pub(crate) fn learn(&mut self, program: &mut Program, run: &Recording) {
        let mut unnamed: HashMap<u64, (u16, bool, bool, NoScalar)> = HashMap::default();
        let mut inside: HashMap<u64, bool> = HashMap::default();
        let spots = program.spots(run);
        self.follow_pointers(program, run, &spots);
        let begins: Vec<usize> = program.sequences().filter_map(Sequence::begin).collect();
        let mut starts: HashMap<u64, usize> = HashMap::default();
        let mut blocks: HashMap<u64, u64> = HashMap::default();
        let mut touched: HashMap<(usize, u64), (u16, bool, bool)> = HashMap::default();
        for (access, spot) in run.accesses.iter().zip(spots.iter().copied()) {
            blocks.extend(access.block.map(|(start, _)| (access.addr, start)));
            if let Ok(begin) = spot
                && begins.contains(&begin)
            {
                starts
                    .extend([Some(access.before), access.after].into_iter().flatten().map(|at| (at, begin)));
            }
            match spot {
                Ok(number) => {
                    let used = self.uses.entry(number).or_default();
                    used.accesses += 1;
                    let place = touched.entry((number, access.addr)).or_insert((access.strand, false, false));
                    place.1 |= place.0 != access.strand;
                    place.2 |= access.writes();
                    used.shared |= place.1 && place.2;
                }
                Err(why) => {
                    inside.insert(access.addr, access.block.is_some() || access.frame.is_some());
                    let spot = unnamed.entry(access.addr).or_insert((access.strand, false, false, why));
                    spot.1 |= spot.0 != access.strand;
                    spot.2 |= access.writes();
                }
            }
        }
        for (access, spot) in run.accesses.iter().zip(&spots) {
            let Some((start, bytes)) = access.block else { continue };
            let is_short = |begin: &usize| {
                let mut sequences = program.sequences().filter(|sequence| sequence.begin() == Some(*begin));
                sequences.any(|it| bytes <= u64::from(it.element.size) * LONGEST as u64)
            };
            if let Ok(number) = spot
                && starts.get(&start).is_some_and(is_short)
            {
                self.uses.entry(*number).or_default().elements += 1;
            }
        }
        let named = touched.iter().map(|((_, addr), (_, shared, written))| (addr, *shared && *written));
        let others = unnamed.iter().map(|(addr, (_, shared, written, _))| (addr, *shared && *written));
        let shared = named.chain(others).filter(|(_, shared)| *shared);
        self.filled.extend(shared.filter_map(|(addr, _)| starts.get(blocks.get(addr)?)));
        let mut objects: HashMap<usize, usize> = HashMap::default();
        for (number, _) in touched.keys() {
            *objects.entry(*number).or_insert(0) += 1;
        }
        for (number, objects) in objects {
            self.uses.entry(number).or_default().several |= objects > 1;
        }
        let mut left_out = LeftOut::default();
        let mut read = Read::default();
        for ((number, _), _) in touched.iter().filter(|(_, (_, shared, written))| *shared && *written) {
            read.count(program.location(*number).home == Home::Fixed, true);
        }
        for (addr, (_, shared, written, why)) in unnamed {
            if shared && written {
                left_out.count(why);
                // What is the library's own, and what is no variable of the program's, need not be read.
                let inside = inside.get(&addr).copied().unwrap_or(false);
                if why == NoScalar::Doubtful || why == NoScalar::NoVariable && inside {
                    read.count(!inside, false);
                }
            }
        }
        let all = |read: &Read| read.globals.0 + read.fields.0;
        if all(&read) > all(&self.read) {
            self.read = read;
        }
        self.left_out.unnamed = self.left_out.unnamed.max(left_out.unnamed);
        self.left_out.doubtful = self.left_out.doubtful.max(left_out.doubtful);
    }

    /// Looks which objects the pointers of a run lead to.
    fn follow_pointers(&mut self, program: &mut Program, run: &Recording, spots: &[Spot]) {
        let mut pointers: Vec<(usize, u64)> = Vec::new();
        for (access, spot) in run.accesses.iter().zip(spots) {
            let Ok(number) = *spot else { continue };
            if program.location(number).class == Type::Pointer {
                let values = [Some(access.before), access.after].into_iter().flatten();
                pointers.extend(values.filter(|value| *value != 0).map(|value| (number, value)));
            }
        }
        if pointers.is_empty() {
            return;
        }
        let objects = Objects::of(program, run, pointers.iter().map(|(_, value)| *value));
        for (number, value) in pointers {
            self.uses.entry(number).or_default().objects.extend(objects.at(value));
        }
    }

    /// The variables that are sampled, of those whose names are wanted.
    pub(crate) fn slots(&mut self, program: &Program, wanted: &dyn Fn(&str) -> bool) -> Vec<Slot> {
        let mut slots = Vec::new();
        // An element is told with its sequence, where that is all it is touched as.
        let shared = self.uses.iter().filter(|(number, used)| {
            used.shared
                && used.elements < used.accesses
                && wanted(program.location(**number).name.trim_start_matches(':'))
        });
        let mut shared: Vec<(u64, usize)> = shared.map(|(number, used)| (used.accesses, *number)).collect();
        for array in self.arrays(program, &shared) {
            if array.text || array.elements.len() > FEW {
                shared.retain(|(_, number)| !array.elements.contains(&Some(*number)));
            }
            slots.push(Slot::All(array));
        }
        for sequence in program.sequences() {
            let is_shared = |number: &usize| shared.iter().any(|(_, it)| it == number);
            let filled = sequence.begin().is_some_and(|begin| self.filled.contains(&begin));
            let told = sequence.borders().filter(|borders| filled || borders.iter().any(is_shared));
            shared.retain(|(_, number)| !sequence.hidden().any(|it| it == *number));
            if told.is_some() && slots.len() + 2 <= MAX_SEQUENCES {
                if !sequence.has_len() {
                    slots.push(Slot::Sequence(sequence.clone(), Told::Size));
                }
                slots.push(Slot::Sequence(sequence.clone(), Told::All));
            }
        }
        shared.sort_by_key(|&(accesses, number)| (std::cmp::Reverse(accesses), number));
        let room = MAX_VARIABLES.saturating_sub(slots.len());
        self.left_out.beyond = shared.len().saturating_sub(room) as u64;
        for (_, variable) in shared.into_iter().take(room) {
            let two = program.location(variable).home != Home::Fixed && self.uses[&variable].several;
            slots.extend((0..=usize::from(two)).map(|nth| Slot::One(One { variable, nth })));
            if objects::are_told(self.uses[&variable].objects.len()) {
                slots.push(Slot::Object(One { variable, nth: 0 }));
            }
        }
        slots
    }

    /// The arrays with shared elements that are sampled, those that are touched most first.
    fn arrays(&self, program: &Program, shared: &[(u64, usize)]) -> Vec<Array> {
        let accesses = |array: &Array| -> u64 {
            let touched = shared.iter().filter(|(_, number)| array.elements.contains(&Some(*number)));
            touched.map(|(accesses, _)| accesses).sum()
        };
        let whole = program.arrays().filter(|array| array.is_whole());
        let mut ranked: Vec<(u64, &Array)> = whole.map(|array| (accesses(array), array)).collect();
        ranked.retain(|(accesses, _)| *accesses > 0);
        ranked.sort_by_key(|(accesses, _)| std::cmp::Reverse(*accesses));
        ranked.into_iter().take(MAX_ARRAYS).map(|(_, array)| array.clone()).collect()
    }
}
