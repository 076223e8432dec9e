//! Which functions depend on each other by what their code says: their own accesses and those of whatever they call.

use std::collections::{BTreeMap, BTreeSet};

/// The code of a program, as far as pairs are concerned.
#[derive(Clone, Debug, Default)]
pub struct Static {
    /// Groups of accesses that are in the same functions: the compiled one, and those that were put into it.
    pub groups: Vec<Vec<u32>>,
    /// Calls: the functions that the call is in, and the compiled function that may be called.
    pub calls: BTreeSet<(Vec<u32>, u32)>,
    /// Groups of which one writes what the other reads or writes.
    pub direct: BTreeSet<(u32, u32)>,
}

impl Static {
    /// Pairs of functions that depend on each other by accesses of their own, not of those they call.
    pub fn own_pairs(&self) -> BTreeSet<(u32, u32)> {
        let innermost = |group: u32| self.groups.get(group as usize).and_then(|chain| chain.last().copied());
        let pair = |&(a, b): &(u32, u32)| {
            let (f, g) = (innermost(a)?, innermost(b)?);
            Some((f.min(g), f.max(g)))
        };
        self.direct.iter().filter_map(pair).collect()
    }

    /// Pairs of functions that depend on each other, over calls, the smaller number first; of those that are `wanted`.
    pub fn pairs(&self, wanted: &dyn Fn(u32) -> bool) -> BTreeSet<(u32, u32)> {
        let words = self.groups.len().div_ceil(64);
        let mut direct = vec![vec![0u64; words]; self.groups.len()];
        for &(a, b) in &self.direct {
            for (one, two) in [(a, b), (b, a)] {
                direct[one as usize][two as usize / 64] |= 1 << (two % 64);
            }
        }
        let reach = self.reach(words);
        let reach: Vec<(u32, Vec<u64>)> =
            reach.into_iter().filter(|(function, _)| wanted(*function)).collect();
        let mut found = BTreeSet::new();
        for (at, (f, groups)) in reach.iter().enumerate() {
            // All that depends on what this one comes to.
            let mut meets = vec![0u64; words];
            for group in bits(groups) {
                join(&mut meets, &direct[group]);
            }
            let others =
                reach[at..].iter().filter(|(_, theirs)| theirs.iter().zip(&meets).any(|(a, b)| a & b != 0));
            found.extend(others.map(|(g, _)| (*f.min(g), *f.max(g))));
        }
        found
    }

    /// The groups that each function comes to, by itself or by whom it calls, a bit for each.
    fn reach(&self, words: usize) -> BTreeMap<u32, Vec<u64>> {
        let mut reach: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut callers: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (group, functions) in self.groups.iter().enumerate() {
            for function in functions {
                reach.entry(*function).or_insert_with(|| vec![0; words])[group / 64] |= 1 << (group % 64);
            }
        }
        for (from, to) in &self.calls {
            for function in from {
                reach.entry(*function).or_insert_with(|| vec![0; words]);
                callers.entry(*to).or_default().insert(*function);
            }
        }
        let mut open: Vec<u32> = reach.keys().copied().collect();
        while let Some(callee) = open.pop() {
            let Some(more) = reach.get(&callee).cloned() else { continue };
            for caller in callers.get(&callee).into_iter().flatten() {
                let grew = reach.get_mut(caller).is_some_and(|mine| join(mine, &more));
                if grew && !open.contains(caller) {
                    open.push(*caller);
                }
            }
        }
        reach
    }
}

/// Adds bits; whether there are more now.
fn join(mine: &mut [u64], more: &[u64]) -> bool {
    let mut grew = false;
    for (mine, more) in mine.iter_mut().zip(more) {
        grew |= more & !*mine != 0;
        *mine |= more;
    }
    grew
}

/// The numbers of the bits that are set.
fn bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let all = words.iter().enumerate();
    all.flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit))
}
