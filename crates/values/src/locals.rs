//! Parameters, locals and return values: the plan by which the runtime reads them, and what they were in an activation.
//!
//! The debug info says for an instruction where a variable is: in a register, in the frame, or that the compiler knows it. Of that a table is made once, and the
//! runtime tells at each access what is there. An activation has a value of a variable if its own accesses, and not those of functions that it calls, all
//! show the same; who changes a parameter has none. Return values are in `returned.rs`.

use crate::location::{Home, Location};
use crate::places::Program;
use crate::recording::Recording;
use crate::regions::{Found, SourceLine};
use crate::returned::Returns;
use rustc_hash::FxHashMap as HashMap;
use threadbare_abi::local::{self, MOST_SLOTS, PLACES, SLOTS};
use threadbare_symbols::{LocalPlace, LocalScalar, Pc};

/// Parameters and locals of a function that are read.
const MOST: usize = 4;

/// A function, by its name and its file.
pub(crate) type Function = (String, String);

/// Where parameters and locals are.
#[derive(Debug, Default)]
pub struct Locals {
    /// All variables.
    variables: Vec<Location>,
    /// By function, the variables that are read, parameters first.
    of: HashMap<Function, Vec<usize>>,
    /// By the number of a place, what it is of.
    places: Vec<Holds>,
    /// By instruction, what the compiler knows.
    constants: HashMap<u64, Vec<(usize, u64)>>,
    words: Vec<u64>,
    /// Slots that are taken.
    used: usize,
    /// Parameters that have no place at any instruction.
    gone: u64,
    pub(crate) returns: Returns,
}

/// What a place is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holds {
    /// A variable.
    Variable(usize),
    /// What comes with an exit: its number, and which of its sources it is.
    Source(usize, usize),
}

impl Locals {
    /// The plan for accesses at these return addresses.
    pub fn new(program: &mut Program, pcs: impl IntoIterator<Item = u64>) -> Self {
        let mut locals = Self { words: vec![0; local::WORDS], ..Self::default() };
        let mut numbers: HashMap<(Function, String, u8), usize> = HashMap::default();
        let mut has_place = Vec::new();
        for pc in pcs {
            let chain = program.chain(pc);
            let mut all = if chain.is_empty() { Vec::new() } else { program.local_scalars(Pc::Return(pc)) };
            all.sort_by_key(|it| !it.parameter);
            let first = locals.places.len();
            for scalar in all {
                let Some(level) = chain.get(scalar.level).filter(|level| level.own) else { continue };
                let function = (level.function.clone(), level.file.clone());
                let key = (function.clone(), scalar.name.clone(), scalar.size);
                let number = match numbers.get(&key) {
                    Some(&number) => number,
                    None => {
                        let mine = locals.of.entry(function).or_default();
                        if mine.len() >= MOST {
                            continue;
                        }
                        let number = locals.variables.len();
                        mine.push(number);
                        numbers.insert(key, number);
                        has_place.push(!scalar.parameter);
                        let LocalScalar { name, class, size, .. } = scalar;
                        locals.variables.push(Location::new(name, class, size, Home::Stack));
                        number
                    }
                };
                has_place[number] |= scalar.place.is_some();
                match scalar.place {
                    Some(LocalPlace::Constant(value)) => {
                        let bits = 64 - 8 * u32::from(scalar.size);
                        let value = value.cast_unsigned() & (u64::MAX >> bits);
                        locals.constants.entry(pc).or_default().push((number, value));
                    }
                    Some(LocalPlace::Register(register)) => {
                        let place = local::Operand { register, offset: None, size: scalar.size };
                        locals.put(Holds::Variable(number), place);
                    }
                    Some(LocalPlace::Frame { register, offset }) => {
                        let place = local::Operand { register, offset: Some(offset), size: scalar.size };
                        locals.put(Holds::Variable(number), place);
                    }
                    None => {}
                }
            }
            locals.close(pc, first);
        }
        locals.gone = has_place.iter().filter(|has| !**has).count() as u64;
        locals
    }

    /// Adds a place; whether there was room.
    pub(crate) fn put(&mut self, holds: Holds, place: local::Operand) -> bool {
        let room = self.places.len() < PLACES;
        if room {
            self.words[2 * SLOTS + self.places.len()] = place.encode();
            self.places.push(holds);
        }
        room
    }

    /// How many places there are.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// What a place is of.
    pub(crate) fn holds(&self, place: u32) -> Option<Holds> {
        self.places.get(place as usize).copied()
    }

    /// Gives an instruction the places from `first` on.
    pub(crate) fn close(&mut self, pc: u64, first: usize) {
        let count = u16::try_from(self.places.len() - first).unwrap_or(0);
        if count > 0 {
            let entry = local::Entry { first: first as u32, count, around: 0 };
            self.enter(pc, |it| *it = local::Entry { around: it.around, ..entry });
        }
    }

    /// Changes what there is to tell at an instruction, if there is room for one more.
    fn enter(&mut self, pc: u64, change: impl FnOnce(&mut local::Entry)) {
        let mut slot = local::slot(pc);
        while self.words[2 * slot] != 0 && self.words[2 * slot] != pc {
            slot = (slot + 1) & (SLOTS - 1);
        }
        let new = self.words[2 * slot] == 0;
        if pc == 0 || new && self.used >= MOST_SLOTS {
            return;
        }
        self.used += usize::from(new);
        let mut entry = local::Entry::decode(self.words[2 * slot + 1]);
        change(&mut entry);
        self.words[2 * slot] = pc;
        self.words[2 * slot + 1] = entry.encode();
    }

    /// Adds what is to be told beside the accesses of a run; whether that is new.
    pub fn add_besides(&mut self, program: &mut Program, run: &Recording) -> bool {
        let mut new = false;
        for (pc, around) in program.besides(run) {
            self.enter(pc, |entry| {
                new |= around > entry.around;
                entry.around = entry.around.max(around);
            });
        }
        new
    }

    /// The table for the runtime.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Parameters of functions that touch shared memory that the debug info has no place of.
    pub(crate) fn gone(&self) -> u64 {
        self.gone
    }

    /// The variables of a region's function.
    pub(crate) fn of(&self, place: &SourceLine) -> &[usize] {
        self.of.get(&(place.function.clone(), place.file.clone())).map_or(&[], Vec::as_slice)
    }

    /// A variable.
    pub(crate) fn location(&self, number: usize) -> &Location {
        &self.variables[number]
    }

    /// What these variables were in an activation; none for one of which its accesses show nothing, or not the same.
    pub(crate) fn values(&self, wanted: &[usize], run: &Recording, found: &Found) -> Vec<Option<u64>> {
        let mut values: Vec<Seen> = vec![Seen::Nothing; wanted.len()];
        if wanted.is_empty() {
            return Vec::new();
        }
        let first = &run.accesses[found.first];
        let own = run.caller(found.first, found.up);
        let mut see = |variable: usize, value: u64| {
            if let Some(at) = wanted.iter().position(|it| *it == variable) {
                values[at] = values[at].and(value);
            }
        };
        for access in &run.accesses[found.first..=found.last] {
            if access.strand != first.strand || Some(access.activation) != own || access.goes_on {
                continue;
            }
            for &(place, value) in run.locals_of(access) {
                if let Some(Holds::Variable(variable)) = self.holds(place) {
                    see(variable, value);
                }
            }
            for &(variable, value) in self.constants.get(&access.pc).into_iter().flatten() {
                see(variable, value);
            }
        }
        values.into_iter().map(Seen::value).collect()
    }
}

/// What was seen of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    Same(u64),
    Different,
}

impl Seen {
    fn and(self, value: u64) -> Self {
        match self {
            Self::Nothing => Self::Same(value),
            Self::Same(before) if before == value => self,
            _ => Self::Different,
        }
    }

    fn value(self) -> Option<u64> {
        if let Self::Same(value) = self { Some(value) } else { None }
    }
}
