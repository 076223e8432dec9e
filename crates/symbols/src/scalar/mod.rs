//! Variables of one value: what the bytes of an access mean, where that is beyond doubt.
//!
//! An inference that goes by values must not be given a wrong one. So the way from a variable to the part that an access touches is
//! narrower here than for a name: no union, no bit field, no part of a number, no inside of a lock; who is refused is left out.

mod variant;

use crate::symbols::Symbols;
use crate::units::{Die, Entry};
use crate::value::{constant_number, is_char};
use crate::variable::{Library, is_field, library_kind, member_start, root_type, size_of, stripped};

/// How deep types may nest.
const MAX_DEPTH: usize = 32;

/// What the bytes of a variable, or of a part of one, mean.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// An integer or a character.
    Integer {
        /// Whether it can be below zero.
        signed: bool,
    },
    /// True or false.
    Bool,
    /// One of some named numbers.
    Enumeration {
        /// The numbers and their names.
        names: Vec<(i128, String)>,
        /// Whether they can be below zero.
        signed: bool,
    },
    /// A number with a fraction.
    Float,
    /// An address.
    Pointer,
    /// Which variant a Rust enum is, by bytes that may be a part of one variant's fields.
    Variant {
        /// The numbers that stand for variants, with these.
        names: Vec<(u64, String)>,
        /// The variant that all other numbers stand for, if there is one.
        rest: Option<String>,
    },
}

/// What bytes of a type mean.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Leaf {
    pub(crate) class: Class,
    /// Which part of a library's type it is, where a reader knows it by a name: `.len`.
    pub(crate) part: &'static str,
    /// The array that it is an element of.
    pub(crate) element: Option<Element>,
}

/// An element of an array of such values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Element {
    /// Which one, from 0.
    pub index: u64,
    /// How many there are.
    pub count: u64,
    /// Whether they are C's characters.
    pub text: bool,
}

/// A variable of one value, or such a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// Its name with the way to the part.
    pub name: String,
    /// Its bytes, 1, 2, 4 or 8.
    pub size: u64,
    /// What they mean.
    pub class: Class,
    /// The array of one dimension that it is an element of; the name ends with its index then.
    pub element: Option<Element>,
}

/// Why an access touches no variable of one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoScalar {
    /// No variable has this address.
    NoVariable,
    /// The inside of a lock, or of something else of the library's.
    Library,
    /// A union, a bit field, a part of a number, a type that is not understood.
    Doubtful,
}

impl Symbols {
    /// The variable that an access of `size` bytes at an address reads or writes as a whole.
    ///
    /// # Errors
    /// If there is none, or it is in doubt what the bytes mean.
    pub fn scalar(&self, address: u64, size: u64) -> Result<Scalar, NoScalar> {
        let variable = self.variable_access(address, size).ok_or(NoScalar::NoVariable)?;
        let (index, _) = self.locate(address).ok_or(NoScalar::NoVariable)?;
        let leaf = self.with_linked(index, address, |image, arena, linked| {
            let (ty, offset) = root_type(image, arena, linked).ok_or(NoScalar::NoVariable)?;
            class_at(&ty, offset, size)
        });
        let leaf = leaf.ok_or(NoScalar::NoVariable)??;
        Ok(Scalar {
            name: format!("{variable}{}", leaf.part),
            size,
            class: leaf.class,
            element: leaf.element,
        })
    }
}

/// What `access` bytes at an offset of a type mean.
pub(crate) fn class_at(ty: &Die<'_>, mut offset: u64, access: u64) -> Result<Leaf, NoScalar> {
    let mut ty = ty.clone();
    let mut part = "";
    let mut element = None;
    for _ in 0..MAX_DEPTH {
        let (die, entry) = stripped(&ty).ok_or(NoScalar::Doubtful)?;
        ty = match entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                if let Some(class) = variant::class_at(&die, offset, access) {
                    return Ok(Leaf { class: class?, part, element: None });
                }
                let library = !matches!(library_kind(&die, &entry), Library::No);
                // What the library wraps is an element as it is; a field of the program's own type is none.
                element = element.filter(|_| library);
                let (name, start, member) = member(&die, offset, access)?;
                if library {
                    let carried = carries(&die, &entry, name.as_deref()).ok_or(NoScalar::Library)?;
                    part = if carried.is_empty() { part } else { carried };
                }
                offset -= start;
                member
            }
            gimli::DW_TAG_array_type => {
                let of = die.reference(&entry, gimli::DW_AT_type).ok_or(NoScalar::Doubtful)?;
                let size = size_of(&of).filter(|size| *size > 0).ok_or(NoScalar::Doubtful)?;
                let text = stripped(&of).is_some_and(|(die, entry)| is_char(&die, &entry));
                element = match die.array_lengths()[..] {
                    [Some(count)] => Some(Element { index: offset / size, count, text }),
                    _ => None,
                };
                offset %= size;
                of
            }
            gimli::DW_TAG_base_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type => {
                let whole = offset == 0 && size_of(&die) == Some(access) && matches!(access, 1 | 2 | 4 | 8);
                let class = if whole { class_of(&die, &entry) } else { Err(NoScalar::Doubtful) };
                return Ok(Leaf { class: class?, part, element });
            }
            _ => return Err(NoScalar::Doubtful),
        };
    }
    Err(NoScalar::Doubtful)
}

/// What a member of a library's type is for a reader: the only one it has, or the one among others that carries what the user put in, has
/// no name of its own; how many there are in it has one. All else is the library's own business.
fn carries<'a>(die: &Die<'a>, entry: &Entry<'a>, member: Option<&str>) -> Option<&'static str> {
    let name = die.name(entry).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let carried: &[(&str, &str)] = match name.split('<').next().unwrap_or_default() {
        "Mutex" | "RwLock" | "ReentrantLock" | "ArcInner" => &[("data", "")],
        "OnceLock" | "RefCell" | "RcInner" | "RcBox" => &[("value", "")],
        "Vec" | "VecDeque" => &[("len", ".len")],
        "BTreeMap" => &[("length", ".len")],
        "pair" => &[("first", ""), ("second", "")],
        "basic_string" => &[("_M_string_length", ".size")],
        "_List_node_header" => &[("_M_size", ".size")],
        "_Rb_tree_header" => &[("_M_node_count", ".size")],
        "_Hashtable" => &[("_M_element_count", ".size")],
        "_Optional_payload_base" => &[("_M_engaged", ".has_value")],
        "__shared_ptr" | "shared_ptr" => &[("_M_ptr", "")],
        "mutex" | "recursive_mutex" | "shared_mutex" | "condition_variable" | "once_flag" | "Once"
        | "Condvar" => &[],
        // Their bases and parts, which hold more than what is told.
        "_Rb_tree_impl" | "_List_impl" => return Some(""),
        _ => return (full_fields(die, MAX_DEPTH) == 1).then_some(""),
    };
    match member {
        Some(member) => carried.iter().find(|(name, _)| *name == member).map(|(_, part)| *part),
        // A base class.
        None => Some(""),
    }
}

/// How many members a type has that hold something.
fn full_fields<'a>(die: &Die<'a>, depth: usize) -> usize {
    let holds = |(child, entry): &(Die<'a>, Entry<'a>)| {
        let ty = child.reference(entry, gimli::DW_AT_type).and_then(|ty| stripped(&ty));
        is_field(entry)
            && ty.is_some_and(|(ty, entry)| match entry.tag() {
                // An empty class has a byte, unless another one lies on it.
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                    size_of(&ty) != Some(0) && depth > 0 && full_fields(&ty, depth - 1) > 0
                }
                _ => size_of(&ty) != Some(0),
            })
    };
    let children = die.children();
    let variants = children.iter().filter(|(_, child)| child.tag() == gimli::DW_TAG_variant_part);
    variants.count() + children.iter().filter(|child| holds(child)).count()
}

/// The member that holds the access whole.
fn member<'a>(ty: &Die<'a>, offset: u64, access: u64) -> Result<(Option<String>, u64, Die<'a>), NoScalar> {
    for (die, child) in ty.children() {
        if !is_field(&child) {
            continue;
        }
        let Some((start, bits)) = member_start(&die, &child) else { continue };
        let Some(member) = die.reference(&child, gimli::DW_AT_type) else { continue };
        let Some(within) = offset.checked_sub(start) else { continue };
        let size = bits.or_else(|| size_of(&member)).unwrap_or(0);
        if within >= size || access > size - within {
            continue;
        }
        if bits.is_some() || child.has_attr(gimli::DW_AT_bit_size) {
            return Err(NoScalar::Doubtful);
        }
        let name = die.string(&child, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned());
        return Ok((name, start, member));
    }
    Err(NoScalar::Doubtful)
}

pub(crate) fn class_of<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Result<Class, NoScalar> {
    let signed = |encoding| matches!(encoding, gimli::DW_ATE_signed | gimli::DW_ATE_signed_char);
    let encoding = |entry: &Entry<'a>| match entry.attr_value(gimli::DW_AT_encoding) {
        Some(gimli::AttributeValue::Encoding(encoding)) => Some(encoding),
        _ => None,
    };
    match entry.tag() {
        gimli::DW_TAG_enumeration_type => {
            let names: Vec<(i128, String)> = die
                .children()
                .iter()
                .filter_map(|(constant, child)| {
                    let number = child.attr(gimli::DW_AT_const_value).and_then(constant_number)?;
                    Some((number, constant.name(child)?.to_string_lossy().into_owned()))
                })
                .collect();
            let underlying = die.reference(entry, gimli::DW_AT_type).and_then(|ty| stripped(&ty));
            let below = names.iter().any(|(number, _)| *number < 0);
            let signed = underlying.and_then(|(_, entry)| encoding(&entry)).map_or(below, signed);
            Ok(Class::Enumeration { names, signed })
        }
        gimli::DW_TAG_base_type => match encoding(entry).ok_or(NoScalar::Doubtful)? {
            gimli::DW_ATE_boolean => Ok(Class::Bool),
            gimli::DW_ATE_float => Ok(Class::Float),
            gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => {
                Ok(Class::Integer { signed: false })
            }
            encoding if signed(encoding) => Ok(Class::Integer { signed: true }),
            _ => Err(NoScalar::Doubtful),
        },
        _ => Ok(Class::Pointer),
    }
}
