//! Linear equations that are known, and what they say of a sum.

use crate::field;
use std::collections::BTreeMap;

/// Constants of a reduced sum are recovered up to this.
const MAX_CONSTANT: i128 = 1 << 29;

/// A sum of slots, in the field: factors and a constant, plain in value and in Montgomery's form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) factors: BTreeMap<usize, u64>,
    pub(crate) constant: u64,
}

/// A sum in integers: terms, constant, and by what all of it is divided.
pub(crate) type Integers = (Vec<(i128, usize)>, i128, i128);

impl Sum {
    pub(crate) fn new(terms: &[(i128, usize)], constant: i128) -> Self {
        let mut sum = Self { factors: BTreeMap::new(), constant: field::number(constant) };
        for &(factor, slot) in terms {
            sum.add(slot, field::number(factor));
        }
        sum
    }

    fn add(&mut self, slot: usize, factor: u64) {
        let all = field::add(self.factors.remove(&slot).unwrap_or(0), factor);
        if all != 0 {
            self.factors.insert(slot, all);
        }
    }

    /// Adds a multiple of another sum.
    fn absorb(&mut self, other: &Self, multiple: u64) {
        for (&slot, &factor) in &other.factors {
            self.add(slot, field::mul(factor, multiple));
        }
        self.constant = field::add(self.constant, field::mul(other.constant, multiple));
    }

    /// The sum in integers. Nothing if its numbers are great.
    pub(crate) fn integers(&self) -> Option<Integers> {
        let mut divisor = 1_i128;
        let mut parts = Vec::new();
        for (&slot, &factor) in &self.factors {
            let ratio = field::ratio(factor, MAX_CONSTANT)?;
            divisor = divisor.checked_mul(ratio.1)?;
            parts.push((slot, ratio));
        }
        let constant = field::ratio(self.constant, MAX_CONSTANT)?;
        divisor = divisor.checked_mul(constant.1)?;
        let scaled = |(above, below): (i128, i128)| above.checked_mul(divisor / below);
        let terms: Option<Vec<_>> =
            parts.into_iter().map(|(slot, ratio)| Some((scaled(ratio)?, slot))).collect();
        Some((terms?, scaled(constant)?, divisor))
    }
}

/// Equations in reduced form: the last slot of each is expressed by earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equations {
    /// For a slot, the sum that it equals.
    rows: BTreeMap<usize, Sum>,
}

impl Equations {
    /// A sum with every slot replaced that is known by others.
    pub(crate) fn reduce(&self, sum: &Sum) -> Sum {
        let mut reduced = sum.clone();
        for (slot, row) in &self.rows {
            if let Some(factor) = reduced.factors.remove(slot) {
                reduced.absorb(row, factor);
            }
        }
        reduced
    }

    /// Learns that a sum is zero.
    pub(crate) fn add(&mut self, zero: &Sum) {
        let mut zero = self.reduce(zero);
        let Some((slot, factor)) = zero.factors.pop_last() else { return };
        let mut row = Sum::default();
        row.absorb(&zero, field::sub(0, field::inverse(factor)));
        for other in self.rows.values_mut() {
            if let Some(factor) = other.factors.remove(&slot) {
                other.absorb(&row, factor);
            }
        }
        self.rows.insert(slot, row);
    }

    /// Whether it follows that a sum is zero.
    pub(crate) fn imply(&self, zero: &Sum) -> bool {
        let reduced = self.reduce(zero);
        reduced.factors.is_empty() && reduced.constant == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_known() {
        let mut known = Equations::default();
        // s1 == s0 + 1, s2 == 2*s1
        known.add(&Sum::new(&[(1, 1), (-1, 0)], -1));
        known.add(&Sum::new(&[(1, 2), (-2, 1)], 0));
        assert!(known.imply(&Sum::new(&[(1, 2), (-2, 0)], -2)));
        assert!(!known.imply(&Sum::new(&[(1, 2), (-2, 0)], -3)));
        let reduced = known.reduce(&Sum::new(&[(1, 2), (-1, 1)], 0));
        assert_eq!(reduced.integers(), Some((vec![(1, 0)], 1, 1)));
    }
}
