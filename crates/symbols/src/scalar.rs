//! Variables of one value: what the bytes of an access mean, where that is beyond doubt.
//!
//! An inference that goes by values must not be given a wrong one. So the way from a variable to the part that an access touches is
//! narrower here than for a name: no union, no bit field, no part of a number, no inside of a lock; who is refused is left out.

use crate::symbols::Symbols;
use crate::units::{Die, Entry};
use crate::value::constant_number;
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
        let class = self.with_linked(index, address, |image, arena, linked| {
            let (ty, offset) = root_type(image, arena, linked).ok_or(NoScalar::NoVariable)?;
            class_at(&ty, offset, size)
        });
        let class = class.ok_or(NoScalar::NoVariable)??;
        Ok(Scalar { name: variable.to_string(), size, class })
    }
}

/// What `access` bytes at an offset of a type mean.
pub(crate) fn class_at(ty: &Die<'_>, mut offset: u64, access: u64) -> Result<Class, NoScalar> {
    let mut ty = ty.clone();
    for _ in 0..MAX_DEPTH {
        let (die, entry) = stripped(&ty).ok_or(NoScalar::Doubtful)?;
        ty = match entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                let library = !matches!(library_kind(&die, &entry), Library::No);
                let (name, start, member) = member(&die, offset, access)?;
                if library && !carries(&die, &entry, name.as_deref()) {
                    return Err(NoScalar::Library);
                }
                offset -= start;
                member
            }
            gimli::DW_TAG_array_type => {
                let element = die.reference(&entry, gimli::DW_AT_type).ok_or(NoScalar::Doubtful)?;
                let size = size_of(&element).filter(|size| *size > 0).ok_or(NoScalar::Doubtful)?;
                offset %= size;
                element
            }
            gimli::DW_TAG_base_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type => {
                let whole = offset == 0 && size_of(&die) == Some(access) && matches!(access, 1 | 2 | 4 | 8);
                return if whole { class_of(&die, &entry) } else { Err(NoScalar::Doubtful) };
            }
            _ => return Err(NoScalar::Doubtful),
        };
    }
    Err(NoScalar::Doubtful)
}

/// Whether a member of a library's type is what the type is there for: the only one it has, or the one among others that carries what
/// the user put in. All else is the library's own business, and has no name of its own.
fn carries<'a>(die: &Die<'a>, entry: &Entry<'a>, member: Option<&str>) -> bool {
    let name = die.name(entry).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let carried = match name.split('<').next().unwrap_or_default() {
        "Mutex" | "RwLock" | "ReentrantLock" | "ArcInner" => &["data"][..],
        "OnceLock" | "RefCell" | "RcInner" | "RcBox" => &["value"],
        "pair" => &["first", "second"],
        "mutex" | "recursive_mutex" | "shared_mutex" | "condition_variable" | "once_flag" | "Once"
        | "Condvar" => &[],
        _ => return full_fields(die, MAX_DEPTH) == 1,
    };
    member.is_some_and(|member| carried.contains(&member))
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
    die.children().iter().filter(|child| holds(child)).count()
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

fn class_of<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Result<Class, NoScalar> {
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
