//! Values of variables, with the shape their types give them.
//!
//! A location expression says where the bytes are ([`evaluate`]); the type says what they mean ([`read`]). Types of the
//! standard libraries are shown as what they stand for, not as what they are made of ([`library`]): a `String` is its
//! text, an `AtomicU64` its number. Damaged debug info, or a variable that the optimiser took apart, gives
//! [`Value::Unknown`] for the parts that are not there.

mod evaluate;
mod library;
mod machine;
mod read;
mod source;
mod unwind;

use std::fmt;

pub(crate) use evaluate::Evaluator;
pub use machine::{Machine, ReadMemory, Registers, ThreadLocals};
pub(crate) use read::{Reader, constant_number, is_char};
pub(crate) use source::Source;
pub(crate) use unwind::{FrameEntry, step};

/// Why there is no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoValue {
    /// The compiler did not keep it.
    Gone,
    /// The memory at this address cannot be read.
    Memory(u64),
    /// This register, by its DWARF number, is not known.
    Register(u16),
    /// What is known of the frame is not enough: its address, its caller, or the strand's thread-local storage.
    Frame,
    /// The debug info does not tell the type, or not in a way that is understood.
    Type,
    /// The location is not understood.
    Location,
    /// Deeper than the limits of the question.
    Deep,
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoValue::Gone => f.write_str("optimised out"),
            NoValue::Memory(address) => write!(f, "no memory at {address:#x}"),
            NoValue::Register(number) => write!(f, "register {number} is not known"),
            NoValue::Frame => f.write_str("the frame is not known"),
            NoValue::Type => f.write_str("the type is not known"),
            NoValue::Location => f.write_str("the place is not known"),
            NoValue::Deep => f.write_str("..."),
        }
    }
}

impl std::error::Error for NoValue {}

/// How much of a value is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Fields inside fields.
    pub depth: usize,
    /// Pointers followed, one behind the other.
    pub pointers: usize,
    /// Elements of each array.
    pub items: usize,
    /// Bytes of each text.
    pub text: usize,
    /// Values, all in all.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 6, pointers: 1, items: 16, text: 256, values: 4096 }
    }
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A character.
    Char(char),
    /// A text, as much of it as was read.
    Text {
        /// What was read.
        text: String,
        /// Whether there is more.
        cut: bool,
    },
    /// A pointer or reference.
    Pointer {
        /// Where it points.
        address: u64,
        /// What is there, if it was followed.
        target: Option<Box<Value>>,
    },
    /// A named constant of an enumeration without fields.
    Constant {
        /// Its name.
        name: String,
        /// Its number.
        number: i128,
    },
    /// A structure, a tuple, or a variant of a Rust enum.
    Record {
        /// The type or the variant; empty for a tuple and for a type without a name.
        name: String,
        /// The fields; those of tuples are named by numbers.
        fields: Vec<(String, Value)>,
    },
    /// An array, slice or vector.
    List {
        /// The first elements.
        items: Vec<Value>,
        /// How many there are.
        length: u64,
    },
    /// Not known.
    Unknown(NoValue),
}

impl Value {
    /// The number that a number, truth value, character, constant or pointer is.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Value::Integer(number) | Value::Constant { number, .. } => Some(*number),
            Value::Bool(value) => Some(i128::from(*value)),
            Value::Char(c) => Some(i128::from(u32::from(*c))),
            Value::Pointer { address, .. } => Some(i128::from(*address)),
            _ => None,
        }
    }

    /// The field of a record, or of the one a pointer leads to.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Record { fields, .. } => {
                fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
            }
            Value::Pointer { target: Some(target), .. } => target.field(name),
            _ => None,
        }
    }
}

impl From<Result<Value, NoValue>> for Value {
    fn from(result: Result<Value, NoValue>) -> Self {
        result.unwrap_or_else(Value::Unknown)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Char(c) => write!(f, "{c:?}"),
            Value::Text { text, cut } => write!(f, "{text:?}{}", if *cut { "..." } else { "" }),
            Value::Pointer { address: 0, .. } => f.write_str("null"),
            Value::Pointer { address, target: None } => write!(f, "{address:#x}"),
            Value::Pointer { address, target: Some(target) } => write!(f, "{address:#x} -> {target}"),
            Value::Constant { name, .. } => f.write_str(name),
            Value::Record { name, fields } => record(f, name, fields),
            Value::List { items, length } => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
                }
                match length.saturating_sub(items.len() as u64) {
                    0 => f.write_str("]"),
                    more if items.is_empty() => write!(f, "{more} elements]"),
                    more => write!(f, ", {more} more]"),
                }
            }
            Value::Unknown(NoValue::Deep) => f.write_str("..."),
            Value::Unknown(why) => write!(f, "<{why}>"),
        }
    }
}

fn record(f: &mut fmt::Formatter<'_>, name: &str, fields: &[(String, Value)]) -> fmt::Result {
    f.write_str(name)?;
    let numbered = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
    let tuple = !fields.is_empty() && fields.iter().all(|(field, _)| numbered(field));
    let (open, close) = match (tuple, fields.is_empty(), name.is_empty()) {
        (true, ..) => ("(", ")"),
        (false, true, false) => return Ok(()),
        (false, true, true) => ("{", "}"),
        (false, false, true) => ("{ ", " }"),
        (false, false, false) => (" { ", " }"),
    };
    f.write_str(open)?;
    for (at, (field, value)) in fields.iter().enumerate() {
        f.write_str(if at > 0 { ", " } else { "" })?;
        if tuple {
            write!(f, "{value}")?;
        } else {
            write!(f, "{field}: {value}")?;
        }
    }
    f.write_str(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_a_programmer_would() {
        let record = |name: &str, fields: &[(&str, Value)]| Value::Record {
            name: name.into(),
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        };
        let five = Value::Integer(5);
        for (value, shown) in [
            (five.clone(), "5"),
            (Value::Float(1.0), "1.0"),
            (Value::Char('\n'), "'\\n'"),
            (Value::Text { text: "a\"b".into(), cut: true }, "\"a\\\"b\"..."),
            (Value::Pointer { address: 0, target: None }, "null"),
            (Value::Pointer { address: 16, target: Some(Box::new(five.clone())) }, "0x10 -> 5"),
            (record("Account", &[("id", five.clone())]), "Account { id: 5 }"),
            (record("Some", &[("0", five.clone())]), "Some(5)"),
            (record("", &[("0", five.clone()), ("1", Value::Bool(true))]), "(5, true)"),
            (record("", &[("id", five.clone())]), "{ id: 5 }"),
            (record("None", &[]), "None"),
            (Value::List { items: vec![five.clone(), five.clone()], length: 9 }, "[5, 5, 7 more]"),
            (Value::List { items: vec![], length: 0 }, "[]"),
            (Value::List { items: vec![], length: 3 }, "[3 elements]"),
            (Value::Unknown(NoValue::Gone), "<optimised out>"),
        ] {
            assert_eq!(value.to_string(), shown);
        }
        assert_eq!(record("Account", &[("id", five.clone())]).field("id"), Some(&five));
    }
}
