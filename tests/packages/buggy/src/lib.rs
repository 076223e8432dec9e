//! A counter that loses updates, and one that does not.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Counts by load and store.
#[derive(Default)]
pub struct Loose(AtomicU32);

impl Loose {
    /// Adds one, unless another strand comes between.
    pub fn add(&self) {
        let seen = self.0.load(SeqCst);
        self.0.store(seen + 1, SeqCst);
    }

    /// The count.
    pub fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

/// Counts by one indivisible step.
#[derive(Default)]
pub struct Tight(AtomicU32);

impl Tight {
    /// Adds one.
    ///
    /// ```
    /// let count = buggy::Tight::default();
    /// count.add();
    /// assert_eq!(count.get(), 1);
    /// ```
    pub fn add(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    /// The count.
    pub fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn loose_counts_alone() {
        let counter = Loose::default();
        counter.add();
        counter.add();
        assert_eq!(counter.get(), 2);
    }

    #[test]
    fn loose_counts_together() {
        let counter = Loose::default();
        thread::scope(|scope| {
            scope.spawn(|| (0..3).for_each(|_| counter.add()));
            (0..3).for_each(|_| counter.add());
        });
        assert_eq!(counter.get(), 6);
    }

    #[test]
    fn tight_counts_together() {
        let counter = Tight::default();
        thread::scope(|scope| {
            scope.spawn(|| counter.add());
            scope.spawn(|| counter.add());
        });
        assert_eq!(counter.get(), 2);
    }

    #[test]
    #[ignore = "only on request"]
    fn ignored() {
        unreachable!("it is ignored");
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn panics_on_purpose() {
        thread::spawn(|| panic!("on purpose"))
            .join()
            .unwrap_or_else(|payload| std::panic::resume_unwind(payload));
    }
}
