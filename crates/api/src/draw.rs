//! Randomness from a seed.

/// Draws numbers; the same seed draws the same.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// By a seed.
    pub fn new(seed: u64) -> Draw {
        Draw(seed ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        // splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// By a seed, for further tests: each round draws others, the first one what the seed itself draws.
    pub fn of_round(seed: u64, round: u64) -> Draw {
        Draw::new(seed.wrapping_add(round.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    /// Less than `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap_or(0)
    }

    /// True in `times` of `of` cases.
    pub fn chance(&mut self, times: usize, of: usize) -> bool {
        self.below(of) < times
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        if list.is_empty() { None } else { list.get(self.below(list.len())) }
    }
}

/// Two of them, different ones if there are several.
pub(crate) fn two<'a, T: PartialEq>(draw: &mut Draw, list: &'a [T]) -> Option<[&'a T; 2]> {
    let first = draw.pick(list)?;
    let others: Vec<&T> = list.iter().filter(|other| *other != first).collect();
    let second = draw.pick(&others).copied().unwrap_or(first);
    Some([first, second])
}

/// Which of two functions each strand calls: what makes and what takes come in equal numbers in many of these.
const FORMS: [&[&[usize]]; 7] = [
    &[&[0], &[1]],
    &[&[0], &[0], &[1]],
    &[&[0], &[0], &[1, 1]],
    &[&[0, 1], &[0, 1]],
    &[&[0, 0], &[1, 1]],
    &[&[0], &[1], &[1]],
    &[&[0, 1], &[1, 0]],
];

/// One of them, in two of three cases; else strands are filled as it comes.
pub(crate) fn form(draw: &mut Draw) -> Option<&'static [&'static [usize]]> {
    if draw.chance(2, 3) { draw.pick(&FORMS).copied() } else { None }
}
