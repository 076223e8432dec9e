//! The smallest set of a failing run's terms that no other run has: each run that does not fail so lacks some of them, and the set has one of these for every such
//! run (a hitting set). So whatever is smaller, a run that passes speaks against it.

/// For each term, which of the runs that do not fail so lack it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Against {
    /// How many runs there are.
    pub(crate) runs: usize,
    /// For each term, a bit for each run that lacks it.
    pub(crate) lacked: Vec<Vec<u64>>,
}

/// A set of terms, the nearest to the failure first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Set {
    pub(crate) terms: Vec<usize>,
    /// No smaller one is left.
    pub(crate) smallest: bool,
}

/// Sets of so many terms are gone through, all of them.
const EXACT: usize = 4;
/// Steps of that, at the most.
const STEPS: usize = 400_000;

impl Against {
    /// From what each run has: `has(run, term)`.
    pub(crate) fn new(terms: usize, runs: usize, has: impl Fn(usize, usize) -> bool) -> Against {
        let lacked = (0..terms).map(|term| {
            let mut bits = vec![0u64; runs.div_ceil(64)];
            for run in (0..runs).filter(|&run| !has(run, term)) {
                bits[run / 64] |= 1 << (run % 64);
            }
            bits
        });
        Against { runs, lacked: lacked.collect() }
    }

    fn lacks(&self, run: usize, term: usize) -> bool {
        self.lacked[term][run / 64] >> (run % 64) & 1 == 1
    }

    /// A run that has all terms, if there is one.
    pub(crate) fn has_all(&self) -> Option<usize> {
        (0..self.runs).find(|&run| (0..self.lacked.len()).all(|term| !self.lacks(run, term)))
    }

    /// The first run that has all terms of a set.
    fn open(&self, set: &[usize]) -> Option<usize> {
        for word in 0..self.runs.div_ceil(64) {
            let hit = set.iter().fold(0, |hit, &term| hit | self.lacked[term][word]);
            let left = self.runs - word * 64;
            let all = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            if hit & all != all {
                return Some(word * 64 + (!hit & all).trailing_zeros() as usize);
            }
        }
        None
    }

    /// The smallest set that every run lacks something of, the nearest to the failure among those; none of the refused ones. `None` if a run has all terms, or
    /// all sets are refused.
    pub(crate) fn smallest(&self, refused: &[Vec<usize>]) -> Option<Set> {
        if self.lacked.is_empty() || self.has_all().is_some() {
            return None;
        }
        if self.runs == 0 {
            let free = (0..self.lacked.len()).map(|term| vec![term]).find(|set| !refused.contains(set))?;
            return Some(Set { terms: free, smallest: true });
        }
        let mut search = Search { against: self, refused, steps: 0, best: None };
        for size in 1..=EXACT {
            search.go(&mut Vec::new(), size);
            let whole = search.steps < STEPS;
            if let Some(terms) = search.best.take() {
                return Some(Set { terms, smallest: whole });
            }
            if !whole {
                break;
            }
        }
        let terms = self.greedy();
        (!refused.contains(&terms)).then_some(Set { terms, smallest: false })
    }

    /// Takes what most runs lack, until nothing is open, and leaves out what is not needed.
    fn greedy(&self) -> Vec<usize> {
        let mut set: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = (0..self.runs).collect();
        while !open.is_empty() {
            let gain = |term: &usize| open.iter().filter(|&&run| self.lacks(run, *term)).count();
            // Of equal ones the first: `max_by_key` would take the last.
            let Some(best) = (0..self.lacked.len()).rev().max_by_key(gain) else { break };
            set.push(best);
            open.retain(|&run| !self.lacks(run, best));
        }
        set.sort_unstable();
        for term in set.clone().into_iter().rev() {
            let without: Vec<usize> = set.iter().copied().filter(|&other| other != term).collect();
            if self.open(&without).is_none() {
                set = without;
            }
        }
        set
    }
}

struct Search<'a> {
    against: &'a Against,
    refused: &'a [Vec<usize>],
    steps: usize,
    best: Option<Vec<usize>>,
}

impl Search<'_> {
    /// Goes through the sets with so many more terms: of the first run that has all so far, one term it lacks must be in.
    fn go(&mut self, set: &mut Vec<usize>, more: usize) {
        self.steps += 1;
        let Some(run) = self.against.open(set) else {
            let mut terms = set.clone();
            terms.sort_unstable();
            let far = |terms: &[usize]| terms.iter().sum::<usize>();
            let nearer = self.best.as_ref().is_none_or(|best| far(&terms) < far(best));
            if nearer && !self.refused.contains(&terms) {
                self.best = Some(terms);
            }
            return;
        };
        if more == 0 || self.steps >= STEPS {
            return;
        }
        for term in (0..self.against.lacked.len()).filter(|&term| self.against.lacks(run, term)) {
            set.push(term);
            self.go(set, more - 1);
            set.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each run by the terms it has.
    fn against(terms: usize, runs: &[&[usize]]) -> Against {
        Against::new(terms, runs.len(), |run, term| runs[run].contains(&term))
    }

    fn found(terms: usize, runs: &[&[usize]]) -> Option<(Vec<usize>, bool)> {
        against(terms, runs).smallest(&[]).map(|set| (set.terms, set.smallest))
    }

    #[test]
    fn one_term_is_enough_where_no_other_run_has_it() {
        assert_eq!(found(3, &[&[0, 1], &[1]]), Some((vec![2], true)));
        // The nearest of several.
        assert_eq!(found(3, &[&[0], &[0]]), Some((vec![1], true)));
        assert_eq!(found(2, &[]), Some((vec![0], true)));
    }

    #[test]
    fn two_terms_where_each_alone_is_in_a_run_that_passes() {
        assert_eq!(found(3, &[&[0, 2], &[1, 2]]), Some((vec![0, 1], true)));
    }

    #[test]
    fn none_where_a_run_has_all() {
        assert_eq!(found(2, &[&[0], &[0, 1]]), None);
        assert_eq!(found(0, &[&[]]), None);
        assert_eq!(against(2, &[&[0], &[0, 1]]).has_all(), Some(1));
    }

    #[test]
    fn what_is_refused_is_not_taken() {
        let runs: &[&[usize]] = &[&[0]];
        assert_eq!(against(3, runs).smallest(&[vec![1]]).map(|set| set.terms), Some(vec![2]));
        assert_eq!(against(2, runs).smallest(&[vec![1]]), None);
    }

    #[test]
    fn many_terms_are_needed_where_each_run_lacks_one() {
        // Seven runs, each without one of seven terms: all are needed.
        let all: Vec<Vec<usize>> = (0..7).map(|run| (0..7).filter(|&term| term != run).collect()).collect();
        let runs: Vec<&[usize]> = all.iter().map(Vec::as_slice).collect();
        assert_eq!(found(7, &runs), Some((vec![0, 1, 2, 3, 4, 5, 6], false)));
    }

    #[test]
    fn more_runs_than_a_word_has_bits() {
        let all: Vec<Vec<usize>> = (0..130).map(|run| if run == 129 { vec![0] } else { vec![1] }).collect();
        let runs: Vec<&[usize]> = all.iter().map(Vec::as_slice).collect();
        assert_eq!(found(2, &runs), Some((vec![0, 1], true)));
    }
}
