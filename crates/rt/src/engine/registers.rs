//! The registers of an access that a strand stands before; kept only where values are told.

use super::sched::{ATTENTION, attention, this};
use crate::arch::registers::LAST;
use core::sync::atomic::Ordering;
use threadbare_abi::local::REGISTERS;

/// The registers of an access that a strand stands before.
#[derive(Debug)]
pub struct Captured {
    pub pc: u64,
    /// By their DWARF numbers.
    pub registers: [u64; REGISTERS],
}

/// Does what an access at `pc` does, with its registers at hand.
#[inline]
pub fn with(pc: u64, go: impl FnOnce()) {
    if ATTENTION.load(Ordering::Relaxed) & attention::VALUES == 0 {
        return go();
    }
    // SAFETY: single kernel thread; nobody else has gone on since the stub.
    let captured = Captured { pc, registers: unsafe { LAST } };
    this().captured = &raw const captured;
    go();
    this().captured = core::ptr::null();
}
