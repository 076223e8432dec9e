//! What lies behind a pointer, by the pointer's declared type: `account->balance` for "eight bytes at 40 behind the first parameter".
//!
//! Code without a run has no addresses of blocks, only ways to them. A way begins at a variable or a parameter and goes on from pointer to
//! pointer; the debug info of each names the next.

use crate::locals::Live;
use crate::symbols::Symbols;
use crate::units::Die;
use crate::variable::{part_at, part_type, size_of, stripped};

/// Where a way over pointers begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A pointer that is a global variable, or a part of one, by address.
    Variable(u64),
    /// A parameter, by its number among the integer arguments of the function at an address.
    Parameter {
        /// An address in the function.
        pc: u64,
        /// The argument, from 0.
        number: usize,
    },
}

impl Symbols {
    /// The name of `size` bytes behind a pointer; `offsets` are the distances at each step, all but the last leading to the next pointer.
    pub fn behind(&self, start: Start, offsets: &[i64], size: u64) -> Option<String> {
        let address = match start {
            Start::Variable(address) => address,
            Start::Parameter { pc, .. } => pc,
        };
        let (index, _) = self.locate(address)?;
        let variable = match start {
            Start::Variable(address) => Some(self.variable_access(address, 8)?.to_string()),
            Start::Parameter { .. } => None,
        };
        self.with_linked(index, address, |image, arena, linked| {
            let (mut text, mut ty) = match start {
                Start::Variable(_) => (variable?, part_type(image, arena, linked, 8)?.0),
                Start::Parameter { number, .. } => {
                    parameter(&Live::at(image, arena, linked)?.function, number)?
                }
            };
            for (step, &offset) in offsets.iter().enumerate() {
                let pointee = pointee(&ty)?;
                let last = step + 1 == offsets.len();
                let bytes = if last { size } else { 8 };
                let whole = size_of(&pointee).filter(|whole| *whole > 0)?;
                let offset = u64::try_from(offset).ok()?;
                let part = part_at(&pointee, offset % whole, bytes);
                let element = if offset >= whole { Some(offset / whole) } else { None };
                text = match (element, part.path.strip_prefix('.')) {
                    (Some(element), _) => format!("{text}[{element}]{}", part.path),
                    (None, Some(field)) => format!("{text}->{field}"),
                    (None, None) if part.path.is_empty() => format!("*{text}"),
                    (None, None) => format!("(*{text}){}", part.path),
                };
                ty = part.ty;
            }
            Some(text)
        })?
    }
}

/// What a type points to.
fn pointee<'a>(ty: &Die<'a>) -> Option<Die<'a>> {
    let (die, entry) = stripped(ty)?;
    let points = matches!(
        entry.tag(),
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
    );
    if points { die.reference(&entry, gimli::DW_AT_type) } else { None }
}

/// The name and type of the parameter that comes as an integer argument, as long as all before it take one register each.
fn parameter<'a>(function: &Die<'a>, number: usize) -> Option<(String, Die<'a>)> {
    let entry = function.entry()?;
    let result = function.type_of(&entry).and_then(|ty| size_of(&ty)).unwrap_or(0);
    // What does not fit into two registers is given back through a hidden first argument.
    let number = if result > 16 { number.checked_sub(1)? } else { number };
    let parameters =
        function.children().into_iter().filter(|(_, entry)| entry.tag() == gimli::DW_TAG_formal_parameter);
    for (at, (die, entry)) in parameters.enumerate() {
        let ty = die.type_of(&entry)?;
        let float = stripped(&ty).is_some_and(|(die, entry)| {
            entry.tag() == gimli::DW_TAG_base_type
                && matches!(die.type_name().as_str(), "float" | "double" | "f32" | "f64")
        });
        if float || size_of(&ty)? > 8 {
            return None;
        }
        if at == number {
            return Some((die.name(&entry)?.to_string_lossy().into_owned(), ty));
        }
    }
    None
}
