//! Return values: at which hooks of exits what is told, and what a function gave back.
//!
//! A return value is worked out from what there is at the hook of the function's exit (`threadbare_code::Exits`), so it is what the caller gets, also where it is computed behind the
//! hook. Of a function that was put into another one there is none.

use crate::locals::{Function, Holds, Locals};
use crate::location::{Home, Location};
use crate::places::Program;
use crate::recording::Recording;
use crate::regions::{Found, SourceLine};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use threadbare_abi::local::Operand;
use threadbare_code::{Exit, Given};
use threadbare_invariants::Type;
use threadbare_symbols::Pc;

/// The DWARF number of the stack pointer.
const STACK_POINTER: u8 = 7;

/// The name that a return value has.
const NAME: &str = "return";

/// What functions give back.
#[derive(Debug, Default)]
pub(crate) struct Returns {
    variables: Vec<Location>,
    /// By function, its variable.
    of: HashMap<Function, usize>,
    /// Each with the variable.
    exits: Vec<(usize, Exit)>,
    /// Functions that were asked for, by the beginning of their compiled code.
    known: HashSet<u64>,
    /// Functions with a value that cannot be had.
    gone: u64,
}

impl Locals {
    /// Adds the return values of the functions that were compiled at these addresses; whether there are new ones.
    pub fn add_returns(&mut self, program: &mut Program, pcs: impl IntoIterator<Item = u64>) -> bool {
        let before = self.returns.exits.len();
        for pc in pcs {
            let Some(start) = program.function_start(pc).filter(|start| self.returns.known.insert(*start))
            else {
                continue;
            };
            let chain = program.chain(pc);
            let Some(level) = chain.first().filter(|level| level.own) else { continue };
            let function = (level.function.clone(), level.file.clone());
            let scalar = match program.return_scalar(Pc::Return(pc)) {
                Ok(Some(scalar)) => scalar,
                Ok(None) => continue,
                Err(_) => {
                    self.returns.gone += 1;
                    continue;
                }
            };
            let location = Location::new(NAME.to_owned(), scalar.class, scalar.size, Home::Stack);
            let given = if location.class == Type::Float { Given::Vector } else { Given::General };
            let exits = program.exits(start, given, location.size);
            if exits.is_empty() {
                self.returns.gone += 1;
                continue;
            }
            let variable = self.returns.variable(function, location);
            let Some(variable) = variable else { continue };
            for exit in exits {
                self.add_exit(variable, exit);
            }
        }
        self.returns.exits.len() > before
    }

    fn add_exit(&mut self, variable: usize, exit: Exit) {
        let (first, number) = (self.places(), self.returns.exits.len());
        let places =
            exit.sources.iter().map(|it| Operand { register: it.register, offset: it.offset, size: it.size });
        // That it is left there says it all where the value is always the same.
        let left = Operand { register: STACK_POINTER, offset: None, size: 1 };
        let left = exit.sources.is_empty().then_some(left);
        let mut places = places.chain(left).enumerate();
        let room = places.all(|(at, place)| self.put(Holds::Source(number, at), place));
        if room {
            self.close(exit.after, first);
        }
        self.returns.exits.push((variable, exit));
    }

    /// The return value of a function that is no block.
    pub(crate) fn return_of(&self, place: &SourceLine) -> Option<usize> {
        self.returns.of.get(&(place.function.clone(), place.file.clone())).copied()
    }

    /// A return value's variable.
    pub(crate) fn return_location(&self, number: usize) -> &Location {
        &self.returns.variables[number]
    }

    /// What an activation gave back.
    pub(crate) fn return_value(&self, variable: usize, run: &Recording, found: &Found) -> Option<u64> {
        let told = run.returned_of(run.caller(found.first, found.up)?);
        let Holds::Source(number, _) = self.holds(told.first()?.0)? else { return None };
        let (of, exit) = &self.returns.exits[number];
        if *of != variable {
            return None;
        }
        let mut sources: Vec<Option<u64>> = vec![None; exit.sources.len()];
        for &(place, value) in told {
            match self.holds(place)? {
                Holds::Source(other, at) if other == number => {
                    sources.get_mut(at).into_iter().for_each(|source| *source = Some(value));
                }
                _ => return None,
            }
        }
        exit.value(&sources.into_iter().collect::<Option<Vec<u64>>>()?)
    }
}

impl Returns {
    /// Functions whose return value is in several parts, or cannot be worked out.
    pub(crate) fn gone(&self) -> u64 {
        self.gone
    }

    /// The variable of a function; none if another function of the same name gives back something else.
    fn variable(&mut self, function: Function, location: Location) -> Option<usize> {
        let variables = &mut self.variables;
        let number = *self.of.entry(function).or_insert_with(|| {
            variables.push(location.clone());
            variables.len() - 1
        });
        (variables[number] == location).then_some(number)
    }
}
