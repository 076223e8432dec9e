//! What a campaign of free runs covers: its books, what the next run is told of them, and when it is enough.

use std::fmt;
use std::sync::Arc;
use threadbare_coverage::tasks::{Goal, Seen};
use threadbare_coverage::{TaskBooks, TaskCounts};
use threadbare_trace::report::Module;

/// Who knows what earlier campaigns covered.
pub trait Earlier: fmt::Debug + Send + Sync {
    /// What they covered, with the pcs of a program that has these modules.
    fn seen(&self, modules: &[Module]) -> Seen;
}

/// Runs without anything new after which tasks that are open count as out of reach.
const STILL: u64 = 16;

/// The books of tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskLedger {
    books: TaskBooks,
    table: Arc<Seen>,
    version: u64,
    /// Runs since one has covered something.
    still: u64,
    goal: Option<Goal>,
    /// Until it is asked: that takes modules.
    earlier: Option<Arc<dyn Earlier>>,
}

impl TaskLedger {
    pub(crate) fn new(goal: Option<Goal>, earlier: Option<Arc<dyn Earlier>>) -> TaskLedger {
        TaskLedger { goal, earlier, ..TaskLedger::default() }
    }

    /// The modules of the program are known.
    pub(crate) fn see_modules(&mut self, modules: &[Module]) {
        if let Some(earlier) = self.earlier.take() {
            self.books.begin_with(&earlier.seen(modules));
            self.renew();
        }
    }

    /// These functions are known before the first run.
    pub(crate) fn know(&mut self, functions: &Seen) {
        self.books.begin_with(functions);
        self.renew();
    }

    /// A run has ended.
    pub(crate) fn take(&mut self, run: u64, seen: &Seen) {
        let before = self.version;
        self.books.take(run, seen);
        self.renew();
        self.still = if self.version == before { self.still + 1 } else { 0 };
    }

    fn renew(&mut self) {
        if self.version != self.books.version() {
            self.version = self.books.version();
            self.table = Arc::new(self.books.table());
        }
    }

    /// What the next run is told.
    pub(crate) fn table(&self) -> Arc<Seen> {
        Arc::clone(&self.table)
    }

    /// Whether a run is guided by what is open. Some tasks can never be covered; where nothing has come for a while, every
    /// other run makes noise by chance, which finds failures elsewhere.
    pub(crate) fn guides(&self, run: u64) -> bool {
        self.still < STILL || run.is_multiple_of(2)
    }

    /// Whether as much is covered as is to be.
    pub(crate) fn is_enough(&self) -> bool {
        self.goal.is_some_and(|goal| goal.is_reached(&self.books))
    }

    pub(crate) fn counts(&self) -> Option<TaskCounts> {
        (!self.books.is_empty()).then(|| self.books.counts())
    }

    pub(crate) fn into_books(self) -> TaskBooks {
        self.books
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_coverage::tasks::Function;

    #[test]
    fn what_brings_nothing_new_for_long_guides_every_other_run() {
        let mut ledger = TaskLedger::default();
        let seen = |marks| Seen { functions: vec![Function { pc: 1, marks, strand: 1 }], ..Seen::default() };
        for run in 0..STILL {
            ledger.take(run, &seen(1));
            assert!(ledger.guides(run + 1));
        }
        ledger.take(STILL, &seen(1));
        assert!(ledger.guides(40) && !ledger.guides(41));
        ledger.take(41, &seen(3));
        assert!(ledger.guides(43));
    }
}
