//! The grammar: what can be said of variables.
//!
//! A statement is generic over what names a variable: a slot of a [`crate::layout::Layout`] while it is worked with, an
//! [`Operand`](crate::Operand) where it is shown, kept or read. Equal statements have one form only: operands stand in their order, factors
//! have no common divisor, the first one is positive.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// How two sides compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cmp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Cmp {
    /// Whether two sides in this order satisfy it.
    pub fn admits(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
        }
    }

    /// The same with the sides exchanged.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same => same,
        }
    }

    /// Its sign in text.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }
}

/// A floating point number with an order, so that statements have one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Real {}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A value that a statement names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Constant {
    /// An integer, or the number of an enum's value without a name.
    Int(i128),
    /// `true` or `false`.
    Bool(bool),
    /// The null pointer.
    Null,
    /// A floating point number.
    Real(Real),
    /// A string.
    Text(String),
    /// An enum's value by name.
    Name(String),
}

/// What can be said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Statement<V> {
    /// `x == 5`, `x >= 0`, `p != NULL`.
    Value {
        /// The variable.
        x: V,
        /// How it compares.
        cmp: Cmp,
        /// With what.
        with: Constant,
    },
    /// `x one of {1, 5}`.
    OneOf {
        /// The variable.
        x: V,
        /// The values, in order.
        values: Vec<Constant>,
    },
    /// `x < y`.
    Compare {
        /// The left side.
        x: V,
        /// How they compare.
        cmp: Cmp,
        /// The right side.
        y: V,
    },
    /// `x == 2*y + 1`, `z == x - y`, and with other signs where a person wrote them.
    Linear {
        /// Variables with their factors.
        terms: Vec<(i128, V)>,
        /// How their sum compares.
        cmp: Cmp,
        /// With what.
        with: i128,
    },
    /// `x == y + 0.5`, of floating point numbers, up to rounding.
    Offset {
        /// The left side.
        x: V,
        /// The right side.
        y: V,
        /// What is added to it.
        by: Real,
    },
    /// `x % m == r`.
    Modulus {
        /// The variable.
        x: V,
        /// By what it is divided.
        modulus: i128,
        /// What is left, from 0 to the modulus.
        rest: i128,
    },
    /// `x & mask == bits`.
    Bits {
        /// The variable.
        x: V,
        /// Which bits are meant.
        mask: i128,
        /// What they are.
        bits: i128,
    },
    /// `sorted(x, <=)`: neighbours in the sequence compare so.
    Sorted {
        /// The sequence.
        x: V,
        /// How an element compares with the next one.
        cmp: Cmp,
    },
    /// `flag ==> …` or `!flag ==> …`.
    When {
        /// A bool.
        flag: V,
        /// What it must be.
        is: bool,
        /// What holds then.
        then: Box<Statement<V>>,
    },
}

impl<V> Statement<V> {
    /// The same statement of something else, or nothing if one of its variables is not there.
    pub fn map<W>(&self, to: &mut impl FnMut(&V) -> Option<W>) -> Option<Statement<W>> {
        Some(match self {
            Self::Value { x, cmp, with } => Statement::Value { x: to(x)?, cmp: *cmp, with: with.clone() },
            Self::OneOf { x, values } => Statement::OneOf { x: to(x)?, values: values.clone() },
            Self::Compare { x, cmp, y } => Statement::Compare { x: to(x)?, cmp: *cmp, y: to(y)? },
            Self::Linear { terms, cmp, with } => {
                let terms: Option<Vec<_>> = terms.iter().map(|(factor, x)| Some((*factor, to(x)?))).collect();
                Statement::Linear { terms: terms?, cmp: *cmp, with: *with }
            }
            Self::Offset { x, y, by } => Statement::Offset { x: to(x)?, y: to(y)?, by: *by },
            Self::Modulus { x, modulus, rest } => {
                Statement::Modulus { x: to(x)?, modulus: *modulus, rest: *rest }
            }
            Self::Bits { x, mask, bits } => Statement::Bits { x: to(x)?, mask: *mask, bits: *bits },
            Self::Sorted { x, cmp } => Statement::Sorted { x: to(x)?, cmp: *cmp },
            Self::When { flag, is, then } => {
                Statement::When { flag: to(flag)?, is: *is, then: Box::new(then.map(to)?) }
            }
        })
    }

    /// What it speaks of, in the order of its text; the flag of an implication comes first.
    pub fn operands(&self) -> Vec<&V> {
        match self {
            Self::Value { x, .. }
            | Self::OneOf { x, .. }
            | Self::Modulus { x, .. }
            | Self::Bits { x, .. }
            | Self::Sorted { x, .. } => vec![x],
            Self::Compare { x, y, .. } | Self::Offset { x, y, .. } => vec![x, y],
            Self::Linear { terms, .. } => terms.iter().map(|(_, x)| x).collect(),
            Self::When { flag, then, .. } => std::iter::once(flag).chain(then.operands()).collect(),
        }
    }

    /// The statement without the flag that it depends on.
    pub fn core(&self) -> &Self {
        match self {
            Self::When { then, .. } => then.core(),
            plain => plain,
        }
    }
}

impl<V: Ord> Statement<V> {
    /// A linear statement in its one form: like terms added, in order, without common divisor, the first factor positive. A sum of one
    /// variable, and a plain comparison of two, are statements of their own kinds. `Err(true)` and `Err(false)` are what is so without looking.
    pub(crate) fn linear(mut terms: Vec<(i128, V)>, cmp: Cmp, with: i128) -> Option<Result<Self, bool>> {
        terms.sort_by(|a, b| a.1.cmp(&b.1));
        let mut sum: Vec<(i128, V)> = Vec::new();
        for (factor, x) in terms {
            match sum.last_mut() {
                Some(last) if last.1 == x => last.0 = last.0.checked_add(factor)?,
                _ => sum.push((factor, x)),
            }
        }
        sum.retain(|term| term.0 != 0);
        let mut divisor = sum.iter().fold(0_u128, |all, term| gcd(all, term.0.unsigned_abs()));
        if divisor == 0 {
            return Some(Err(cmp.admits(0.cmp(&with))));
        }
        let (mut cmp, mut with) = (cmp, with);
        if with.unsigned_abs() % divisor != 0 {
            // Left as it is: what it means is right, and dividing would round.
            divisor = gcd(divisor, with.unsigned_abs());
        }
        let mut divisor = i128::try_from(divisor).ok()?;
        if sum[0].0 < 0 {
            divisor = -divisor;
            cmp = cmp.turned();
        }
        for term in &mut sum {
            term.0 = term.0.checked_div(divisor)?;
        }
        with = with.checked_div(divisor)?;
        if sum.len() == 1 && sum[0].0 == 1 {
            let (_, x) = sum.remove(0);
            return Some(Ok(Self::Value { x, cmp, with: Constant::Int(with) }));
        }
        if sum.len() == 2 && with == 0 && sum[0].0 == 1 && sum[1].0 == -1 {
            let (_, y) = sum.remove(1);
            let (_, x) = sum.remove(0);
            return Some(Ok(Self::Compare { x, cmp, y }));
        }
        Some(Ok(Self::Linear { terms: sum, cmp, with }))
    }
}

/// The greatest common divisor.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            (Ok(small), Ok(divisor)) => (b, u128::from(small % divisor)),
            _ => (b, a % b),
        };
    }
    a
}
