//! Where the noise maker leaves strands alone: in the standard libraries, and outside of what the user asked for.

use crate::conduct::KeptPlaces;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use threadbare_explore::{Quiet, Wanted};
use threadbare_findings::Place;
use threadbare_trace::report::Module;

/// Frames of a library that a call of the program's own may go through before it does something: a lock has four.
const THROUGH: usize = 6;

/// Asks the symbols about a place.
pub(crate) struct Places {
    program: PathBuf,
    /// Functions or files; all of the program's own if there are none.
    patterns: Vec<String>,
    places: Mutex<KeptPlaces>,
}

impl Places {
    pub(crate) fn new(program: PathBuf, patterns: Vec<String>) -> Places {
        Places { program, patterns, places: Mutex::default() }
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
        let named = |frame: &Place| self.patterns.iter().any(|pattern| is_named(pattern, frame));
        if self.patterns.is_empty() || here != Wanted::Here || frames.iter().any(named) {
            return here;
        }
        Wanted::Nowhere
    }
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

    #[test]
    fn a_pattern_is_a_part_of_a_name() {
        assert!(fits("queue", "src/queue.rs") && fits("src/*.rs", "src/queue.rs") && fits("", "x"));
        assert!(!fits("queue*push", "push_queue") && !fits("x", "abc"));
    }
}
