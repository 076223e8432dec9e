//! Atomics and plain accesses of a free run.

use super::thread;
use super::{noise, sharing};
use crate::engine::learn::GATE;
use threadbare_abi::op::OpKind;

/// What [`GATE`] is while accesses of a free run are looked at.
pub const OPEN: u8 = 2;

/// Whether accesses of a free run are looked at.
#[inline(always)]
pub fn open() -> bool {
    // SAFETY: a byte that is written before the second strand exists.
    unsafe { GATE == OPEN }
}

/// A plain access. Safe in a signal, after fork.
#[inline]
pub fn plain(kind: OpKind, addr: u64, pc: u64) {
    let Some(me) = thread::me() else { return };
    let write = !matches!(kind, OpKind::Read | OpKind::ReadRange);
    match sharing::look(me, addr, write, pc) {
        sharing::Seen::Alone => {}
        sharing::Seen::Learnt | sharing::Seen::Known => {
            me.events += 1;
            noise::maybe(me, pc);
        }
    }
}

/// An atomic operation is about to be made. Safe in a signal, after fork.
#[cold]
#[inline(never)]
pub fn atomic(_kind: OpKind, _addr: u64, pc: u64) {
    let Some(me) = thread::me() else { return };
    me.events += 1;
    noise::maybe(me, pc);
}
