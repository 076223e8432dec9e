//! Payloads that count their drops: what a container loses or drops twice shows.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Payloads that one book has room for.
const MOST: usize = 16 << 10;

/// Relaxed throughout: what is counted must not order what the payloads' owners do.
struct Book {
    made: AtomicUsize,
    alive: AtomicUsize,
    /// The numbers that are alive, as bits.
    numbers: [AtomicU64; MOST / 64],
}

impl Book {
    fn word(&self, number: usize) -> (&AtomicU64, u64) {
        (&self.numbers[number / 64], 1 << (number % 64))
    }
}

impl Default for Book {
    fn default() -> Book {
        Book {
            made: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
            numbers: [const { AtomicU64::new(0) }; MOST / 64],
        }
    }
}

/// Makes payloads, and knows which of them are alive.
///
/// ```
/// let drops = threadbare::Drops::new();
/// let list = vec![drops.payload(), drops.payload()];
/// assert_eq!(drops.alive(), 2);
/// drop(list);
/// drops.assert_all_dropped();
/// ```
#[derive(Clone, Default)]
pub struct Drops {
    book: Arc<Book>,
}

impl Drops {
    /// None yet.
    pub fn new() -> Drops {
        Drops::default()
    }

    /// A payload; its number is how many were made before.
    ///
    /// # Panics
    /// If 16,384 were made.
    pub fn payload(&self) -> Counted {
        let number = self.book.made.fetch_add(1, Ordering::Relaxed);
        assert!(number < MOST, "`Drops` has room for {MOST} payloads");
        let (word, bit) = self.book.word(number);
        word.fetch_or(bit, Ordering::Relaxed);
        self.book.alive.fetch_add(1, Ordering::Relaxed);
        Counted { number, book: Arc::clone(&self.book) }
    }

    /// How many were made.
    pub fn made(&self) -> usize {
        self.book.made.load(Ordering::Relaxed)
    }

    /// How many are alive.
    pub fn alive(&self) -> usize {
        self.book.alive.load(Ordering::Relaxed)
    }

    /// How many were dropped.
    pub fn dropped(&self) -> usize {
        self.made() - self.alive()
    }

    /// # Panics
    /// If a payload is alive: it was lost, or forgotten.
    #[track_caller]
    pub fn assert_all_dropped(&self) {
        let (alive, made) = (self.alive(), self.made());
        assert!(alive == 0, "{alive} of {made} payloads were not dropped");
    }
}

impl fmt::Debug for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Drops({} of {} alive)", self.alive(), self.made())
    }
}

/// A payload of [`Drops`]. It may be dropped once.
pub struct Counted {
    number: usize,
    book: Arc<Book>,
}

impl Counted {
    /// How many payloads were made before it.
    pub fn number(&self) -> usize {
        self.number
    }
}

impl Clone for Counted {
    /// Another payload, with a number of its own.
    fn clone(&self) -> Counted {
        Drops { book: Arc::clone(&self.book) }.payload()
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counted({})", self.number)
    }
}

impl Drop for Counted {
    /// # Panics
    /// If it was dropped before: somebody has made a second one of it, out of the compiler's sight.
    fn drop(&mut self) {
        let (word, bit) = self.book.word(self.number);
        let was_alive = word.fetch_and(!bit, Ordering::Relaxed) & bit != 0;
        if !was_alive {
            // The book is not to go with what was never counted.
            std::mem::forget(Arc::clone(&self.book));
        }
        assert!(was_alive, "payload {} is dropped a second time", self.number);
        self.book.alive.fetch_sub(1, Ordering::Relaxed);
    }
}
