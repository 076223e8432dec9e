//! The types that pointers lead to from the variables in scope.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::locals::Live;
use crate::units::{Die, Entry};
use crate::variable::{Library, is_field, library_kind, size_of, stripped};

/// Types beyond these are too far from the variables for a reader, too.
const MAX_TYPES: usize = 4096;

/// The field of a Rust slice, of any kind, that points to its elements.
const SLICE: &str = "data_ptr";

/// A type that a pointer leads to.
pub(super) struct Pointee<'a> {
    /// The type, as the pointer names it.
    pub(super) ty: Die<'a>,
    /// The variables and fields that are such pointers.
    pub(super) names: BTreeSet<String>,
    /// Whether one of them may point into an array.
    pub(super) array: bool,
}

/// A DIE's identity: its unit and its offset there.
type Key = (usize, usize);

fn key(die: &Die<'_>) -> Key {
    (Arc::as_ptr(&die.unit).addr(), die.offset.0)
}

/// All types that pointers lead to, from the locals in scope and the unit's own variables.
pub(super) fn pointees<'a>(live: &Live<'a>) -> Vec<Pointee<'a>> {
    let mut search = Search::default();
    let globals = live.function.scan().variables.iter().map(|variable| live.function.at(variable.die));
    for die in live.variables.iter().cloned().chain(globals) {
        let Some(entry) = die.entry() else { continue };
        let (Some(name), Some(ty)) = (die.name(&entry), die.type_of(&entry)) else { continue };
        search.waiting.push((name.to_string_lossy().into_owned(), ty, false));
    }
    while let Some((name, ty, in_library)) = search.waiting.pop() {
        if search.seen.len() >= MAX_TYPES {
            break;
        }
        search.follow(name, &ty, in_library);
    }
    search.found.into_values().collect()
}

#[derive(Default)]
struct Search<'a> {
    /// Types to look into, each with the name a reader knows it by and whether it is inside a library's type.
    waiting: Vec<(String, Die<'a>, bool)>,
    seen: HashSet<Key>,
    found: HashMap<Key, Pointee<'a>>,
}

impl<'a> Search<'a> {
    fn follow(&mut self, name: String, ty: &Die<'a>, in_library: bool) {
        let Some((die, entry)) = stripped(ty) else { return };
        match entry.tag() {
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => {
                let Some(target) = die.reference(&entry, gimli::DW_AT_type) else { return };
                // The standard library keeps bytes of anything behind pointers to bytes.
                if in_library && size_of(&target) == Some(1) {
                    return;
                }
                // C has arrays behind any pointer, Rust behind slices only.
                let array = entry.tag() == gimli::DW_TAG_pointer_type && (!die.is_rust() || name == SLICE);
                self.reached(name.clone(), &target, array);
                self.waiting.push((name, target, false));
            }
            gimli::DW_TAG_array_type => {
                self.waiting.extend(
                    die.reference(&entry, gimli::DW_AT_type).map(|element| (name, element, in_library)),
                );
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                if !self.seen.insert(key(&die)) {
                    return;
                }
                let library = !matches!(library_kind(&die, &entry), Library::No);
                if let Some(element) = vector_element(&die, &entry).filter(|_| library) {
                    self.reached(name.clone(), &element, true);
                    self.waiting.push((name.clone(), element, false));
                }
                self.members(&name, &die, library, 0);
            }
            _ => {}
        }
    }

    fn members(&mut self, name: &str, die: &Die<'a>, library: bool, depth: usize) {
        for (member, child) in die.children() {
            match child.tag() {
                // A Rust enum has its fields in variants.
                gimli::DW_TAG_variant_part | gimli::DW_TAG_variant if depth < 4 => {
                    self.members(name, &member, library, depth + 1);
                }
                _ if is_field(&child) => {
                    let Some(ty) = member.reference(&child, gimli::DW_AT_type) else { continue };
                    let own = member.string(&child, gimli::DW_AT_name).filter(|_| !library);
                    let name = own.map_or(name.to_owned(), |own| own.to_string_lossy().into_owned());
                    self.waiting.push((name, ty, library));
                }
                _ => {}
            }
        }
    }

    fn reached(&mut self, name: String, target: &Die<'a>, array: bool) {
        // Types that are alike but for their qualifiers are one.
        let Some((bare, _)) = stripped(target) else { return };
        let pointee = self.found.entry(key(&bare)).or_insert_with(|| Pointee {
            ty: target.clone(),
            names: BTreeSet::new(),
            array: false,
        });
        pointee.names.insert(name);
        pointee.array |= array;
    }
}

/// The elements of a Rust vector, which keeps them behind a pointer to bytes.
fn vector_element<'a>(die: &Die<'a>, entry: &Entry<'a>) -> Option<Die<'a>> {
    let name = die.name(entry)?;
    if !name.starts_with(b"Vec<") && !name.starts_with(b"VecDeque<") {
        return None;
    }
    die.type_parameter()
}
