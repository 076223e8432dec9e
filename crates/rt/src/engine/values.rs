//! What memory had before and after each access, for the driver to infer invariants from.
//!
//! The hook of an access comes before it, and a strand may be stopped in between. So what was there before is read when the strand
//! goes on, and what is there after it when the strand comes to its next event, before anyone else goes on. A run that nobody
//! wants values of pays nothing: the only tests are those for other things that are seldom wanted.

use super::sched::{ATTENTION, attention, this};
use super::{frames, record, spin};
use core::sync::atomic::Ordering;
use threadbare_abi::event::EventKind;
use threadbare_abi::op::{Op, OpKind};

/// Nothing is mapped below.
const LOWEST: u64 = 1 << 16;

/// The access whose outcome was not read yet: its address and size, 0 if there is none.
static mut OPEN: (u64, u32) = (0, 0);

/// Whether values are told.
#[inline(always)]
pub fn is_on() -> bool {
    ATTENTION.load(Ordering::Relaxed) & attention::VALUES != 0
}

/// The running strand goes on and makes the operation it stood before.
#[cold]
#[inline(never)]
pub fn made() {
    let this = this();
    let op = this.op;
    let is_access = op.kind.is_plain_access() || op.kind.is_atomic_access();
    if !is_access || !matches!(op.size, 1 | 2 | 4 | 8) || op.addr < LOWEST {
        return;
    }
    let depth = frames::untold(this, true, |pc, depth| {
        record::push(EventKind::Entered, this.id, Op::new(OpKind::Start, 0, pc), depth);
    });
    if crate::heap::contains(op.addr as usize)
        && let Some(block) = crate::heap::find(op.addr as usize).filter(|block| !block.freed)
    {
        let start = Op::new(OpKind::Start, block.user as u64, 0);
        record::push(EventKind::Block, this.id, start, block.size as u64);
    }
    let before = spin::load(op.addr, op.size as u8);
    record::push_made(this.id, op, before, depth);
    // SAFETY: single kernel thread.
    unsafe { OPEN = (op.addr, op.size) }
}

/// The running strand has come to its next event: what it did last is done.
#[cold]
#[inline(never)]
pub fn settle() {
    // SAFETY: single kernel thread.
    let (addr, size) = unsafe { core::mem::take(&mut *(&raw mut OPEN)) };
    if size != 0 {
        let op = Op { size, ..Op::new(OpKind::Read, addr, 0) };
        record::push(EventKind::Left, this().id, op, spin::load(addr, size as u8));
    }
}
