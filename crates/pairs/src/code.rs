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

    /// Pairs of functions that depend on each other, over calls, the smaller number first.
    pub fn pairs(&self) -> BTreeSet<(u32, u32)> {
        let reach = self.reach();
        let mut holders: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (function, groups) in &reach {
            for &group in groups {
                holders.entry(group).or_default().push(*function);
            }
        }
        let of = |group: &u32| holders.get(group).map(Vec::as_slice).unwrap_or_default();
        let mut found = BTreeSet::new();
        for (a, b) in &self.direct {
            for &f in of(a) {
                found.extend(of(b).iter().map(|&g| (f.min(g), f.max(g))));
            }
        }
        found
    }

    /// The groups that each function comes to, by itself or by whom it calls.
    fn reach(&self) -> BTreeMap<u32, BTreeSet<u32>> {
        let mut reach: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (group, functions) in self.groups.iter().enumerate() {
            for function in functions {
                reach.entry(*function).or_default().insert(group as u32);
            }
        }
        loop {
            let mut changed = false;
            for (callers, callee) in &self.calls {
                let Some(more) = reach.get(callee).cloned() else { continue };
                for caller in callers {
                    let mine = reach.entry(*caller).or_default();
                    let before = mine.len();
                    mine.extend(&more);
                    changed |= mine.len() > before;
                }
            }
            if !changed {
                return reach;
            }
        }
    }
}
