//! Copies of whole structures, as gcc announces them.
//!
//! For `x = y` of a structure gcc's pass announces the write first, then the read, and only then come the loads and stores. The
//! announced write is not made at its own point: it is made with the read. So where a call that announces a read follows one
//! that announces a write, with nothing between them that could have stored, the write is put off until then, and
//! the two are one step. Which instructions these are is learnt like others, so that it is the same in every run.

use super::live::live;
use super::race::again;
use super::sched::engine;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_rules::code::copy::stores_nothing;

/// A plain access.
#[derive(Clone, Copy)]
pub struct Access {
    /// What it is.
    pub kind: OpKind,
    /// Where.
    pub addr: u64,
    /// Bytes.
    pub size: u32,
    /// The instruction.
    pub pc: u64,
}

/// The last write that was announced: where, and the run's event count behind it. Whoever finds the same count is the strand
/// that made it.
static mut LAST: (u64, u64) = (0, 0);
/// The write that is put off, and by whom.
static mut PUT_OFF: Option<(StrandId, Access)> = None;

/// Bytes between the two calls at the most.
const FAR: u64 = 64;
/// Places that are no copies, by their instruction.
const SLOTS: usize = 256;
static mut NO_COPY: [u64; SLOTS] = [0; SLOTS];

/// A write was announced, the run's last event.
#[inline(always)]
pub fn announced(pc: u64, event: u64) {
    // SAFETY: single kernel thread.
    unsafe { LAST = (pc, event) }
}

/// Whether a read that is announced here may belong to a copy. Most do not, and need not be looked at any closer.
#[inline(always)]
pub fn may_follow(pc: u64) -> bool {
    // SAFETY: single kernel thread; the index is below SLOTS.
    unsafe {
        let put_off = &raw const PUT_OFF;
        (*put_off).is_some()
            || LAST.1 == live().events && pc.wrapping_sub(LAST.0) <= FAR && NO_COPY[pc as usize % SLOTS] != pc
    }
}

/// The write right before a read that is announced here, if the two are one copy and that is not known yet.
#[inline(always)]
pub fn found(pc: u64) -> Option<u64> {
    // SAFETY: single kernel thread.
    let (before, event) = unsafe { LAST };
    if event != live().events || pc.wrapping_sub(before) > FAR {
        return None;
    }
    look(before, pc).then_some(before)
}

#[inline(never)]
fn look(before: u64, pc: u64) -> bool {
    // SAFETY: single kernel thread; the index is below SLOTS.
    let slot = unsafe { &mut *(&raw mut NO_COPY[pc as usize % SLOTS]) };
    if *slot == pc {
        return false;
    }
    // SAFETY: the program's code between two calls it has made.
    let code = unsafe { core::slice::from_raw_parts(before as *const u8, (pc - before) as usize) };
    let copies = stores_nothing(code);
    if !copies {
        *slot = pc;
    }
    copies
}

/// The write is made with the read that follows.
pub fn put_off(write: Access) {
    // SAFETY: single kernel thread.
    unsafe { PUT_OFF = Some((engine().current, write)) }
    again::lapses();
}

/// Whether some write is put off.
pub fn is_put_off() -> bool {
    // SAFETY: single kernel thread.
    unsafe { (*(&raw const PUT_OFF)).is_some() }
}

/// The running strand's write that was put off.
#[inline(always)]
pub fn take() -> Option<Access> {
    // SAFETY: single kernel thread.
    let put_off = unsafe { &mut *(&raw mut PUT_OFF) };
    if put_off.is_none() {
        return None;
    }
    put_off.take_if(|(strand, _)| *strand == engine().current).map(|(_, write)| write)
}
