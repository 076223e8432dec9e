//! What addresses of a run mean in the source, each looked up once.

use crate::location::Location;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use threadbare_symbols::{NoScalar, Pc, Symbols};

/// A function at an instruction, the one that is compiled or one that was put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name without parameters.
    pub function: String,
    /// The source file, as it is shown.
    pub file: String,
    /// The line of the instruction, or of the call that leads to it.
    pub line: u32,
    /// The column, 0 if that is not known.
    pub column: u32,
    /// Whether the code is the program's own, and its place known.
    pub own: bool,
}

/// The program of the runs: names and types.
pub struct Program {
    symbols: Symbols,
    chains: HashMap<u64, Rc<[Level]>>,
    spots: HashMap<(u64, u8), Result<usize, NoScalar>>,
    locations: Vec<Location>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("locations", &self.locations).finish_non_exhaustive()
    }
}

impl Program {
    /// The program with these symbols.
    pub fn new(symbols: Symbols) -> Self {
        Self { symbols, chains: HashMap::new(), spots: HashMap::new(), locations: Vec::new() }
    }

    /// The functions at a return address, outermost first.
    pub fn chain(&mut self, pc: u64) -> Rc<[Level]> {
        let symbols = &self.symbols;
        let make = || {
            let frames = symbols.frames(Pc::Return(pc));
            let level = |frame: &threadbare_symbols::Frame| Level {
                function: frame.short_name().to_owned(),
                file: frame.file.as_deref().map(|file| symbols.shown_path(file)).unwrap_or_default(),
                line: frame.line.unwrap_or(0),
                column: frame.column.unwrap_or(0),
                own: !frame.is_library() && frame.file.is_some() && frame.line.is_some_and(|line| line > 0),
            };
            frames.iter().rev().map(level).collect()
        };
        Rc::clone(self.chains.entry(pc).or_insert_with(make))
    }

    /// The number of the variable that an access touches as a whole.
    pub(crate) fn spot(&mut self, addr: u64, size: u8) -> Result<usize, NoScalar> {
        if let Some(&known) = self.spots.get(&(addr, size)) {
            return known;
        }
        let found = self.symbols.scalar(addr, size.into()).map(|scalar| {
            self.locations.push(Location::new(scalar, addr));
            self.locations.len() - 1
        });
        self.spots.insert((addr, size), found);
        found
    }

    /// A variable by its number.
    pub(crate) fn location(&self, number: usize) -> &Location {
        &self.locations[number]
    }

    /// A place as reports show it, for an access that is the program's own, or was called by such code.
    pub fn place(&mut self, pc: u64) -> Option<(String, u32)> {
        let chain = self.chain(pc);
        chain.iter().rev().find(|level| level.own).map(|level| (level.file.clone(), level.line))
    }
}

/// How many functions, from the outermost on, two instructions of one compiled function have in common: both are in the same
/// activation of each.
pub(crate) fn shared_levels(a: &[Level], b: &[Level]) -> usize {
    let mut common = 0;
    while let (Some(of_a), Some(of_b)) = (a.get(common), b.get(common)) {
        if of_a.function != of_b.function {
            break;
        }
        common += 1;
        if (of_a.line, of_a.column) != (of_b.line, of_b.column) {
            break;
        }
    }
    common
}
