//! Which variant a Rust enum is.
//!
//! A tag of its own is a number for each variant. Where the compiler found numbers that a field never is (a niche), the tag lies in that
//! field: some numbers stand for the variants without it, and all others for the one that has it. The fields of variants are left out:
//! what they hold while the enum is another variant would be told, too.

use super::{Class, NoScalar, class_of};
use crate::units::{Die, Entry};
use crate::value::constant_number;
use crate::variable::{is_field, member_start, size_of, stripped};

/// How deep the fields of a variant may nest.
const MAX_DEPTH: usize = 8;

/// What an access to a Rust enum finds; none if the type is no enum.
pub(super) fn class_at(die: &Die<'_>, offset: u64, access: u64) -> Option<Result<Class, NoScalar>> {
    let children = die.children();
    let (variants, part) = children.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_variant_part)?;
    Some(tag(variants, part, offset, access).ok_or(NoScalar::Doubtful))
}

fn tag<'a>(variants: &Die<'a>, part: &Entry<'a>, offset: u64, access: u64) -> Option<Class> {
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
                if is_pointer(&payload, offset.checked_sub(member_start(field, child)?.0)?, access) {
                    return Some(Class::Pointer);
                }
                if rest.replace(name).is_some() {
                    return None;
                }
            }
        }
    }
    Some(Class::Variant { names, rest })
}

/// Whether these bytes of a type are an address: null is the other variant.
fn is_pointer(ty: &Die<'_>, mut offset: u64, access: u64) -> bool {
    let mut ty = ty.clone();
    for _ in 0..MAX_DEPTH {
        let Some((die, entry)) = stripped(&ty) else { return false };
        if entry.tag() != gimli::DW_TAG_structure_type {
            return offset == 0 && access == 8 && class_of(&die, &entry) == Ok(Class::Pointer);
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
