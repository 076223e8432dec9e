//! A campaign's coverage while it goes on.

use crate::contribution::Contribution;
use crate::curve::{Curve, Sample};
use crate::estimate::Estimate;
use crate::species::Species;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use threadbare_strategy::StrategyId;
use threadbare_strategy::classes::Kind;

/// How much was covered. Field names are an interface: others read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Different classes of runs: those of one class differ only in the order of steps that do not concern each other.
    pub classes: u64,
    /// Pairs of a write and a read of it in another strand.
    pub reads_from: u64,
    /// Pairs of an access and the next one to the same place, in another strand and one of them a write.
    pub hapset: u64,
    /// Pairs of giving an object of synchronisation and taking it in another strand.
    pub sync_pairs: u64,
    /// Pairs of where something was taken and who had to wait for it.
    pub blocked_pairs: u64,
    /// Points that were reached.
    pub points: u64,
    /// Points at which a strand was preempted.
    pub points_preempted: u64,
}

/// Runs with a class after which a campaign is no longer young.
const WARM_UP: u64 = 256;

/// A campaign's coverage. Contributions are taken in the order of the runs.
#[derive(Clone, Debug, Default)]
pub struct Books {
    runs: u64,
    /// Runs that told something.
    told_by: u64,
    species: Species,
    told: BTreeSet<(Kind, u64, u64)>,
    points: BTreeSet<u64>,
    counts: Counts,
    curve: Curve,
    strategy: Option<StrategyId>,
    /// Points that runs knew, and that were learnt in all.
    points_known: (usize, usize),
    /// Runs were not independent: their strategy learns, or there were several.
    learns: bool,
    /// All there is was seen: so many classes.
    complete: Option<u64>,
}

impl Books {
    /// Takes what a run of this strategy adds.
    pub fn take(&mut self, strategy: StrategyId, contribution: &Contribution) {
        self.runs += 1;
        self.told_by += u64::from(contribution.class.is_some() || !contribution.records.is_empty());
        let first = *self.strategy.get_or_insert(strategy);
        self.learns |= first != strategy || !strategy.row().forgets;
        for told in contribution.told() {
            self.tell(told);
        }
        let (known, learnt) = self.points_known;
        if let Some(class) = contribution.class.filter(|_| known == learnt || !self.is_warming_up()) {
            self.species.see(class);
            self.counts.classes = self.species.classes();
        }
        self.curve.see(self.runs, &self.counts);
    }

    /// The next run knew so many points, and with it so many are learnt in all.
    ///
    /// A conflict whose points are not all known may be missing from a class. While a campaign is young, classes of runs that knew
    /// less than is learnt by now do not count; later, what is learnt is on a way that few runs went.
    pub fn learnt(&mut self, known: usize, learnt: usize) {
        if learnt > self.points_known.1 && self.is_warming_up() {
            self.species = Species::default();
            self.counts.classes = 0;
        }
        self.points_known = (known, learnt);
    }

    fn is_warming_up(&self) -> bool {
        self.species.runs() < WARM_UP
    }

    fn tell(&mut self, told: (Kind, u64, u64)) {
        let (kind, one, other) = told;
        if !self.told.insert(told) {
            return;
        }
        let counts = &mut self.counts;
        match kind {
            Kind::ReadsFrom => {
                counts.reads_from += 1;
                counts.hapset += 1;
            }
            Kind::Before => counts.hapset += 1,
            Kind::Sync => counts.sync_pairs += 1,
            Kind::Blocked => counts.blocked_pairs += 1,
            Kind::Preempted => counts.points_preempted += u64::from(one != 0),
            Kind::Point => {}
        }
        for pc in [one, other].into_iter().filter(|&pc| pc != 0) {
            self.points.insert(pc);
        }
        counts.points = self.points.len() as u64;
    }

    /// Every class was seen, by a search that leaves none out: so many. Runs that knew less of the program may have shown others,
    /// which are none by what is known now.
    pub fn set_complete(&mut self, classes: Option<u64>) {
        self.complete = classes;
    }

    /// Whether runs were independent of each other.
    pub fn is_independent(&self) -> bool {
        !self.learns
    }

    /// Runs taken.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Runs of which something is known: all that were controlled.
    pub fn told_by(&self) -> u64 {
        self.told_by
    }

    /// How much was covered.
    pub fn counts(&self) -> Counts {
        Counts { classes: self.complete.unwrap_or(self.counts.classes), ..self.counts }
    }

    /// The classes.
    pub fn species(&self) -> &Species {
        &self.species
    }

    /// How likely something new is; `None` while too little is known.
    pub fn estimate(&self) -> Option<Estimate> {
        if let Some(classes) = self.complete {
            Some(Estimate::complete(classes))
        } else if self.learns {
            Estimate::recent(&self.species)
        } else {
            Estimate::independent(&self.species)
        }
    }

    /// How much was covered after how many runs.
    pub fn samples(&self) -> Vec<Sample> {
        self.curve.samples(self.runs, &self.counts)
    }

    /// Everything told, in order.
    pub fn told(&self) -> impl Iterator<Item = (Kind, u64, u64)> + '_ {
        self.told.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_strategy::classes::told::record;

    fn contribution(class: u64, told: &[(Kind, u64, u64)]) -> Contribution {
        let records = told.iter().map(|&(kind, one, other)| record(kind, one, other)).collect();
        Contribution { class: Some(class), records }
    }

    #[test]
    fn counts_grow_by_what_is_new() {
        let mut books = Books::default();
        let told = [
            (Kind::ReadsFrom, 1, 2),
            (Kind::Before, 2, 1),
            (Kind::Sync, 3, 4),
            (Kind::Blocked, 4, 4),
            (Kind::Point, 9, 0),
            (Kind::Preempted, 9, 0),
        ];
        books.take(StrategyId::Random, &contribution(5, &told));
        books.take(StrategyId::Random, &contribution(6, &told[..3]));
        books.take(StrategyId::Random, &Contribution::default());
        let expected = Counts {
            classes: 2,
            reads_from: 1,
            hapset: 2,
            sync_pairs: 1,
            blocked_pairs: 1,
            points: 5,
            points_preempted: 1,
        };
        assert_eq!((books.runs(), books.told_by(), books.counts()), (3, 2, expected));
        assert_eq!(books.samples().len(), 3);
        assert_eq!(books.told().count(), told.len());
        assert_eq!(books.estimate(), None);
    }

    #[test]
    fn classes_count_from_when_the_points_are_known() {
        let mut books = Books::default();
        let mut take = |known, learnt, class| {
            books.learnt(known, learnt);
            books.take(StrategyId::Random, &contribution(class, &[]));
            books.counts().classes
        };
        assert_eq!((take(0, 2, 1), take(2, 2, 2), take(2, 2, 3)), (0, 1, 2));
        // This run has learnt one more; the next does not know it yet.
        assert_eq!((take(2, 3, 4), take(2, 3, 5), take(3, 3, 6)), (0, 0, 1));
        for class in 0..WARM_UP {
            take(3, 3, class);
        }
        // Later ones make nothing void.
        assert_eq!(take(3, 4, 1000), WARM_UP + 1);
        assert_eq!(books.runs(), 7 + WARM_UP);
    }

    #[test]
    fn the_estimate_says_what_it_stands_on() {
        use crate::estimate::Method;
        let runs = |strategies: &[StrategyId]| {
            let mut books = Books::default();
            for run in 0..100 {
                books.take(strategies[run % strategies.len()], &contribution(run as u64 % 10, &[]));
            }
            books
        };
        let method = |books: &Books| books.estimate().unwrap().method;
        let mut books = runs(&[StrategyId::Random]);
        assert_eq!(method(&books), Method::GoodTuring);
        assert_eq!(method(&runs(&[StrategyId::Rff])), Method::RecentRuns);
        assert_eq!(method(&runs(&[StrategyId::Random, StrategyId::Pos])), Method::RecentRuns);
        books.set_complete(Some(10));
        let estimate = books.estimate().unwrap();
        assert!(estimate.is_proved() && estimate.high == 0.0 && estimate.classes == 10);
    }
}
