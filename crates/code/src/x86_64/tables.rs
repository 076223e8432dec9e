//! Jump tables of `switch` and `match`: where a computed jump may go.
//!
//! Two forms are in use: a table of distances from the table itself, and, where addresses are fixed, a table of addresses. The table
//! is read for as long as its entries stay inside the function; entries of the next table only add edges that are not taken.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use crate::image::{Extent, Image, Slot};

/// Entries of one table beyond which it is taken for none.
const MOST: u64 = 16_384;

/// The targets of `jump`, whose predecessors are in `before`, nearest first.
pub(crate) fn targets(image: &Image, extent: &Extent, jump: &Instruction, before: &[&Instruction]) -> Option<Vec<u64>> {
    let inside = |target: u64| (extent.start..extent.end).contains(&target);
    let mut found = Vec::new();
    if jump.op0_kind() == OpKind::Memory && jump.memory_index() != Register::None {
        // Addresses, by a number or by a register that a `lea` has set.
        let table = if jump.memory_base() == Register::None {
            Some(jump.memory_displacement64())
        } else {
            base(before, jump.memory_base())
        }?;
        for at in 0..MOST {
            let slot = table.wrapping_add(8 * at);
            let target = match image.slots.get(&slot) {
                Some(Slot::Address(target)) => *target,
                _ => image.u64_at(slot)?,
            };
            if !inside(target) {
                break;
            }
            found.push(target);
        }
    } else if jump.op0_kind() == OpKind::Register {
        let tables = before.iter().filter_map(|instruction| loaded(instruction));
        for table in tables.filter(|table| image.is_constant(*table) && !image.is_code(*table)) {
            for at in 0..MOST {
                let Some(distance) = image.i32_at(table.wrapping_add(4 * at)) else { break };
                let target = table.wrapping_add_signed(distance.into());
                if !inside(target) {
                    break;
                }
                found.push(target);
            }
            if !found.is_empty() {
                break;
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    (!found.is_empty()).then_some(found)
}

/// Whether what stands before a jump computes it from memory by an index.
pub(crate) fn looks_like_table(jump: &Instruction, before: &[&Instruction]) -> bool {
    let indexed = |i: &Instruction| i.op_kind(i.op_count().saturating_sub(1)) == OpKind::Memory && i.memory_index() != Register::None;
    if jump.op0_kind() == OpKind::Memory {
        return jump.memory_index() != Register::None;
    }
    let mut near = before.iter().take(6);
    near.any(|i| i.mnemonic() == Mnemonic::Movsxd && indexed(i))
}

fn loaded(instruction: &Instruction) -> Option<u64> {
    let lea = instruction.mnemonic() == Mnemonic::Lea && instruction.memory_base() == Register::RIP;
    let immediate = instruction.mnemonic() == Mnemonic::Mov
        && matches!(instruction.op1_kind(), OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64);
    if lea {
        Some(instruction.memory_displacement64())
    } else if immediate {
        Some(instruction.immediate(1))
    } else {
        None
    }
}

fn base(before: &[&Instruction], register: Register) -> Option<u64> {
    let sets = |i: &&&Instruction| i.op0_kind() == OpKind::Register && i.op0_register().full_register() == register;
    loaded(before.iter().find(sets)?)
}
