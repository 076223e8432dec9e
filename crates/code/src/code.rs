//! The result: everything that is known of a file's code, without a reference to the file.

use serde::{Deserialize, Serialize};

use crate::address::{Address, Root};
use crate::function::{Access, Call, Callee, Function};
use crate::gap::Gap;
use crate::image::Image;
use crate::inherit;
use crate::strands::{self, Creation};

/// A variable of the symbol table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSymbol {
    /// The name as linked.
    pub name: String,
    /// The first address, as linked.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
}

/// What the code of a file does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// By address.
    pub functions: Vec<Function>,
    /// Variables with a size, by address.
    pub objects: Vec<DataSymbol>,
    /// Where strands are made.
    pub creations: Vec<Creation>,
    /// Addresses of variables that lie in data, so that pointers lead there from the beginning.
    pub exposed: Vec<u64>,
    /// Functions at which strands begin, by index.
    pub entries: Vec<usize>,
    /// What was not followed.
    pub gaps: Vec<Gap>,
}

impl Code {
    pub(crate) fn assemble(image: &Image, functions: Vec<Function>, mut gaps: Vec<Gap>) -> Code {
        let objects = image
            .data
            .iter()
            .map(|data| DataSymbol { name: data.name.clone(), start: data.start, end: data.end })
            .collect();
        let exposed = image.pointers_in_data();
        let mut code = Code {
            functions,
            objects,
            exposed,
            creations: Vec::new(),
            entries: Vec::new(),
            gaps: Vec::new(),
        };
        strands::find(&mut code, &mut gaps);
        inherit::locks(&mut code);
        gaps.sort_unstable();
        gaps.dedup();
        code.gaps = gaps;
        code
    }

    /// All accesses, each with the function it is in.
    pub fn accesses(&self) -> impl Iterator<Item = (usize, &Access)> {
        let functions = self.functions.iter().enumerate();
        functions.flat_map(|(at, function)| function.accesses.iter().map(move |access| (at, access)))
    }

    /// The accesses at a place; a copy has two.
    pub fn at(&self, place: u64) -> Option<(usize, &[Access])> {
        let at = self.function_at(place.checked_sub(1)?)?;
        let accesses = &self.functions[at].accesses;
        let from = accesses.partition_point(|access| access.place < place);
        let to = accesses.partition_point(|access| access.place <= place);
        (from < to).then(|| (at, &accesses[from..to]))
    }

    /// The call at a place, with the function it is in.
    pub fn call_at(&self, place: u64) -> Option<(usize, &Call)> {
        let at = self.function_at(place.checked_sub(1)?)?;
        let calls = &self.functions[at].calls;
        let call = calls.binary_search_by_key(&place, |call| call.place).ok()?;
        Some((at, &calls[call]))
    }

    /// The function that holds an address.
    pub fn function_at(&self, address: u64) -> Option<usize> {
        let at = self.functions.partition_point(|function| function.start <= address).checked_sub(1)?;
        (address < self.functions[at].end).then_some(at)
    }

    /// The function of this linked name.
    pub fn function_named(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|function| function.name == name)
    }

    /// The variable that holds an address.
    pub fn object_at(&self, address: u64) -> Option<usize> {
        let after = self.objects.partition_point(|object| object.start <= address);
        // A variable may lie inside a bigger one; a few steps back find the one around it.
        (0..after).rev().take(8).find(|&at| address < self.objects[at].end)
    }

    /// Functions that a call may lead to.
    pub fn callees(&self, callee: &Callee) -> Vec<usize> {
        match callee {
            Callee::Function(function) => vec![*function],
            Callee::Pointer(address) => match self.function_of(address) {
                Some(function) => vec![function],
                None => (0..self.functions.len()).filter(|&at| self.functions[at].taken).collect(),
            },
            Callee::Import(_) => Vec::new(),
        }
    }

    /// The function whose address an expression is.
    pub fn function_of(&self, address: &Address) -> Option<usize> {
        if address.root != Root::Global || address.stride != 0 {
            return None;
        }
        let start = address.offset.cast_unsigned();
        self.functions.binary_search_by_key(&start, |function| function.start).ok()
    }
}
