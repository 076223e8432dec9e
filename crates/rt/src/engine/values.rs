//! What memory had before and after each access, for the driver to infer invariants from.
//!
//! The hook of an access comes before it, and a strand may be stopped in between. So what was there before is read when the strand
//! goes on, and what is there after it when the strand comes to its next event, before anyone else goes on. A run that nobody
//! wants values of pays nothing: the only tests are those for other things that are seldom wanted.
//!
//! Parameters and locals are read by a plan of the driver's (`threadbare_abi::local`): in registers, which the stubs of plain accesses keep on a way that only
//! such runs take, and on the strand's own stack.

use super::sched::{ATTENTION, attention, this};
use super::{frames, record, shared, spin};
use core::sync::atomic::Ordering;
use threadbare_abi::event::EventKind;
use threadbare_abi::layout;
use threadbare_abi::local::{self, Operand};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// Nothing is mapped below.
const LOWEST: u64 = 1 << 16;

/// Accesses to more bytes are not told: they are structures that are copied as a whole.
const MOST: u32 = 64;

/// An access whose outcome was not read yet; of 0 bytes if there is none.
struct Open {
    addr: u64,
    size: u32,
    /// The frame that it is in, on the strand's own stack.
    frame: Option<usize>,
}

static mut OPEN: Open = Open { addr: 0, size: 0, frame: None };

/// Tells the parameters and locals of the access that the running strand makes.
fn tell_locals(op: Op) {
    let this = this();
    // SAFETY: null, or in a frame of the strand's that is there until the access is made; after a jump out of it, in what was one on the same stack.
    let Some(captured) = (unsafe { this.captured.as_ref() }).filter(|captured| captured.pc == op.pc) else {
        return;
    };
    let Some(table) = shared::area(layout::PLACES) else { return };
    // SAFETY: indices are masked or compared with the table's size; nobody writes it during a run.
    let word = |at: usize| unsafe { table.add(at).read() };
    let mut slot = local::slot(op.pc);
    while word(2 * slot) != op.pc {
        if word(2 * slot) == 0 {
            return;
        }
        slot = (slot + 1) & (local::SLOTS - 1);
    }
    let places = word(2 * slot + 1);
    let (first, count) = (places as u32 as usize, (places >> 32) as usize);
    for number in first..(first + count).min(local::PLACES) {
        let Some(Operand { register, offset, size }) = Operand::decode(word(2 * local::SLOTS + number))
        else {
            continue;
        };
        let base = captured.registers[register as usize];
        let value = match offset {
            None => base & (u64::MAX >> (64 - 8 * size as u32)),
            Some(offset) => {
                let at = base.wrapping_add_signed(offset as i64) as usize;
                let frame = captured.registers[7] as usize..this.stack.1.saturating_sub(7);
                if !frame.contains(&at) {
                    continue;
                }
                spin::load(at as u64, size)
            }
        };
        record::push(EventKind::Local, this.id, Op::new(OpKind::Start, number as u64, op.pc), value);
    }
}

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
    if !is_access || !(1..=MOST).contains(&op.size) || op.addr < LOWEST {
        return;
    }
    let depth = frames::untold(&this, true, |pc, depth| {
        record::push(EventKind::Entered, this.id, Op::new(OpKind::Start, 0, pc), depth);
    });
    let mut frame = None;
    if crate::heap::contains(op.addr as usize)
        && let Some(block) = crate::heap::find(op.addr as usize).filter(|block| !block.freed)
    {
        let start = Op::new(OpKind::Start, block.user as u64, 0);
        record::push(EventKind::Block, this.id, start, block.size as u64);
    } else if let Some((owner, holder)) = holder(op.addr as usize) {
        let op = Op::new(OpKind::Start, holder.frame as u64, holder.pc);
        record::push(EventKind::Block, this.id, op, holder.calls as u64);
        frame = (owner == this.id).then_some(holder.frame);
    }
    tell_locals(op);
    for (at, size) in pieces(op.size) {
        let piece = Op { addr: op.addr + u64::from(at), size, ..op };
        record::push_made(this.id, piece, spin::load(piece.addr, size as u8), depth, at > 0);
    }
    // SAFETY: single kernel thread.
    unsafe { OPEN = Open { addr: op.addr, size: op.size, frame } }
}

/// So many bytes as words and what is left over, each with its place.
fn pieces(size: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let piece = [8, 4, 2, 1].into_iter().find(|piece| size - at >= *piece)?;
        at += piece;
        Some((at - piece, piece))
    })
}

/// The frame that an address is in, on whatever strand's stack.
fn holder(addr: usize) -> Option<(StrandId, frames::Holder)> {
    let mut all = (0..super::strand_count()).map(|index| super::strand(StrandId(index as u16)));
    let owner = all.find(|strand| !strand.ended && strand.stack.0 <= addr && addr < strand.stack.1)?;
    Some((owner.id, frames::holding(&owner, owner.id == super::me(), addr)?))
}

/// The running strand has come to its next event: what it did last is done.
#[cold]
#[inline(never)]
pub fn settle() {
    // SAFETY: single kernel thread.
    let open = unsafe { &mut *(&raw mut OPEN) };
    let size = core::mem::take(&mut open.size);
    if size == 0 {
        return;
    }
    // The function may have returned since, and others have been where its frame was.
    let lives = |frame| holder(open.addr as usize).is_some_and(|(_, now)| now.frame == frame && !now.untold);
    if !open.frame.is_none_or(lives) {
        return;
    }
    for (at, size) in pieces(size) {
        let op = Op { size, ..Op::new(OpKind::Read, open.addr + u64::from(at), 0) };
        record::push(EventKind::Left, this().id, op, spin::load(op.addr, size as u8));
    }
}
