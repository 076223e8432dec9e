//! From an address of data to the variable there, down to the field and the array element.
//!
//! A report names `table[3].lock`, not `0x4052c8`. DWARF has no index from data addresses to variables, and a pass
//! over all units of a big program is slow, so the units to look at are found first (see [`locate`]).

mod locate;
mod walk;

pub(crate) use locate::Space;
pub(crate) use walk::{
    Library, captured, is_field, is_pointer, is_slice, library_kind, member_start, part_at, pointer_in,
    size_of, stripped,
};

use std::fmt;
use std::path::PathBuf;

use crate::demangle::Name;
use crate::image::{Arena, ImageData};
use crate::units::Die;

/// A global or static variable, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The variable with its namespaces, or the function it is static in: `bank::accounts`, `increment::counter`.
    pub name: String,
    /// The part of it: `.balance`, `[3].lock`; empty if it is the whole.
    pub path: String,
    /// The address's distance from the start of the variable.
    pub offset: u64,
    /// The type of the part, if the debug info tells it.
    pub type_name: Option<String>,
    /// Bytes of the part.
    pub size: u64,
    /// Where the variable is declared.
    pub file: Option<PathBuf>,
    /// The line there.
    pub line: Option<u32>,
    /// The index of its module.
    pub module: usize,
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.path)
    }
}

/// The type of the smallest part that holds the bytes at a linked address, and where the part begins.
pub(crate) fn part_type<'a>(
    image: &ImageData<'a>,
    arena: &'a Arena,
    address: u64,
    access: u64,
) -> Option<(Die<'a>, u64)> {
    let start = image.symbols().object(address).map(|symbol| symbol.start);
    locate::candidates(image, arena, Space::Linked, address, start).into_iter().find_map(|(start, die)| {
        let ty = die.type_of(&die.entry()?)?;
        let offset = address.checked_sub(start).filter(|offset| Some(*offset) < walk::size_of(&ty))?;
        let part = walk::part_at(&ty, offset, access);
        Some((part.ty, start.checked_add(part.start)?))
    })
}

/// The type of the variable that holds a linked address, and how far the address is from its start.
pub(crate) fn root_type<'a>(image: &ImageData<'a>, arena: &'a Arena, address: u64) -> Option<(Die<'a>, u64)> {
    let start = image.symbols().object(address).map(|symbol| symbol.start);
    locate::candidates(image, arena, Space::Linked, address, start).into_iter().find_map(|(start, die)| {
        let ty = die.type_of(&die.entry()?)?;
        let offset = address.checked_sub(start).filter(|offset| Some(*offset) < walk::size_of(&ty))?;
        Some((ty, offset))
    })
}

/// The variable at a linked address or thread-local offset; `access` is how many bytes are touched there.
pub(crate) fn find<'a>(
    image: &ImageData<'a>,
    arena: &'a Arena,
    space: Space,
    address: u64,
    access: u64,
    module: usize,
) -> Option<Variable> {
    let symbol = match space {
        Space::Linked => image.symbols().object(address),
        Space::ThreadLocal => image.symbols().thread_local(address),
    };
    let from_dwarf = locate::candidates(image, arena, space, address, symbol.map(|symbol| symbol.start))
        .into_iter()
        .find_map(|(start, die)| describe(&die, start, address, access, symbol.map(|s| s.end), module));
    from_dwarf.or_else(|| {
        let symbol = symbol?;
        let offset = address - symbol.start;
        Some(Variable {
            name: without_key(&Name::of_symbol(symbol.name).full).to_owned(),
            path: if offset == 0 { String::new() } else { format!("+{offset:#x}") },
            offset,
            type_name: None,
            size: symbol.end - symbol.start,
            file: None,
            line: None,
            module,
        })
    })
}

fn describe(
    die: &Die<'_>,
    start: u64,
    address: u64,
    access: u64,
    symbol_end: Option<u64>,
    module: usize,
) -> Option<Variable> {
    let entry = die.entry()?;
    let offset = address.checked_sub(start)?;
    let ty = die.type_of(&entry);
    let size = ty.as_ref().and_then(walk::size_of).unwrap_or(0);
    // The symbol knows the size of what the type leaves open (`int tail[]`).
    let end = symbol_end.unwrap_or(0).max(start.saturating_add(size.max(1)));
    if address >= end {
        return None;
    }
    let part = ty.as_ref().map(|ty| walk::part_at(ty, offset, access));
    // A definition leaves out what its declaration says alike.
    let declared = |name| {
        let (home, entry) = die.with_attribute(&entry, name)?;
        Some((home, entry.attr(name)?.udata_value()?))
    };
    Some(Variable {
        name: without_key(&die.qualified_name(&entry)?).to_owned(),
        offset,
        type_name: part.as_ref().map(|part| part.ty.type_name()),
        size: part.as_ref().and_then(|part| walk::size_of(&part.ty)).unwrap_or(end - start),
        path: part.map(|part| part.path).unwrap_or_default(),
        file: declared(gimli::DW_AT_decl_file).and_then(|(home, index)| home.decl_file(index)),
        line: declared(gimli::DW_AT_decl_line).and_then(|(_, line)| u32::try_from(line).ok()),
        module,
    })
}

/// The name of Rust's `thread_local!` itself: the variable is in a function inside its key.
fn without_key(name: &str) -> &str {
    match name.find("::{constant").filter(|_| name.ends_with("VAL")) {
        Some(at) => &name[..at],
        None => name,
    }
}
