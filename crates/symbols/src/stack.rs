//! The local variable that an access to a frame touches, from any strand: what a function hands to others by address.
//!
//! The frame is told by where its function goes on, where it ends and where its stack pointer stands. The unwind table must say the same of
//! the instruction, or the frame is not believed; and of the variables in scope there, or of all that the function has, only one may hold the access.

use crate::frame::Pc;
use crate::locals::{Live, Storage};
use crate::scalar::{NoScalar, Scalar, class_at};
use crate::symbols::Symbols;
use crate::units::Die;
use crate::value::{Machine, Registers};
use crate::variable::{part_at, size_of};

/// The DWARF numbers of the frame pointer and of the stack pointer.
const FRAME_POINTER: u16 = 6;
const STACK_POINTER: u16 = 7;

/// A function's frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StackFrame {
    /// Where the function goes on: a return address.
    pub pc: u64,
    /// The stack pointer before the function was called: DWARF's canonical frame address.
    pub address: u64,
    /// The stack pointer that the function has between its calls.
    pub pointer: u64,
}

impl StackFrame {
    /// The same frame elsewhere, for those that ask the same question at many addresses.
    #[must_use]
    pub fn moved_to(self, address: u64) -> Self {
        let pointer = address.wrapping_sub(self.address.wrapping_sub(self.pointer));
        Self { address, pointer, ..self }
    }
}

impl Symbols {
    /// The local variable, or the part of one, that an access of `size` bytes at an address of a frame touches as a whole: `main::account.balance`.
    ///
    /// # Errors
    /// If there is none, or it is in doubt which it is or what the bytes mean.
    pub fn local_scalar(&self, frame: StackFrame, address: u64, size: u64) -> Result<Scalar, NoScalar> {
        self.in_frame(frame, address, |function, Held { name, ty, offset }| {
            let leaf = class_at(&ty, offset, size)?;
            let path = part_at(&ty, offset, size).path;
            Ok(Scalar::new(format!("{function}::{name}{path}"), size, leaf))
        })
    }

    /// The name of that variable and of the part that is accessed, whatever it is: `account.balance`, `queue.mutex`; and the function.
    pub fn local_access(&self, frame: StackFrame, address: u64, size: u64) -> Option<(String, String)> {
        let named = self.in_frame(frame, address, |function, Held { name, ty, offset }| {
            Ok((format!("{name}{}", part_at(&ty, offset, size).path), function.to_owned()))
        });
        named.ok()
    }

    /// What there is to say of the variable of a frame that holds an address.
    pub(crate) fn in_frame<T>(
        &self,
        frame: StackFrame,
        address: u64,
        told: impl Fn(&str, Held<'_>) -> Result<T, NoScalar>,
    ) -> Result<T, NoScalar> {
        let pc = Pc::Return(frame.pc);
        let frames = self.frames(pc);
        let function = frames.last().filter(|frame| !frame.is_library()).ok_or(NoScalar::NoVariable)?;
        let registers = self.registers(pc, frame).ok_or(NoScalar::NoVariable)?;
        let inside = pc.inside();
        let (index, _) = self.locate(inside).ok_or(NoScalar::NoVariable)?;
        let found = self.with_linked(index, inside, |image, arena, linked| {
            // Optimised code may have lost which block an instruction is of: then no other variable of the function may lie there.
            let in_scope = Live::at(image, arena, linked).ok_or(NoScalar::NoVariable)?;
            let found = match holding(&in_scope, frame, &registers, address)? {
                Some(found) => Some(found),
                None => {
                    let all = Live::anywhere(image, arena, linked).ok_or(NoScalar::NoVariable)?;
                    holding(&all, frame, &registers, address)?
                }
            };
            told(function.short_name(), found.ok_or(NoScalar::NoVariable)?)
        });
        found.ok_or(NoScalar::NoVariable)?
    }

    /// The registers that the places of locals count from, as far as the unwind table leaves no doubt of the frame.
    fn registers(&self, pc: Pc, frame: StackFrame) -> Option<Registers> {
        let no_memory = |_: u64, _: &mut [u8]| false;
        let agrees = |registers: &Registers| {
            let machine = Machine::new(*registers, &no_memory);
            self.frame_address(pc, &machine) == Some(frame.address)
        };
        // What is pushed first lies below the return address: the frame pointer of the caller, where there is one.
        let by_frame = Registers::from_iter([(FRAME_POINTER, frame.address.wrapping_sub(16))]);
        let by_stack = Registers::from_iter([(STACK_POINTER, frame.pointer)]);
        if agrees(&by_stack) {
            return Some(by_stack);
        }
        agrees(&by_frame).then(|| {
            let mut both = by_frame;
            both.set(STACK_POINTER, Some(frame.pointer));
            both
        })
    }
}

/// A variable that holds an address.
pub(crate) struct Held<'a> {
    pub(crate) name: String,
    pub(crate) ty: Die<'a>,
    /// How far the address is from its start.
    pub(crate) offset: u64,
}

/// The only one of these variables that holds an address of the frame.
fn holding<'a>(
    live: &Live<'a>,
    frame: StackFrame,
    registers: &Registers,
    address: u64,
) -> Result<Option<Held<'a>>, NoScalar> {
    let mut found: Option<Held<'a>> = None;
    for die in &live.variables {
        let Some(entry) = die.entry() else { continue };
        let Some(ty) = die.type_of(&entry) else { continue };
        let Some(whole) = size_of(&ty) else { continue };
        let start = |place: &Storage| match place {
            Storage::Stack(offset) => frame.address.checked_add_signed(*offset),
            Storage::Memory { register, offset } => {
                registers.get(*register).and_then(|value| value.checked_add_signed(*offset))
            }
            _ => None,
        };
        let within = |place: &Storage, size: u64| {
            start(place).and_then(|start| address.checked_sub(start)).filter(|offset| *offset < size)
        };
        let place = live.place(die, &entry, 0);
        let offset = match place {
            Storage::Computed => live.pieces(&entry).iter().find_map(|piece| {
                let offset = within(&piece.place, piece.size)?.checked_add(piece.skipped)?;
                (offset < whole).then_some(offset)
            }),
            place => within(&place, whole),
        };
        let Some(offset) = offset else { continue };
        let name = die.name(&entry).ok_or(NoScalar::Doubtful)?.to_string_lossy().into_owned();
        // An inlined closure has what it captures once more.
        let same = |known: &Held<'a>| {
            (&known.name, known.offset) == (&name, offset) && known.ty.type_name() == ty.type_name()
        };
        if !found.as_ref().is_none_or(same) {
            return Err(NoScalar::Doubtful);
        }
        found = Some(Held { name, ty, offset });
    }
    Ok(found)
}
