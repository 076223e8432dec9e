//! The order of concurrent events of a free run, as they are made.
//!
//! One counter gives every event its place in a table in shared memory: strand and instruction. So that the order is the
//! one in which memory was touched, a strand has a *lease* of the object from before it takes the number until the event is
//! over: an atomic operation's ends with it, a plain access's with the strand's next hook. A lease is waited for a short while
//! only. Its holder may have been stopped in between, or may compute for long before its next hook; it is taken from it then,
//! and the order of these two is a guess.
//!
//! A load that finds what the same instruction found there just before is no event: strands that spin would fill the table.
//! When the table is full the rest is not recorded.

use super::thread::{self, Thread};
use super::turns;
use crate::engine::shared;
use core::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use threadbare_abi::layout::{RECORDED, Recorded};

static ON: AtomicBool = AtomicBool::new(false);

/// Below this nothing is mapped.
const PAGE: u64 = 4096;
const LEASES: usize = 1 << 12;
/// Holders of the objects, each with its index and one more; 0 for nobody.
static HOLDERS: [AtomicU16; LEASES] = [const { AtomicU16::new(0) }; LEASES];
/// How often a lease is looked at without pause, and how often the processor is given away before it is taken.
const SPINS: u32 = 200;
const YIELDS: u32 = 40;
/// How often it is slept then, and for how long.
const NAPS: u32 = 40;
const NAP_NS: u64 = 100_000;

fn table() -> Option<&'static Recorded> {
    // SAFETY: the area is of this type; its fields are atomics.
    shared::area(RECORDED).map(|base| unsafe { &*base })
}

/// Empties the table (in the fork server), as far as it was used.
pub fn clear() {
    let Some(table) = table() else { return };
    let used = table.count.swap(0, Ordering::Relaxed) as usize;
    for event in table.events.iter().take(used) {
        event.store(0, Ordering::Relaxed);
    }
    table.strands.store(0, Ordering::Relaxed);
}

/// The run begins.
pub fn begin(wanted: bool) {
    ON.store(wanted, Ordering::Relaxed);
}

/// Whether events are recorded at this time.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// A strand exists from now on.
pub fn created(this: &Thread) {
    if let Some(table) = table()
        && let Some(path) = table.paths.get(this.index as usize)
    {
        path.store(this.path.0, Ordering::Relaxed);
        table.strands.fetch_max(this.index as u64 + 1, Ordering::Relaxed);
    }
}

/// The strand is about to touch an object, and does so before its next hook.
#[inline]
pub fn lease(me: &mut Thread, addr: u64) {
    let slot = (addr >> 3) as usize & (LEASES - 1);
    let holder = &HOLDERS[slot];
    let mine = me.index.wrapping_add(1);
    let mut tries = 0;
    while holder.compare_exchange_weak(0, mine, Ordering::Acquire, Ordering::Relaxed).is_err() {
        tries += 1;
        if tries < SPINS {
            core::hint::spin_loop();
        } else if tries < SPINS + YIELDS {
            // SAFETY: touches no memory.
            unsafe { crate::sys::syscall3(crate::sys::nr::SCHED_YIELD, 0, 0, 0) };
        } else if tries < SPINS + YIELDS + NAPS {
            // Its holder may want a processor.
            turns::nap(NAP_NS);
        } else {
            holder.store(mine, Ordering::Relaxed);
            break;
        }
    }
    me.lease = slot as u16 + 1;
}

/// The strand's lease, if it has one, is over.
#[inline(always)]
pub fn give_back(me: &mut Thread) {
    if me.lease != 0 {
        release(me);
    }
}

#[inline(never)]
fn release(me: &mut Thread) {
    // A handler of a signal may have given it back since it was looked at.
    let lease = core::mem::take(&mut me.lease);
    let Some(holder) = (lease as usize).checked_sub(1).and_then(|slot| HOLDERS.get(slot)) else { return };
    // It may have been taken away meanwhile.
    let _ = holder.compare_exchange(me.index.wrapping_add(1), 0, Ordering::Release, Ordering::Relaxed);
}

/// An event is made here and now.
#[inline]
pub fn event(me: &mut Thread, pc: u64) {
    me.looked = (0, 0, 0);
    number(me, pc);
}

/// A load is made here and now; the value may be one that it found before.
#[inline]
pub fn load(me: &mut Thread, addr: u64, value: u64, pc: u64) {
    if me.looked != (pc, addr, value) {
        me.looked = (pc, addr, value);
        number(me, pc);
    }
}

fn number(me: &Thread, pc: u64) {
    if thread::alive() < 2 {
        return;
    }
    let Some(table) = table() else { return };
    let at = table.count.fetch_add(1, Ordering::Relaxed) as usize;
    match table.events.get(at) {
        Some(event) => event.store((me.index as u64) << 48 | pc & 0xFFFF_FFFF_FFFF, Ordering::Relaxed),
        None => ON.store(false, Ordering::Relaxed),
    }
}

/// The value of a plain load that is about to be made; `None` if it is none that is compared.
#[inline]
pub fn value_at(addr: u64, size: u32) -> Option<u64> {
    if addr < PAGE {
        return None;
    }
    // SAFETY: the program is about to read this place itself.
    unsafe {
        Some(match size {
            1 => (addr as *const u8).read_volatile() as u64,
            2 => (addr as *const u16).read_unaligned() as u64,
            4 => (addr as *const u32).read_unaligned() as u64,
            8 => (addr as *const u64).read_unaligned(),
            _ => return None,
        })
    }
}
