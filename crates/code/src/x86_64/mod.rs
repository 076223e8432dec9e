//! What is particular to x86-64: instructions, registers, the calling convention of System V, jump tables, stubs.

mod decode;
mod registers;
mod returning;
mod step;
mod tables;

pub(crate) use decode::flow;
pub(crate) use registers::{ARGUMENTS, REGISTERS, RESULT, SCRATCH, SECOND_RESULT, STACK, general};
pub(crate) use returning::{Returning, calls_to};
pub(crate) use step::{Stepper, condition};

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use crate::image::{Image, Slot};

/// Finds the stubs of a procedure linkage table: a jump through a slot that the loader fills.
pub(crate) fn stubs(image: &mut Image, start: u64, end: u64) {
    let mut found = Vec::new();
    let length = usize::try_from(end - start).unwrap_or(0);
    let bytes = image.bytes_at(start);
    let mut decoder = Decoder::with_ip(64, &bytes[..length.min(bytes.len())], start, DecoderOptions::NONE);
    let mut landing = None;
    for instruction in &mut decoder {
        if instruction.code() == Code::Endbr64 {
            landing = Some(instruction.ip());
            continue;
        }
        if let Some(slot) = slot_of(&instruction).filter(|_| instruction.mnemonic() == Mnemonic::Jmp)
            && let Some(Slot::Import(name, 0)) = image.slots.get(&slot)
        {
            found.push((instruction.ip(), name.clone()));
            found.extend(landing.map(|landing| (landing, name.clone())));
        }
        landing = None;
    }
    image.stubs.extend(found);
}

/// Whether an instruction writes memory that is not told by the stack's registers.
pub(crate) fn writes_beyond_frame(instruction: &Instruction) -> bool {
    let reads = matches!(
        instruction.mnemonic(),
        Mnemonic::Cmp
            | Mnemonic::Test
            | Mnemonic::Call
            | Mnemonic::Jmp
            | Mnemonic::Push
            | Mnemonic::Nop
            | Mnemonic::Bt
    );
    let frame = matches!(instruction.memory_base(), Register::RSP | Register::RBP);
    !reads && instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Memory && !frame
}

/// The fixed address of the memory operand, if it is one.
pub(crate) fn slot_of(instruction: &Instruction) -> Option<u64> {
    let memory = (0..instruction.op_count()).any(|op| instruction.op_kind(op) == OpKind::Memory);
    let fixed = instruction.memory_index() == Register::None
        && matches!(instruction.memory_base(), Register::RIP | Register::None)
        && instruction.segment_prefix() == Register::None;
    (memory && fixed).then(|| instruction.memory_displacement64())
}
