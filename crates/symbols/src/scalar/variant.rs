//! Which variant a Rust enum is.
//!
//! A tag of its own is a number for each variant. Where the compiler found numbers that a field never is (a niche), the tag lies in that
//! field: some numbers stand for the variants without it, and all others for the one that has it. The fields of a variant mean something only
//! while the enum is that variant; bytes that several variants have a field at are left out.

use super::{Content, Leaf, NoScalar, ScalarKind, Sequence, class_of, class_within};
use crate::units::{Die, Entry};
use crate::value::constant_number;
use crate::variable::{is_field, member_start, size_of, stripped};

/// How deep the fields of a variant may nest.
const MAX_DEPTH: usize = 8;

/// What an access to a Rust enum finds; none if the type is no enum.
pub(super) fn class_at(
    die: &Die<'_>,
    offset: u64,
    access: u64,
    depth: usize,
) -> Option<Result<Leaf, NoScalar>> {
    let children = die.children();
    let (variants, part) = children.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_variant_part)?;
    if let Some(tag) = tag(variants, part, offset, access, depth) {
        return Some(Ok(tag));
    }
    let untouched = || untouched(variants, part, offset, access).unwrap_or(false);
    let why = |()| if untouched() { NoScalar::Padding } else { NoScalar::Doubtful };
    Some(content(variants, part, offset, access, depth).ok_or(()).map_err(why))
}

/// What the field of the only variant that has one at these bytes means.
fn content<'a>(variants: &Die<'a>, part: &Entry<'a>, offset: u64, access: u64, depth: usize) -> Option<Leaf> {
    let member = variants.reference(part, gimli::DW_AT_discr)?;
    let entry = member.entry()?;
    let size = size_of(&member.reference(&entry, gimli::DW_AT_type)?)?;
    let (tag, _) = member_start(&member, &entry)?;
    if !matches!(size, 1 | 2 | 4 | 8) || offset < tag + size && tag < offset + access {
        return None;
    }
    let unused = 64 - 8 * size;
    let (mut numbers, mut found) = (Vec::new(), None);
    for (variant, entry) in variants.children() {
        if entry.tag() != gimli::DW_TAG_variant {
            continue;
        }
        if entry.has_attr(gimli::DW_AT_discr_list) {
            return None;
        }
        let fields = variant.children();
        let (field, child) = fields.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_member)?;
        let number = entry.attr(gimli::DW_AT_discr_value).and_then(constant_number);
        let number = number.map(|number| (number as u64) << unused >> unused);
        numbers.extend(number);
        let (start, payload) = (member_start(field, child)?.0, field.reference(child, gimli::DW_AT_type)?);
        let within = offset.checked_sub(start).filter(|within| {
            size_of(&payload).is_some_and(|size| within.checked_add(access).is_some_and(|end| end <= size))
        });
        let Some(within) = within else { continue };
        match class_within(&payload, within, access, depth) {
            Ok(leaf) => {
                let name = field.name(child)?.to_string_lossy().into_owned();
                if found.replace((leaf, name, number)).is_some() {
                    return None;
                }
            }
            // Padding of a variant, or nothing of it.
            Err(NoScalar::Padding) => {}
            Err(NoScalar::Doubtful) if !touches_field(&payload, within, access) => {}
            Err(_) => return None,
        }
    }
    let (leaf, variant, number) = found?;
    // What is optional within it has a condition of its own.
    if leaf.content.is_some() {
        return None;
    }
    let behind = i64::try_from(offset).ok()? - i64::try_from(tag).ok()?;
    let rest = number.is_none();
    let numbers = if let Some(number) = number { vec![number] } else { numbers };
    Some(Leaf { content: Some(Content { variant, behind, numbers, rest }), ..leaf })
}

/// Whether the tag and the fields of all variants are elsewhere.
fn untouched<'a>(variants: &Die<'a>, part: &Entry<'a>, offset: u64, access: u64) -> Option<bool> {
    let member = variants.reference(part, gimli::DW_AT_discr)?;
    let entry = member.entry()?;
    let size = size_of(&member.reference(&entry, gimli::DW_AT_type)?)?;
    let (tag, _) = member_start(&member, &entry)?;
    let mut elsewhere = tag >= offset + access || offset >= tag + size;
    for (variant, _) in variants.children().iter().filter(|(_, it)| it.tag() == gimli::DW_TAG_variant) {
        for (field, child) in variant.children().iter().filter(|(_, it)| it.tag() == gimli::DW_TAG_member) {
            let (start, ty) = (member_start(field, child)?.0, field.reference(child, gimli::DW_AT_type)?);
            elsewhere &= match offset.checked_sub(start) {
                Some(within) => !touches_field(&ty, within, access),
                None => false,
            };
        }
    }
    Some(elsewhere)
}

/// Whether any field of a variant has one of these bytes.
fn touches_field(ty: &Die<'_>, offset: u64, access: u64) -> bool {
    let Some((die, _)) = stripped(ty) else { return true };
    die.children().into_iter().any(|(member, child)| {
        let Some((start, _)) = member_start(&member, &child).filter(|_| is_field(&child)) else {
            return false;
        };
        let size =
            member.reference(&child, gimli::DW_AT_type).and_then(|ty| size_of(&ty)).unwrap_or(u64::MAX);
        start < offset + access && offset < start.saturating_add(size)
    })
}

fn tag<'a>(variants: &Die<'a>, part: &Entry<'a>, offset: u64, access: u64, depth: usize) -> Option<Leaf> {
    let member = variants.reference(part, gimli::DW_AT_discr)?;
    let entry = member.entry()?;
    let size = size_of(&member.reference(&entry, gimli::DW_AT_type)?)?;
    let (start, _) = member_start(&member, &entry)?;
    if (start, size) != (offset, access) || !matches!(access, 1 | 2 | 4 | 8) {
        return None;
    }
    let unused = 64 - 8 * access;
    let mut names = Vec::new();
    let mut rest = None;
    for (variant, entry) in variants.children() {
        if entry.tag() != gimli::DW_TAG_variant {
            continue;
        }
        // A range of numbers stands for it.
        if entry.has_attr(gimli::DW_AT_discr_list) {
            return None;
        }
        let fields = variant.children();
        let (field, child) = fields.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_member)?;
        let name = field.name(child)?.to_string_lossy().into_owned();
        match entry.attr(gimli::DW_AT_discr_value).and_then(constant_number) {
            Some(number) => names.push(((number as u64) << unused >> unused, name)),
            None => {
                let payload = field.reference(child, gimli::DW_AT_type)?;
                let within = offset.checked_sub(member_start(field, child)?.0)?;
                if is_pointer(&payload, within, access) {
                    let inside = class_within(&payload, within, access, depth).ok();
                    let sequence =
                        inside.filter(|leaf| leaf.content.is_none()).and_then(|leaf| leaf.sequence);
                    let sequence = sequence.map(|of| Sequence { within: Some(name), ..of });
                    return Some(Leaf { sequence, ..Leaf::plain(ScalarKind::Pointer, "") });
                }
                if rest.replace(name).is_some() {
                    return None;
                }
            }
        }
    }
    Some(Leaf::plain(ScalarKind::Variant { names, rest }, ""))
}

/// Whether these bytes of a type are an address: null is the other variant.
fn is_pointer(ty: &Die<'_>, mut offset: u64, access: u64) -> bool {
    let mut ty = ty.clone();
    for _ in 0..MAX_DEPTH {
        let Some((die, entry)) = stripped(&ty) else { return false };
        if entry.tag() != gimli::DW_TAG_structure_type {
            return offset == 0 && access == 8 && class_of(&die, &entry) == Ok(ScalarKind::Pointer);
        }
        let holding = die.children().into_iter().find_map(|(member, child)| {
            let (start, _) = member_start(&member, &child).filter(|_| is_field(&child))?;
            let ty = member.reference(&child, gimli::DW_AT_type)?;
            let within = offset.checked_sub(start)?;
            (within + access <= size_of(&ty)?).then_some((ty, within))
        });
        let Some((member, within)) = holding else { return false };
        (ty, offset) = (member, within);
    }
    false
}
