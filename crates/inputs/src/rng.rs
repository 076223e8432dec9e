//! Random numbers that are the same on every machine.

use threadbare_strategy::rng::mix;

/// A generator (splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Rng {
        Rng(seed ^ 0x6a09_e667_f3bc_c908)
    }

    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below this; 0 if there is none.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// A number of a range, both ends included.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        let count = (high as i128 - low as i128 + 1).clamp(1, 1 << 64);
        let drawn = if count > i128::from(u64::MAX) { self.word() } else { self.below(count as u64) };
        (low as i128 + drawn as i128) as i64
    }

    /// Whether something with this chance in so many happens.
    pub fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// One of these by weight.
    pub fn weighed(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let all: u64 = weights.clone().map(u64::from).sum();
        let mut drawn = self.below(all.max(1));
        for (index, weight) in weights.enumerate() {
            match drawn.checked_sub(u64::from(weight)) {
                Some(left) => drawn = left,
                None => return index,
            }
        }
        0
    }
}
