//! Which object a pointer leads to: a heap block by the place of its allocation, a global or static by its name, a function by its own.
//!
//! Addresses are those of one run: what is told is a name, and names have numbers that are the same in all runs.

use crate::places::Program;
use crate::recording::Recording;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;

/// Pointers that lead to more than so many objects are told by what is at them only.
const MOST: usize = 8;
/// Activations around an allocation that are looked at for the program's own code.
const CALLERS: usize = 12;

/// The names of objects, each with its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    all: Vec<String>,
    numbers: HashMap<String, u64>,
    /// What globals and functions are called, by address.
    fixed: HashMap<u64, Option<u64>>,
}

impl Names {
    /// A name by its number.
    pub(crate) fn get(&self, number: u64) -> Option<&str> {
        self.all.get(usize::try_from(number).ok()?).map(String::as_str)
    }

    pub(crate) fn number(&mut self, name: String) -> u64 {
        let all = &mut self.all;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            all.push(name.clone());
            all.len() as u64 - 1
        })
    }

    /// The number of what does not move, which is looked up once.
    pub(crate) fn fixed(&mut self, address: u64, look_up: impl FnOnce() -> Option<String>) -> Option<u64> {
        if let Some(known) = self.fixed.get(&address) {
            return *known;
        }
        let number = look_up().map(|name| self.number(name));
        self.fixed.insert(address, number);
        number
    }
}

/// The objects of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    /// Blocks by where they begin: their ends, and the numbers of their names. None of two that were there one after the other.
    blocks: BTreeMap<u64, (u64, Option<u64>)>,
    /// What does not move and is led to.
    fixed: HashMap<u64, u64>,
}

impl Objects {
    /// Those of a run that these addresses may lead to.
    pub(crate) fn of(program: &mut Program, run: &Recording, pointers: impl Iterator<Item = u64>) -> Self {
        let mut objects = Self::default();
        for allocation in &run.allocations {
            let stack = run.stack_at(allocation.pc, allocation.activation);
            let name = program.allocated_at(stack.into_iter().take(CALLERS));
            let end = allocation.start.saturating_add(allocation.size.max(1));
            let block = objects.blocks.entry(allocation.start).or_insert((end, name));
            if block.1 != name {
                *block = (block.0.max(end), None);
            }
        }
        for pointer in pointers {
            if pointer != 0
                && objects.block(pointer).is_none()
                && !objects.fixed.contains_key(&pointer)
                && let Some(number) = program.object_name(pointer)
            {
                objects.fixed.insert(pointer, number);
            }
        }
        objects
    }

    fn block(&self, pointer: u64) -> Option<Option<u64>> {
        let (_, (end, name)) = self.blocks.range(..=pointer).next_back()?;
        (pointer < *end).then_some(*name)
    }

    /// The number of the object that a pointer leads to.
    pub(crate) fn at(&self, pointer: u64) -> Option<u64> {
        self.block(pointer).unwrap_or_else(|| self.fixed.get(&pointer).copied())
    }
}

/// Whether a pointer that led to so many objects is told by them.
pub(crate) fn are_told(objects: usize) -> bool {
    (2..=MOST).contains(&objects)
}
