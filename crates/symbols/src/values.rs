//! What variables hold, read from a stopped strand.

use std::cell::Cell;

use gimli::UnitOffset;

use crate::frame::Pc;
use crate::locals::{Live, Local};
use crate::symbols::Symbols;
use crate::value::{Evaluator, Limits, Machine, NoValue, Reader, Registers, Source, Value, step};
use crate::variable::part_type;

impl Symbols {
    /// The value of a local variable, as [`Symbols::locals`] gave it, in a frame that is at its address.
    pub fn value(&self, local: &Local, machine: &Machine<'_>, limits: Limits) -> Result<Value, NoValue> {
        let handle = local.handle;
        let found = self.with_linked(handle.module, handle.loaded, |image, arena, address| {
            let live = Live::at(image, arena, address).ok_or(NoValue::Location)?;
            let die = live.function.at(UnitOffset(handle.die));
            let ty = die.entry().and_then(|entry| die.type_of(&entry)).ok_or(NoValue::Type)?;
            let bias = handle.loaded.wrapping_sub(address);
            let module = handle.module;
            let evaluator = Evaluator { image, arena, live: &live, bias, module, machine, callers: 0 };
            let source = evaluator.source_of(&die)?;
            let left = Cell::new(limits.values);
            Ok(Reader { machine, limits, left: &left }.read(&ty, &source))
        });
        match found.unwrap_or(Err(NoValue::Location))? {
            Value::Unknown(why) => Err(why),
            value => Ok(value),
        }
    }

    /// The value of the global or static variable, or of its smallest part, that holds `size` bytes at an address.
    pub fn value_at(
        &self,
        address: u64,
        size: u64,
        machine: &Machine<'_>,
        limits: Limits,
    ) -> Result<Value, NoValue> {
        let (index, _) = self.locate(address).ok_or(NoValue::Location)?;
        let found = self.with_linked(index, address, |image, arena, linked| {
            let (ty, start) = part_type(image, arena, linked, size.max(1)).ok_or(NoValue::Type)?;
            let source = Source::Memory(start.wrapping_add(address.wrapping_sub(linked)));
            let left = Cell::new(limits.values);
            Ok(Reader { machine, limits, left: &left }.read(&ty, &source))
        });
        match found.unwrap_or(Err(NoValue::Location))? {
            Value::Unknown(why) => Err(why),
            value => Ok(value),
        }
    }

    /// The stack pointer's value before the call of the function at `pc`: DWARF's canonical frame address.
    pub fn frame_address(&self, pc: Pc, machine: &Machine<'_>) -> Option<u64> {
        machine.frame_address.or_else(|| Some(self.step(pc, machine)?.0))
    }

    /// The caller of the function at `pc`: where it goes on, and its registers as far as they were kept.
    pub fn caller(&self, pc: Pc, machine: &Machine<'_>) -> Option<(Pc, Registers)> {
        let (_, registers, return_address) = self.step(pc, machine)?;
        Some((Pc::Return(return_address?), registers))
    }

    fn step(&self, pc: Pc, machine: &Machine<'_>) -> Option<(u64, Registers, Option<u64>)> {
        let inside = pc.inside();
        let (index, _) = self.locate(inside)?;
        let caller =
            self.with_linked(index, inside, |image, arena, linked| step(image, arena, linked, machine))??;
        Some((caller.frame_address, caller.registers, caller.return_address))
    }
}
