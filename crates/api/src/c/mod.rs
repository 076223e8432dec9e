//! A C header's API, and tests over it.

mod emit;
mod generate;
mod lex;
mod read;

pub use emit::{harness, plain};
pub use generate::{Limits, generate};
pub use read::read;

use std::collections::{BTreeMap, BTreeSet};

/// A type of C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CTy {
    /// `void`.
    Void,
    /// `_Bool`.
    Bool,
    /// `char`.
    Char,
    /// An integer, as it is written.
    Int(String),
    /// A float.
    Float,
    /// An enum, with its constants.
    Enum(Vec<String>),
    /// A struct or union: its tag, or the name of its typedef; and how it is written.
    Struct(String, String),
    /// A pointer.
    Pointer(Box<CTy>),
    /// Something that is not written.
    Const(Box<CTy>),
    /// A function behind a pointer.
    Function,
    /// Another one.
    Other(String),
}

/// A function of the header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Names and types of its parameters.
    pub params: Vec<(String, CTy)>,
    /// What it gives.
    pub gives: CTy,
}

/// What a header declares.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Api {
    /// Structs whose fields are known.
    pub complete: BTreeSet<String>,
    /// Constants of enums, by tag.
    pub enums: BTreeMap<String, Vec<String>>,
    /// Functions.
    pub functions: Vec<Function>,
}

impl CTy {
    /// Without `const`.
    pub fn bare(&self) -> &CTy {
        match self {
            CTy::Const(inner) => inner.bare(),
            other => other,
        }
    }

    /// The struct that it points to.
    pub fn object(&self) -> Option<(&str, &str)> {
        match self.bare() {
            CTy::Pointer(to) => match to.bare() {
                CTy::Struct(name, written) => Some((name, written)),
                _ => None,
            },
            _ => None,
        }
    }
}
