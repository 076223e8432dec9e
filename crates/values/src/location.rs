//! The places in memory that have a name and a type.

use threadbare_invariants::{Type, Value};
use threadbare_symbols::{Content, NoScalar, ScalarKind};

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// At one place as long as the program runs.
    Fixed,
    /// In heap blocks: one variable for all objects of their type.
    Heap,
    /// In frames of a function: one variable for all activations of it.
    Stack,
}

/// The number for the variant of an enum that has none of its own; no tag is as large.
const REST: i128 = 1 << 64;

/// A variable of one value. Fields of heap blocks are one variable for all objects of their type.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Its name, `::` in front of globals.
    pub name: String,
    /// What it can be.
    pub class: Type,
    /// Its bytes.
    pub size: u8,
    /// Where it is.
    pub home: Home,
    /// Whether the bytes of an integer or an enumeration can mean a number below zero.
    signed: bool,
    /// Of a Rust enum, the numbers that stand for a variant by themselves.
    tags: Option<Vec<u64>>,
    /// When it means anything: while the tag of the enum that it is in says so.
    pub(crate) content: Option<Content>,
}

impl Location {
    pub(crate) fn new(name: String, class: ScalarKind, size: u8, home: Home) -> Self {
        let mut tags = None;
        let (class, signed) = match class {
            ScalarKind::Variant { names, rest } => {
                tags = Some(names.iter().map(|(number, _)| *number).collect());
                let names = names.into_iter().map(|(number, name)| (number.into(), name));
                (Type::Enum { names: names.chain(rest.map(|name| (REST, name))).collect() }, false)
            }
            ScalarKind::Integer { signed } => (Type::Int { bits: size * 8, signed }, signed),
            ScalarKind::Bool => (Type::Bool, false),
            ScalarKind::Enumeration { names, signed } => (Type::Enum { names }, signed),
            ScalarKind::Float => (Type::Float, false),
            ScalarKind::Pointer => (Type::Pointer, false),
        };
        Self { name, class, size, home, signed, tags, content: None }
    }

    /// What its bytes mean.
    pub fn value(&self, raw: u64) -> Value {
        if let (Some(tags), Type::Enum { names }) = (&self.tags, &self.class) {
            let rest = names.iter().any(|(number, _)| *number == REST);
            return match tags.contains(&raw) {
                true => Value::Int(raw.into()),
                false if rest => Value::Int(REST),
                false => Value::Missing,
            };
        }
        match &self.class {
            Type::Float if self.size == 4 => Value::Float(f32::from_bits(raw as u32).into()),
            Type::Float => Value::Float(f64::from_bits(raw)),
            Type::Bool if raw > 1 => Value::Missing,
            _ if self.signed => {
                let unused = 64 - 8 * u32::from(self.size.clamp(1, 8));
                Value::Int((raw.cast_signed() << unused >> unused).into())
            }
            _ => Value::Int(raw.into()),
        }
    }
}

/// Of the places that strands share how many have values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Globals and statics, and those of them that are read.
    pub globals: (u64, u64),
    /// Places of heap blocks and frames, and those of them that are read.
    pub fields: (u64, u64),
}

impl Read {
    pub(crate) fn count(&mut self, fixed: bool, read: bool) {
        let counts = if fixed { &mut self.globals } else { &mut self.fields };
        counts.0 += 1;
        counts.1 += u64::from(read);
    }
}

/// Places that strands share and that have no value here, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// No variable has the address, and no field of a type is sure to: stacks, blocks of the heap.
    pub unnamed: u64,
    /// It is in doubt what the bytes mean: a union, a bit field, an access to a part of a number or to several.
    pub doubtful: u64,
    /// Variables beyond what a point can have.
    pub beyond: u64,
    /// Parameters that the compiler has left no place of.
    pub parameters: u64,
    /// Functions whose return value is in several parts, or cannot be worked out.
    pub returns: u64,
}

impl LeftOut {
    pub(crate) fn count(&mut self, why: NoScalar) {
        match why {
            NoScalar::NoVariable => self.unnamed += 1,
            NoScalar::Doubtful => self.doubtful += 1,
            NoScalar::Library | NoScalar::Padding => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_numbers_by_their_type() {
        let of = |class, size| Location::new("x".to_owned(), class, size, Home::Fixed);
        assert_eq!(of(ScalarKind::Integer { signed: true }, 2).value(0xffff), Value::Int(-1));
        assert_eq!(of(ScalarKind::Integer { signed: false }, 2).value(0xffff), Value::Int(0xffff));
        assert_eq!(of(ScalarKind::Integer { signed: true }, 8).value(u64::MAX), Value::Int(-1));
        assert_eq!(of(ScalarKind::Float, 4).value(0x3fc0_0000), Value::Float(1.5));
        assert_eq!(of(ScalarKind::Bool, 1).value(2), Value::Missing);
        assert_eq!(of(ScalarKind::Pointer, 8).value(0x7f00), Value::Int(0x7f00));
        let names = vec![(2, "None".to_owned())];
        let niche = of(ScalarKind::Variant { names: names.clone(), rest: Some("Some".to_owned()) }, 1);
        assert_eq!([2, 1, 0].map(|raw| niche.value(raw)), [2, REST, REST].map(Value::Int));
        let tag = of(ScalarKind::Variant { names, rest: None }, 1);
        assert_eq!([2, 7].map(|raw| tag.value(raw)), [Value::Int(2), Value::Missing]);
    }
}
