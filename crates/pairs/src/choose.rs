//! Which pairs of paths become tests: as few as have every conflict, and of every two conflicts that some pair of functions brings together one such pair.

use crate::meet::{Book, Conflict, Way};
use std::collections::BTreeSet;

/// Two paths through two functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathPair {
    /// The functions.
    pub functions: (u32, u32),
    /// The paths.
    pub paths: (u64, u64),
}

/// Conflicts of one pair whose combinations are looked at.
const COMBINED: usize = 24;

fn sorted((a, b): Conflict) -> Conflict {
    (a.min(b), a.max(b))
}

/// Two conflicts of one pair: which sides are the same call's matters, which call is the first does not.
fn together(one: Conflict, two: Conflict) -> (Conflict, Conflict) {
    let turned = ((one.1, one.0), (two.1, two.0));
    let ordered = |(a, b): (Conflict, Conflict)| (a.min(b), a.max(b));
    ordered((one, two)).min(ordered(turned))
}

/// Steps, and functions between the conflicts and the two.
fn size(way: &Way) -> Option<(u64, usize)> {
    let nearest = way.meetings.first()?;
    Some((nearest.spans.iter().map(|span| span.steps).sum(), way.around))
}

/// The tests of a book, the smallest first, of the pairs of paths that are wanted; all of them if `all`.
pub fn choose(book: &Book, all: bool, wanted: &dyn Fn(PathPair) -> bool) -> Vec<PathPair> {
    let wanted = |functions, paths| wanted(PathPair { functions, paths });
    let mut pairs: Vec<_> = book
        .pairs
        .iter()
        .filter_map(|(functions, pair)| {
            let ways = pair.ways.iter().filter(|(paths, _)| wanted(*functions, **paths));
            Some((ways.filter_map(|(_, way)| size(way)).min()?, *functions, pair))
        })
        .collect();
    pairs.sort_by_key(|(size, functions, _)| (*size, *functions));
    let mut single: BTreeSet<Conflict> = BTreeSet::new();
    let mut combined: BTreeSet<(Conflict, Conflict)> = BTreeSet::new();
    let mut chosen = Vec::new();
    for (_, functions, pair) in pairs {
        let mut ways: Vec<_> =
            pair.ways.iter().filter_map(|(paths, way)| Some((size(way)?, *paths, way))).collect();
        ways.retain(|(_, paths, _)| wanted(functions, *paths));
        ways.sort_by_key(|(size, paths, _)| (*size, *paths));
        let conflicts: BTreeSet<Conflict> =
            ways.iter().flat_map(|(_, _, way)| way.conflicts.iter().copied()).collect();
        let list: Vec<Conflict> = conflicts.into_iter().take(COMBINED).collect();
        let mut new = false;
        for (at, &one) in list.iter().enumerate() {
            for &two in &list[at + 1..] {
                new |= combined.insert(together(one, two));
            }
        }
        let mut take = |paths: (u64, u64)| chosen.push(PathPair { functions, paths });
        if all {
            ways.iter().for_each(|(_, paths, _)| take(*paths));
            continue;
        }
        let before = single.len();
        loop {
            let gain = |way: &Way| way.conflicts.iter().filter(|it| !single.contains(&sorted(**it))).count();
            let best = ways.iter().rev().max_by_key(|(_, _, way)| gain(way));
            let Some((_, paths, way)) = best.filter(|(_, _, way)| gain(way) > 0) else { break };
            take(*paths);
            single.extend(way.conflicts.iter().copied().map(sorted));
        }
        if new && single.len() == before {
            let most = ways.iter().rev().max_by_key(|(_, _, way)| way.conflicts.len());
            most.into_iter().for_each(|(_, paths, _)| take(*paths));
        }
    }
    chosen
}
