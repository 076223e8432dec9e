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
#[derive(Clone)]
pub(crate) struct Part<'a> {
    /// `.balance`, `[3].lock`, or empty.
    pub(crate) path: String,
    /// Its type.
    pub(crate) ty: Die<'a>,
    /// The first type with fields on the way that is not a library's, and how much of the path leads to it.
    pub(crate) owner: Option<(Die<'a>, usize)>,
    /// The last field on the way.
    pub(crate) field: Option<String>,
    /// How far the part is from the start.
    pub(crate) start: u64,
}

/// The smallest part a reader would name that holds `access` bytes at `offset`.
pub(crate) fn part_at<'a>(ty: &Die<'a>, mut offset: u64, access: u64) -> Part<'a> {
    let access = access.max(1);
    // The way so far; `shown` stays behind while it leads through a library type.
    let mut way = Part { path: String::new(), ty: ty.clone(), owner: None, field: None, start: 0 };
    let mut shown = way.clone();
    let mut silent = false;
    for _ in 0..MAX_DEPTH {
        let Some((die, entry)) = stripped(&way.ty) else { break };
        match entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                let slice = is_slice(&die, &entry);
                let library = if slice { Library::Generic } else { library_kind(&die, &entry) };
                if matches!(library, Library::No) {
                    silent = false;
                    way.owner.get_or_insert((way.ty.clone(), way.path.len()));
                }
                if !silent {
                    shown = way.clone();
                }
                match library {
                    Library::No => {}
                    // Its inside is the library's own.
                    Library::Closed => break,
                    Library::Generic => silent = true,
                }
                if let Some(held) = raw_storage(&die, &entry) {
                    way.ty = held;
                    continue;
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
                        // Rust's tuple fields.
                        let number =
                            name.strip_prefix("__").filter(|n| rust && n.bytes().all(|b| b.is_ascii_digit()));
                        let name = number.unwrap_or(name);
                        way.path.push('.');
                        way.path.push_str(name);
                        way.field = Some(name.to_owned());
                    }
                }
                offset -= member.start;
                way.start += member.start;
                way.ty = member.ty;
                if !silent || named {
                    shown = way.clone();
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
                    way.path.push_str(&format!("[{index}]"));
                }
                way.start += offset - offset % size;
                offset %= size;
                way.ty = element;
                let plain = stripped(&way.ty).is_some_and(|(_, entry)| {
                    matches!(entry.tag(), gimli::DW_TAG_base_type | gimli::DW_TAG_enumeration_type)
                });
                if !silent || plain {
                    shown = way.clone();
                }
            }
            _ => break,
        }
    }
    shown
}

/// Whether a type is a pointer or a reference.
pub(crate) fn is_pointer(entry: &Entry<'_>) -> bool {
    matches!(
        entry.tag(),
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
    )
}

/// What a closure has captured: the variable's name, its type, and where it lies; `None` if the type is no closure.
pub(crate) fn captured<'a>(ty: &Die<'a>, offset: u64) -> Option<(String, Die<'a>, u64)> {
    let (die, entry) = stripped(ty)?;
    let name = die.string(&entry, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned());
    let is_closure = match &name {
        // Compilers of C++ give closures no name, but a call.
        None => die.children().iter().any(|(function, child)| {
            let name = function.string(child, gimli::DW_AT_name);
            let is_call = |name: &str| name == "operator()" || name.contains("<lambda");
            child.tag() == gimli::DW_TAG_subprogram
                && name.is_some_and(|name| is_call(&name.to_string_lossy()))
        }),
        Some(name) => name.starts_with("{closure_env"),
    };
    let member = if is_closure { member_at(&die, &entry, offset, 1)? } else { return None };
    let name = member.name?;
    let name = ["__", "_ref__"].iter().find_map(|mark| name.strip_prefix(mark)).unwrap_or(&name).to_owned();
    Some((name, member.ty, member.start))
}

/// The type of the pointer at an offset of a value.
pub(crate) fn pointer_in<'a>(ty: &Die<'a>, mut offset: u64) -> Option<Die<'a>> {
    let mut ty = ty.clone();
    for _ in 0..MAX_DEPTH {
        let (die, entry) = stripped(&ty)?;
        if is_pointer(&entry) {
            return (offset == 0).then_some(ty);
        }
        let member = member_at(&die, &entry, offset, 8)?;
        offset -= member.start;
        ty = member.ty;
    }
    None
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
        _ if is_pointer(&entry) => Some(u64::from(die.unit.unit.header.address_size())),
        gimli::DW_TAG_array_type if depth > 0 => {
            let element = size_within(&die.reference(&entry, gimli::DW_AT_type)?, depth - 1)?;
            die.array_lengths().into_iter().try_fold(element, |size, length| size.checked_mul(length?))
        }
        _ => None,
    }
}

/// The type behind names and qualifiers.
pub(crate) fn stripped<'a>(ty: &Die<'a>) -> Option<(Die<'a>, Entry<'a>)> {
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

/// What libstdc++ keeps in a buffer of bytes: the values of map nodes and of `make_shared`.
fn raw_storage<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Option<Die<'a>> {
    let name = die.string(entry, gimli::DW_AT_name)?;
    let storage = [&b"__aligned_buffer<"[..], b"__aligned_membuf<"].iter().any(|kind| name.starts_with(kind));
    if storage { die.type_parameter() } else { None }
}

struct Member<'a> {
    name: Option<String>,
    start: u64,
    ty: Die<'a>,
}

/// The member that holds the access; of a union's, the one of just its size if there is one.
fn member_at<'a>(ty: &Die<'a>, entry: &Entry<'a>, offset: u64, access: u64) -> Option<Member<'a>> {
    let mut best: Option<(bool, Member<'a>)> = None;
    let children = ty.children();
    for (die, child) in &children {
        if !is_field(child) {
            continue;
        }
        let Some((member, exact)) = held(die, child, offset, access) else { continue };
        if best.as_ref().is_some_and(|(best_exact, _)| *best_exact || !exact) {
            continue;
        }
        best = Some((exact, member));
        if entry.tag() != gimli::DW_TAG_union_type {
            break;
        }
    }
    if let Some((_, member)) = best {
        return Some(member);
    }
    let (variants, _) = children.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_variant_part)?;
    variant_at(variants, offset, access)
}

/// Whether a child of a type is a part of its values.
pub(crate) fn is_field(child: &Entry<'_>) -> bool {
    matches!(child.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance)
        && !child.has_attr(gimli::DW_AT_external)
        && !child.has_attr(gimli::DW_AT_declaration)
}

/// The member if it holds the access, and whether it is just that.
fn held<'a>(die: &Die<'a>, child: &Entry<'a>, offset: u64, access: u64) -> Option<(Member<'a>, bool)> {
    let (start, bits) = member_start(die, child)?;
    let ty = die.reference(child, gimli::DW_AT_type)?;
    let size = match bits.or_else(|| size_of(&ty)) {
        Some(size) => size,
        None if is_open_array(&ty) => u64::MAX - start,
        None => 0,
    };
    let within = offset.checked_sub(start)?;
    // A bit field is read and written together with its neighbours.
    if within >= size || (bits.is_none() && access > size - within) {
        return None;
    }
    let name = match child.tag() {
        gimli::DW_TAG_member => {
            die.string(child, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned())
        }
        _ => None,
    };
    Some((Member { name, start, ty }, size == access && within == 0))
}

/// The payload of the only variant of a Rust enum that has something at the offset; which variant a value is, is not
/// known here.
fn variant_at<'a>(variants: &Die<'a>, offset: u64, access: u64) -> Option<Member<'a>> {
    let mut found = None;
    for (variant, entry) in variants.children() {
        if entry.tag() == gimli::DW_TAG_member && held(&variant, &entry, offset, access).is_some() {
            // The discriminant itself.
            return None;
        }
        if entry.tag() != gimli::DW_TAG_variant {
            continue;
        }
        for (die, child) in variant.children() {
            let Some((member, _)) = held(&die, &child, offset, access) else { continue };
            let within = offset - member.start;
            let holds = stripped(&member.ty)?.0.children().iter().any(|(die, child)| {
                child.tag() == gimli::DW_TAG_variant_part
                    || (is_field(child) && held(die, child, within, access).is_some())
            });
            if holds && found.replace(member).is_some() {
                return None;
            }
        }
    }
    found
}

/// The array at the end of a structure whose length only the program knows.
fn is_open_array(ty: &Die<'_>) -> bool {
    stripped(ty).is_some_and(|(die, entry)| {
        entry.tag() == gimli::DW_TAG_array_type && die.array_lengths().first().is_none_or(Option::is_none)
    })
}

/// Where a member begins, and for a bit field the bytes it is in.
pub(crate) fn member_start<'a>(die: &Die<'a>, child: &Entry<'a>) -> Option<(u64, Option<u64>)> {
    let bits = child.attr(gimli::DW_AT_bit_size).and_then(|bits| bits.udata_value());
    if let Some(first) = child.attr(gimli::DW_AT_data_bit_offset).and_then(|first| first.udata_value()) {
        let start = first / 8;
        let end = first.checked_add(bits.unwrap_or(8))?.div_ceil(8);
        return Some((start, Some(end - start)));
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

/// Whose a type is.
pub(crate) enum Library {
    /// The program's own.
    No,
    /// Holds only what the library needs.
    Closed,
    /// Holds something of the user's.
    Generic,
}

/// Whether a type is a slice of Rust's, an address with a length, which no namespace has.
pub(crate) fn is_slice<'a>(die: &Die<'a>, entry: &Entry<'a>) -> bool {
    let begins = |name: &str| {
        let name = name.strip_prefix("alloc::boxed::").unwrap_or(name);
        ["Box<[", "&[", "&mut ["].iter().any(|begin| name.starts_with(begin))
    };
    die.is_rust() && die.name(entry).is_some_and(|name| begins(&name.to_string_lossy()))
}

/// Whether a type is the standard library's.
pub(crate) fn library_kind<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Library {
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
