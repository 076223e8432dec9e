//! What lies behind a pointer, by the pointer's declared type: `account->balance` for "eight bytes at 40 behind the first parameter".
//!
//! Code without a run has no addresses of blocks, only ways to them. A way begins at a variable or a parameter and goes on from pointer to
//! pointer; the debug info of each names the next.

use crate::frame::Pc;
use crate::locals::Live;
use crate::scalar::NoScalar;
use crate::stack::StackFrame;
use crate::symbols::Symbols;
use crate::units::Die;
use crate::value::{Machine, Registers};
use crate::variable::{
    Library, captured, is_pointer, library_kind, part_at, part_type, pointer_in, size_of, stripped,
};

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
    /// A local variable, or a part of one, by where it lies in the frame of the function at a return address.
    Local {
        /// The return address.
        pc: u64,
        /// The distance from the stack pointer's value before the call.
        offset: i64,
    },
}

/// A frame of which only the distances count stands here.
const ANYWHERE: u64 = 1 << 40;

/// The DWARF number of the stack pointer.
const STACK_POINTER: u16 = 7;

impl Symbols {
    /// The name of `size` bytes behind a pointer; `offsets` are the distances at each step, all but the last leading to the next pointer. Without
    /// any it is the variable itself.
    pub fn behind(&self, start: Start, offsets: &[i64], size: u64) -> Option<String> {
        let first = if offsets.is_empty() { size } else { POINTER };
        match start {
            Start::Variable(address) => {
                let (index, _) = self.locate(address)?;
                let text = self.variable_access(address, first)?.to_string();
                self.with_linked(index, address, |image, arena, linked| {
                    let (ty, start) = part_type(image, arena, linked, POINTER)?;
                    follow(text, &ty, linked.checked_sub(start)?, offsets, size)
                })?
            }
            Start::Parameter { pc, number } => {
                let (index, _) = self.locate(pc)?;
                self.with_linked(index, pc, |image, arena, linked| {
                    let (text, ty) = parameter(&Live::at(image, arena, linked)?.function, number)?;
                    follow(text, &ty, 0, offsets, size)
                })?
            }
            Start::Local { pc, offset } => {
                let frame = self.some_frame(pc);
                let address = ANYWHERE.checked_add_signed(offset)?;
                let named = self.in_frame(frame, address, |_, held| {
                    let part = part_at(&held.ty, held.offset, first);
                    let text = format!("{}{}", held.name, part.path);
                    follow(text, &part.ty, held.offset.wrapping_sub(part.start), offsets, size)
                        .ok_or(NoScalar::NoVariable)
                });
                named.ok()
            }
        }
    }

    /// A frame of the function that goes on at a return address, as if it were somewhere.
    fn some_frame(&self, pc: u64) -> StackFrame {
        let no_memory = |_: u64, _: &mut [u8]| false;
        let registers = Registers::from_iter([(STACK_POINTER, ANYWHERE)]);
        let above = self.frame_address(Pc::Return(pc), &Machine::new(registers, &no_memory));
        let below = above.and_then(|above| above.checked_sub(ANYWHERE)).unwrap_or(0);
        StackFrame { pc, address: ANYWHERE, pointer: ANYWHERE.saturating_sub(below) }
    }
}

const POINTER: u64 = 8;

/// The name at the end of a way that begins with what has this name and type; the first pointer lies `within` it.
fn follow(mut text: String, ty: &Die<'_>, within: u64, offsets: &[i64], size: u64) -> Option<String> {
    let (mut ty, mut within) = (ty.clone(), within);
    let rust = ty.is_rust();
    for (step, &offset) in offsets.iter().enumerate() {
        let reference = is_reference(&ty);
        let pointee = pointee(&ty, within)?;
        let last = step + 1 == offsets.len();
        let bytes = if last { size } else { POINTER };
        let whole = size_of(&pointee).filter(|whole| *whole > 0)?;
        let offset = u64::try_from(offset).ok()?;
        let element = if offset >= whole { Some(offset / whole) } else { None };
        if let Some((name, held, start)) = captured(&pointee, offset % whole) {
            let offset = (offset % whole).checked_sub(start)?;
            let part = part_at(&held, offset, bytes);
            text = format!("{name}{}", part.path);
            (ty, within) = (part.ty, offset.checked_sub(part.start)?);
            continue;
        }
        let part = part_at(&pointee, offset % whole, bytes);
        text = match (element, part.path.strip_prefix('.')) {
            (Some(element), _) => format!("{text}[{element}]{}", part.path),
            (None, Some(field)) if rust || reference => format!("{text}.{field}"),
            (None, Some(field)) => format!("{text}->{field}"),
            (None, None) if reference => format!("{text}{}", part.path),
            (None, None) if part.path.is_empty() => format!("*{text}"),
            (None, None) => format!("(*{text}){}", part.path),
        };
        (ty, within) = (part.ty, (offset % whole).checked_sub(part.start)?);
    }
    Some(text)
}

/// Whether a type is a reference of C++.
fn is_reference(ty: &Die<'_>) -> bool {
    stripped(ty).is_some_and(|(_, entry)| {
        matches!(entry.tag(), gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type)
    })
}

/// What a type points to; of a library's pointer that counts or owns, what its pointer leads to.
fn pointee<'a>(ty: &Die<'a>, within: u64) -> Option<Die<'a>> {
    let (die, entry) = stripped(ty)?;
    if is_pointer(&entry) {
        return die.reference(&entry, gimli::DW_AT_type);
    }
    if matches!(library_kind(&die, &entry), Library::No) {
        return None;
    }
    let (die, entry) = stripped(&pointer_in(ty, within)?)?;
    let pointee = die.reference(&entry, gimli::DW_AT_type)?;
    // Rust's vectors keep bytes of which only they know what they are.
    let (die, entry) = stripped(&pointee)?;
    (!(die.is_rust() && entry.tag() == gimli::DW_TAG_base_type)).then_some(pointee)
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
