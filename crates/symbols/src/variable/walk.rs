//! Down a type to the part at an offset.
//!
//! A reader knows the fields of their own types, not those of the standard library's: the members of library types are
//! passed through in silence, so an `std::sync::Mutex<Account>` shows as `ACCOUNTS.balance` and an
//! `std::array<int, 4>` as `arr[2]`, and names that C reserves (`__data.__lock` of a pthread mutex) end the way down.

use gimli::{AttributeValue, Operation};

use crate::units::{Die, Entry};

/// How deep types may nest.
const MAX_DEPTH: usize = 32;

/// A part of a variable.
pub(super) struct Part<'a> {
    /// `.balance`, `[3].lock`, or empty.
    pub(super) path: String,
    /// Its type.
    pub(super) ty: Die<'a>,
}

/// The smallest part a reader would name that holds `access` bytes at `offset`.
pub(super) fn part_at<'a>(ty: &Die<'a>, mut offset: u64, access: u64) -> Part<'a> {
    let access = access.max(1);
    let mut shown = Part { path: String::new(), ty: ty.clone() };
    // The way so far; `shown` stays behind while it leads through a library type.
    let mut path = String::new();
    let mut silent = false;
    let mut current = ty.clone();
    for _ in 0..MAX_DEPTH {
        let Some((die, entry)) = stripped(&current) else { break };
        match entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                match library_kind(&die, &entry) {
                    Library::No => {
                        silent = false;
                        shown = Part { path: path.clone(), ty: current.clone() };
                    }
                    // Its inside is the library's own.
                    Library::Closed => {
                        if !silent {
                            shown = Part { path, ty: current };
                        }
                        break;
                    }
                    Library::Generic => {
                        if !silent {
                            shown = Part { path: path.clone(), ty: current.clone() };
                        }
                        silent = true;
                    }
                }
                let Some(member) = member_at(&die, &entry, offset, access) else { break };
                let mut named = false;
                if let Some(name) = &member.name {
                    let rust = die.is_rust();
                    if !silent && !rust && name.starts_with("__") {
                        break;
                    }
                    // The members of a pair are the only ones of the library that a reader names.
                    named = matches!(name.as_str(), "first" | "second");
                    if !silent || named {
                        path.push('.');
                        // Rust's tuple fields.
                        let number =
                            name.strip_prefix("__").filter(|n| rust && n.bytes().all(|b| b.is_ascii_digit()));
                        path.push_str(number.unwrap_or(name));
                    }
                }
                offset -= member.start;
                current = member.ty;
                if !silent || named {
                    shown = Part { path: path.clone(), ty: current.clone() };
                }
            }
            gimli::DW_TAG_array_type => {
                let Some((element, size)) = element_of(&die, &entry) else { break };
                // A range over several elements is a part of the whole array.
                if offset % size + access > size {
                    break;
                }
                let lengths = die.array_lengths();
                let mut index = offset / size;
                let mut indices = Vec::new();
                for length in lengths.iter().skip(1).rev() {
                    let length = length.unwrap_or(1).max(1);
                    indices.push(index % length);
                    index /= length;
                }
                indices.push(index);
                for index in indices.iter().rev() {
                    path.push_str(&format!("[{index}]"));
                }
                offset %= size;
                current = element;
                let plain = stripped(&current).is_some_and(|(_, entry)| {
                    matches!(entry.tag(), gimli::DW_TAG_base_type | gimli::DW_TAG_enumeration_type)
                });
                if !silent || plain {
                    shown = Part { path: path.clone(), ty: current.clone() };
                }
            }
            _ => break,
        }
    }
    shown
}

/// The bytes a type takes.
pub(crate) fn size_of(ty: &Die<'_>) -> Option<u64> {
    size_within(ty, MAX_DEPTH)
}

fn size_within(ty: &Die<'_>, depth: usize) -> Option<u64> {
    let (die, entry) = stripped(ty)?;
    if let Some(size) = entry.attr(gimli::DW_AT_byte_size).and_then(|size| size.udata_value()) {
        return Some(size);
    }
    match entry.tag() {
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            Some(u64::from(die.unit.unit.header.address_size()))
        }
        gimli::DW_TAG_array_type if depth > 0 => {
            let element = size_within(&die.reference(&entry, gimli::DW_AT_type)?, depth - 1)?;
            die.array_lengths().into_iter().try_fold(element, |size, length| size.checked_mul(length?))
        }
        _ => None,
    }
}

/// The type behind names and qualifiers.
fn stripped<'a>(ty: &Die<'a>) -> Option<(Die<'a>, Entry<'a>)> {
    let mut die = ty.clone();
    for _ in 0..MAX_DEPTH {
        let entry = die.entry()?;
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => {
                die = die.reference(&entry, gimli::DW_AT_type)?;
            }
            _ => return Some(die.definition(entry)),
        }
    }
    None
}

fn element_of<'a>(array: &Die<'a>, entry: &Entry<'a>) -> Option<(Die<'a>, u64)> {
    let element = array.reference(entry, gimli::DW_AT_type)?;
    let size = size_of(&element).filter(|size| *size > 0)?;
    Some((element, size))
}

struct Member<'a> {
    name: Option<String>,
    start: u64,
    ty: Die<'a>,
}

/// The member that holds the access; of a union's, the one of just its size if there is one.
fn member_at<'a>(ty: &Die<'a>, entry: &Entry<'a>, offset: u64, access: u64) -> Option<Member<'a>> {
    let mut best: Option<(bool, Member<'a>)> = None;
    for (die, child) in ty.children() {
        if !matches!(child.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance)
            || child.has_attr(gimli::DW_AT_external)
            || child.has_attr(gimli::DW_AT_declaration)
        {
            continue;
        }
        let Some((start, bits)) = member_start(&die, &child) else { continue };
        let Some(member) = die.reference(&child, gimli::DW_AT_type) else { continue };
        let size = bits.or_else(|| size_of(&member)).unwrap_or(0);
        let holds =
            offset >= start && offset - start < size && (bits.is_some() || offset - start + access <= size);
        if !holds {
            continue;
        }
        let exact = size == access && offset == start;
        if best.as_ref().is_some_and(|(best_exact, _)| *best_exact || !exact) {
            continue;
        }
        let name = match child.tag() {
            gimli::DW_TAG_member => {
                die.string(&child, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned())
            }
            _ => None,
        };
        best = Some((exact, Member { name, start, ty: member }));
        if entry.tag() != gimli::DW_TAG_union_type {
            break;
        }
    }
    best.map(|(_, member)| member)
}

/// Where a member begins, and for a bit field the bytes it is in.
fn member_start<'a>(die: &Die<'a>, child: &Entry<'a>) -> Option<(u64, Option<u64>)> {
    let bits = child.attr(gimli::DW_AT_bit_size).and_then(|bits| bits.udata_value());
    if let Some(first) = child.attr(gimli::DW_AT_data_bit_offset).and_then(|first| first.udata_value()) {
        let start = first / 8;
        return Some((start, Some((first + bits.unwrap_or(8)).div_ceil(8) - start)));
    }
    match child.attr_value(gimli::DW_AT_data_member_location) {
        None => Some((0, None)),
        Some(AttributeValue::Exprloc(expression)) => {
            // Old compilers write an addition; a virtual base has no fixed place.
            let mut operations = expression.operations(die.unit.unit.encoding());
            match (operations.next().ok()??, operations.next().ok()?) {
                (Operation::PlusConstant { value }, None) => Some((value, None)),
                _ => None,
            }
        }
        Some(value) => Some((value.udata_value()?, None)),
    }
}

enum Library {
    No,
    /// Holds only what the library needs.
    Closed,
    /// Holds something of the user's.
    Generic,
}

fn library_kind<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Library {
    let scopes = die.home(entry).scope_names();
    if !matches!(
        scopes.first().map(String::as_str),
        Some("std" | "core" | "alloc" | "__gnu_cxx" | "__cxxabiv1")
    ) {
        return Library::No;
    }
    // An unnamed union inside a generic type is as open as the type around it.
    let Some(name) = die.name(entry) else { return Library::Generic };
    let name = name.to_string_lossy();
    if name.starts_with("basic_string<") {
        return Library::Closed;
    }
    let generic = name.contains('<') || scopes.iter().any(|scope| scope.contains('<'));
    if generic { Library::Generic } else { Library::Closed }
}
