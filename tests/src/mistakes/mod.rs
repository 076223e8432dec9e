//! Programs with one labelled mistake each, made by a number: what explanations are held against.
//!
//! A [`Plot`](plots::Plot) says what strands do to a few shared numbers, which lines are the mistake and what it is called; a [`Dress`] says in which
//! language, where the numbers lie, how they are touched, who stands by, what distracts near and far, and how a wrong value shows. Labels and directives are
//! those of `tests/causes`, so the same judge decides. Patterns come in turns; nobody writes rules after a seed that was not looked at.

mod plots;
mod write;

use crate::corpus::{Language, Program};
use std::path::Path;

/// How many mistakes there are.
pub const KINDS: u64 = plots::KINDS.len() as u64;

/// Where the shared numbers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Globals,
    Fields,
    Heap,
    /// One of several structures.
    Cells,
}

/// What is there beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distraction {
    /// An atomic counter of steps.
    Counter,
    /// A log with a lock of its own.
    Log,
    /// A number of each strand's own, among those of the others.
    Own,
    /// A flag that is set again and again.
    Flag,
}

/// How a wrong value shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    Assert,
    Abort,
    Exit,
    Crash,
}

/// What a program looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dress {
    language: Language,
    clang: bool,
    /// Optimisation, 0 to 2.
    level: u8,
    home: Home,
    /// Numbers are atomics; plain ones otherwise, but in Rust.
    atomic: bool,
    /// Accesses are in functions of their own.
    helpers: bool,
    near: Vec<Distraction>,
    /// Rounds of distraction at the beginning of each strand.
    far: usize,
    /// Strands wait for each other before they begin.
    together: bool,
    /// Strands that have no part.
    bystanders: usize,
    /// Strands of a sort that may come more than once.
    many: usize,
    shows: Shows,
}

/// Random bits.
struct Dice(u64);

impl Dice {
    /// One of so many.
    fn of(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % count as u64) as usize
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.of(of.len())]
    }
}

impl Dress {
    fn cast(dice: &mut Dice) -> Self {
        use Distraction::{Counter, Flag, Log, Own};
        let near = (0..dice.of(3)).map(|_| dice.one(&[Counter, Log, Own, Flag])).collect();
        Self {
            language: dice.one(&[Language::C, Language::Cxx, Language::Rust]),
            clang: dice.of(2) == 1,
            level: dice.one(&[0, 1, 2]),
            home: dice.one(&[Home::Globals, Home::Fields, Home::Heap, Home::Cells]),
            atomic: dice.of(3) == 0,
            helpers: dice.of(3) == 0,
            near,
            far: dice.one(&[0, 0, 1, 3]),
            together: dice.of(4) == 0,
            bystanders: dice.one(&[0, 0, 0, 1, 2]),
            many: dice.one(&[2, 2, 2, 3, 4]),
            shows: dice.one(&[Shows::Assert, Shows::Assert, Shows::Abort, Shows::Exit, Shows::Crash]),
        }
    }
}

/// A program with a mistake.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Its file's name.
    pub name: String,
    /// Its text.
    pub source: String,
}

impl Mistake {
    /// The one of a number.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let kind = plots::KINDS[(seed % KINDS) as usize];
        let dress = Dress::cast(&mut dice);
        let extension = match dress.language {
            Language::C => "c",
            Language::Cxx => "cc",
            Language::Rust => "rs",
        };
        let stem = format!("{}_{seed}", kind.name());
        let source = write::source(&stem, kind.plot(&mut dice, &dress), dress);
        Self { name: format!("{stem}.{extension}"), source }
    }

    /// Writes it into a folder, as a program of the corpus.
    ///
    /// # Errors
    /// In words, if the file cannot be written.
    pub fn program(&self, folder: &Path) -> Result<Program, String> {
        let path = folder.join(&self.name);
        std::fs::write(&path, &self.source).map_err(|error| format!("{}: {error}", path.display()))?;
        Program::parse(&self.name, &path, &self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_has_labels_and_is_the_same_again() {
        for seed in 0..40 * KINDS {
            let it = Mistake::new(seed);
            let program = Program::parse(&it.name, Path::new(&it.name), &it.source).expect("directives");
            assert!(!program.pairs.is_empty() && !program.patterns.is_empty(), "{}", it.source);
            assert_eq!(it.source, Mistake::new(seed).source);
        }
    }
}
