//! Copies of whole structures, as gcc announces them.
//!
//! For `x = y` of a structure gcc's pass announces the write first, then the read, and only then come the loads and stores. The
//! announced write is not made at its own point: it is made with the read. So where a call that announces a read follows one
//! that announces a write, with nothing between them that could have stored, the write is put off until then, and
//! the two are one step. Which instructions these are is learnt like others, so that it is the same in every run.

use super::live::live;
use super::race::again;
use super::sched::engine;
use threadbare_abi::layout::WRITE_PUT_OFF;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;

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

/// Stands for an instruction whose write is put off, in the tables of known ones.
pub fn marker(pc: u64) -> u64 {
    WRITE_PUT_OFF | (pc as u32).wrapping_mul(0x85EB_CA6B) as u64
}

/// Whether what is known stands for such an instruction.
pub fn is_marker(known: u64) -> bool {
    known >> 32 == WRITE_PUT_OFF >> 32
}

/// Whether code that ends with a call only computes addresses before it: moves between registers, loads, additions.
fn stores_nothing(code: &[u8]) -> bool {
    let mut rest = code;
    loop {
        let after_rex = match rest {
            [0x40..=0x4F, after @ ..] => after,
            _ => rest,
        };
        let used = match *after_rex {
            // A call, direct or through a table, must be the last.
            [0xE8, _, _, _, _] | [0xFF, 0x15, _, _, _, _] => return true,
            // A constant to a register.
            [0xB8..=0xBF, ..] => 5,
            // An address or a load to a register.
            [0x8D | 0x8B, modrm, sib, ..] => 1 + operand(modrm, sib),
            // Between registers: a move, an addition, a subtraction, a constant.
            [0x89 | 0x01 | 0x29 | 0x63, 0xC0..=0xFF, ..] => 2,
            [0x83, 0xC0..=0xC7 | 0xE8..=0xEF, ..] => 3,
            [0x81 | 0xC7, 0xC0..=0xC7, ..] => 6,
            _ => return false,
        };
        match after_rex.get(used..) {
            Some(next) => rest = next,
            None => return false,
        }
    }
}

/// Bytes of an operand: mode, index, displacement.
fn operand(modrm: u8, sib: u8) -> usize {
    let base = modrm & 7;
    let index = usize::from(base == 4 && modrm < 0xC0);
    1 + index
        + match modrm >> 6 {
            0 if base == 5 || index == 1 && sib & 7 == 5 => 4,
            1 => 1,
            2 => 4,
            _ => 0,
        }
}
