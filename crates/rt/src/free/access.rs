//! Atomics and plain accesses of a free run.

use super::noise::{self, At};
use super::race::{self, plain::Mine};
use super::record;
use super::sharing::{self, Seen};
use super::thread::{self, Thread};
use crate::engine::learn::GATE;
use threadbare_abi::op::{OpKind, Order};

/// What [`GATE`] is while accesses of a free run are looked at: for noise and its kind, for races alone, for both. A controlled run has odd ones.
pub const OPEN: u8 = 2;
pub const RACES: u8 = 4;
pub const BOTH: u8 = 6;

/// Whether accesses of a free run are looked at.
#[inline(always)]
pub fn open() -> bool {
    // SAFETY: a byte that is written before the second strand exists.
    let gate = unsafe { GATE };
    gate != 0 && gate & 1 == 0
}

/// Whether noise, recording or coverage want to know of events.
#[inline(always)]
fn noisy() -> bool {
    // SAFETY: as above.
    unsafe { GATE & OPEN != 0 }
}

/// A plain access. Safe in a signal, after fork.
#[inline]
pub fn plain(kind: OpKind, addr: u64, size: u32, pc: u64) {
    let Some(mut me) = thread::me() else { return };
    if noisy() {
        record::give_back(&mut me);
        let write = kind.writes_memory();
        let seen = sharing::look(&mut me, addr, write, pc);
        if seen != Seen::Alone {
            shared(&mut me, kind, addr, size, pc, seen == Seen::Known);
        }
    }
    if race::on() {
        race::plain::access(&mut me, &Mine { kind, addr, size: size as u64, pc });
    }
}

#[inline(never)]
fn shared(me: &mut Thread, kind: OpKind, addr: u64, size: u32, pc: u64, known: bool) {
    let inside = me.count();
    noise::maybe(me, At::before(kind, addr, pc, inside));
    // What came out in this run is not recorded: the events before that would be missing.
    if known && record::on() {
        record::lease(me, addr);
        let value = if kind == OpKind::Read { record::value_at(addr, size) } else { None };
        match value {
            Some(value) => record::load(me, addr, value, pc),
            None => record::event(me, pc),
        }
    }
}

/// An atomic operation is about to be made. Safe in a signal, after fork.
#[cold]
#[inline(never)]
pub fn atomic(kind: OpKind, addr: u64, order: Order, pc: u64) {
    let Some(mut me) = thread::me() else { return };
    if noisy() {
        record::give_back(&mut me);
        let inside = me.count();
        noise::maybe(&mut me, At { order, ..At::before(kind, addr, pc, inside) });
        if record::on() {
            record::lease(&mut me, addr);
        }
    }
    if race::on() {
        race::atomic::before(&mut me, addr);
    }
}

/// An atomic operation has been made. `changed`: it may have changed something; else it found this value.
#[cold]
#[inline(never)]
pub fn atomic_over(addr: u64, value: u64, changed: bool, pc: u64) {
    let Some(mut me) = thread::me().filter(|_| noisy()) else { return };
    let this = &mut *me;
    this.past.found(&mut this.held, changed);
    if me.lease != 0 {
        match changed {
            true => record::event(&mut me, pc),
            false => record::load(&mut me, addr, value, pc),
        }
        record::give_back(&mut me);
    }
}

/// A fence. Safe in a signal, after fork.
#[cold]
pub fn fence(pc: u64) {
    let Some(mut me) = thread::me().filter(|_| noisy()) else { return };
    record::give_back(&mut me);
    let inside = me.count();
    noise::maybe(&mut me, At::before(OpKind::Fence, 0, pc, inside));
}
