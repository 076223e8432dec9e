//! The field at an offset of a heap block, which debug info does not know of.
//!
//! A block has a size and nothing else. Its type is found from the code that touches it: the program can only have
//! come to it through a pointer, so the types that the variables in scope can lead to are the candidates
//! ([`reach`]), together with every type of the block's size in the unit. Each is asked which field it has at the
//! offset. The source line then decides: an access to `balance` has the word `balance` on its line, so candidates
//! whose field is not named there are dropped. Only when all that are left agree there is an answer: a wrong name
//! would send the reader to the wrong place, no name leaves them with the address and the allocation.

mod reach;

use std::collections::BTreeSet;
use std::fmt;

use crate::image::{Arena, ImageData};
use crate::locals::Live;
use crate::scalar::{NoScalar, Scalar, ScalarKind, class_at};
use crate::units::{Die, Entry};
use crate::variable::{Library, library_kind, part_at, size_of, stripped};

/// A part of a heap block, named by the type of the object there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HeapField {
    /// The type of the object, without `struct` and the like: `bank::Account`.
    pub object: String,
    /// The part of it: `.balance`, `[3].lock`; empty if it is the whole.
    pub path: String,
    /// The type of the part.
    pub type_name: String,
    /// What the bytes that are touched mean, where that is beyond doubt.
    pub class: Result<ScalarKind, NoScalar>,
    /// The same, with which part of a library's type they are, where a reader knows it by a name (`.len`), and when they mean it.
    pub scalar: Option<Scalar>,
}

impl HeapField {
    fn without_index(&self) -> HeapField {
        let path = self.path.trim_start_matches(|c: char| matches!(c, '[' | ']') || c.is_ascii_digit());
        let scalar = self.scalar.clone().map(|scalar| {
            let rest = scalar.name.strip_prefix(&format!("{}{}", self.object, self.path)).map(str::to_owned);
            Scalar { name: format!("{}{path}{}", self.object, rest.unwrap_or_default()), ..scalar }
        });
        HeapField { path: path.to_owned(), scalar, ..self.clone() }
    }
}

impl fmt::Display for HeapField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.object, self.path)
    }
}

/// An access to a heap block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockAccess {
    /// Bytes asked for when the block was allocated.
    pub(crate) block: u64,
    /// How far the access is from the block's start.
    pub(crate) offset: u64,
    /// Bytes touched.
    pub(crate) size: u64,
}

/// A field that the access may be to.
pub(crate) struct Candidate {
    field: HeapField,
    /// A line that touches it names one of these.
    words: BTreeSet<String>,
    /// Whether variables in scope lead to it.
    reachable: bool,
}

/// All fields that an access at one of these linked addresses may be to.
pub(crate) fn candidates<'a>(
    image: &ImageData<'a>,
    arena: &'a Arena,
    addresses: &[u64],
    access: BlockAccess,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for address in addresses {
        let Some(live) = Live::at(image, arena, *address) else { continue };
        for pointee in reach::pointees(&live) {
            let names = pointee.names;
            found.extend(field_at(&pointee.ty, access, pointee.array).map(|(field, name)| Candidate {
                words: name.map_or(names, |name| [name].into()),
                field,
                reachable: true,
            }));
        }
        let unit = &live.function;
        for offset in unit.scan().types_of_size(access.block) {
            let field = field_at(&unit.at(offset), access, false);
            found.extend(field.and_then(|(field, name)| {
                Some(Candidate { field, words: [name?].into(), reachable: false })
            }));
        }
    }
    found
}

/// The field that the candidates agree on; `text` is the source of the access if it is there.
pub(crate) fn decide(candidates: Vec<Candidate>, text: Option<&str>) -> Option<HeapField> {
    let fits = |candidate: &Candidate| match text {
        Some(text) => candidate.words.iter().any(|word| has_word(text, word)),
        None => candidate.reachable,
    };
    let mut fields = candidates.into_iter().filter(fits).map(|candidate| candidate.field);
    let first = fields.next()?;
    let mut agreed = first;
    for mut field in fields {
        // Why it has no value makes no difference to its name.
        if field.class != agreed.class && field.class.is_err() && agreed.class.is_err() {
            (field.class, agreed.class) = (Err(NoScalar::Doubtful), Err(NoScalar::Doubtful));
        }
        if field != agreed {
            // The same field of one object or of an array of them: only which element it is stays open.
            agreed = agreed.without_index();
            if field.without_index() != agreed {
                return None;
            }
        }
    }
    Some(agreed)
}

fn has_word(text: &str, word: &str) -> bool {
    let part_of_name = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(part_of_name) && !text[at + word.len()..].starts_with(part_of_name)
    })
}

/// The field of an object of this type that fills the block, or of an array of them; and the field's own name.
fn field_at(ty: &Die<'_>, access: BlockAccess, array: bool) -> Option<(HeapField, Option<String>)> {
    let size = size_of(ty).filter(|size| *size > 0)?;
    let whole = access.block == size || (access.block > size && ends_open(ty));
    let (index, offset) = if whole {
        (None, access.offset)
    } else if array && access.block.is_multiple_of(size) && access.offset % size + access.size <= size {
        (Some(access.offset / size), access.offset % size)
    } else {
        return None;
    };
    let part = part_at(ty, offset, access.size);
    let index = index.map(|index| format!("[{index}]")).unwrap_or_default();
    let type_name = part.ty.type_name();
    let (object, path) = match &part.owner {
        Some((owner, begin)) => {
            let elements = part.path[..*begin].starts_with('[') && !part.path[..*begin].contains('.');
            let path = if elements { &part.path } else { &part.path[*begin..] };
            (object_name(owner)?, format!("{index}{path}"))
        }
        None => (library_object(ty, offset)?, format!("{index}{}", part.path)),
    };
    let scalar = class_at(ty, offset, access.size)
        .map(|leaf| Scalar { element: None, ..Scalar::new(format!("{object}{path}"), access.size, leaf) });
    let class = scalar.as_ref().map(|scalar| scalar.class.clone()).map_err(|why| *why);
    Some((HeapField { object, path, type_name, class, scalar: scalar.ok() }, part.field))
}

/// The name of a type, the same whether it was reached by its tag or by a `typedef`.
fn object_name(ty: &Die<'_>) -> Option<String> {
    let (die, entry) = stripped(ty)?;
    let named = if die.name(&entry).is_some() { die } else { ty.clone() };
    let name = named.type_name();
    let bare = ["struct ", "union ", "class "].iter().find_map(|word| name.strip_prefix(word));
    // Reserved names are the library's and the compiler's own.
    let bare = bare.unwrap_or(&name);
    let internal = bare.starts_with("__") || bare.starts_with("std::_") || bare.starts_with("(anonymous");
    (!internal).then(|| bare.to_owned())
}

/// What the standard library's own block around a value shows as: the value, where the access is to it.
fn library_object(ty: &Die<'_>, offset: u64) -> Option<String> {
    let (die, entry) = stripped(ty)?;
    let counted = die.name(&entry).is_some_and(|name| {
        ["ArcInner<", "RcInner<", "RcBox<"].iter().any(|n| name.starts_with(n.as_bytes()))
    });
    if !counted || !matches!(library_kind(&die, &entry), Library::Generic) {
        return object_name(ty);
    }
    let part = die.children().into_iter().find_map(|(die, child)| {
        let name = die.string(&child, gimli::DW_AT_name)?;
        let held = name.starts_with(b"data") || name.starts_with(b"value");
        (held && start_of(&child) <= offset).then(|| die.reference(&child, gimli::DW_AT_type))?
    })?;
    object_name(&part)
}

fn start_of(member: &Entry<'_>) -> u64 {
    member.attr(gimli::DW_AT_data_member_location).and_then(|at| at.udata_value()).unwrap_or(0)
}

/// Whether values of a type go on after its size: its last field is an array without a length.
fn ends_open(ty: &Die<'_>) -> bool {
    let Some((die, entry)) = stripped(ty) else { return false };
    if entry.tag() != gimli::DW_TAG_structure_type {
        return false;
    }
    let last = die.children().into_iter().rfind(|(_, child)| child.tag() == gimli::DW_TAG_member);
    last.is_some_and(|(die, child)| {
        die.reference(&child, gimli::DW_AT_type).and_then(|ty| stripped(&ty)).is_some_and(|(ty, entry)| {
            entry.tag() == gimli::DW_TAG_array_type && ty.array_lengths().first().is_none_or(Option::is_none)
        })
    })
}
