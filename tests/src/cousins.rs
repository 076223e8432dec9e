//! Small programs with one known mistake each, in many dresses: cousins of the labelled ones that nobody wrote rules after.
//!
//! A [`Pattern`] says what strands do to a few shared numbers; a [`Dress`] says in which language, where the numbers lie, how they are touched, what
//! distracts, and whether helpers stand in between. The lines that make the mistake are labelled as in the corpus, and a cousin is read like a program of it.

mod patterns;
mod write;

pub use patterns::Pattern;

use crate::corpus::{Language, Program};
use std::path::Path;

/// Where the shared numbers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Globals or statics.
    Globals,
    /// Fields of one static structure.
    Fields,
    /// Fields of an object of the heap.
    Heap,
    /// Elements of a static array.
    Elements,
}

/// How they are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As they are; atomics in Rust.
    Plain,
    /// Atomics.
    Atomic,
    /// Each access under a lock.
    Locked,
}

/// What is there beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distraction {
    /// Nothing.
    None,
    /// An atomic counter of steps.
    Counter,
    /// A log with a lock of its own.
    Log,
    /// A private number that grows.
    Private,
}

/// What a cousin looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dress {
    /// Its language.
    pub language: Language,
    /// By clang; gcc otherwise.
    pub clang: bool,
    /// 0 to 2.
    pub level: u8,
    /// See there.
    pub home: Home,
    /// See there.
    pub access: Access,
    /// See there.
    pub distraction: Distraction,
    /// Accesses are in functions of their own.
    pub helpers: bool,
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
        let language = dice.one(&[Language::C, Language::C, Language::Cxx, Language::Rust]);
        let access = dice.one(&[Access::Plain, Access::Atomic, Access::Locked]);
        Self {
            language,
            clang: dice.of(2) == 1,
            level: dice.one(&[0, 1, 2]),
            home: dice.one(&[Home::Globals, Home::Fields, Home::Heap, Home::Elements]),
            // Rust has no plain accesses that strands share.
            access: if language == Language::Rust && access == Access::Plain {
                Access::Atomic
            } else {
                access
            },
            distraction: dice.one(&[
                Distraction::None,
                Distraction::Counter,
                Distraction::Log,
                Distraction::Private,
            ]),
            helpers: dice.of(3) == 0,
        }
    }
}

/// A cousin: what it is of, and its text.
#[derive(Clone, Debug)]
pub struct Cousin {
    /// The mistake.
    pub pattern: Pattern,
    /// What it looks like.
    pub dress: Dress,
    /// The source.
    pub source: String,
    seed: u64,
}

impl Cousin {
    /// The cousin of a number. Patterns come in turns.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let pattern = Pattern::ALL[(seed % Pattern::ALL.len() as u64) as usize];
        let dress = Dress::cast(&mut dice);
        Self { pattern, dress, source: write::source(pattern, dress), seed }
    }

    /// Writes it into a folder, as a program of the corpus.
    ///
    /// # Errors
    /// In words, if the file cannot be written.
    pub fn program(&self, folder: &Path) -> Result<Program, String> {
        let extension = match self.dress.language {
            Language::C => "c",
            Language::Cxx => "cc",
            Language::Rust => "rs",
        };
        let name = format!("{}_{}.{extension}", self.pattern.name(), self.seed);
        let path = folder.join(&name);
        std::fs::write(&path, &self.source).map_err(|error| format!("{}: {error}", path.display()))?;
        Program::parse(&name, &path, &self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_comes_and_has_labels() {
        for seed in 0..200 {
            let cousin = Cousin::new(seed);
            let labelled = cousin.source.matches("//~ ").count();
            assert!(labelled >= 2, "{}", cousin.source);
            assert_eq!(cousin.source, Cousin::new(seed).source);
        }
    }
}
