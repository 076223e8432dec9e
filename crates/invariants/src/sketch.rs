//! How many *different* samples a statement rests on.
//!
//! A relation that holds for a thousand samples may rest on two different ones. Of all different rows the few with the smallest
//! hashes are kept: a fair choice that depends neither on the order nor on how often a row came, and that can be merged.

use crate::layout::Row;
use serde::{Deserialize, Serialize};

/// How many rows are kept.
const ROWS: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sketch {
    /// By hash; each cell as a short hash, 0 where it is missing.
    rows: Vec<(u128, Vec<u64>)>,
}

impl Sketch {
    pub(crate) fn take(&mut self, hash: u128, row: &Row) {
        if self.rows.len() == ROWS && self.rows.last().is_some_and(|last| last.0 < hash) {
            return;
        }
        if let Err(at) = self.rows.binary_search_by_key(&hash, |kept| kept.0) {
            let cells = (0..row.cells.len()).map(|slot| row.get(slot).map_or(0, short));
            self.rows.insert(at, (hash, cells.collect()));
            self.rows.truncate(ROWS);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (hash, cells) in &other.rows {
            if let Err(at) = self.rows.binary_search_by_key(hash, |kept| kept.0) {
                self.rows.insert(at, (*hash, cells.clone()));
            }
        }
        self.rows.truncate(ROWS);
    }

    /// How many different values some slots had together, at least; of the rows with a value in another slot if so asked.
    pub(crate) fn distinct(&self, slots: &[usize], given: Option<(usize, i128)>) -> usize {
        let rows = self.rows.iter().filter(|(_, cells)| {
            given.is_none_or(|(slot, value)| cells[slot] == short(value))
                && slots.iter().all(|&slot| cells[slot] != 0)
        });
        let mut tuples: Vec<Vec<u64>> =
            rows.map(|(_, cells)| slots.iter().map(|&slot| cells[slot]).collect()).collect();
        tuples.sort_unstable();
        tuples.dedup();
        tuples.len()
    }

    pub(crate) fn is_sound(&self, slots: usize) -> bool {
        self.rows.len() <= ROWS
            && self.rows.windows(2).all(|pair| pair[0].0 < pair[1].0)
            && self.rows.iter().all(|row| row.1.len() == slots)
    }
}

/// A number for a cell that is not zero. Small numbers are their own.
fn short(cell: i128) -> u64 {
    let mixed = (cell as u64) ^ ((cell >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed.wrapping_add(0x5851_f42d_4c95_7f2d).max(1)
}
