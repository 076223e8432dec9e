//! Types of the standard libraries, read as what they stand for.
//!
//! Understood: Rust's `&str`, `String`, slices and `Vec`; libstdc++'s `std::string`, `std::string_view` and
//! `std::vector`; and every library type around one thing that matters (`Box`, `AtomicU64`, `Cell`, `std::atomic`,
//! `std::array`, `std::unique_ptr`), which is read as that thing.

use std::cell::Cell;

use super::read::Reader;
use super::{NoValue, Source, Value};
use crate::units::{Die, Entry};
use crate::variable::{Library, is_field, library_kind, member_start, size_of, stripped};

/// How deep a field is looked for.
const MAX_DEPTH: usize = 12;
/// In how many types: real ones have few, damaged ones may hold themselves many times.
const MAX_TYPES: usize = 200;

fn spend(depth: usize, left: &Cell<usize>) -> Option<()> {
    left.set(left.get().checked_sub(1)?);
    (depth <= MAX_DEPTH).then_some(())
}

/// The value if the type is a library's with a reading of its own.
pub(super) fn read<'a>(
    reader: &Reader<'_>,
    die: &Die<'a>,
    entry: &Entry<'a>,
    source: &Source,
) -> Option<Result<Value, NoValue>> {
    let name = die.string(entry, gimli::DW_AT_name)?;
    let name = name.to_string_lossy();
    let rust = die.is_rust();
    if rust && (name.starts_with('&') || name.starts_with("Box<") || name.starts_with('*')) {
        return slice(reader, die, &name, source);
    }
    if matches!(library_kind(die, entry), Library::No) {
        return None;
    }
    if rust && name == "String" {
        return Some(
            vector(reader, die, source)
                .and_then(|(address, length)| reader.text(&Source::Memory(address), length, false)),
        );
    }
    if rust && name.starts_with("Vec<") {
        let element = die.type_parameter()?;
        return Some(
            vector(reader, die, source)
                .and_then(|(address, length)| reader.list(&element, &Source::Memory(address), length)),
        );
    }
    if name.starts_with("basic_string<char") || name.starts_with("basic_string_view<char") {
        return cpp_text(reader, die, source);
    }
    if !rust && name.starts_with("vector<") {
        return cpp_vector(reader, die, source);
    }
    only_field(die).map(|(start, ty)| Ok(reader.read(&ty, &source.part(start))))
}

/// A Rust slice or string slice: a pointer and a length.
fn slice(reader: &Reader<'_>, die: &Die<'_>, name: &str, source: &Source) -> Option<Result<Value, NoValue>> {
    let (pointer_at, pointer) = field(die, "data_ptr")?;
    let (length_at, _) = field(die, "length")?;
    let (pointer, entry) = stripped(&pointer)?;
    let element = pointer.reference(&entry, gimli::DW_AT_type)?;
    Some((|| {
        let address = reader.address(&source.part(pointer_at))?;
        let length = reader.address(&source.part(length_at))?;
        if name.ends_with("str") || name.starts_with("Box<str") {
            reader.text(&Source::Memory(address), length, false)
        } else {
            reader.list(&element, &Source::Memory(address), length)
        }
    })())
}

/// A Rust vector's pointer and length.
fn vector(reader: &Reader<'_>, die: &Die<'_>, source: &Source) -> Result<(u64, u64), NoValue> {
    let (pointer_at, _) = find_pointer(die, 0, 0, &Cell::new(MAX_TYPES)).ok_or(NoValue::Type)?;
    let (length_at, _) = field(die, "len").ok_or(NoValue::Type)?;
    let address = reader.address(&source.part(pointer_at))?;
    Ok((address, reader.address(&source.part(length_at))?))
}

fn cpp_text(reader: &Reader<'_>, die: &Die<'_>, source: &Source) -> Option<Result<Value, NoValue>> {
    // Clang leaves out the type around the pointer where it sees no constructor of it.
    let pointer = ["_M_p", "_M_str", "_M_dataplus"].iter().find_map(|name| field(die, name));
    let (pointer_at, _) = pointer?;
    let (length_at, _) = field(die, "_M_string_length").or_else(|| field(die, "_M_len"))?;
    Some((|| {
        let address = reader.address(&source.part(pointer_at))?;
        let length = reader.address(&source.part(length_at))?;
        reader.text(&Source::Memory(address), length, false)
    })())
}

fn cpp_vector(reader: &Reader<'_>, die: &Die<'_>, source: &Source) -> Option<Result<Value, NoValue>> {
    let (start_at, pointer) = field(die, "_M_start")?;
    let (finish_at, _) = field(die, "_M_finish")?;
    let (pointer, entry) = stripped(&pointer)?;
    // `std::vector<bool>` keeps bits behind iterators.
    if entry.tag() != gimli::DW_TAG_pointer_type {
        return None;
    }
    let element = pointer.reference(&entry, gimli::DW_AT_type)?;
    let size = size_of(&element).filter(|size| *size > 0)?;
    Some((|| {
        let start = reader.address(&source.part(start_at))?;
        let finish = reader.address(&source.part(finish_at))?;
        let length = finish.checked_sub(start).ok_or(NoValue::Type)? / size;
        reader.list(&element, &Source::Memory(start), length)
    })())
}

/// A field of this name, at any depth, with its distance from the start.
fn field<'a>(die: &Die<'a>, name: &str) -> Option<(u64, Die<'a>)> {
    find(die, name, 0, 0, &Cell::new(MAX_TYPES))
}

fn find<'a>(die: &Die<'a>, name: &str, at: u64, depth: usize, left: &Cell<usize>) -> Option<(u64, Die<'a>)> {
    spend(depth, left)?;
    let fields = members(die);
    let own = fields.iter().find(|field| field.name.as_deref() == Some(name));
    if let Some(field) = own {
        return Some((at.checked_add(field.start)?, field.ty.clone()));
    }
    fields.iter().find_map(|field| {
        let (inner, entry) = stripped(&field.ty)?;
        is_record(&entry).then(|| find(&inner, name, at.checked_add(field.start)?, depth + 1, left))?
    })
}

/// The first pointer, at any depth.
fn find_pointer<'a>(die: &Die<'a>, at: u64, depth: usize, left: &Cell<usize>) -> Option<(u64, Die<'a>)> {
    spend(depth, left)?;
    members(die).iter().find_map(|field| {
        let (inner, entry) = stripped(&field.ty)?;
        let at = at.checked_add(field.start)?;
        if entry.tag() == gimli::DW_TAG_pointer_type {
            return Some((at, inner));
        }
        is_record(&entry).then(|| find_pointer(&inner, at, depth + 1, left))?
    })
}

struct Field<'a> {
    name: Option<String>,
    start: u64,
    ty: Die<'a>,
}

fn members<'a>(die: &Die<'a>) -> Vec<Field<'a>> {
    let field = |(member, child): (Die<'a>, Entry<'a>)| {
        if !is_field(&child) {
            return None;
        }
        let name = match child.tag() {
            gimli::DW_TAG_member => member.string(&child, gimli::DW_AT_name),
            _ => None,
        };
        Some(Field {
            name: name.map(|name| name.to_string_lossy().into_owned()),
            start: member_start(&member, &child)?.0,
            ty: member.reference(&child, gimli::DW_AT_type)?,
        })
    };
    die.children().into_iter().filter_map(field).collect()
}

fn is_record(entry: &Entry<'_>) -> bool {
    matches!(entry.tag(), gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type)
}

/// The one field of a type that has any content.
fn only_field<'a>(die: &Die<'a>) -> Option<(u64, Die<'a>)> {
    let has_variants =
        |die: &Die<'a>| die.children().iter().any(|(_, child)| child.tag() == gimli::DW_TAG_variant_part);
    if has_variants(die) {
        return None;
    }
    let left = Cell::new(MAX_TYPES);
    let mut fields = members(die).into_iter().filter(|field| !is_empty(&field.ty, 0, &left));
    let first = fields.next()?;
    fields.next().is_none().then_some((first.start, first.ty))
}

/// Whether values of a type have no content, whatever their size.
fn is_empty(ty: &Die<'_>, depth: usize, left: &Cell<usize>) -> bool {
    let Some((die, entry)) = spend(depth, left).and_then(|()| stripped(ty)) else { return false };
    if size_of(&die) == Some(0) {
        return true;
    }
    is_record(&entry)
        && !die.children().iter().any(|(_, child)| child.tag() == gimli::DW_TAG_variant_part)
        && members(&die).iter().all(|field| is_empty(&field.ty, depth + 1, left))
}
