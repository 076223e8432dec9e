//! A hash table that touches little memory while it holds little: it begins small and moves to the next, larger piece of its memory
//! when it is half full. A run of a small program then costs a few pages, not as many as the largest table has.

/// A table of at most `MOST` entries of `ENTRY` words, the first of which is the key (0: none).
#[derive(Debug)]
pub(crate) struct Table<const ENTRY: usize, const MOST: usize> {
    words: &'static mut [u64],
    /// Where the present piece begins, and how many entries it has.
    begin: usize,
    size: usize,
    used: usize,
}

/// Entries of the first piece.
const FIRST: usize = 1 << 6;
/// Places that are looked at for a key.
const PROBES: usize = 16;

impl<const ENTRY: usize, const MOST: usize> Table<ENTRY, MOST> {
    /// Words of memory that it needs.
    pub(crate) const WORDS: usize = 2 * MOST * ENTRY;

    /// A table without memory.
    pub(crate) const fn new() -> Self {
        Table { words: &mut [], begin: 0, size: FIRST, used: 0 }
    }

    /// Takes zeroed memory of [`Table::WORDS`] words.
    pub(crate) fn furnish(&mut self, words: &'static mut [u64]) {
        (self.words, self.begin, self.size, self.used) = (words, 0, FIRST, 0);
    }

    /// The entry of a key, or the one it may have, or, in a full table, one that it has to share.
    #[inline]
    pub(crate) fn entry(&mut self, key: u64) -> &mut [u64; ENTRY] {
        let at = self.place(key);
        let (entry, _) = self.words[at..at + ENTRY].as_chunks_mut();
        &mut entry[0]
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize & (self.size - 1);
        for _ in 0..PROBES {
            let found = self.words[self.begin + at * ENTRY];
            if found == key || found == 0 {
                break;
            }
            at = (at + 1) & (self.size - 1);
        }
        self.begin + at * ENTRY
    }

    /// An entry was given to a new key.
    #[inline]
    pub(crate) fn count(&mut self) {
        self.used += 1;
        if self.used * 2 > self.size && self.size < MOST {
            self.grow();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let (old, end) = (self.begin, self.begin + self.size * ENTRY);
        (self.begin, self.size) = (end, self.size * 2);
        for from in (old..end).step_by(ENTRY) {
            let key = self.words[from];
            if key != 0 {
                let to = self.place(key);
                self.words.copy_within(from..from + ENTRY, to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec;

    #[test]
    fn what_is_put_in_stays_when_it_grows() {
        let mut table: Table<2, 8192> = Table::new();
        table.furnish(Box::leak(vec![0; Table::<2, 8192>::WORDS].into_boxed_slice()));
        for key in 1..=2000u64 {
            let entry = table.entry(key * 8);
            assert_eq!(entry[0], 0);
            *entry = [key * 8, key];
            table.count();
        }
        assert!((1..=2000u64).all(|key| *table.entry(key * 8) == [key * 8, key]));
        assert_eq!((table.used, table.size), (2000, 4096));
    }
}
