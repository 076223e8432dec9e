//! Which variables may be at an address, without reading all units.
//!
//! The symbol table tells where the variable begins. The DIE of a variable that begins there holds this address in
//! its location: written out in `.debug_info`, or as an index into the unit's part of `.debug_addr`. A search for the
//! eight bytes in both sections runs at memory speed and names the few units to read; of split debug info only those
//! `.dwo` files are opened. Without a symbol all units are read, once.

use gimli::{Section, UnitOffset};
use memchr::memmem;

use crate::image::{Arena, ImageData};
use crate::scan::{FixedVariable, UnitScan};
use crate::units::{Die, UnitSet};

/// What a number for where a variable is counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Space {
    /// Addresses, as linked.
    Linked,
    /// The module's thread-local storage.
    ThreadLocal,
}

impl Space {
    /// The opcode before a number that is written out.
    fn opcode(self) -> u8 {
        match self {
            Space::Linked => gimli::DW_OP_addr.0,
            Space::ThreadLocal => gimli::DW_OP_const8u.0,
        }
    }

    fn variables<'s>(self, scan: &'s UnitScan<'_>) -> &'s [FixedVariable] {
        match self {
            Space::Linked => &scan.variables,
            Space::ThreadLocal => &scan.thread_locals,
        }
    }
}

/// Variables that may hold `address`, each with where it begins, nearest first.
pub(super) fn candidates<'a>(
    image: &ImageData<'a>,
    arena: &'a Arena,
    space: Space,
    address: u64,
    symbol_start: Option<u64>,
) -> Vec<(u64, Die<'a>)> {
    match symbol_start {
        Some(start) => {
            let mut written = vec![start];
            if space == Space::ThreadLocal {
                written.extend(image.thread_local_origin().and_then(|origin| start.checked_add(origin)));
            }
            let Some(set) = image.units(arena) else { return Vec::new() };
            // `dwz` moves out everything that has no address in it.
            let shared = set.supplementary().filter(|_| space == Space::ThreadLocal);
            let in_units = |written: u64| {
                let own = units_naming(set, space, written).into_iter();
                let own = own.filter_map(|index| image.unit_root(arena, index));
                let shared = shared.iter().flat_map(move |set| {
                    units_naming(set, space, written).into_iter().filter_map(|index| set.root(index))
                });
                own.chain(shared).flat_map(move |root| variables_at(&root, space, written))
            };
            let begins = |(skipped, piece, die): (u64, Option<u64>, Die<'a>)| {
                let within = piece.is_none_or(|piece| address - start < piece);
                Some((start.checked_sub(skipped).filter(|_| within)?, die))
            };
            written.into_iter().flat_map(in_units).filter_map(begins).collect()
        }
        None if space == Space::Linked => {
            let all = image.every_variable.get_or_init(|| every_variable(image, arena));
            let after = all.partition_point(|(variable, _)| variable.address <= address);
            let near = all[..after].iter().rev().take(4);
            let begins = |(variable, die): &(FixedVariable, Die<'a>)| {
                let within = variable.piece.is_none_or(|piece| address - variable.address < piece);
                Some((variable.address.checked_sub(variable.skipped).filter(|_| within)?, die.clone()))
            };
            near.filter_map(begins).collect()
        }
        // Without a symbol there is no saying where a block of thread-local storage ends.
        None => Vec::new(),
    }
}

/// Those that begin at an address, or pieces of them: the bytes before the piece, and its own.
fn variables_at<'a>(root: &Die<'a>, space: Space, start: u64) -> Vec<(u64, Option<u64>, Die<'a>)> {
    let variables = space.variables(root.scan());
    let first = variables.partition_point(|variable| variable.address < start);
    variables[first..]
        .iter()
        .take_while(|variable| variable.address == start)
        .map(|variable| (variable.skipped, variable.piece, root.at(variable.die)))
        .collect()
}

fn units_naming(set: &UnitSet<'_>, space: Space, address: u64) -> Vec<usize> {
    let bytes = address.to_le_bytes();
    let mut written_out = [space.opcode(); 9];
    written_out[1..].copy_from_slice(&bytes);
    let mut units: Vec<usize> = memmem::find_iter(set.dwarf.debug_info.reader().slice(), &written_out)
        .filter_map(|offset| set.index_at(offset))
        .collect();
    let indexed: Vec<usize> = memmem::find_iter(set.dwarf.debug_addr.reader().slice(), &bytes).collect();
    if !indexed.is_empty() {
        // Where each unit's part of the table begins. Units without one all say 0, which no real part does in
        // DWARF 5; in DWARF 4 only a skeleton has one.
        let mut parts: Vec<(usize, usize)> = (0..set.len())
            .filter_map(|index| Some((set.unit(index)?, index)))
            .filter(|(unit, _)| unit.unit.addr_base.0 > 0 || unit.unit.dwo_id.is_some())
            .map(|(unit, index)| (unit.unit.addr_base.0, index))
            .collect();
        parts.sort_unstable();
        for offset in indexed {
            // Several units may share one part.
            let Some(last) = parts.partition_point(|(base, _)| *base <= offset).checked_sub(1) else {
                continue;
            };
            let base = parts[last].0;
            units
                .extend(parts[..=last].iter().rev().take_while(|(b, _)| *b == base).map(|(_, index)| *index));
        }
    }
    units.sort_unstable();
    units.dedup();
    units
}

fn every_variable<'a>(image: &ImageData<'a>, arena: &'a Arena) -> Vec<(FixedVariable, Die<'a>)> {
    let Some(set) = image.units(arena) else { return Vec::new() };
    let mut all: Vec<(FixedVariable, Die<'a>)> = Vec::new();
    for root in (0..set.len()).filter_map(|index| image.unit_root(arena, index)) {
        all.extend(root.scan().variables.iter().map(|variable| (*variable, root.at(variable.die))));
    }
    all.sort_by_key(|(variable, die)| (variable.address, UnitOffset(die.offset.0)));
    all
}
