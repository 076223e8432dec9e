//! The smallest number of candidates that together have everything: minimum set cover, exact.
//!
//! Branch and bound. Things that the same candidates have are one; a thing is left out if another's candidates are among its own, a candidate if another has all
//! of its things; a candidate that alone has a thing is taken. What is left is branched on by the thing with the fewest candidates. A branch ends where the greater of two bounds
//! says that it cannot be better: things of which no candidate has two, and a feasible solution of the linear program's dual.
//!
//! The work is bounded by a count, so the answer does not depend on the machine; if it does not suffice, the answer is the best that was found, and says so.

/// The most candidates of an exact cover.
pub const CANDIDATES: usize = 256;

/// Which candidates have a thing.
type Mask = [u64; CANDIDATES / 64];
const NONE: Mask = [0; CANDIDATES / 64];

/// A cover.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cover {
    /// The candidates, by number.
    pub chosen: Vec<usize>,
    /// No smaller one exists.
    pub exact: bool,
}

/// Things that are looked at before the search is given up.
const WORK: u64 = 120_000_000;
/// More different things than this are not compared with each other.
const COMPARED: usize = 3000;

fn has(mask: &Mask, at: usize) -> bool {
    mask[at / 64] >> (at % 64) & 1 == 1
}

fn set(mask: &mut Mask, at: usize) {
    mask[at / 64] |= 1 << (at % 64);
}

fn clear(mask: &mut Mask, at: usize) {
    mask[at / 64] &= !(1 << (at % 64));
}

fn count(mask: &Mask) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

fn within(one: &Mask, other: &Mask) -> bool {
    one.iter().zip(other).all(|(a, b)| a & !b == 0)
}

fn meet(one: &Mask, other: &Mask) -> bool {
    one.iter().zip(other).any(|(a, b)| a & b != 0)
}

fn both(one: &Mask, other: &Mask) -> Mask {
    std::array::from_fn(|at| one[at] & other[at])
}

fn members(mask: &Mask) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(word * 64 + bit)
        })
    })
}

/// The smallest set of candidates that have all things that any has. Each candidate is a list of things, by number.
pub fn minimum(candidates: &[Vec<u32>]) -> Cover {
    if candidates.len() > CANDIDATES {
        return Cover { chosen: greedy(candidates), exact: false };
    }
    let most = candidates.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    let mut things = vec![NONE; most];
    for (at, list) in candidates.iter().enumerate() {
        for &thing in list {
            set(&mut things[thing as usize], at);
        }
    }
    things.retain(|mask| *mask != NONE);
    let mut search = Search { best: greedy(candidates), work: WORK, count: candidates.len() };
    let all: Mask = {
        let mut all = NONE;
        (0..candidates.len()).for_each(|at| set(&mut all, at));
        all
    };
    search.go(things, all, &mut Vec::new());
    let mut chosen = search.best;
    chosen.sort_unstable();
    Cover { chosen, exact: search.work > 0 }
}

/// Always the candidate that has the most of what is left.
fn greedy(candidates: &[Vec<u32>]) -> Vec<usize> {
    let mut covered = std::collections::HashSet::new();
    let mut chosen = Vec::new();
    loop {
        let new = |list: &Vec<u32>| list.iter().filter(|thing| !covered.contains(*thing)).count();
        let best = candidates.iter().enumerate().max_by_key(|(at, list)| (new(list), std::cmp::Reverse(*at)));
        match best {
            Some((at, list)) if new(list) > 0 => {
                covered.extend(list.iter().copied());
                chosen.push(at);
            }
            _ => return chosen,
        }
    }
}

struct Search {
    best: Vec<usize>,
    work: u64,
    count: usize,
}

impl Search {
    fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_sub(work as u64);
    }

    /// Searches on with these things left and these candidates allowed.
    fn go(&mut self, mut things: Vec<Mask>, mut allowed: Mask, chosen: &mut Vec<usize>) {
        let before = chosen.len();
        if self.reduce(&mut things, &mut allowed, chosen) {
            if things.is_empty() {
                if chosen.len() < self.best.len() {
                    self.best = chosen.clone();
                }
            } else if self.work > 0 && chosen.len() + self.bound(&things) < self.best.len() {
                self.branch(&things, allowed, chosen);
            }
        }
        chosen.truncate(before);
    }

    fn branch(&mut self, things: &[Mask], mut allowed: Mask, chosen: &mut Vec<usize>) {
        let Some(thing) = things.iter().min_by_key(|mask| count(mask)) else { return };
        let mut by_worth: Vec<(usize, usize)> =
            members(thing).map(|at| (things.iter().filter(|mask| has(mask, at)).count(), at)).collect();
        self.spend(things.len() * by_worth.len());
        by_worth.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, at) in by_worth {
            let left = things.iter().filter(|mask| !has(mask, at)).copied().collect();
            chosen.push(at);
            self.go(left, allowed, chosen);
            chosen.pop();
            // All covers with it were looked at.
            clear(&mut allowed, at);
            if self.work == 0 {
                return;
            }
        }
    }

    /// Leaves out what does not matter and takes what must be; false if there is no better cover here.
    fn reduce(&mut self, things: &mut Vec<Mask>, allowed: &mut Mask, chosen: &mut Vec<usize>) -> bool {
        loop {
            self.spend(things.len() + 1);
            for mask in things.iter_mut() {
                *mask = both(mask, allowed);
            }
            things.sort_unstable_by(|a, b| count(a).cmp(&count(b)).then(a.cmp(b)));
            things.dedup();
            if things.first().is_some_and(|mask| *mask == NONE) || chosen.len() >= self.best.len() {
                return false;
            }
            if let Some(only) =
                things.first().filter(|mask| count(mask) == 1).and_then(|mask| members(mask).next())
            {
                chosen.push(only);
                clear(allowed, only);
                things.retain(|mask| !has(mask, only));
                continue;
            }
            self.leave_out_things(things);
            if !self.leave_out_candidates(things, allowed) {
                return true;
            }
        }
    }

    /// A thing is covered with another if all that have the other have it.
    fn leave_out_things(&mut self, things: &mut Vec<Mask>) {
        // Of very many the rarest leave out the most.
        let by = things.len().min(COMPARED.min(4_000_000 / things.len().max(1)).max(64));
        let mut kept: Vec<Mask> = Vec::with_capacity(things.len());
        let mut looks = 0;
        for mask in things.iter() {
            let rarest = &kept[..kept.len().min(by)];
            looks += rarest.len();
            if !rarest.iter().any(|other| within(other, mask)) {
                kept.push(*mask);
            }
        }
        self.spend(looks / 4);
        *things = kept;
    }

    /// A candidate is of no use if another has all that it has. Whether there was such.
    fn leave_out_candidates(&mut self, things: &[Mask], allowed: &mut Mask) -> bool {
        let words = things.len().div_ceil(64);
        let mut rows = vec![Vec::new(); self.count];
        for (at, row) in rows.iter_mut().enumerate() {
            if has(allowed, at) {
                *row = vec![0u64; words];
            }
        }
        for (index, mask) in things.iter().enumerate() {
            for at in members(mask) {
                rows[at][index / 64] |= 1 << (index % 64);
            }
        }
        let list: Vec<usize> = members(allowed).collect();
        self.spend(things.len() + list.len() * list.len() * words / 8);
        let mut some = false;
        for &one in &list {
            let worse = |other: usize| {
                other != one
                    && has(allowed, other)
                    && rows[one].iter().zip(&rows[other]).all(|(a, b)| a & !b == 0)
                    && (rows[one] != rows[other] || other < one)
            };
            if list.iter().any(|&other| worse(other)) {
                clear(allowed, one);
                some = true;
            }
        }
        some
    }

    /// At least so many candidates are needed.
    fn bound(&mut self, things: &[Mask]) -> usize {
        self.spend(2 * things.len());
        // No candidate has two of these.
        let mut taken = NONE;
        let mut apart = 0;
        for mask in things {
            if !meet(mask, &taken) {
                apart += 1;
                taken = std::array::from_fn(|at| taken[at] | mask[at]);
            }
        }
        // Each thing pays what its candidates can still take; none takes more than one.
        let mut room = [1.0f64; CANDIDATES];
        let mut paid = 0.0;
        let share = things.iter().flat_map(members).fold([0u32; CANDIDATES], |mut sizes, at| {
            sizes[at] += 1;
            sizes
        });
        let mut prices: Vec<f64> = Vec::with_capacity(things.len());
        for mask in things {
            // Divided evenly first, which suits candidates of like sizes.
            let price = members(mask).map(|at| 1.0 / f64::from(share[at])).fold(1.0, f64::min);
            prices.push(price);
        }
        for (mask, price) in things.iter().zip(&prices) {
            for at in members(mask) {
                room[at] -= price;
            }
            paid += price;
        }
        for mask in things {
            let more = members(mask).map(|at| room[at]).fold(1.0, f64::min);
            if more > 0.0 {
                members(mask).for_each(|at| room[at] -= more);
                paid += more;
            }
        }
        apart.max((paid - 1e-6).ceil() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    /// The smallest by trying all.
    fn by_trying(candidates: &[Vec<u32>]) -> usize {
        let all: std::collections::BTreeSet<u32> = candidates.iter().flatten().copied().collect();
        (0u32..1 << candidates.len())
            .filter(|chosen| {
                let have: std::collections::BTreeSet<u32> = (0..candidates.len())
                    .filter(|at| chosen >> at & 1 == 1)
                    .flat_map(|at| candidates[at].iter().copied())
                    .collect();
                have == all
            })
            .map(u32::count_ones)
            .min()
            .unwrap_or(0) as usize
    }

    fn is_cover(candidates: &[Vec<u32>], chosen: &[usize]) -> bool {
        let have: std::collections::HashSet<u32> =
            chosen.iter().flat_map(|&at| candidates[at].iter().copied()).collect();
        candidates.iter().flatten().all(|thing| have.contains(thing))
    }

    proptest! {
        #[test]
        fn it_is_the_smallest(candidates in prop::collection::vec(prop::collection::vec(0u32..14, 0..6), 0..11)) {
            let cover = minimum(&candidates);
            prop_assert!(cover.exact && is_cover(&candidates, &cover.chosen));
            prop_assert_eq!(cover.chosen.len(), by_trying(&candidates));
        }
    }

    /// Candidates as inputs have them: groups of things that a part of the program has, and a few of their own.
    #[test]
    fn two_hundred_candidates_of_twenty_thousand_things() {
        let mut rng = Rng::new(11);
        let groups: Vec<Vec<u32>> = (0..40).map(|group| (group * 500..(group + 1) * 500).collect()).collect();
        let candidates: Vec<Vec<u32>> = (0..200)
            .map(|_| {
                let parts = (0..40).filter(|_| rng.one_in(6)).collect::<Vec<usize>>();
                parts.iter().flat_map(|&part| groups[part].iter().copied()).collect()
            })
            .collect();
        let cover = minimum(&candidates);
        assert!(cover.exact && is_cover(&candidates, &cover.chosen), "{cover:?}");
        assert!(cover.chosen.len() <= greedy(&candidates).len());
    }

    #[test]
    fn too_many_candidates_are_told() {
        let candidates: Vec<Vec<u32>> = (0..300).map(|at| vec![at, at + 1]).collect();
        let cover = minimum(&candidates);
        assert!(!cover.exact && is_cover(&candidates, &cover.chosen));
    }

    /// Candidates without any structure: nearly all of them are needed.
    #[test]
    fn random_candidates_are_covered() {
        let mut rng = Rng::new(5);
        let candidates: Vec<Vec<u32>> =
            (0..200).map(|_| (0..20_000).filter(|_| rng.one_in(40)).collect()).collect();
        let cover = minimum(&candidates);
        assert!(is_cover(&candidates, &cover.chosen));
        assert!(!cover.exact || cover.chosen.len() <= greedy(&candidates).len());
    }
}
