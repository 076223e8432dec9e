//! What the entries of a recorded run name by number, and what is known of the run as a whole.

use serde::{Deserialize, Serialize};
use threadbare_abi::object::ObjectClass;
use threadbare_abi::verdict::VerdictKind;

/// All of a recorded run but its entries.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Table {
    /// The version of the tool that wrote it.
    pub tool: String,
    /// The program's file.
    pub program: String,
    /// What it saw as its own name.
    pub arg0: String,
    /// Its arguments, as bytes.
    pub args: Vec<Vec<u8>>,
    /// What names its build.
    pub program_id: String,
    /// The run's number in its campaign, and its seed.
    pub run: u64,
    /// The seed of its choices.
    pub seed: u64,
    /// A [`VerdictKind`] code.
    pub verdict: u8,
    /// The verdict in words.
    pub message: String,
    /// The strand of the verdict, if it has one.
    pub strand: Option<u16>,
    /// Entries in the file.
    pub entries: u64,
    /// The strands.
    pub strands: Vec<StrandRow>,
    /// Files of code.
    pub modules: Vec<Module>,
    /// Names of functions, files and variables.
    pub strings: Vec<String>,
    /// Functions at places.
    pub frames: Vec<FrameRow>,
    /// Places; entries count them from 1.
    pub places: Vec<PlaceRow>,
    /// Objects; entries count them from 1.
    pub objects: Vec<ObjectRow>,
    /// The data races that the run's own check told.
    pub races: Vec<RaceRow>,
}

/// A strand.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StrandRow {
    /// Its place in the creation tree: `0.1.2`.
    pub path: String,
    /// The parent's index; its own for the first.
    pub parent: u16,
    /// The name that the program gave it.
    pub name: String,
}

/// A file of code that the run had loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Module {
    /// Its path.
    pub path: String,
    /// Where it was.
    pub base: u64,
}

/// A function at a place, and the line in it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize)]
pub struct FrameRow {
    /// A row of the strings, from 1; 0 if it is not known.
    pub function: u32,
    /// The file, likewise.
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The code is a library's, not the program's own.
    pub library: bool,
}

/// A place in the program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PlaceRow {
    /// The module's row, from 1; 0 if the address is in none.
    pub module: u16,
    /// The offset in the module, or the address.
    pub offset: u64,
    /// Rows of the frames, innermost first.
    pub frames: Vec<u32>,
}

/// What is done something with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize)]
pub struct ObjectRow {
    /// An [`ObjectClass`] code; 0 where the operation does not tell.
    pub class: u8,
    /// Its address or number.
    pub addr: u64,
    /// Its bytes, for memory.
    pub size: u64,
    /// A row of the strings, from 1; 0 if it has no name.
    pub name: u32,
}

/// A data race that the run's own check told: two places, the later access first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RaceRow {
    /// Where the accesses overlap.
    pub addr: u64,
    /// The strands.
    pub strands: [u16; 2],
    /// Modules and offsets of the instructions, as in [`PlaceRow`].
    pub places: [(u16, u64); 2],
}

impl Table {
    /// Whether all numbers in it are of rows that there are.
    pub(super) fn is_sound(&self) -> bool {
        let strings = self.strings.len() as u32;
        let modules = self.modules.len() as u16;
        let frame = |&at: &u32| (at as usize) < self.frames.len();
        self.frames.iter().all(|row| row.function <= strings && row.file <= strings)
            && self.places.iter().all(|row| row.module <= modules && row.frames.iter().all(frame))
            && self.objects.iter().all(|row| row.name <= strings)
            && self.strands.len() <= usize::from(u16::MAX)
            && self.strands.iter().all(|row| usize::from(row.parent) < self.strands.len())
    }

    /// The verdict.
    pub fn verdict(&self) -> VerdictKind {
        VerdictKind::from_code(self.verdict).unwrap_or(VerdictKind::None)
    }

    /// The place that an entry names.
    pub fn place(&self, row: u32) -> Option<&PlaceRow> {
        self.places.get((row as usize).checked_sub(1)?)
    }

    /// The object that an entry names.
    pub fn object(&self, row: u32) -> Option<&ObjectRow> {
        self.objects.get((row as usize).checked_sub(1)?)
    }

    /// A name.
    pub fn string(&self, row: u32) -> Option<&str> {
        self.strings.get((row as usize).checked_sub(1)?).map(String::as_str)
    }

    /// The functions at a place, innermost first.
    pub fn frames<'a>(&'a self, place: &'a PlaceRow) -> impl Iterator<Item = &'a FrameRow> {
        place.frames.iter().filter_map(|&row| self.frames.get(row as usize))
    }

    /// A strand's place in the creation tree; `?N` when it is not known.
    pub fn strand(&self, index: u16) -> String {
        self.strands.get(usize::from(index)).map_or_else(|| format!("?{index}"), |row| row.path.clone())
    }
}

impl ObjectRow {
    /// Of what sort it is.
    pub fn class(&self) -> Option<ObjectClass> {
        ObjectClass::from_code(self.class)
    }
}
