//! Sequences on the heap: what a `Vec` or a `std::vector` holds.
//!
//! Their own type says where they begin and where they end, or how many there are. The elements are what the accesses to these addresses found and left; of a
//! sequence all of them have to be known.

use crate::location::{Home, Location};
use threadbare_invariants::{Element, Type, Value};

/// Longer ones are told by how many there are.
pub(crate) const LONGEST: usize = 16;

/// A sequence.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) name: String,
    /// Stands for all elements.
    pub(crate) element: Location,
    /// The variables that say where it is, as far as an access has touched them.
    begin: Option<usize>,
    end: Option<usize>,
    len: Option<usize>,
    /// Where it begins is a variable for readers, too: null says that it is not there.
    optional: bool,
}

/// What is told of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// How many there are.
    Size,
    /// All of them.
    All,
}

impl Sequence {
    pub(crate) fn new(name: &str, of: &threadbare_symbols::Sequence, home: Home) -> Self {
        let element = Location::new(name.to_owned(), of.class.clone(), of.size, home);
        Self { name: name.to_owned(), element, begin: None, end: None, len: None, optional: false }
    }

    /// One of the variables that say where it is.
    pub(crate) fn put(&mut self, part: &str, variable: usize) {
        match part {
            "begin" => self.begin = Some(variable),
            "tag" => (self.begin, self.optional) = (Some(variable), true),
            "end" => self.end = Some(variable),
            "len" => self.len = Some(variable),
            _ => {}
        }
    }

    /// The variables that it is found by: where it begins, and where it ends or how many there are.
    pub(crate) fn borders(&self) -> Option<[usize; 2]> {
        Some([self.begin?, self.end.or(self.len)?])
    }

    /// The variable that says where it begins.
    pub(crate) fn begin(&self) -> Option<usize> {
        self.begin
    }

    /// All variables that say where it is.
    pub(crate) fn parts(&self) -> impl Iterator<Item = usize> {
        self.begin.into_iter().chain(self.end).chain(self.len)
    }

    /// Variables that are no business of a reader's.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = usize> {
        self.begin.filter(|_| !self.optional).into_iter().chain(self.end)
    }

    /// Whether it is known by where it ends.
    pub(crate) fn has_end(&self) -> bool {
        self.end.is_some()
    }

    /// Whether how many there are is a variable by itself.
    pub(crate) fn has_len(&self) -> bool {
        self.len.is_some()
    }

    /// How many there are.
    pub(crate) fn count(&self, begin: u64, border: u64) -> Option<u64> {
        if self.end.is_none() {
            return Some(border);
        }
        let bytes = border.checked_sub(begin)?;
        let size = u64::from(self.element.size);
        bytes.is_multiple_of(size).then_some(bytes / size)
    }

    pub(crate) fn class(&self, told: Told) -> Type {
        match (told, &self.element.class) {
            (Told::Size, _) => Type::Int { bits: 64, signed: false },
            (_, Type::Int { .. }) => Type::Sequence(Element::Int),
            (_, Type::Float) => Type::Sequence(Element::Float),
            _ => Type::Sequence(Element::Other),
        }
    }

    /// What it was: where it begins, its other border, and the elements.
    pub(crate) fn value(&self, told: Told, raw: &[Option<u64>]) -> Value {
        let [Some(begin), Some(border), elements @ ..] = raw else { return Value::Missing };
        let Some(count) = self.count(*begin, *border) else { return Value::Missing };
        if told == Told::Size {
            return Value::Int(count.into());
        }
        let Some(elements) = usize::try_from(count).ok().and_then(|count| elements.get(..count)) else {
            return Value::Missing;
        };
        let values: Option<Vec<Value>> =
            elements.iter().map(|raw| raw.map(|raw| self.element.value(raw))).collect();
        let Some(values) = values else { return Value::Missing };
        let ints = values.iter().map(|value| if let Value::Int(it) = value { Some(*it) } else { None });
        if let Some(ints) = ints.collect::<Option<Vec<i128>>>() {
            return Value::Ints(ints.into());
        }
        let floats = values.iter().map(|value| if let Value::Float(it) = value { Some(*it) } else { None });
        floats.collect::<Option<Vec<f64>>>().map_or(Value::Missing, |floats| Value::Floats(floats.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_symbols::ScalarKind;

    fn sequence(border: &str) -> Sequence {
        let of = threadbare_symbols::Sequence {
            size: 4,
            class: ScalarKind::Integer { signed: true },
            within: None,
        };
        let mut sequence = Sequence::new("::v", &of, Home::Fixed);
        sequence.put("begin", 0);
        sequence.put(border, 1);
        sequence
    }

    #[test]
    fn a_sequence_is_what_lies_between_its_borders() {
        let raw = [Some(0x1000), Some(0x1008), Some(7), Some(0xffff_ffff), None];
        let vector = sequence("end");
        assert_eq!(vector.value(Told::All, &raw), Value::Ints([7, -1].into()));
        assert_eq!(vector.value(Told::Size, &raw[..2]), Value::Int(2));
        assert_eq!(
            vector.value(Told::All, &[Some(0x1000), Some(0x1006)]),
            Value::Missing,
            "a border between elements"
        );
        assert_eq!(vector.value(Told::Size, &[Some(0x1000), Some(0xff0)]), Value::Missing);
        let counted = sequence("len");
        assert_eq!(
            counted.value(Told::All, &[Some(0x1000), Some(1), Some(7), None]),
            Value::Ints([7].into())
        );
        assert_eq!(counted.value(Told::All, &[Some(0x1000), Some(2), Some(7), None]), Value::Missing);
        assert_eq!(counted.value(Told::All, &[Some(0x1000), Some(99), Some(7)]), Value::Missing, "too long");
    }
}
