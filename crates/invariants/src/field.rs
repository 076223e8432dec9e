//! Arithmetic modulo a prime, for linear algebra that neither overflows nor rounds.
//!
//! Linear relations of integers are found by elimination. Over the rationals its numbers grow without bound; modulo a prime they
//! do not. A relation of the integers is one modulo the prime, too. The other way round a relation could hold by accident for values
//! that differ by a multiple of the prime: it is an arbitrary one of 62 bits, so that no program has a reason to. What is
//! told has small coefficients, recovered by [`ratio`].
//!
//! Numbers are in Montgomery's form: `x` stands for `x * 2^64`.

/// The prime.
pub(crate) const PRIME: u64 = 0x2df6_50fe_c429_3bf5;
const NEGATED_INVERSE: u64 = 0xd1c1_4f86_71da_a7a3;
const RADIX_SQUARED: u64 = 0x06c9_17b5_fa3b_35d6;
/// One.
pub(crate) const ONE: u64 = 0x1a30_6b06_2b31_d437;

/// The product of two numbers. If one of them is in plain form, the product is.
#[inline]
pub(crate) fn mul(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let factor = (product as u64).wrapping_mul(NEGATED_INVERSE);
    let reduced = ((product + u128::from(factor) * u128::from(PRIME)) >> 64) as u64;
    if reduced >= PRIME { reduced - PRIME } else { reduced }
}

#[inline]
pub(crate) fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[inline]
pub(crate) fn sub(a: u64, b: u64) -> u64 {
    if a >= b { a - b } else { a + PRIME - b }
}

/// An integer modulo the prime, in plain form.
#[inline]
pub(crate) fn plain(value: i128) -> u64 {
    if let Ok(small) = i64::try_from(value)
        && small.unsigned_abs() < PRIME
    {
        return if small < 0 { (small + PRIME as i64) as u64 } else { small as u64 };
    }
    value.rem_euclid(i128::from(PRIME)) as u64
}

/// A number from its plain form.
#[inline]
pub(crate) fn enter(plain: u64) -> u64 {
    mul(plain, RADIX_SQUARED)
}

/// An integer as a number.
pub(crate) fn number(value: i128) -> u64 {
    enter(plain(value))
}

/// The plain form of a number.
pub(crate) fn leave(number: u64) -> u64 {
    mul(number, 1)
}

/// The inverse of a number other than zero.
pub(crate) fn inverse(number: u64) -> u64 {
    let (mut result, mut base, mut exponent) = (ONE, number, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul(result, base);
        }
        base = mul(base, base);
        exponent >>= 1;
    }
    result
}

/// The fraction `p/q` that a number stands for, if there is one with `|p|` and `q` at most `bound`. There is at most one while
/// `2 * bound * bound` is below the prime.
pub(crate) fn ratio(number: u64, bound: i128) -> Option<(i128, i128)> {
    let (mut r0, mut r1) = (i128::from(PRIME), i128::from(leave(number)));
    let (mut t0, mut t1) = (0_i128, 1_i128);
    while r1 > bound {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    let (p, q) = if t1 < 0 { (-r1, -t1) } else { (r1, t1) };
    (q > 0 && q <= bound && p.abs() <= bound).then_some((p, q))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arithmetic_is_that_of_the_integers(a in any::<i128>(), b in any::<i64>()) {
            let prime = i128::from(PRIME);
            let (x, y) = (number(a), number(b.into()));
            let (ra, rb) = (a.rem_euclid(prime), i128::from(b).rem_euclid(prime));
            prop_assert_eq!(i128::from(leave(x)), ra);
            prop_assert_eq!(i128::from(leave(add(x, y))), (ra + rb) % prime);
            prop_assert_eq!(i128::from(leave(sub(x, y))), (ra - rb).rem_euclid(prime));
            prop_assert_eq!(u128::from(leave(mul(x, y))), (ra as u128 * rb as u128) % prime as u128);
            if x != 0 {
                prop_assert_eq!(mul(x, inverse(x)), ONE);
            }
        }

        #[test]
        fn small_fractions_come_back(p in -30_000_i128..30_000, q in 1_i128..30_000) {
            let number = mul(number(p), inverse(number(q)));
            let (rp, rq) = ratio(number, 1 << 15).expect("a small fraction");
            prop_assert_eq!(rp * q, rq * p);
        }
    }
}
