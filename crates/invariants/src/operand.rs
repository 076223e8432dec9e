//! What a statement can speak of: a variable or a part of it, now or at the entry.

use serde::{Deserialize, Serialize};

/// What of a variable is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// Its value.
    Whole,
    /// The length of a sequence.
    Size,
    /// The least element of a sequence.
    Min,
    /// The greatest element of a sequence.
    Max,
    /// The sum of a sequence's elements.
    Sum,
    /// How neighbours in a sequence compare.
    Order,
}

impl Part {
    /// The word for it in text.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Self::Whole | Self::Order => None,
            Self::Size => Some("size"),
            Self::Min => Some("min"),
            Self::Max => Some("max"),
            Self::Sum => Some("sum"),
        }
    }
}

/// A variable or a part of it, now or at the entry. Their order is that of reading: what is now comes before what was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Operand {
    /// Whether the value at the entry is meant.
    pub orig: bool,
    /// The variable.
    pub name: String,
    /// What of it.
    pub part: Part,
}

impl Operand {
    /// A variable, now.
    pub fn now(name: impl Into<String>) -> Self {
        Self { orig: false, name: name.into(), part: Part::Whole }
    }

    /// A variable, at the entry.
    pub fn orig(name: impl Into<String>) -> Self {
        Self { orig: true, ..Self::now(name) }
    }

    /// A part of the same variable.
    pub fn part(self, part: Part) -> Self {
        Self { part, ..self }
    }
}
