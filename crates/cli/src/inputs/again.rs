//! Tests of inputs that have nothing new.
//!
//! Iroots name places. What one input has shown without a failure may fail with another, what is impossible with one may be possible with another, and where all
//! strands lock in one function of a library, iroots of different sections are the same. So inputs without anything new are tested all the same, now and then.

use super::AtWork;
use super::one::{Force, Tested};

/// Sets of candidates without anything new, after which one of them is tested all the same; half as many each time. What another input has shown may lead to a failure
/// with this one only, and the less there is to choose by, the less is lost by taking any.
pub(super) const FRUITLESS: u32 = 8;

impl AtWork<'_> {
    /// If there was nothing new for long: the input with the most seldom habit that no whole test has had, for what others have shown or found infeasible may be
    /// otherwise with it, and then any of the candidates whose strands share something. When no more can be drawn: each that was not tested, and then all of
    /// them with more than what was left.
    pub(super) fn again(&mut self, more: bool) -> Option<(usize, Force)> {
        let some: Vec<usize> = self.pool.ids().map(|id| id as usize).collect();
        self.pool.clear();
        self.fruitless.0 += 1;
        if more && self.fruitless.0 < self.fruitless.1 {
            return None;
        }
        if more {
            self.fruitless.1 = (self.fruitless.1 / 2).max(1);
        }
        let profile = |at: usize| &self.inputs[at].1;
        let news = |at: usize| match profile(at).tested {
            Tested::No | Tested::Partly => self.habits.news(&profile(at).counts),
            Tested::Wholly | Tested::Deeply => None,
        };
        // What is not new now will never be.
        self.others.retain(|&at| news(at).is_some());
        if let Some(&at) = self.others.iter().min_by_key(|&&at| news(at)) {
            return Some((at, Force::Others));
        }
        let shares = |&at: &usize| !profile(at).predicted.is_empty();
        if !more {
            let all = 0..self.inputs.len();
            let not = all.clone().find(|&at| profile(at).tested == Tested::No);
            let with = |tested| all.clone().find(|at| profile(*at).tested == tested && shares(at));
            return not.map(|at| (at, Force::All)).or_else(|| {
                with(Tested::Partly).or_else(|| with(Tested::Wholly)).map(|at| (at, Force::Others))
            });
        }
        let some: Vec<usize> = some.into_iter().filter(shares).collect();
        some.get(self.rng.below(some.len() as u64) as usize).map(|&at| (at, Force::All))
    }
}
