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

/// The books of tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskLedger {
    books: TaskBooks,
    table: Arc<Seen>,
    version: u64,
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
        self.books.take(run, seen);
        self.renew();
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
