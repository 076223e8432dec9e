//! Parameters and locals of one value at an instruction, and where their values are.

use super::{NoScalar, ScalarKind, class_at, class_of};
use crate::frame::Pc;
use crate::locals::{Live, Storage};
use crate::symbols::Symbols;
use crate::units::{Die, Entry};
use crate::value::{Machine, Registers};
use crate::variable::{size_of, stripped};

/// The DWARF numbers of the frame pointer and of the stack pointer.
const FRAME_POINTER: u16 = 6;
const STACK_POINTER: u16 = 7;
/// Some address that a frame may have.
const SOMEWHERE: u64 = 1 << 40;

/// A parameter or local variable of one value, at one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalScalar {
    /// Its name in the source.
    pub name: String,
    /// The function that it is of: 0 for the one that was not inlined, 1 for what was put into it, and so on.
    pub level: usize,
    /// Its bytes, 1, 2, 4 or 8.
    pub size: u8,
    /// What they mean.
    pub class: ScalarKind,
    /// Whether it is a parameter.
    pub parameter: bool,
    /// Where its value is; none if the debug info does not say, or it is computed.
    pub place: Option<LocalPlace>,
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocalPlace {
    /// In a general register, by its DWARF number.
    Register(u8),
    /// In the frame, so far from what a general register has.
    Frame {
        /// The DWARF number of the register.
        register: u8,
        /// What is added to it.
        offset: i32,
    },
    /// The compiler knows it.
    Constant(i64),
}

/// What a function gives back, if it is one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReturnScalar {
    /// Its bytes, 1, 2, 4 or 8.
    pub size: u8,
    /// What they mean.
    pub class: ScalarKind,
}

impl Symbols {
    /// What the function that was compiled at this address gives back; nothing if it gives back nothing.
    ///
    /// # Errors
    /// If it is more than one value, or one in a structure: how that comes back depends on more than its fields.
    pub fn return_scalar(&self, pc: Pc) -> Result<Option<ReturnScalar>, NoScalar> {
        let inside = pc.inside();
        let Some((index, _)) = self.locate(inside) else { return Ok(None) };
        let found = self.with_linked(index, inside, |image, arena, linked| {
            let function = Live::at(image, arena, linked)?.function;
            let entry = function.entry()?;
            Some(function.type_of(&entry).map(|ty| returned(&ty)))
        });
        found.flatten().flatten().transpose()
    }

    /// The parameters of one value that have one when the code is at this address, as far as that is beyond doubt.
    ///
    /// Only parameters are told: a local variable that lies in memory all the time, as they do without optimisation, has no value before the
    /// program gives it one.
    pub fn local_scalars(&self, pc: Pc) -> Vec<LocalScalar> {
        let inside = pc.inside();
        let Some((index, _)) = self.locate(inside) else { return Vec::new() };
        let frame = self.frame_rule(pc);
        let found = self.with_linked(index, inside, |image, arena, linked| {
            let Some(live) = Live::at(image, arena, linked) else { return Vec::new() };
            let mut all: Vec<LocalScalar> = Vec::new();
            for (die, &level) in live.variables.iter().zip(&live.levels) {
                let Some(scalar) = scalar(&live, die, level, frame) else { continue };
                // An inner block's variable hides the outer one of the same name.
                if !all.iter().any(|it| (it.level, &it.name) == (level, &scalar.name)) {
                    all.push(scalar);
                }
            }
            all
        });
        found.unwrap_or_default()
    }

    /// What the frame's address is counted from: a register, and what is added to it.
    fn frame_rule(&self, pc: Pc) -> Option<(u16, i64)> {
        let no_memory = |_: u64, _: &mut [u8]| false;
        [STACK_POINTER, FRAME_POINTER].into_iter().find_map(|register| {
            let machine = Machine::new(Registers::from_iter([(register, SOMEWHERE)]), &no_memory);
            let address = self.frame_address(pc, &machine)?;
            Some((register, address.wrapping_sub(SOMEWHERE).cast_signed()))
        })
    }
}

fn returned(ty: &Die<'_>) -> Result<ReturnScalar, NoScalar> {
    let (die, entry) = stripped(ty).ok_or(NoScalar::Doubtful)?;
    let simple = matches!(
        entry.tag(),
        gimli::DW_TAG_base_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
    );
    let size =
        size_of(&die).filter(|size| simple && matches!(size, 1 | 2 | 4 | 8)).ok_or(NoScalar::Doubtful)?;
    let class = class_of(&die, &entry)?;
    // A fraction of two bytes and the like.
    if class == ScalarKind::Float && size < 4 {
        return Err(NoScalar::Doubtful);
    }
    Ok(ReturnScalar { size: size as u8, class })
}

fn scalar<'a>(
    live: &Live<'a>,
    die: &Die<'a>,
    level: usize,
    frame: Option<(u16, i64)>,
) -> Option<LocalScalar> {
    let entry = die.entry()?;
    let parameter = entry.tag() == gimli::DW_TAG_formal_parameter;
    let name = die.name(&entry)?.to_string_lossy().into_owned();
    let hidden = is_flag(die, &entry, gimli::DW_AT_artificial) || name == "self" || name.starts_with("__");
    if hidden || !parameter {
        return None;
    }
    let ty = die.type_of(&entry)?;
    let size = size_of(&ty).filter(|size| matches!(size, 1 | 2 | 4 | 8))?;
    let leaf = class_at(&ty, 0, size).ok().filter(|leaf| leaf.part.is_empty() && leaf.content.is_none())?;
    let near = |register: u16, offset: i64| {
        let register = u8::try_from(register).ok().filter(|register| *register < 16)?;
        Some(LocalPlace::Frame { register, offset: i32::try_from(offset).ok()? })
    };
    let place = match live.place(die, &entry, 0) {
        Storage::Register(number) => {
            u8::try_from(number).ok().filter(|it| *it < 16).map(LocalPlace::Register)
        }
        Storage::Memory { register, offset } => near(register, offset),
        Storage::Stack(offset) => {
            frame.and_then(|(register, more)| near(register, offset.checked_add(more)?))
        }
        Storage::Constant(value) => Some(LocalPlace::Constant(value)),
        _ => None,
    };
    Some(LocalScalar { name, level, size: size as u8, class: leaf.class, parameter, place })
}

fn is_flag<'a>(die: &Die<'a>, entry: &Entry<'a>, name: gimli::DwAt) -> bool {
    die.with_attribute(entry, name).is_some()
}
