//! What is done, for a trace that is kept: accesses, atomic operations, and all that orders strands.
//!
//! Whoever joins two clocks says so here, so a reader of the trace can join the same ones and knows what this run knew. Nothing
//! is told before the second strand exists: all that is ordered before it. The event stream carries it.

use super::race::atomic as atomics;
use super::record;
use super::sched::{ATTENTION, attention, this};
use super::{ObjectId, StrandId, spin};
use core::sync::atomic::Ordering;
use threadbare_abi::event::{Event, EventKind, atomic as flags};
use threadbare_abi::op::{Op, OpKind, Order};

/// Whether what is done is told.
#[inline(always)]
pub fn is_on() -> bool {
    ATTENTION.load(Ordering::Relaxed) & attention::EFFECTS != 0
}

/// What the atomic operation under way met: a writer out of sight, and how many newer stores.
static mut MET: (bool, u8) = (false, 0);

/// The atomic object that is looked at was written out of sight.
pub fn met_unseen_writer() {
    // SAFETY: single kernel thread.
    unsafe { MET.0 = true }
}

/// The atomic operation did not see, or comes before, so many newer stores.
pub fn passed_over(back: usize) {
    // SAFETY: single kernel thread.
    unsafe { MET.1 = back.min(u8::MAX.into()) as u8 }
}

fn met() -> (bool, u8) {
    // SAFETY: single kernel thread.
    unsafe { core::mem::take(&mut *(&raw mut MET)) }
}

fn tell(kind: EventKind, op: u8, addr: u64, value: u64, pc: u64, size_order: u32) {
    record::write(Event { pc, addr, value, strand: this().id.0, kind: kind as u8, op, size_order });
}

fn of_object(kind: EventKind, object: ObjectId) {
    tell(kind, object.class as u8, object.addr, 0, this().op.pc, 0);
}

/// The running strand makes a plain access, or frees memory.
#[cold]
pub fn access(kind: OpKind, addr: u64, size: u64, pc: u64) {
    tell(EventKind::Accessed, kind as u8, addr, size, pc, 0);
}

/// The running strand has made an atomic operation that found this, or stored it. `refused`: an exchange that found another value than it
/// expected.
#[cold]
pub fn atomic(op: Op, found: u64, refused: bool) {
    let (unseen, back) = met();
    if !super::race::is_on() {
        return;
    }
    let Op { kind, order, addr, pc, .. } = op;
    let size = op.size as u8;
    let mut bits = 0;
    for (flag, holds) in [
        (flags::UNSEEN_WRITER, unseen),
        (flags::HIDDEN, atomics::is_hidden(addr, size)),
        (flags::REFUSED, refused),
    ] {
        bits |= if holds { flag } else { 0 };
    }
    let packed = u32::from(size) | u32::from(bits) << 8 | u32::from(back) << 16 | (order as u32) << 24;
    tell(EventKind::Atomic, kind as u8, addr, found, pc, packed);
    if size <= 8 && back == 0 {
        tell(EventKind::Left, kind as u8, addr, spin::load(addr, size), pc, size.into());
    }
}

/// A fence.
#[cold]
pub fn fence(order: Order) {
    tell(EventKind::Fenced, OpKind::Fence as u8, 0, 0, this().op.pc, (order as u32) << 24);
}

/// The running strand comes after all who released the object.
#[cold]
pub fn acquires(object: ObjectId) {
    of_object(EventKind::Acquired, object);
}

/// Whoever acquires the object comes after the running strand.
#[cold]
pub fn releases(object: ObjectId) {
    of_object(EventKind::Released, object);
}

/// The running strand comes after what the atomic objects of a word published.
#[cold]
pub fn acquires_word(addr: u64) {
    let (unseen, _) = met();
    tell(EventKind::AcquiredWord, 0, addr, unseen.into(), this().op.pc, 0);
}

/// The running strand comes after all that any strand did.
#[cold]
pub fn acquires_all() {
    tell(EventKind::AcquiredAll, 0, 0, 0, this().op.pc, 0);
}

/// The running strand comes after all of another, which has ended.
#[cold]
pub fn joined(other: StrandId) {
    tell(EventKind::Joined, OpKind::Join as u8, other.0.into(), 0, this().op.pc, 0);
}

/// Nothing is known of this memory any more.
#[cold]
pub fn forgotten(addr: u64, size: u64) {
    if super::race::is_on() && size != 0 {
        tell(EventKind::Forgotten, 0, addr, size, 0, 0);
    }
}
