//! What functions give back, as far as it can be worked out where the pass tells that they end.
//!
//! The hook of a function's exit comes before its last instructions, and what is given back may be computed behind it. But a call keeps few registers and
//! the frame, so all of it comes from these: [`Exits::of`] says from which of them, and [`Exit::value`] what is given back, by going through the instructions from the
//! hook to the `ret`. Where they read other memory or do what is not known here, there is no value.

use std::path::Path;
use std::rc::Rc;

use crate::Error;
use crate::image::{Image, Slot};
use crate::x86_64::{Returning, calls_to};

/// The hook.
const HOOK: &str = "__tsan_func_exit";

/// In which register a value is given back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Given {
    /// The first general one.
    General,
    /// The first vector one.
    Vector,
}

/// Something that a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The DWARF number of a general register, as it is at the hook; the stack pointer is what it is without the hook's call.
    pub register: u8,
    /// What is added to it if the value is in memory there; none if it is in the register itself.
    pub offset: Option<i32>,
    /// Its bytes.
    pub size: u8,
}

/// One of a function's ends.
#[derive(Clone, Debug)]
pub struct Exit {
    /// Where the hook goes on, as linked.
    pub after: u64,
    /// What the value comes from.
    pub sources: Vec<Source>,
    returning: Rc<Returning>,
    given: Given,
    size: u8,
}

impl Exit {
    /// The value, from what its sources have, in their order.
    pub fn value(&self, sources: &[u64]) -> Option<u64> {
        let known: Vec<(Source, u64)> = self.sources.iter().copied().zip(sources.iter().copied()).collect();
        (known.len() == self.sources.len()).then(|| self.returning.value(self.given, self.size, &known))?
    }
}

/// The exits of a program's functions.
pub struct Exits {
    image: Image,
    /// Where the calls of the hook go on.
    hooks: Vec<u64>,
}

impl std::fmt::Debug for Exits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exits").field("hooks", &self.hooks.len()).finish_non_exhaustive()
    }
}

impl Exits {
    /// Reads the code of a program or library.
    ///
    /// # Errors
    /// If it is no file of code that can be read.
    pub fn read(path: &Path) -> Result<Exits, Error> {
        let image = Image::parse(std::fs::read(path)?)?;
        let stub = |address: u64| image.stubs.get(&address).is_some_and(|name| &**name == HOOK);
        let slot = |address: u64| matches!(image.slots.get(&address), Some(Slot::Import(name, 0)) if &**name == HOOK);
        let hooks = calls_to(&image, stub, slot);
        Ok(Exits { image, hooks })
    }

    /// Where the function begins that an address is in.
    pub fn function_start(&self, address: u64) -> Option<u64> {
        Some(self.image.functions[self.image.function_at(address)?].start)
    }

    /// The ends of the function at an address; none unless each of them shows what it gives back.
    pub fn of(&self, address: u64, given: Given, size: u8) -> Option<Vec<Exit>> {
        let extent = &self.image.functions[self.image.function_at(address)?];
        let from = self.hooks.partition_point(|&after| after <= extent.start);
        let mine = self.hooks[from..].iter().take_while(|after| **after <= extent.end);
        let mut exits = Vec::new();
        for &after in mine {
            // One that leads to no `ret` is of an exception.
            let Some(returning) = Returning::at(&self.image, after, extent) else { continue };
            let sources = returning.sources(given, size)?;
            exits.push(Exit { after, sources, returning: Rc::new(returning), given, size });
        }
        Some(exits)
    }
}
