//! A library's function that has taken in code of the program: a generic one with a closure, the beginning of a strand.
//!
//! Optimised Rust has hardly a strand whose code is in a function of its own name; what the compiler reports as a function is the
//! library's, and only its inside tells whose it is.

use crate::frame::{Frame, Origin, Pc};
use crate::symbols::Symbols;

/// Places of a function that are looked at.
const MOST: usize = 512;

impl Symbols {
    /// The program's own code in the function that holds an address: the outermost frame of the first place that has one.
    pub fn own_code_in(&self, pc: Pc) -> Option<Frame> {
        let inside = pc.inside();
        let (index, _) = self.locate(inside)?;
        let rows = self.with_linked(index, inside, |image, arena, address| {
            let function = image.symbols().function(address)?;
            let to_loaded = inside.wrapping_sub(address);
            let mut rows = Vec::new();
            image.for_each_row(arena, function.start, function.end, |row| {
                if rows.len() < MOST {
                    rows.push(row.wrapping_add(to_loaded));
                }
            });
            Some(rows)
        })??;
        rows.into_iter().find_map(|address| {
            let frames = self.find_frames(Pc::At(address));
            // Code that stands for no line has the unit's file, whoever wrote it.
            let own = |frame: &Frame| frame.line.is_some() && frame.origin() != Origin::Library;
            frames.into_iter().rev().find(|frame| frame.file.is_some() && own(frame))
        })
    }
}
