//! How likely it is that a statement holds by chance.
//!
//! A statement is told when that is at most [`CHANCE`], which is Daikon's 0.99 the other way round. `n` is the number of samples that have
//! all variables of the statement, `d` how many of them are different in these variables (counted up to 32). The models, each of a world in which the statement
//! is no law:
//!
//! | statement | by chance | and |
//! |---|---|---|
//! | `x == c`, `x one of` k values | a value more, as frequent as the others, has not come: `(k/(k+1))^n` | |
//! | `x >= low`, `x <= high` | one value beyond, as frequent as each of the r between, has not come: `(r/(r+1))^n`; of floating point numbers the next one is beyond: `1/(n+1)` | half of the r came, or d >= 16; of floating point numbers d >= 16 |
//! | `x >= 0`, `x >= 1`, `x <= 0`, `x <= -1` | either sign is as likely: `(1/2)^n`; without a sign as non-zero | |
//! | `x != 0` | zero is as frequent as each of r values: `(1-1/r)^n`; of pointers `(1/2)^n`; of floating point numbers it is never told | half of the r came, or d >= 16 |
//! | `x % m == r` | each rest is as likely, m and r are free: `(1/m)^(d-2)` | |
//! | `x & mask == bits` | each of w bits is as likely set as clear: `w (1/2)^(d-1)` | |
//! | `x < y`, `x == y`, flags that differ | either is as likely: `(1/2)^n` | d >= 2, if they are not one variable now and then |
//! | integers that differ | `(1-1/r)^n` | d is at least half of r, or 16 |
//! | `x == y + c` | as orders, c is free: `(1/2)^(n-1)` | d >= 2 |
//! | `x == a*y + b` | two are free: `(1/2)^(n-2)` | d >= 3; 2 if a is -1: a sum that stays |
//! | `z == a*x + b*y + c` | three are free: `(1/2)^(n-3)` | d >= 4; 5 if a factor is not 1 or -1 |
//! | `sorted(x)` | `(1/2)^n` | d >= 2 |
//! | `flag ==> s` | that of s, for the samples with the flag | |
//!
//! Samples of different runs count each: that a relation is the same two numbers in every run of a deterministic program is no weakness of
//! the evidence that it holds in every run. The least numbers of different ones keep out what any few points satisfy.

use crate::facts::Facts;
use crate::layout::{Kind, Slot};
use crate::statement::{Cmp, Constant, Real, Statement};
use crate::unary::Unary;

/// What is less likely than this by chance is told.
pub const CHANCE: f64 = 0.01;

/// So many different values are many. They are counted in 32 different rows, where some values come again.
const MANY: usize = 16;

/// What a statement rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Samples that have all its variables.
    pub samples: u64,
    /// How many of them are different in these variables, at least.
    pub distinct: usize,
    /// How likely it would hold by chance.
    pub chance: f64,
}

impl Evidence {
    /// Whether chance is an unlikely cause.
    pub fn is_enough(&self) -> bool {
        self.chance <= CHANCE
    }
}

/// The chance of a statement that is no implication and holds.
pub(crate) fn chance(
    statement: &Statement<usize>,
    slots: &[Slot],
    facts: &Facts,
    samples: u64,
    distinct: usize,
) -> f64 {
    let n = samples as f64;
    let half = |free: f64| 0.5_f64.powf((n - free).max(0.0));
    let at_least = |count: usize, chance: f64| if distinct >= count { chance } else { 1.0 };
    match statement {
        Statement::Value { x, cmp, with } => value(&slots[*x], &facts.unary[*x], *cmp, with, (n, distinct)),
        Statement::OneOf { values, .. } => all_but_one(values.len() as f64, n),
        Statement::Compare { x, cmp: Cmp::Ne, y } if slots[*x].kind == Kind::Int => {
            let span = match (&facts.unary[*x], &facts.unary[*y]) {
                (Unary::Ints(x), Unary::Ints(y)) => x.max.max(y.max).abs_diff(x.min.min(y.min)) as f64 + 1.0,
                _ => f64::INFINITY,
            };
            dense(span, distinct, (1.0 - 1.0 / span).powf(n))
        }
        Statement::Compare { x, y, .. } if slots[*x].operand.name == slots[*y].operand.name => half(0.0),
        Statement::Compare { .. } | Statement::Sorted { .. } => at_least(2, half(0.0)),
        Statement::Offset { .. } => at_least(2, half(1.0)),
        Statement::Linear { terms, .. } => {
            let plain = terms.iter().all(|term| term.0.abs() == 1);
            match terms.len() {
                2 if plain && terms[0].0 == -terms[1].0 => at_least(2, half(1.0)),
                2 if plain => at_least(2, half(2.0)),
                2 => at_least(3, half(2.0)),
                _ => at_least(if plain { 4 } else { 5 }, half(3.0)),
            }
        }
        Statement::Modulus { modulus, .. } => (1.0 / *modulus as f64).powf((distinct as f64 - 2.0).max(0.0)),
        Statement::Bits { x, .. } => {
            let width = facts.unary[*x].ints().map_or(1, |ints| 128 - (ints.min ^ ints.max).leading_zeros());
            f64::from(width) * 0.5_f64.powf((distinct as f64 - 1.0).max(0.0))
        }
        Statement::When { .. } => 1.0,
    }
}

/// That one more of k equally frequent values has not come.
fn all_but_one(k: f64, n: f64) -> f64 {
    // The logarithm keeps its digits where the quotient is nearly one.
    (-n * (1.0 / k).ln_1p()).exp()
}

/// A chance that goes by a range, if so many of its values came that it is one.
fn dense(range: f64, distinct: usize, chance: f64) -> f64 {
    if distinct >= MANY || distinct as f64 * 2.0 >= range { chance } else { 1.0 }
}

fn value(slot: &Slot, unary: &Unary, cmp: Cmp, with: &Constant, (n, distinct): (f64, usize)) -> f64 {
    let half = 0.5_f64.powf(n);
    match (cmp, unary) {
        (Cmp::Eq, _) => all_but_one(1.0, n),
        (_, Unary::Ints(_)) if slot.kind == Kind::Pointer => half,
        (Cmp::Ne, Unary::Ints(ints)) => {
            let range = ints.max.abs_diff(ints.min) as f64 + 1.0;
            dense(range, distinct, (1.0 - 1.0 / range).powf(n))
        }
        (_, Unary::Ints(ints)) => {
            let range = ints.max.abs_diff(ints.min) as f64 + 1.0;
            let bound = dense(range, distinct, all_but_one(range, n));
            match (with, slot.limits().0) {
                (Constant::Int(1), Some(0)) => {
                    let range = ints.max as f64 + 1.0;
                    bound.min(dense(range, distinct, (1.0 - 1.0 / range).powf(n)))
                }
                (Constant::Int(-1..=1), _) if is_sign(cmp, with) => bound.min(half),
                _ => bound,
            }
        }
        (Cmp::Ne, Unary::Reals(_)) => 1.0,
        (_, Unary::Reals(_)) if *with == Constant::Real(Real(0.0)) => half,
        (_, Unary::Reals(_)) if distinct >= MANY => 1.0 / (n + 1.0),
        _ => 1.0,
    }
}

/// Whether a bound of an integer is one of the four that speak of its sign.
fn is_sign(cmp: Cmp, with: &Constant) -> bool {
    matches!((cmp, with), (Cmp::Ge, Constant::Int(0 | 1)) | (Cmp::Le, Constant::Int(0 | -1)))
}
