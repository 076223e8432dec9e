//! Where the noise maker leaves strands alone: in the standard libraries, and outside of what the user asked for.

use crate::places::KeptPlaces;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use threadbare_abi::noise::Wanted;
use threadbare_explore::Quiet;
use threadbare_findings::Place;
use threadbare_trace::report::Module;

/// Frames of a library that a call of the program's own may go through before it does something: a lock has four.
const THROUGH: usize = 6;

/// Asks the symbols about a place.
pub struct Places {
    program: PathBuf,
    /// Functions or files; all of the program's own if there are none.
    patterns: Vec<String>,
    places: Mutex<KeptPlaces>,
}

impl Places {
    /// Those of a program; of its functions and files only those that fit a pattern, if there are any.
    pub fn new(program: PathBuf, patterns: Vec<String>) -> Places {
        Places { program, patterns, places: Mutex::default() }
    }

    fn is_asked_for(&self, frames: &[Place]) -> bool {
        let named = |frame: &Place| self.patterns.iter().any(|pattern| is_named(pattern, frame));
        self.patterns.is_empty() || frames.iter().any(named)
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places").field("patterns", &self.patterns).finish_non_exhaustive()
    }
}

impl Quiet for Places {
    fn wants(&self, modules: &[Module], pc: u64) -> Wanted {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let frames = places.of(modules, &self.program).at(pc);
        let here = by_code(&frames);
        if here != Wanted::Here || self.is_asked_for(&frames) { here } else { Wanted::Nowhere }
    }

    fn owns(&self, modules: &[Module], pc: u64) -> bool {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let places = places.of(modules, &self.program);
        function(places, pc).is_some_and(|place| self.is_asked_for(&[place]))
    }
}

/// The place of a function of the program's own, by a pc near its beginning: also where a library's function has taken in the program's code.
pub fn function(places: &dyn threadbare_findings::Places, pc: u64) -> Option<Place> {
    let frames = places.at(pc);
    // Code that stands for no line has the unit's file, whoever wrote it.
    if let Some(own) = frames.iter().rev().find(|frame| !frame.library && frame.line.is_some()) {
        return Some(own.clone());
    }
    if let Some(taken_in) = places.own_code(pc) {
        return Some(taken_in);
    }
    let outermost = frames.into_iter().next_back()?;
    // Where the others have their source, these are the Rust compiler's.
    let is_made = |name: &str| name == "main" || name.starts_with("__rust");
    let is_made = outermost.function.as_deref().is_some_and(is_made) && places.has_debug_info(pc);
    (!outermost.library && outermost.file.is_none() && !is_made).then_some(outermost)
}

/// Whether the code at a place is the program's own, what it asked a library for, or a library's own doing.
fn by_code(frames: &[Place]) -> Wanted {
    let (mut through, mut starts) = (0, false);
    for frame in frames.iter().take_while(|frame| frame.library) {
        through += 1;
        starts |= frame.function.as_ref().is_some_and(|name| name.contains("spawn") || name.contains("join"));
    }
    if starts || through > THROUGH {
        Wanted::Nowhere
    } else if through > 0 && through == frames.len() {
        Wanted::AsInCaller
    } else {
        Wanted::Here
    }
}

fn is_named(pattern: &str, frame: &Place) -> bool {
    [&frame.function, &frame.file].into_iter().flatten().any(|text| fits(pattern, text))
}

/// Whether a text holds what the pattern says; `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, library: bool) -> Place {
        Place { function: Some(function.into()), library, ..Place::default() }
    }

    #[test]
    fn what_the_program_asks_a_library_for_is_its_own() {
        use Wanted::{AsInCaller, Here, Nowhere};
        assert_eq!(by_code(&[frame("main", false)]), Here);
        assert_eq!(by_code(&[frame("cas", true), frame("lock", true), frame("work", false)]), Here);
        assert_eq!(by_code(&[frame("cas", true), frame("lock", true)]), AsInCaller);
        assert_eq!(
            by_code(&[frame("add", true), frame("spawn_unchecked_", true), frame("main", false)]),
            Nowhere
        );
    }

    /// A program in which every function is at its own pc.
    struct Known(bool, Vec<(Place, Option<Place>)>);

    impl threadbare_findings::Places for Known {
        fn at(&self, pc: u64) -> Vec<Place> {
            vec![self.1[pc as usize].0.clone()]
        }

        fn own_code(&self, pc: u64) -> Option<Place> {
            self.1[pc as usize].1.clone()
        }

        fn has_debug_info(&self, _pc: u64) -> bool {
            self.0
        }

        fn variable(&self, _addr: u64, _size: u64) -> Option<String> {
            None
        }

        fn source(&self, _file: &str, _line: u32) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_librarys_function_with_code_of_the_program_is_the_programs() {
        let at = |name: &str, line| Place { file: Some("bank.rs".into()), line, ..frame(name, false) };
        let functions = || {
            vec![
                (at("bank::deposit", Some(7)), None),
                (frame("std::thread::begin", true), Some(at("bank::main::{closure}", Some(9)))),
                (frame("core::mem::drop", true), None),
                (at("core::mem::swap", None), None),
                (frame("main", false), None),
                (frame("__rust_try", false), None),
                (frame("helper", false), None),
            ]
        };
        let names = |debug_info| {
            let known = Known(debug_info, functions());
            let name = |pc: u64| function(&known, pc).and_then(|place| place.function);
            (0..7).filter_map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(true), ["bank::deposit", "bank::main::{closure}", "helper"]);
        assert_eq!(names(false)[2..], ["main", "__rust_try", "helper"]);
    }

    #[test]
    fn a_pattern_is_a_part_of_a_name() {
        assert!(fits("queue", "src/queue.rs") && fits("src/*.rs", "src/queue.rs") && fits("", "x"));
        assert!(!fits("queue*push", "push_queue") && !fits("x", "abc"));
    }
}
