//! What inputs do, and which of it whole tests have had.
//!
//! The distance knows which iroots are left, and not that the same iroot may fail with one input only, or be possible with one only: the one that leaves out a lock or
//! changes a count by another number. Such an input does something that others do not, or seldom. A *habit* is a place with how often a
//! run comes there, none included, by powers of two.

use std::collections::{BTreeMap, HashMap};

/// How often a run comes to each place.
pub type Counts = BTreeMap<u64, u32>;

/// How often by powers of two: 1, 2, 3 and 4, 5 to 8, and so on.
pub fn about(count: u32) -> u8 {
    (32 - count.saturating_sub(1).leading_zeros()) as u8 + u8::from(count > 0)
}

/// The habits that inputs have, and that whole tests had.
#[derive(Clone, Debug, Default)]
pub struct Habits {
    tests: Times,
    inputs: Times,
}

/// How many have each habit.
#[derive(Clone, Debug, Default)]
struct Times {
    all: u64,
    have: HashMap<(u64, u8), u64>,
    come: HashMap<u64, u64>,
}

impl Times {
    /// One more comes to places so often; some of its runs do what the others tell.
    fn add(&mut self, own: &Counts, others: impl IntoIterator<Item = (u64, u8)>) {
        self.all += 1;
        let mut all: Vec<(u64, u8)> = own.iter().map(|(&place, &count)| (place, about(count))).collect();
        all.extend(others);
        all.sort_unstable();
        all.dedup();
        all.into_iter().for_each(|habit| *self.have.entry(habit).or_default() += 1);
        own.keys().for_each(|&place| *self.come.entry(place).or_default() += 1);
    }

    fn do_not_come(&self, place: u64) -> u64 {
        self.all - self.come.get(&place).copied().unwrap_or(0)
    }
}

impl Habits {
    /// An input does this.
    pub fn seen(&mut self, own: &Counts) {
        self.inputs.add(own, []);
    }

    /// A test of everything that an input could show: what the input does, and what all runs of the test did.
    pub fn tested(&mut self, own: &Counts, runs: impl IntoIterator<Item = (u64, u8)>) {
        self.tests.add(own, runs);
    }

    /// If an input does something that no test has had, or leaves out what all of them had: how many inputs have the most seldom such habit.
    pub fn news(&self, own: &Counts) -> Option<u64> {
        let habits = own.iter().map(|(&place, &count)| (place, about(count)));
        let done = habits.filter(|habit| !self.tests.have.contains_key(habit));
        let done = done.map(|habit| self.inputs.have.get(&habit).copied().unwrap_or(0));
        let always = self.tests.come.iter().filter(|&(_, &tests)| tests == self.tests.all);
        let left = always.map(|(place, _)| *place).filter(|place| !own.contains_key(place));
        done.chain(left.map(|place| self.inputs.do_not_come(place))).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(u64, u32)]) -> Counts {
        of.iter().copied().collect()
    }

    #[test]
    fn counts_are_taken_by_powers_of_two() {
        let of = [0, 1, 2, 3, 4, 5, 8, 9, 16, u32::MAX];
        assert_eq!(of.map(about), [0, 1, 2, 3, 3, 4, 4, 5, 5, 33]);
    }

    #[test]
    fn what_is_left_out_is_a_habit_too() {
        let mut habits = Habits::default();
        let usual = counts(&[(1, 1), (2, 3)]);
        assert!(habits.news(&usual).is_some());
        habits.tested(&usual, []);
        assert_eq!((habits.news(&usual), habits.news(&counts(&[(1, 1), (2, 4)]))), (None, None));
        assert!(habits.news(&counts(&[(1, 1), (2, 5)])).is_some());
        assert!(habits.news(&counts(&[(1, 1)])).is_some());
        habits.tested(&counts(&[(1, 1)]), [(7, 1)]);
        assert_eq!(habits.news(&counts(&[(1, 1)])), None);
        assert!(habits.news(&counts(&[(2, 3)])).is_some());
        // Another order of a test's strands came there.
        assert_eq!(habits.news(&counts(&[(1, 1), (7, 1)])), None);
    }

    #[test]
    fn news_are_as_seldom_as_the_most_seldom_habit() {
        let mut habits = Habits::default();
        let (usual, often, seldom) = (counts(&[(1, 1)]), counts(&[(1, 1), (2, 1)]), counts(&[(2, 9)]));
        habits.tested(&usual, []);
        (0..9).for_each(|_| habits.seen(&usual));
        (0..5).for_each(|_| habits.seen(&often));
        habits.seen(&seldom);
        assert_eq!([&usual, &often, &seldom].map(|own| habits.news(own)), [None, Some(5), Some(1)]);
    }
}
