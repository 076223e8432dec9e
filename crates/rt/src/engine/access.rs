//! The way of a plain access that the compiler's pass announces, for each kind and size: nearly all of them end here.
//!
//! While races are looked for, what the strand has done before, since others last heard of it, ends after one look at the cell (`race::again`).
//!
//! What seldom matters goes the long way through [`learn::announced`]: accesses that cross a border of 8 bytes, copies, schedules
//! that stop at events, runs in which every access is told (they keep the gate at [`learn::WATCHED`], so that nothing is
//! asked here). What is left is one look each at the heap's shadow, the known instructions and the shadow of who touched what.

use super::learn::{self, is_private};
use super::live::live;
use super::race::again;
use super::stops::STOP_AT;
use super::touched::New;
use super::{addressable, copies, race, shadow, spin};
use threadbare_abi::op::OpKind;

/// An access; it is made right after this. What the strand has done before, since others last heard of it, is counted, and that is all: no
/// call, and of 8 bytes no register kept (`tests/tests/hooks.rs` reads the machine code).
#[inline(always)]
pub fn announced<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    let write = KIND != OpKind::Read as u8;
    if learn::first_known(pc) != 0 {
        return known::<KIND, SIZE>(addr, pc);
    }
    if SIZE > 8 || addr & (SIZE as u64 - 1) != 0 || again::is_nothing() {
        return new::<KIND, SIZE>(addr, pc, core::ptr::null_mut());
    }
    let cell = shadow::near(addr).unwrap_or(core::ptr::null_mut());
    // SAFETY: the cell is in the shadow.
    if cell.is_null() || !unsafe { again::may_be_made(cell, write, pc) } {
        return new::<KIND, SIZE>(addr, pc, cell);
    }
    let event = live().events + 1;
    // SAFETY: single kernel thread.
    let stops = event >= unsafe { STOP_AT };
    if stops || if write { learn::any_copies() } else { copies::may_follow(pc) } {
        return new::<KIND, SIZE>(addr, pc, cell);
    }
    // SAFETY: the cell is in the shadow.
    if !unsafe { again::is_made::<SIZE>(cell, write, addr, event, pc) } {
        return new::<KIND, SIZE>(addr, pc, cell);
    }
    live().events = event;
    learn::keep_last(addr, pc, event);
    if write {
        copies::announced(pc, event);
    }
}

/// Whether an access is one for the long way.
#[inline(always)]
fn is_odd<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) -> bool {
    let write = KIND != OpKind::Read as u8;
    let copies = if write { learn::any_copies() } else { copies::may_follow(pc) };
    SIZE > 8 || (addr & 7) + SIZE as u64 > 8 || copies || !addressable::is_plain(addr, SIZE)
}

/// An access whose instruction is a point, or has the place of one in the table.
#[inline(never)]
fn known<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    let Some(kind) = OpKind::from_code(KIND) else { return };
    if is_odd::<KIND, SIZE>(addr, pc) || learn::first_known(pc) != pc as u32 {
        return learn::announced(kind, addr, SIZE, pc);
    }
    learn::at_point::<KIND, SIZE>(addr, pc);
}

/// An access whose instruction is no point, and that may be new; with its cell, if that was looked for and is near. There is no call on the way, only
/// jumps to the ends.
#[inline(never)]
fn new<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64, cell: *mut shadow::Cell) {
    let Some(kind) = OpKind::from_code(KIND) else { return };
    let write = KIND != OpKind::Read as u8;
    if is_odd::<KIND, SIZE>(addr, pc) {
        return learn::announced(kind, addr, SIZE, pc);
    }
    let event = live().events + 1;
    // SAFETY: single kernel thread.
    if event >= unsafe { STOP_AT } {
        return learn::announced(kind, addr, SIZE, pc);
    }
    if is_private(addr) {
        learn::keep_last(addr, pc, event);
        return goes_on::<KIND, SIZE>(addr, pc, event, true);
    }
    let near = if cell.is_null() { shadow::near(addr) } else { Some(cell) };
    let Some(cell) = near else { return learn::announced(kind, addr, SIZE, pc) };
    learn::keep_last(addr, pc, event);
    if New::of(addr, SIZE, write, pc & 0xFFFF_FFFF).repeats(cell) {
        goes_on::<KIND, SIZE>(addr, pc, event, false);
    } else {
        differs::<KIND, SIZE>(addr, pc);
    }
}

/// The last access to these bytes was another one.
#[inline(never)]
fn differs<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    let new = New::of(addr, SIZE, KIND != OpKind::Read as u8, pc & 0xFFFF_FFFF);
    if new.note() {
        return learn::turns_out::<KIND, SIZE>(addr, pc);
    }
    goes_on::<KIND, SIZE>(addr, pc, live().events + 1, false);
}

/// The access is no point.
#[inline(always)]
fn goes_on<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64, event: u64, private: bool) {
    live().events = event;
    if KIND != OpKind::Read as u8 {
        copies::announced(pc, event);
    }
    if spin::is_looking() {
        return looks::<KIND, SIZE>(addr, pc, private);
    }
    raced::<KIND, SIZE>(addr, pc, private);
}

/// The same for a strand that may be spinning.
#[inline(never)]
fn looks<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64, private: bool) {
    spin::touched(pc, addr, SIZE);
    raced::<KIND, SIZE>(addr, pc, private);
}

#[inline(always)]
fn raced<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64, private: bool) {
    if !private
        && race::is_on()
        && let Some(kind) = OpKind::from_code(KIND)
    {
        race::access_noted(kind, addr, SIZE, pc);
    }
}
