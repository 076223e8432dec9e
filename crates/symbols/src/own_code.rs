//! A library's function that has taken in code of the program: a generic one with a closure, the beginning of a strand.
//!
//! Optimised Rust has hardly a strand whose code is in a function of its own name; what the compiler reports as a function is the
//! library's, and only its inside tells whose it is.

use crate::frame::{Frame, Origin, Pc, origin_of_file};
use crate::source::normalized;
use crate::symbols::Symbols;
use std::path::Path;

/// Places of a function that are looked at closely; what it has taken in is more than a few of them.
const MOST: usize = 64;

impl Symbols {
    /// The program's own code in the function that holds an address: the outermost frame of the first place that has one.
    pub fn own_code_in(&self, pc: Pc) -> Option<Frame> {
        let inside = pc.inside();
        let (index, _) = self.locate(inside)?;
        let rows = self.with_linked(index, inside, |image, arena, address| {
            let function = image.symbols().function(address)?;
            let to_loaded = inside.wrapping_sub(address);
            // Where the innermost code is the program's, that is sure; else it may be around a library's.
            let (mut sure, mut others) = (None, Vec::new());
            image.for_each_row(arena, function.start, function.end, |row, file| {
                let row = row.wrapping_add(to_loaded);
                match file.map(|file| origin_of_file(&normalized(Path::new(file)))) {
                    Some(Origin::User | Origin::Dependency) if sure.is_none() => sure = Some(row),
                    _ => others.push(row),
                }
            });
            let step = others.len().div_ceil(MOST).max(1);
            Some(sure.into_iter().chain(others.into_iter().step_by(step)).collect::<Vec<_>>())
        })??;
        rows.into_iter().find_map(|address| {
            let frames = self.find_frames(Pc::At(address));
            // Code that stands for no line has the unit's file, whoever wrote it.
            let own = |frame: &Frame| frame.line.is_some() && frame.origin() != Origin::Library;
            frames.into_iter().rev().find(|frame| frame.file.is_some() && own(frame))
        })
    }
}
