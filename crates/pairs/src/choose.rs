//! Which pairs of paths become tests: as few as have every conflict, and every two conflicts that some pair brings together.

use crate::meet::{Book, Conflict};
use std::collections::BTreeSet;

/// Two paths through two functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The functions.
    pub functions: (u32, u32),
    /// The paths.
    pub paths: (u64, u64),
}

/// Conflicts of one pair whose combinations are looked at.
const COMBINED: usize = 12;

/// The tests of a book, the smallest first; how many pairs of paths have nothing that others have not.
pub fn choose(book: &Book, wanted: &dyn Fn((u32, u32)) -> bool) -> (Vec<Choice>, usize) {
    let mut all: Vec<((u64, usize), Choice, &BTreeSet<Conflict>)> = Vec::new();
    for (functions, pair) in book.pairs.iter().filter(|(functions, _)| wanted(**functions)) {
        for (paths, way) in &pair.ways {
            let Some(nearest) = way.meetings.first() else { continue };
            let steps = nearest.spans.iter().map(|span| span.steps).sum();
            let choice = Choice { functions: *functions, paths: *paths };
            all.push(((steps, way.around), choice, &way.conflicts));
        }
    }
    all.sort_by_key(|(size, choice, _)| (*size, choice.functions, choice.paths));
    let sorted = |(a, b): Conflict| (a.min(b), a.max(b));
    let mut single: BTreeSet<Conflict> = BTreeSet::new();
    let mut combined: BTreeSet<(Conflict, Conflict)> = BTreeSet::new();
    let (mut chosen, mut left_out) = (Vec::new(), 0);
    for (_, choice, conflicts) in all {
        let list: Vec<Conflict> = conflicts.iter().map(|&conflict| sorted(conflict)).collect();
        let mut new = false;
        for &conflict in &list {
            new |= single.insert(conflict);
        }
        for (at, &one) in list.iter().take(COMBINED).enumerate() {
            for &two in list[..list.len().min(COMBINED)].iter().skip(at + 1) {
                new |= combined.insert((one.min(two), one.max(two)));
            }
        }
        match new {
            true => chosen.push(choice),
            false => left_out += 1,
        }
    }
    (chosen, left_out)
}
