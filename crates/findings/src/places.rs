//! From addresses of a run to places in the source.

use threadbare_trace::report::Holder;

/// One function at an address.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The function, demangled.
    pub function: Option<String>,
    /// The source file as the compiler saw it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1, counted in bytes; many line tables have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Whether the compiler put this function into the next one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inlined: bool,
    /// Whether the code is the language's or the system's library, not the program's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub library: bool,
    /// Whether the code is a package's that the program uses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dependency: bool,
    /// Module and offset, for an address without a name.
    pub address: String,
}

/// Who knows the program's symbols.
pub trait Places {
    /// The functions at a return address, innermost first; more than one where code was inlined.
    fn at(&self, pc: u64) -> Vec<Place>;
    /// The program's own code in the function at a return address, where that is a library's that has taken it in.
    fn own_code(&self, _pc: u64) -> Option<Place> {
        None
    }
    /// Whether the file that holds an address has debug info.
    fn has_debug_info(&self, _pc: u64) -> bool {
        false
    }
    /// The variable, or the part of one, that `size` bytes at an address belong to.
    fn variable(&self, addr: u64, size: u64) -> Option<String>;
    /// The variable of a function's frame, or the part of one, that bytes on a stack belong to, and the function.
    fn local(&self, _frame: &Holder, _addr: u64, _size: u64) -> Option<(String, String)> {
        None
    }
    /// The part of a heap block that an access touches, named by the type of the object: `account.balance`. `stack` are
    /// the pcs of the access and its callers, innermost first.
    fn field(&self, _stack: &[u64], _block: u64, _offset: u64, _size: u64) -> Option<String> {
        None
    }
    /// The function that a line of a source file is in.
    fn function_at(&self, _file: &str, _line: u32) -> Option<Place> {
        None
    }
    /// A line of a source file.
    fn source(&self, file: &str, line: u32) -> Option<String>;
}

/// Nobody knows them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPlaces;

impl Places for NoPlaces {
    fn at(&self, pc: u64) -> Vec<Place> {
        vec![Place { address: format!("{pc:#x}"), ..Place::default() }]
    }

    fn variable(&self, _addr: u64, _size: u64) -> Option<String> {
        None
    }

    fn source(&self, _file: &str, _line: u32) -> Option<String> {
        None
    }
}

/// The place a report shows first: the innermost of the program's own code, else of a package it uses, else the
/// innermost.
pub fn shown(places: &[Place]) -> Option<&Place> {
    let known = || places.iter().filter(|place| !place.library && place.file.is_some());
    known().find(|place| !place.dependency).or_else(|| known().next()).or(places.first())
}

/// The functions at a return address, innermost first. Where all of them are a library's, its callers follow up to the
/// first function of the program's own.
pub fn chain(places: &dyn Places, pc: u64, callers: &[u64]) -> Vec<Place> {
    let own = |frame: &Place| !frame.library && frame.file.is_some();
    let mut frames = places.at(pc);
    if frames.iter().any(own) {
        return frames;
    }
    let mut called = Vec::new();
    for frame in callers.iter().flat_map(|&caller| places.at(caller)) {
        let found = own(&frame);
        called.push(frame);
        if found {
            frames.extend(called);
            break;
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_own_code_is_shown_before_what_it_uses() {
        let place = |function: &str, library, dependency| Place {
            function: Some(function.into()),
            file: Some("a.rs".into()),
            library,
            dependency,
            ..Place::default()
        };
        let stack = [place("read", true, false), place("insert", false, true), place("main", false, false)];
        let name = |stack: &[Place]| shown(stack).and_then(|place| place.function.clone());
        assert_eq!(name(&stack).as_deref(), Some("main"));
        assert_eq!(name(&stack[..2]).as_deref(), Some("insert"));
        assert_eq!(name(&stack[..1]).as_deref(), Some("read"));
        assert_eq!(name(&[]), None);
    }
}
