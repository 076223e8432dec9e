//! Arrays whose elements are variables of one value, taken together: a sequence, or a text.
//!
//! Nobody reads an array as a whole, so what it was is put together from what its elements were, each from the accesses to it. Where one of them is not
//! known, the array is not either; of a text only what comes before its end has to be.

use crate::location::Location;
use threadbare_invariants::{Element, Type, Value};

/// Longer arrays are no variables.
const LONGEST: u64 = 32;
/// Longer texts are none.
const LONGEST_TEXT: u64 = 64;
/// Shorter arrays are told by their elements, too.
pub(crate) const FEW: usize = 4;

/// An array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) name: String,
    /// The variables that are its elements, as far as an access has touched them.
    pub(crate) elements: Vec<Option<usize>>,
    pub(crate) text: bool,
}

impl Array {
    /// An array that an element of it was seen of; its name is that of the element without the index.
    pub(crate) fn new(element: &str, of: threadbare_symbols::Element) -> Option<Self> {
        let name = element.strip_suffix(&format!("[{}]", of.index))?;
        let longest = if of.text { LONGEST_TEXT } else { LONGEST };
        let elements = vec![None; usize::try_from(of.count).ok().filter(|_| of.count <= longest)?];
        (elements.len() > 1).then(|| Self { name: name.to_owned(), elements, text: of.text })
    }

    /// Whether enough is known of its elements for there to be values.
    pub(crate) fn is_whole(&self) -> bool {
        self.text && self.elements.iter().any(Option::is_some) || self.elements.iter().all(Option::is_some)
    }

    /// What it can be, if its elements are like this one.
    pub(crate) fn class(&self, element: &Location) -> Type {
        match element.class {
            _ if self.text => Type::Text,
            Type::Int { .. } => Type::Sequence(Element::Int),
            Type::Float => Type::Sequence(Element::Float),
            _ => Type::Sequence(Element::Other),
        }
    }

    /// What it was, from what its elements were.
    pub(crate) fn value(&self, element: &Location, raw: &[Option<u64>]) -> Value {
        if self.text {
            let mut bytes = Vec::new();
            for byte in raw {
                match byte {
                    None => return Value::Missing,
                    Some(0) => break,
                    Some(byte) => bytes.push(*byte as u8),
                }
            }
            return Value::text(&String::from_utf8_lossy(&bytes));
        }
        let Some(raw) = raw.iter().copied().collect::<Option<Vec<u64>>>() else { return Value::Missing };
        let values: Vec<Value> = raw.into_iter().map(|raw| element.value(raw)).collect();
        let ints = || values.iter().map(|value| if let Value::Int(it) = value { Some(*it) } else { None });
        let floats =
            || values.iter().map(|value| if let Value::Float(it) = value { Some(*it) } else { None });
        match ints().collect::<Option<Vec<i128>>>() {
            Some(ints) => Value::Ints(ints.into()),
            None => {
                floats().collect::<Option<Vec<f64>>>().map_or(Value::Missing, |it| Value::Floats(it.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Home;
    use threadbare_symbols::ScalarKind;

    fn array(text: bool, count: u64) -> Array {
        Array::new("::a[1]", threadbare_symbols::Element { index: 1, count, text }).expect("an array")
    }

    #[test]
    fn elements_make_a_sequence_or_a_text() {
        let of = |class, size| Location::new("::a[1]".to_owned(), class, size, Home::Fixed);
        let int = of(ScalarKind::Integer { signed: true }, 4);
        let numbers = array(false, 2);
        assert_eq!(numbers.name, "::a");
        assert_eq!(numbers.value(&int, &[Some(1), Some(0xffff_ffff)]), Value::Ints([1, -1].into()));
        assert_eq!(numbers.value(&int, &[Some(1), None]), Value::Missing);
        let byte = of(ScalarKind::Integer { signed: true }, 1);
        let text = array(true, 4);
        assert_eq!(text.value(&byte, &[Some(0x68), Some(0x69), Some(0), None]), Value::text("hi"));
        assert_eq!(text.value(&byte, &[Some(0x68), None, Some(0), None]), Value::Missing);
        let real = array(false, 2).value(&of(ScalarKind::Float, 8), &[Some(0), Some(1.5f64.to_bits())]);
        assert_eq!(real, Value::Floats([0.0, 1.5].into()));
    }

    #[test]
    fn long_arrays_are_none() {
        let element = threadbare_symbols::Element { index: 1, count: LONGEST + 1, text: false };
        assert!(Array::new("::a[1]", element).is_none());
        assert!(Array::new("::a", threadbare_symbols::Element { count: 2, ..element }).is_none());
    }
}
