//! Variables of one value: what the bytes of an access mean, where that is beyond doubt.
//!
//! An inference that goes by values must not be given a wrong one. So the way from a variable to the part that an access touches is
//! narrower here than for a name: no union, no bit field, no part of a number, no inside of a lock; who is refused is left out.

mod local;
mod variant;

pub use local::{LocalPlace, LocalScalar, ReturnScalar};

use crate::symbols::Symbols;
use crate::units::{Die, Entry};
use crate::value::{constant_number, is_char};
use crate::variable::{
    Library, is_field, is_slice, library_kind, member_start, root_type, size_of, stripped,
};

/// How deep types may nest.
const MAX_DEPTH: usize = 32;

/// What the bytes of a variable, or of a part of one, mean.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ScalarKind {
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
    pub(crate) class: ScalarKind,
    /// Which part of a library's type it is, where a reader knows it by a name: `.len`.
    pub(crate) part: &'static str,
    /// The array that it is an element of.
    pub(crate) element: Option<Element>,
    /// What it is of a sequence on the heap.
    pub(crate) sequence: Option<Sequence>,
    /// The variant whose field it is.
    pub(crate) content: Option<Content>,
}

impl Leaf {
    fn plain(class: ScalarKind, part: &'static str) -> Self {
        Self { class, part, element: None, sequence: None, content: None }
    }
}

/// What a library's type keeps of a sequence on the heap: where it begins, where it ends or how many there are (`.begin`, `.end`, `.len`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Sequence {
    /// Bytes of an element.
    pub size: u8,
    /// What they mean.
    pub class: ScalarKind,
    /// The variant that the sequence is in, where what says so is where it begins: null is the other variant.
    pub within: Option<String>,
}

/// A field of one variant of an enum, or what an optional value holds: it means something only while another part says so.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Content {
    /// The variant.
    pub variant: String,
    /// How far behind the tag the field is.
    pub behind: i64,
    /// The tag's numbers that stand for the variant; of all others, if `rest`.
    pub numbers: Vec<u64>,
    /// Whether the numbers stand for all other variants.
    pub rest: bool,
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
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Scalar {
    /// Its name with the way to the part.
    pub name: String,
    /// Its bytes, 1, 2, 4 or 8.
    pub size: u64,
    /// What they mean.
    pub class: ScalarKind,
    /// The array of one dimension that it is an element of; the name ends with its index then.
    pub element: Option<Element>,
    /// What it is of a sequence on the heap; the name ends with the part then.
    pub sequence: Option<Sequence>,
    /// The variant whose field it is; the name has it then.
    pub content: Option<Content>,
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
    /// Bytes between fields, which mean nothing.
    Padding,
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
        Ok(Scalar::new(variable.to_string(), size, leaf))
    }
}

impl Scalar {
    pub(crate) fn new(mut name: String, size: u64, leaf: Leaf) -> Self {
        if let Some(content) = &leaf.content
            && !name.contains(&format!(".{}", content.variant))
        {
            name = format!("{name}.{}", content.variant);
        }
        name.push_str(leaf.part);
        let Leaf { class, element, sequence, content, .. } = leaf;
        Self { name, size, class, element, sequence, content }
    }
}

/// What `access` bytes at an offset of a type mean.
pub(crate) fn class_at(ty: &Die<'_>, offset: u64, access: u64) -> Result<Leaf, NoScalar> {
    class_within(ty, offset, access, MAX_DEPTH)
}

fn class_within(ty: &Die<'_>, mut offset: u64, access: u64, depth: usize) -> Result<Leaf, NoScalar> {
    let mut ty = ty.clone();
    let mut sequence = None;
    // Of an optional value of C++'s: how far it is from here to whether it is there.
    let mut engaged = None;
    let mut part = "";
    let mut element = None;
    for _ in 0..depth {
        let (die, entry) = stripped(&ty).ok_or(NoScalar::Doubtful)?;
        ty = match entry.tag() {
            gimli::DW_TAG_union_type if engaged.is_some() => {
                let value = die.children().into_iter().find(|(member, child)| {
                    member.name(child).is_some_and(|name| &*name.to_string_lossy() == "_M_value")
                });
                let (member, child) = value.ok_or(NoScalar::Doubtful)?;
                let held = member.reference(&child, gimli::DW_AT_type).ok_or(NoScalar::Doubtful)?;
                let leaf = class_within(&held, offset, access, depth / 2)?;
                let far = i64::try_from(engaged.unwrap_or(0)).map_err(|_| NoScalar::Doubtful)?;
                let behind = i64::try_from(offset).map_err(|_| NoScalar::Doubtful)? - far;
                let variant = "value".to_owned();
                let content = Content { variant, behind, numbers: vec![1], rest: false };
                // What is optional within it has a condition of its own.
                return match leaf.content {
                    None if leaf.sequence.is_none() => Ok(Leaf { content: Some(content), ..leaf }),
                    _ => Err(NoScalar::Doubtful),
                };
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                if let Some(leaf) = variant::class_at(&die, offset, access, depth / 2) {
                    let leaf = leaf?;
                    let part = if leaf.part.is_empty() { part } else { leaf.part };
                    return Ok(Leaf { part, ..leaf });
                }
                sequence = elements(&die, &entry).or(sequence);
                let slice = is_slice(&die, &entry);
                let library = slice || !matches!(library_kind(&die, &entry), Library::No);
                // What the library wraps is an element as it is; a field of the program's own type is none.
                element = element.filter(|_| library);
                let (name, start, member) = member(&die, offset, access)?;
                if library {
                    let carried = carries(&die, &entry, name.as_deref()).ok_or(NoScalar::Library)?;
                    part = if carried.is_empty() { part } else { carried };
                }
                offset -= start;
                engaged = engaged_from(&die, start).or(engaged.map(|far: u64| far.wrapping_sub(start)));
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
                let of = matches!(part, BEGIN | END | LEN);
                return Ok(Leaf { element, sequence: sequence.filter(|_| of), ..Leaf::plain(class?, part) });
            }
            _ => return Err(NoScalar::Doubtful),
        };
    }
    Err(NoScalar::Doubtful)
}

const BEGIN: &str = ".begin";
const END: &str = ".end";
const LEN: &str = ".len";

/// The elements of a vector or of a slice that is such a type, if they are of one value.
fn elements<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Option<Sequence> {
    let name = die.name(entry)?.to_string_lossy().into_owned();
    let of = if is_slice(die, entry) {
        slice_element(die)?
    } else if matches!(name.split('<').next(), Some("Vec" | "vector"))
        && !matches!(library_kind(die, entry), Library::No)
    {
        die.type_parameter()?
    } else {
        return None;
    };
    let size = size_of(&of).filter(|size| matches!(size, 1 | 2 | 4 | 8))?;
    let (die, entry) = stripped(&of)?;
    let class = class_of(&die, &entry).ok()?;
    Some(Sequence { size: size as u8, class, within: None })
}

fn slice_element<'a>(die: &Die<'a>) -> Option<Die<'a>> {
    let (member, child) = die.children().into_iter().find(|(member, child)| {
        member.name(child).is_some_and(|name| &*name.to_string_lossy() == "data_ptr")
    })?;
    let (pointer, entry) = stripped(&member.reference(&child, gimli::DW_AT_type)?)?;
    pointer.reference(&entry, gimli::DW_AT_type)
}

/// In what holds an optional value of C++'s: how far it is from a member to whether the value is there.
fn engaged_from(die: &Die<'_>, start: u64) -> Option<u64> {
    let flag = die.children().into_iter().find_map(|(member, child)| {
        let name = member.name(&child)?;
        (&*name.to_string_lossy() == "_M_engaged").then(|| member_start(&member, &child))?
    })?;
    Some(flag.0.wrapping_sub(start))
}

/// What a member of a library's type is for a reader: the only one it has, or the one among others that carries what the user put in, has
/// no name of its own; how many there are in it has one. All else is the library's own business.
fn carries<'a>(die: &Die<'a>, entry: &Entry<'a>, member: Option<&str>) -> Option<&'static str> {
    let name = die.name(entry).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let carried: &[(&str, &str)] = match name.split('<').next().unwrap_or_default() {
        _ if is_slice(die, entry) => &[("data_ptr", BEGIN), ("length", LEN)],
        "Mutex" | "RwLock" | "ReentrantLock" | "ArcInner" => &[("data", "")],
        "OnceLock" | "RefCell" | "RcInner" | "RcBox" => &[("value", "")],
        "Vec" => &[("len", LEN), ("buf", "")],
        "RawVec" => &[("inner", "")],
        "RawVecInner" => &[("ptr", BEGIN)],
        "_Vector_impl_data" => &[("_M_start", BEGIN), ("_M_finish", END)],
        "_Vector_base" | "_Vector_impl" => return Some(""),
        "VecDeque" => &[("len", LEN)],
        "BTreeMap" => &[("length", ".len")],
        "pair" => &[("first", ""), ("second", "")],
        "basic_string" => &[("_M_string_length", ".size")],
        "_List_node_header" => &[("_M_size", ".size")],
        "_Rb_tree_header" => &[("_M_node_count", ".size")],
        "_Hashtable" => &[("_M_element_count", ".size")],
        "_Optional_payload_base" => &[("_M_engaged", ".has_value"), ("_M_payload", "")],
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
    let mut touched = false;
    for (die, child) in ty.children() {
        if !is_field(&child) {
            continue;
        }
        let (Some((start, bits)), Some(member)) =
            (member_start(&die, &child), die.reference(&child, gimli::DW_AT_type))
        else {
            touched = true;
            continue;
        };
        touched |= bits.is_some() || child.has_attr(gimli::DW_AT_bit_size);
        let size = bits.or_else(|| size_of(&member)).unwrap_or(0);
        let known = size > 0 || size_of(&member) == Some(0);
        touched |= !known || start < offset.saturating_add(access) && offset < start.saturating_add(size);
        let Some(within) = offset.checked_sub(start) else { continue };
        if within >= size || access > size - within {
            continue;
        }
        if bits.is_some() || child.has_attr(gimli::DW_AT_bit_size) {
            return Err(NoScalar::Doubtful);
        }
        let name = die.string(&child, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned());
        return Ok((name, start, member));
    }
    Err(if touched { NoScalar::Doubtful } else { NoScalar::Padding })
}

pub(crate) fn class_of<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Result<ScalarKind, NoScalar> {
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
            Ok(ScalarKind::Enumeration { names, signed })
        }
        gimli::DW_TAG_base_type => match encoding(entry).ok_or(NoScalar::Doubtful)? {
            gimli::DW_ATE_boolean => Ok(ScalarKind::Bool),
            gimli::DW_ATE_float => Ok(ScalarKind::Float),
            gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => {
                Ok(ScalarKind::Integer { signed: false })
            }
            encoding if signed(encoding) => Ok(ScalarKind::Integer { signed: true }),
            _ => Err(NoScalar::Doubtful),
        },
        _ => Ok(ScalarKind::Pointer),
    }
}
