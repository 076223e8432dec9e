//! Jump tables of `switch` and `match`: where a computed jump may go.
//!
//! Two forms are in use: a table of distances from the table itself, and, where addresses are fixed, a table of addresses. The table
//! is read for as long as its entries stay inside the function; entries of the next table only add edges that are not taken.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use crate::image::{Extent, Image, Slot};

/// How far before the jump its entry is read.
const NEAR: usize = 12;
/// Entries of one table beyond which it is taken for none.
const MOST: u64 = 16_384;

/// The targets of `jump`, whose predecessors are in `before`, nearest first.
pub(crate) fn targets(
    image: &Image,
    extent: &Extent,
    jump: &Instruction,
    before: &[&Instruction],
) -> Option<Vec<u64>> {
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
        // The register that the table's address is kept in may have been set long before.
        let entry = entry(before)?;
        // Unoptimised code of gcc has the index in the one and the table in the other.
        let parts = [entry.memory_base(), entry.memory_index()].map(Register::full_register);
        let sets = |i: &&&Instruction| {
            let set = i.op0_register().full_register();
            let base =
                if entry.mnemonic() == Mnemonic::Movsxd { set == parts[0] } else { parts.contains(&set) };
            i.op0_kind() == OpKind::Register && base
        };
        let tables = before.iter().filter(sets).filter_map(|instruction| loaded(instruction));
        for table in tables.filter(|table| image.is_constant(*table) && !image.is_code(*table)) {
            for at in 0..most(before, table) {
                let Some(distance) = image.i32_at(table.wrapping_add(4 * at)) else { break };
                let target = table.wrapping_add_signed(distance.into());
                if !inside(target) {
                    break;
                }
                found.push(target);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    (!found.is_empty()).then_some(found)
}

/// How many entries a table may have: as many as the comparison before the jump lets through, and none of the next table's.
fn most(before: &[&Instruction], table: u64) -> u64 {
    let next =
        before.iter().filter_map(|instruction| loaded(instruction)).filter(|other| *other > table).min();
    let room = next.map_or(MOST, |next| (next - table) / 4);
    let near = before.iter().take(NEAR);
    let bound = near.filter(|i| i.op_count() == 2 && i.op0_kind() == OpKind::Register).find_map(|i| {
        let number = || {
            matches!(
                i.op1_kind(),
                OpKind::Immediate8
                    | OpKind::Immediate8to32
                    | OpKind::Immediate8to64
                    | OpKind::Immediate32
                    | OpKind::Immediate32to64
            )
        };
        match i.mnemonic() {
            Mnemonic::Cmp | Mnemonic::And if number() => i.immediate(1).checked_add(1),
            _ => None,
        }
    });
    bound.unwrap_or(MOST).min(room).clamp(1, MOST)
}

/// Whether what stands before a jump computes it from memory by an index.
pub(crate) fn looks_like_table(jump: &Instruction, before: &[&Instruction]) -> bool {
    let indexed = |i: &Instruction| {
        i.op_kind(i.op_count().saturating_sub(1)) == OpKind::Memory && i.memory_index() != Register::None
    };
    if jump.op0_kind() == OpKind::Memory {
        return jump.memory_index() != Register::None;
    }
    entry(before).is_some_and(indexed)
}

/// The instruction that reads a distance from the table: one that widens it, or in unoptimised code of gcc one that `cdqe` follows.
fn entry<'a>(before: &[&'a Instruction]) -> Option<&'a Instruction> {
    let near = || before.iter().copied().take(NEAR);
    let from_memory = |i: &&Instruction| i.op_count() == 2 && i.op1_kind() == OpKind::Memory;
    let widens = near().filter(from_memory).find(|i| i.mnemonic() == Mnemonic::Movsxd);
    let reads = |i: &&Instruction| {
        i.mnemonic() == Mnemonic::Mov && i.memory_index() != Register::None && i.memory_size().size() == 4
    };
    let apart = || near().skip_while(|i| i.mnemonic() != Mnemonic::Cdqe).filter(from_memory).find(reads);
    widens.or_else(apart)
}

fn loaded(instruction: &Instruction) -> Option<u64> {
    let lea = instruction.mnemonic() == Mnemonic::Lea && instruction.memory_base() == Register::RIP;
    let immediate = instruction.mnemonic() == Mnemonic::Mov
        && matches!(
            instruction.op1_kind(),
            OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64
        );
    if lea {
        Some(instruction.memory_displacement64())
    } else if immediate {
        Some(instruction.immediate(1))
    } else {
        None
    }
}

fn base(before: &[&Instruction], register: Register) -> Option<u64> {
    let sets =
        |i: &&&Instruction| i.op0_kind() == OpKind::Register && i.op0_register().full_register() == register;
    loaded(before.iter().find(sets)?)
}
