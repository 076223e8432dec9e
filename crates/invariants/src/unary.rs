//! What is known of one slot by itself.
//!
//! Everything here is made of minima, maxima, unions and divisors, so samples can come in any order and any number of times.

use crate::layout::{Kind, real};
use crate::statement::gcd;
use serde::{Deserialize, Serialize};

/// How many values `one of` can name.
pub const MAX_ONE_OF: usize = 5;

/// Strings longer than this have no place in `one of`.
const MAX_TEXT: usize = 120;

/// A few different values, or too many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Few<T> {
    values: Vec<T>,
    many: bool,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { values: Vec::new(), many: false }
    }
}

impl<T: Ord + Clone> Few<T> {
    /// Adds a value; whether that changes anything.
    #[inline]
    pub(crate) fn add(&mut self, value: &T) -> bool {
        if self.many {
            return false;
        }
        let Err(at) = self.values.binary_search(value) else { return false };
        if self.values.len() == MAX_ONE_OF {
            self.overflow();
        } else {
            self.values.insert(at, value.clone());
        }
        true
    }

    fn overflow(&mut self) {
        self.many = true;
        self.values = Vec::new();
    }

    fn merge(&mut self, other: &Self) {
        if other.many {
            self.overflow();
        }
        for value in &other.values {
            self.add(value);
        }
    }

    /// The values, in order, if they are few.
    pub(crate) fn get(&self) -> Option<&[T]> {
        (!self.many).then_some(&*self.values)
    }

    fn is_sound(&self) -> bool {
        self.values.len() <= MAX_ONE_OF && self.values.windows(2).all(|pair| pair[0] < pair[1])
    }
}

/// Of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ints {
    pub(crate) min: i128,
    pub(crate) max: i128,
    /// Bits that every value has, and bits that some value has.
    pub(crate) always: i128,
    pub(crate) ever: i128,
    /// The greatest common divisor of all differences; 0 while there is one value.
    pub(crate) step: u128,
    pub(crate) zero: bool,
    pub(crate) few: Few<i128>,
}

impl Ints {
    fn new(value: i128) -> Self {
        let mut few = Few::default();
        few.add(&value);
        Self { min: value, max: value, always: value, ever: value, step: 0, zero: value == 0, few }
    }

    #[inline]
    fn take(&mut self, value: i128) -> bool {
        let mut new = self.step != 1 && self.widen(value.abs_diff(self.min));
        let within = self.min <= value && value <= self.max && (value != 0 || self.zero);
        if !within || self.always & !value != 0 || value & !self.ever != 0 {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
            self.always &= value;
            self.ever |= value;
            self.zero |= value == 0;
            new = true;
        }
        new | self.few.add(&value)
    }

    #[inline]
    fn widen(&mut self, difference: u128) -> bool {
        let fits = match (u64::try_from(difference), u64::try_from(self.step)) {
            (Ok(0), _) => true,
            (Ok(difference), Ok(step)) if step != 0 => difference % step == 0,
            _ => false,
        };
        if fits {
            return false;
        }
        let step = gcd(self.step, difference);
        std::mem::replace(&mut self.step, step) != step
    }

    fn merge(&mut self, other: &Self) {
        self.step = gcd(gcd(self.step, other.step), self.min.abs_diff(other.min));
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.always &= other.always;
        self.ever |= other.ever;
        self.zero |= other.zero;
        self.few.merge(&other.few);
    }
}

/// Of floating point numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reals {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) zero: bool,
    /// Something that is not a number came.
    pub(crate) strange: bool,
    /// By their cells.
    pub(crate) few: Few<i128>,
}

impl PartialEq for Reals {
    fn eq(&self, other: &Self) -> bool {
        let bits = |all: &Self| (all.min.to_bits(), all.max.to_bits(), all.zero, all.strange);
        bits(self) == bits(other) && self.few == other.few
    }
}

impl Reals {
    fn empty() -> Self {
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY, zero: false, strange: false, few: Few::default() }
    }

    fn take(&mut self, cell: i128) -> bool {
        let value = real(cell);
        let before = (self.min.to_bits(), self.max.to_bits(), self.zero, self.strange);
        let new = self.few.add(&cell);
        if value.is_nan() {
            self.strange = true;
        } else {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
            self.zero |= value == 0.0;
        }
        new | (before != (self.min.to_bits(), self.max.to_bits(), self.zero, self.strange))
    }

    fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.zero |= other.zero;
        self.strange |= other.strange;
        self.few.merge(&other.few);
    }
}

/// Of a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Unary {
    /// No sample had it.
    Unseen,
    Ints(Ints),
    Reals(Reals),
    Texts(Few<String>),
    /// How neighbours in a sequence compare, as [`crate::layout::seen`] has it.
    Order(u8),
    /// There is nothing to say of it alone.
    Silent,
}

impl Unary {
    /// Takes a cell; `text` gives its string if it stands for one. Whether that changes anything.
    #[inline]
    pub(crate) fn take<'a>(
        &mut self,
        kind: Kind,
        cell: i128,
        text: impl FnOnce() -> Option<&'a str>,
    ) -> bool {
        match self {
            Self::Ints(ints) => ints.take(cell),
            Self::Reals(reals) => reals.take(cell),
            Self::Texts(few) => add_text(few, text()),
            Self::Order(all) => {
                let more = *all | cell as u8;
                std::mem::replace(all, more) != more
            }
            Self::Silent => false,
            Self::Unseen => {
                *self = match kind {
                    Kind::Int | Kind::Flag | Kind::Enum | Kind::Pointer => Self::Ints(Ints::new(cell)),
                    Kind::Float => {
                        let mut reals = Reals::empty();
                        reals.take(cell);
                        Self::Reals(reals)
                    }
                    Kind::Text => {
                        let mut few = Few::default();
                        add_text(&mut few, text());
                        Self::Texts(few)
                    }
                    Kind::Order => Self::Order(cell as u8),
                    Kind::Sequence => Self::Silent,
                };
                true
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (_, Self::Unseen) => {}
            (Self::Unseen, _) => *self = other.clone(),
            (Self::Ints(a), Self::Ints(b)) => a.merge(b),
            (Self::Reals(a), Self::Reals(b)) => a.merge(b),
            (Self::Texts(a), Self::Texts(b)) => a.merge(b),
            (Self::Order(a), Self::Order(b)) => *a |= b,
            _ => {}
        }
    }

    pub(crate) fn ints(&self) -> Option<&Ints> {
        if let Self::Ints(ints) = self { Some(ints) } else { None }
    }

    /// Whether what was read from a file is possible for a slot of this kind.
    pub(crate) fn is_sound(&self, kind: Kind) -> bool {
        match self {
            Self::Unseen => true,
            Self::Ints(ints) => kind.is_number() && ints.min <= ints.max && ints.few.is_sound(),
            Self::Reals(reals) => kind == Kind::Float && reals.few.is_sound(),
            Self::Texts(few) => kind == Kind::Text && few.is_sound(),
            Self::Order(_) => kind == Kind::Order,
            Self::Silent => kind == Kind::Sequence,
        }
    }
}

fn add_text(few: &mut Few<String>, text: Option<&str>) -> bool {
    match text {
        Some(text) if text.len() <= MAX_TEXT => {
            // Looking first saves making a string for each sample.
            let new = few.get().is_some_and(|values| !values.iter().any(|known| known == text));
            new && few.add(&text.to_owned())
        }
        _ => {
            let new = few.get().is_some();
            few.overflow();
            new
        }
    }
}
