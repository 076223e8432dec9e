//! From a line of a source file to the code made of it: the way back, for which debug info has no index.
//!
//! A panic names its place as file and line; the line tables of the units that know the file are read until one has
//! the line. A line with nothing but a call that was inlined is in no table: its code has the lines of the other
//! function, and only the call in the debug info names it.

use std::path::{Path, PathBuf};

use crate::image::{Arena, ImageData};
use crate::units::{Die, LoadedUnit};

/// Addresses that are looked at: a line in generic code has many, and each tells the same function.
const MOST: usize = 16;

/// Linked addresses of code made of a line, in the order of the line tables.
pub(crate) fn addresses<'a>(image: &ImageData<'a>, arena: &'a Arena, file: &Path, line: u32) -> Vec<u64> {
    let mut found = Vec::new();
    let Some(units) = image.units(arena) else { return found };
    let mut knowing = Vec::new();
    for index in 0..units.len() {
        let Some(loaded) = units.unit(index) else { continue };
        let Some(program) = loaded.unit.line_program.clone() else { continue };
        let files: Vec<u64> = (0..=program.header().file_names().len() as u64)
            .filter(|&at| path(&units.dwarf, &loaded, at).is_some_and(|path| same(&path, file)))
            .collect();
        if files.is_empty() {
            continue;
        }
        knowing.push(index);
        let mut rows = program.rows();
        // Damage ends this table; what was found before it is true.
        while let Ok(Some((_, row))) = rows.next_row() {
            let here = row.line().is_some_and(|at| at.get() == u64::from(line));
            if here && !row.end_sequence() && files.contains(&row.file_index()) {
                found.push(row.address());
                if found.len() == MOST {
                    return found;
                }
            }
        }
    }
    if found.is_empty() {
        for root in knowing.into_iter().filter_map(|index| image.unit_root(arena, index)) {
            // Damage ends the pass over this unit.
            let _ = inlined_calls(&root, file, line, &mut found);
            if !found.is_empty() {
                break;
            }
        }
    }
    found
}

/// Where code begins that a call on the line was replaced by.
fn inlined_calls(root: &Die<'_>, file: &Path, line: u32, found: &mut Vec<u64>) -> gimli::Result<()> {
    let unit = root.unit_ref();
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() && found.len() < MOST {
        let offset = entries.next_offset();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        entries.skip_attributes(abbreviation.attributes())?;
        if abbreviation.tag() != gimli::DW_TAG_inlined_subroutine {
            continue;
        }
        let Some(entry) = root.at(offset).entry() else { continue };
        let number = |name| entry.attr(name).and_then(|attribute| attribute.udata_value());
        let named = |index| root.decl_file(index).is_some_and(|path| same(&path, file));
        if number(gimli::DW_AT_call_line) == Some(u64::from(line))
            && number(gimli::DW_AT_call_file).is_some_and(named)
        {
            let range = unit.die_ranges(&entry)?.next()?;
            found.extend(range.map(|range| range.begin));
        }
    }
    Ok(())
}

/// A file of a unit's line table.
fn path(
    dwarf: &gimli::Dwarf<crate::units::Slice<'_>>,
    loaded: &LoadedUnit<'_>,
    index: u64,
) -> Option<PathBuf> {
    let unit = &loaded.unit;
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let text = |value| Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy().into_owned());
    let mut path = PathBuf::new();
    if let Some(folder) = unit.comp_dir {
        path.push(&*folder.to_string_lossy());
    }
    if let Some(folder) = file.directory(header) {
        path.push(text(folder)?);
    }
    path.push(text(file.path_name())?);
    Some(path)
}

/// Whether a file of the line table is the one that was named, be it from another folder.
pub(crate) fn same(known: &Path, named: &Path) -> bool {
    known.ends_with(named.strip_prefix(".").unwrap_or(named))
}
