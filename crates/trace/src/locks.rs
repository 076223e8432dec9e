//! Orders in which strands took locks: what a deadlock that did not happen is predicted from.

use serde::{Deserialize, Serialize};

/// A strand took one lock while it held another, with a wait that would have had no end of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LockOrder {
    /// Who.
    pub strand: u16,
    /// The lock it held.
    pub held: u64,
    /// Where it had taken it.
    pub held_pc: u64,
    /// The callers of that place, innermost first.
    pub held_callers: Vec<u64>,
    /// It held it for reading only.
    pub held_shared: bool,
    /// The lock it took.
    pub taken: u64,
    /// Where it took it.
    pub pc: u64,
    /// The callers of that place, innermost first.
    pub callers: Vec<u64>,
    /// It took it for reading only.
    pub taken_shared: bool,
    /// The number of the occasion: orders of one occasion are all the locks the strand held then.
    pub occasion: u32,
    /// What the strand knew of the others by creation and join: for each strand the number of its last stretch that
    /// came before. A stretch ends where the strand creates or joins another.
    pub clock: Vec<u32>,
}

/// Addresses as a record's text has them: hexadecimal, with commas.
pub(crate) fn pcs(text: &str) -> Vec<u64> {
    text.split(',').map_while(|word| u64::from_str_radix(word, 16).ok()).collect()
}

impl LockOrder {
    /// The order a record tells. Text that is not all there gives what can be read of it.
    pub(crate) fn of_record(strand: u16, held: u64, taken: u64, pc: u64, text: &str) -> LockOrder {
        let mut words = text.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (held_at, taken_at) = (pcs(word()), pcs(word()));
        let (held_shared, taken_shared) = (word() == "1", word() == "1");
        LockOrder {
            strand,
            held,
            held_pc: held_at.first().copied().unwrap_or(0),
            held_callers: held_at.into_iter().skip(1).collect(),
            held_shared,
            taken,
            pc,
            callers: taken_at.into_iter().skip(1).collect(),
            taken_shared,
            occasion: word().parse().unwrap_or(0),
            clock: words.map_while(|word| word.parse().ok()).collect(),
        }
    }

    /// Whether this came before the other in every run of the same kind, because of creation and join.
    pub fn comes_before(&self, other: &LockOrder) -> bool {
        let own = usize::from(self.strand);
        match (self.clock.get(own), other.clock.get(own)) {
            (Some(mine), Some(known)) => self.strand == other.strand || mine <= known,
            _ => false,
        }
    }

    /// Whether two strands that hold these locks at a time get into each other's way.
    pub fn excludes(&self, other: &LockOrder) -> bool {
        self.held == other.held && !(self.held_shared && other.held_shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read() {
        let order = LockOrder::of_record(1, 0x10, 0x20, 0x30, "4f,5a 30,6b,7c 0 1 7 2 3");
        assert_eq!((order.held_pc, order.held_shared, order.taken_shared), (0x4f, false, true));
        assert_eq!(
            (order.held_callers.as_slice(), order.callers.as_slice()),
            (&[0x5a][..], &[0x6b, 0x7c][..])
        );
        assert_eq!((order.occasion, order.clock.as_slice()), (7, &[2, 3][..]));
        assert_eq!(LockOrder::of_record(1, 0, 0, 0, "").clock, []);
        assert_eq!(LockOrder::of_record(1, 0, 0, 0, "zz 30 1 x").occasion, 0);
    }

    #[test]
    fn creation_and_join_order() {
        let at = |strand, clock: &[u32]| LockOrder { strand, clock: clock.to_vec(), ..LockOrder::default() };
        // Main, before it creates its first strand, and that strand.
        assert!(at(0, &[1]).comes_before(&at(1, &[1, 1])));
        // Main, when it has created it.
        assert!(!at(0, &[2]).comes_before(&at(1, &[1, 1])));
        assert!(!at(1, &[1, 1]).comes_before(&at(0, &[2])));
        // Main, when it has joined it.
        assert!(at(1, &[1, 1]).comes_before(&at(0, &[3, 1])));
        // Nothing is known of a strand beyond the clock.
        assert!(!at(5, &[1]).comes_before(&at(0, &[9])));
    }
}
