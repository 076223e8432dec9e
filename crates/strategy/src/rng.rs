//! A small, fast, seeded generator (wyrand).

/// The generator. Equal seeds give equal sequences on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator for a seed; near seeds give unrelated sequences.
    pub const fn new(seed: u64) -> Self {
        Rng(mix(seed.wrapping_add(0x9E37_79B9_7F4A_7C15)))
    }

    /// The next 64 bits.
    #[inline]
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xA076_1D64_78BD_642F);
        let product = (self.0 as u128).wrapping_mul((self.0 ^ 0xE703_7ED1_A0B4_28DB) as u128);
        (product >> 64) as u64 ^ product as u64
    }

    /// A number below `bound` (which is not 0).
    #[inline]
    pub const fn below(&mut self, bound: u32) -> u32 {
        scale(self.next(), bound)
    }

    /// A number below a bound that may be large (and is not 0).
    #[inline]
    pub const fn below64(&mut self, bound: u64) -> u64 {
        ((self.next() as u128 * bound as u128) >> 64) as u64
    }
}

/// A random number as one below `bound`.
#[inline]
pub const fn scale(random: u64, bound: u32) -> u32 {
    (((random >> 32) * bound as u64) >> 32) as u32
}

/// SplitMix64's finalizer: spreads a number over 64 bits.
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The seed of run `run` of a campaign with this seed.
pub const fn run_seed(campaign: u64, run: u64) -> u64 {
    mix(campaign.wrapping_mul(0xD6E8_FEB8_6659_FD93).wrapping_add(mix(run.wrapping_add(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_stays_below_and_reaches_all() {
        let mut rng = Rng::new(7);
        let mut seen = [0u32; 5];
        for _ in 0..1000 {
            seen[rng.below(5) as usize] += 1;
        }
        // 200 expected each; 120 is 6 standard deviations (12.6) below.
        assert!(seen.iter().all(|&n| n > 120), "{seen:?}");
    }

    #[test]
    fn run_seeds_differ() {
        assert_ne!(run_seed(0, 0), run_seed(0, 1));
        assert_ne!(run_seed(0, 1), run_seed(1, 0));
    }
}
