//! From a line of a source file to the code made of it: the way back, for which debug info has no index.
//!
//! A panic names its place as file and line; the line tables of the units that know the file are read until one has
//! the line.

use std::path::{Path, PathBuf};

use crate::image::{Arena, ImageData};
use crate::units::LoadedUnit;

/// Addresses that are looked at: a line in generic code has many, and each tells the same function.
const MOST: usize = 16;

/// Linked addresses of code made of a line, in the order of the line tables.
pub(crate) fn addresses<'a>(image: &ImageData<'a>, arena: &'a Arena, file: &Path, line: u32) -> Vec<u64> {
    let mut found = Vec::new();
    let Some(units) = image.units(arena) else { return found };
    for index in 0..units.len() {
        let Some(loaded) = units.unit(index) else { continue };
        let Some(program) = loaded.unit.line_program.clone() else { continue };
        let files: Vec<u64> = (0..=program.header().file_names().len() as u64)
            .filter(|&at| path(&units.dwarf, &loaded, at).is_some_and(|path| same(&path, file)))
            .collect();
        if files.is_empty() {
            continue;
        }
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
    found
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
