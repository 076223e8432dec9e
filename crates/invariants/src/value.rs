//! What a variable can be, and what it was.
//!
//! A [`Type`] is a class, not a type of some language: it says which statements make sense. A linear relation of an enum or
//! the remainder of an address is nonsense, however well it holds.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The class of a variable's type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    /// An integer of a width and a signedness.
    Int {
        /// Its width in bits, 1 to 128.
        bits: u8,
        /// Whether it can be below zero.
        signed: bool,
    },
    /// True (1) or false (0).
    Bool,
    /// One of some named values.
    Enum {
        /// Values and their names, as far as they are known.
        names: Vec<(i128, String)>,
    },
    /// A number with a point.
    Float,
    /// An address; 0 is null. Which object it points to is a variable of its own, of type [`Type::Text`].
    Pointer,
    /// A string.
    Text,
    /// A short array, slice or vector.
    Sequence(Element),
    /// Something that can only be compared with its like.
    Opaque,
}

/// What a sequence is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Element {
    /// Integers.
    Int,
    /// Floating point numbers.
    Float,
    /// What has no order and no sum: addresses, enums.
    Other,
}

impl Type {
    /// A signed integer of 32 bits.
    pub const I32: Self = Self::Int { bits: 32, signed: true };
    /// A signed integer of 64 bits.
    pub const I64: Self = Self::Int { bits: 64, signed: true };
    /// An unsigned integer of 64 bits.
    pub const U64: Self = Self::Int { bits: 64, signed: false };

    /// The least and the greatest value of an integer type.
    pub(crate) fn limits(&self) -> Option<(i128, i128)> {
        let &Self::Int { bits, signed } = self else { return None };
        let bits = u32::from(bits.clamp(1, 128));
        Some(match (signed, bits) {
            (true, 128) => (i128::MIN, i128::MAX),
            (true, _) => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            (false, 127..) => (0, i128::MAX),
            (false, _) => (0, (1_i128 << bits) - 1),
        })
    }
}

/// What a variable was in a sample.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// Not there, or not readable.
    #[default]
    Missing,
    /// An integer, a bool (0 or 1), an enum's number, an address.
    Int(i128),
    /// A floating point number.
    Float(f64),
    /// A string, or the name of something opaque.
    Text(Arc<str>),
    /// A sequence of integers.
    Ints(Arc<[i128]>),
    /// A sequence of floating point numbers.
    Floats(Arc<[f64]>),
}

impl Value {
    /// Whether a variable of this type can have this value. What does not fit is taken as missing.
    pub fn fits(&self, class: &Type) -> bool {
        match (self, class) {
            (Self::Missing, _) => true,
            (Self::Int(value), Type::Int { .. }) => {
                class.limits().is_some_and(|(least, greatest)| (least..=greatest).contains(value))
            }
            (Self::Int(value), Type::Bool) => matches!(value, 0 | 1),
            (Self::Int(_), Type::Enum { .. }) => true,
            (Self::Int(value), Type::Pointer) => *value >= 0,
            (Self::Float(_), Type::Float) => true,
            (Self::Text(_), Type::Text | Type::Opaque) => true,
            (Self::Ints(_), Type::Sequence(Element::Int | Element::Other)) => true,
            (Self::Floats(_), Type::Sequence(Element::Float)) => true,
            _ => false,
        }
    }

    /// A string's value.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// A value for a bool.
    pub fn bool(value: bool) -> Self {
        Self::Int(value.into())
    }
}
