//! What creating and joining strands orders, and nothing else does.
//!
//! What a strand did before it created another comes before all that the other does, and all that a strand did comes before what follows its join. No
//! choice changes that: two accesses that are ordered so are made in this order in every run that comes to both of them like this.
//!
//! A strand's life is cut into *stretches*, one ending wherever it creates another strand. A stretch in which an access was noted has a name, a small number; so an
//! access is named by one, and whether it comes before what a strand does next is one look at how many stretches of whom that strand knows.

use crate::clock::Clock;
use alloc::vec::Vec;

/// In the place of a name: the stretch has none yet. No access is noted under it.
pub const PENDING: u16 = 0xFFFE;
/// Names there are; the next number stands for several strands.
const MOST: usize = 0x7FFF;
/// Names from which on no stretch ends any more: the others are for strands.
const ENOUGH: usize = 0x6000;

/// What a strand knows of stretches, and its own.
#[derive(Debug, Default)]
pub struct Line {
    /// For each strand, how many of its stretches come before.
    knows: Clock,
    /// Its stretches that have ended.
    ended: u32,
    name: Option<u16>,
}

impl Line {
    /// A strand that nobody has told anything.
    pub const fn new() -> Self {
        Line { knows: Clock::new(), ended: 0, name: None }
    }

    /// The name of its stretch, or [`PENDING`].
    #[inline(always)]
    pub fn name(&self) -> u16 {
        self.name.unwrap_or(PENDING)
    }
}

/// All names of a run.
#[derive(Debug, Default)]
pub struct Names {
    /// Strand, and which of its stretches.
    stretches: Vec<(u16, u32)>,
    lost: bool,
}

impl Names {
    /// None yet.
    pub const fn new() -> Self {
        Names { stretches: Vec::new(), lost: false }
    }

    /// Makes room for so many.
    pub fn reserve(&mut self, count: usize) {
        self.stretches.reserve(count);
    }

    /// Whether two strands have one name, for want of others.
    pub fn has_lost(&self) -> bool {
        self.lost
    }

    /// The name of the strand's stretch, which gets one if it has none.
    pub fn give(&mut self, strand: u16, line: &mut Line) -> u16 {
        if let Some(name) = line.name {
            return name;
        }
        if self.stretches.len() < MOST {
            self.stretches.push((strand, line.ended));
        } else {
            self.lost = true;
        }
        let name = (self.stretches.len() - 1) as u16;
        line.name = Some(name);
        name
    }

    /// The strand creates another.
    pub fn created(&self, strand: u16, line: &mut Line, new: &mut Line) {
        if line.name.is_some() && self.stretches.len() < ENOUGH {
            line.ended += 1;
            line.name = None;
        }
        line.knows.raise(strand.into(), line.ended.into());
        new.knows.assign(&line.knows);
    }

    /// The strand has waited for the end of another.
    pub fn joined(&self, line: &mut Line, other: u16, its: &Line) {
        line.knows.join(&its.knows);
        line.knows.raise(other.into(), u64::MAX);
    }

    /// The strand of a name, and which of its stretches.
    #[inline]
    pub fn stretch(&self, name: usize) -> (u16, u32) {
        self.stretches.get(name).copied().unwrap_or((u16::MAX, 0))
    }

    /// Whether what was done under a name comes before what the strand does next.
    #[inline]
    pub fn is_before(&self, strand: u16, line: &Line, name: usize) -> bool {
        let (other, stretch) = self.stretch(name);
        other == strand || line.knows.get(other.into()) > stretch.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_a_creation_is_known_and_what_comes_after_is_not() {
        let mut names = Names::new();
        let (mut main, mut first, mut second) = (Line::new(), Line::new(), Line::new());
        let before = names.give(0, &mut main);
        names.created(0, &mut main, &mut first);
        assert_eq!(main.name(), PENDING);
        let between = names.give(0, &mut main);
        names.created(0, &mut main, &mut second);
        let after = names.give(0, &mut main);
        let known = |line: &Line, strand| {
            [before, between, after].map(|name| names.is_before(strand, line, name.into()))
        };
        assert_eq!(known(&first, 1), [true, false, false]);
        assert_eq!(known(&second, 2), [true, true, false]);
        assert_eq!(known(&main, 0), [true; 3]);
    }

    #[test]
    fn all_that_a_joined_strand_knew_and_did_is_known() {
        let mut names = Names::new();
        let (mut main, mut first, mut second) = (Line::new(), Line::new(), Line::new());
        names.created(0, &mut main, &mut first);
        let its = names.give(1, &mut first);
        names.created(1, &mut first, &mut second);
        let later = names.give(1, &mut first);
        let inner = names.give(2, &mut second);
        assert!(!names.is_before(0, &main, its.into()));
        names.joined(&mut main, 1, &first);
        assert!(names.is_before(0, &main, its.into()) && names.is_before(0, &main, later.into()));
        assert!(!names.is_before(0, &main, inner.into()));
        assert!(!names.is_before(1, &first, inner.into()));
    }

    #[test]
    fn creations_in_a_row_take_one_name() {
        let mut names = Names::new();
        let mut main = Line::new();
        names.give(0, &mut main);
        for _ in 0..9 {
            names.created(0, &mut main, &mut Line::new());
        }
        assert_eq!(names.give(0, &mut main), 1);
    }

    #[test]
    fn a_stretch_that_cannot_end_is_known_to_nobody() {
        let mut names = Names::new();
        for strand in 0..ENOUGH as u16 {
            names.give(strand, &mut Line::new());
        }
        let (mut last, mut new) = (Line::new(), Line::new());
        let name = names.give(7, &mut last);
        names.created(7, &mut last, &mut new);
        assert_eq!(names.give(7, &mut last), name);
        assert!(!names.is_before(9, &new, name.into()));
        for strand in 0..=(MOST - ENOUGH) as u16 {
            assert!(usize::from(names.give(strand, &mut Line::new())) < MOST);
        }
        assert!(names.has_lost());
    }
}
