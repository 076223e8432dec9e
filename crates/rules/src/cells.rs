//! Shadow cells of free runs: what is known of the last accesses to 8 bytes, in words that threads read and write at the same time.
//!
//! Every 8 bytes have [`CELLS`] cells of 64 bits (after ThreadSanitizer: Serebryany and Iskhodzhanov, WBIA 2009). A cell is one access: its
//! bytes, whether it wrote and was atomic, its slot and epoch ([`crate::epochs`]), and the low bits of its instruction. It is
//! written with one store, so place and time always belong together. What does not fit is forgotten: a race that needs it is missed in this
//! run. Two threads that look at the same time may both find nothing, too; nothing that is told is wrong.
//!
//! The lower half says all but the place: one comparison of it tells whether a strand did the same before, in the same epoch.

/// Cells of 8 bytes.
pub const CELLS: usize = 4;

/// A cell: bytes, flags, slot, epoch, generation, place.
const WRITES: u64 = 1 << 8;
const ATOMIC: u64 = 1 << 9;
const SLOT_SHIFT: u32 = 10;
/// Where the epoch begins: adding this to a stamp is the next epoch.
pub const EPOCH_SHIFT: u32 = 18;
const GENERATION_SHIFT: u32 = 35;
const PC_SHIFT: u32 = 36;
/// Bits of a pc that a cell has.
pub const PC_BITS: u32 = 64 - PC_SHIFT;
/// The last epoch of a slot.
pub const LAST_EPOCH: u32 = (1 << (GENERATION_SHIFT - EPOCH_SHIFT)) - 1;

/// What the lower half of a cell has beside bytes and slot, for the hooks.
pub const WRITES_BIT: u32 = WRITES as u32;

/// What a strand adds to each of its accesses: its slot and epoch, and the generation in which the slots count.
#[inline]
pub const fn stamp(slot: usize, epoch: u32, generation: u32) -> u64 {
    (slot as u64) << SLOT_SHIFT | (epoch as u64) << EPOCH_SHIFT | (generation as u64 & 1) << GENERATION_SHIFT
}

/// The cell of an access.
#[inline(always)]
pub const fn cell(stamp: u64, bytes: u8, writes: bool, atomic: bool, pc: u64) -> u64 {
    let flags = if writes { WRITES } else { 0 } | if atomic { ATOMIC } else { 0 };
    stamp | bytes as u64 | flags | pc << PC_SHIFT
}

/// The bytes it touched.
#[inline(always)]
pub const fn bytes(cell: u64) -> u8 {
    cell as u8
}

/// Whether it wrote.
#[inline(always)]
pub const fn writes(cell: u64) -> bool {
    cell & WRITES != 0
}

/// Whether it was atomic.
#[inline(always)]
pub const fn is_atomic(cell: u64) -> bool {
    cell & ATOMIC != 0
}

/// The slot of its strand.
#[inline(always)]
pub const fn slot(cell: u64) -> usize {
    (cell >> SLOT_SHIFT) as usize & 0xFF
}

/// When.
#[inline(always)]
pub const fn epoch(cell: u64) -> u32 {
    (cell >> EPOCH_SHIFT) as u32 & LAST_EPOCH
}

/// The low bits of its instruction.
#[inline(always)]
pub const fn low_pc(cell: u64) -> u64 {
    cell >> PC_SHIFT
}

#[inline(always)]
const fn of_one_generation(one: u64, other: u64) -> bool {
    (one ^ other) >> GENERATION_SHIFT & 1 == 0
}

/// What an access means to an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// There is none: the place is free.
    Free,
    /// It says something that the new one does not.
    Stays,
    /// It says no more than the new one.
    Goes,
    /// It says all that the new one does.
    Enough,
    /// Nothing orders the two, and one writes.
    Races,
}

/// What the access `new` means to the cell `old`. `knows`: the last epoch of a slot that happens before.
#[inline(always)]
pub fn fate(old: u64, new: u64, knows: impl Fn(usize) -> u32) -> Fate {
    if old == 0 || !of_one_generation(old, new) {
        return Fate::Free;
    }
    if bytes(old) & bytes(new) == 0 {
        return Fate::Stays;
    }
    let covered = bytes(old) & !bytes(new) == 0;
    let weaker = (writes(new) || !writes(old)) && (!is_atomic(new) || is_atomic(old));
    let goes = || if covered && weaker { Fate::Goes } else { Fate::Stays };
    if slot(old) == slot(new) {
        let stronger = (writes(old) || !writes(new)) && (!is_atomic(old) || is_atomic(new));
        if stronger && bytes(new) & !bytes(old) == 0 && epoch(old) == epoch(new) {
            return Fate::Enough;
        }
        return goes();
    }
    let ordered = knows(slot(old)) >= epoch(old);
    let conflict = (writes(old) || writes(new)) && !(is_atomic(old) && is_atomic(new));
    match (ordered, conflict) {
        (true, _) => goes(),
        (false, true) => Fate::Races,
        (false, false) => Fate::Stays,
    }
}

/// Bits of an address that choose its cells.
pub const FOLDED_BITS: u32 = 40;
const LOW_END: u64 = 0x55_0000_0000;
const MIDDLE_END: u64 = 0x80_0000_0000;

/// Whether an address has cells of its own. Addresses are folded to 40 bits: those of a program without address-space randomisation, at the bottom,
/// at 0x5555…, or close to the top of its half, stay apart. Of others nothing is noted, or two might share their cells.
#[inline(always)]
pub const fn has_cells(addr: u64) -> bool {
    let folded = addr & ((1 << FOLDED_BITS) - 1);
    match addr >> FOLDED_BITS {
        0 => folded < LOW_END,
        0x55 => folded >= LOW_END && folded < MIDDLE_END,
        0x7f => folded >= MIDDLE_END,
        _ => false,
    }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
