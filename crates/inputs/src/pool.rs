//! The candidates, and which of them is tested next.
//!
//! The distance of a candidate to the tests so far is the number of iroots that it could show and no test has shown: d(t, T) = |iRoots(t) \ AR(T)|. It is kept
//! up to date: when an iroot is settled, each candidate that has it comes nearer by one.

use crate::cover::minimum;
use crate::rng::Rng;
use std::collections::HashMap;

/// How the next candidate is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// The farthest.
    #[default]
    Art1,
    /// The farthest of a minimum set cover of all that no test has shown.
    Art2,
    /// Any.
    Random,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 3] = [Policy::Art1, Policy::Art2, Policy::Random];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Art1 => "art1",
            Policy::Art2 => "art2",
            Policy::Random => "random",
        }
    }
}

/// What was chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// The candidate.
    pub id: u64,
    /// How far it is.
    pub distance: usize,
    /// The size of the cover, where one was made, and whether it is the smallest.
    pub cover: Option<(usize, bool)>,
}

#[derive(Clone, Debug)]
struct Candidate {
    id: u64,
    things: Vec<u32>,
    distance: usize,
}

/// The candidates.
#[derive(Clone, Debug)]
pub struct Pool {
    policy: Policy,
    rng: Rng,
    candidates: Vec<Candidate>,
    /// Numbers of iroots.
    numbers: HashMap<u64, u32>,
    settled: Vec<bool>,
    /// Who has an iroot, by id.
    holders: Vec<Vec<u64>>,
}

impl Pool {
    /// No candidate yet.
    pub fn new(policy: Policy, seed: u64) -> Pool {
        Pool {
            policy,
            rng: Rng::new(seed),
            candidates: Vec::new(),
            numbers: HashMap::new(),
            settled: Vec::new(),
            holders: Vec::new(),
        }
    }

    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// The candidates.
    pub fn ids(&self) -> impl Iterator<Item = u64> {
        self.candidates.iter().map(|candidate| candidate.id)
    }

    fn number(&mut self, iroot: u64) -> u32 {
        let next = self.settled.len() as u32;
        let number = *self.numbers.entry(iroot).or_insert(next);
        if number == next {
            self.settled.push(false);
            self.holders.push(Vec::new());
        }
        number
    }

    /// Adds a candidate with the iroots that it could show.
    pub fn add(&mut self, id: u64, iroots: impl IntoIterator<Item = u64>) {
        let mut things: Vec<u32> = iroots.into_iter().map(|iroot| self.number(iroot)).collect();
        things.sort_unstable();
        things.dedup();
        for &thing in &things {
            self.holders[thing as usize].push(id);
        }
        let distance = things.iter().filter(|&&thing| !self.settled[thing as usize]).count();
        self.candidates.push(Candidate { id, things, distance });
    }

    /// These iroots were shown, or cannot be.
    pub fn settle(&mut self, iroots: impl IntoIterator<Item = u64>) {
        for iroot in iroots {
            let number = self.number(iroot) as usize;
            if std::mem::replace(&mut self.settled[number], true) {
                continue;
            }
            for candidate in &mut self.candidates {
                if self.holders[number].contains(&candidate.id) {
                    candidate.distance -= 1;
                }
            }
        }
    }

    /// The greatest distance.
    pub fn farthest(&self) -> usize {
        self.candidates.iter().map(|candidate| candidate.distance).max().unwrap_or(0)
    }

    /// How far a candidate is.
    pub fn distance(&self, id: u64) -> Option<usize> {
        self.candidates.iter().find(|candidate| candidate.id == id).map(|candidate| candidate.distance)
    }

    /// Takes the next one out.
    pub fn pick(&mut self) -> Option<Chosen> {
        if self.candidates.is_empty() {
            return None;
        }
        let farthest = |list: &mut dyn Iterator<Item = usize>, of: &[Candidate]| {
            // Of equals the first that was drawn.
            list.max_by_key(|&at| (of[at].distance, std::cmp::Reverse(of[at].id)))
        };
        let (at, cover) = match self.policy {
            Policy::Random => (self.rng.below(self.candidates.len() as u64) as usize, None),
            Policy::Art1 => (farthest(&mut (0..self.candidates.len()), &self.candidates)?, None),
            Policy::Art2 => {
                let left = |candidate: &Candidate| {
                    let open = candidate.things.iter().filter(|&&thing| !self.settled[thing as usize]);
                    open.copied().collect::<Vec<u32>>()
                };
                let cover = minimum(&self.candidates.iter().map(left).collect::<Vec<_>>());
                let told = Some((cover.chosen.len(), cover.exact));
                let at = farthest(&mut cover.chosen.iter().copied(), &self.candidates);
                (at.unwrap_or(0), told)
            }
        };
        let Candidate { id, distance, .. } = self.candidates[at];
        self.remove(id);
        Some(Chosen { id, distance, cover })
    }

    /// Takes a candidate out.
    pub fn remove(&mut self, id: u64) {
        if let Some(at) = self.candidates.iter().position(|candidate| candidate.id == id) {
            for thing in self.candidates.remove(at).things {
                self.holders[thing as usize].retain(|holder| *holder != id);
            }
        }
    }

    /// Takes all candidates out.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.holders.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two signs choose two of four variables: what an input shows.
    fn quadrant(x: bool, y: bool) -> impl Iterator<Item = u64> {
        let variables = [u64::from(!x), 2 + u64::from(!y)];
        (0..4)
            .filter(move |variable| variables.contains(variable))
            .flat_map(|variable| variable * 6..variable * 6 + 6)
    }

    /// Tests until no candidate has anything new; each shows all that it could.
    fn complete_test(policy: Policy, seed: u64) -> usize {
        let mut rng = Rng::new(seed);
        let mut pool = Pool::new(policy, seed);
        let mut inputs: HashMap<u64, (bool, bool)> = HashMap::new();
        let mut draw = |pool: &mut Pool, inputs: &mut HashMap<u64, (bool, bool)>| {
            let (id, input) = (inputs.len() as u64, (rng.one_in(2), rng.one_in(2)));
            inputs.insert(id, input);
            pool.add(id, quadrant(input.0, input.1));
        };
        (0..7).for_each(|_| draw(&mut pool, &mut inputs));
        let mut tests = 0;
        while pool.farthest() > 0 {
            let choice = pool.pick().unwrap();
            let (x, y) = inputs[&choice.id];
            pool.settle(quadrant(x, y));
            tests += 1;
            draw(&mut pool, &mut inputs);
        }
        tests
    }

    /// The paper's table 2 has 2.17 and 2.10 for its program P2, whose iroots are these.
    #[test]
    fn the_mean_of_complete_tests_is_the_papers() {
        let mean = |policy| (0..1000).map(|seed| complete_test(policy, seed)).sum::<usize>() as f64 / 1000.0;
        let (art1, art2, random) = (mean(Policy::Art1), mean(Policy::Art2), mean(Policy::Random));
        assert!((2.0..2.3).contains(&art1), "{art1}");
        assert!((2.0..2.3).contains(&art2), "{art2}");
        // Which stops as soon as nothing new is left, and not after all candidates.
        assert!(art1 <= 0.65 * random && art2 <= 0.65 * random, "{random}");
    }

    #[test]
    fn distances_are_kept_up_to_date() {
        let mut pool = Pool::new(Policy::Art1, 0);
        pool.add(1, [1, 2, 3]);
        pool.add(2, [3, 4]);
        pool.add(3, [9, 9, 9]);
        assert_eq!(pool.pick(), Some(Chosen { id: 1, distance: 3, cover: None }));
        pool.settle([1, 2, 3, 3, 77]);
        assert_eq!((pool.distance(2), pool.distance(3)), (Some(1), Some(1)));
        pool.add(4, [77, 3]);
        assert_eq!(pool.distance(4), Some(0));
        pool.settle([4, 9]);
        assert_eq!(pool.farthest(), 0);
    }

    #[test]
    fn the_cover_leaves_out_what_others_have() {
        let mut pool = Pool::new(Policy::Art2, 0);
        // The largest is needed for nothing.
        pool.add(1, [1, 2, 3, 4]);
        pool.add(2, [1, 2, 5]);
        pool.add(3, [3, 4, 6]);
        assert_eq!(pool.pick(), Some(Chosen { id: 2, distance: 3, cover: Some((2, true)) }));
    }
}
