//! Which plain accesses are shared, found out while strands run in parallel.
//!
//! A table keeps for places in memory who touched each last and at which instruction. An access that finds another strand
//! there, one of the two a write, makes both instructions known as shared, for the rest of the run and, through the driver,
//! for later ones. The table is lossy and unordered, which costs an instruction that is found later, never a wrong run.
//!
//! Looking costs a few nanoseconds, so an instruction that was looked at often without a result is looked at seldom.

use super::thread::Thread;
use crate::engine::live::live;
use crate::engine::shared;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use threadbare_abi::layout;
use threadbare_abi::noise::Wanted;

const SLOTS: usize = 1 << 16;
const CELLS: usize = 1 << 18;

/// Looks at an instruction before it is quiet.
const QUIET: u8 = 200;
/// Known to be shared since this run.
const LEARNT: u8 = 254;
/// Known to be shared before this run began.
const KNOWN: u8 = 255;
/// How many accesses of a strand at quiet instructions pass until one is looked at.
const SELDOM: u32 = 61;

static STATES: [AtomicU8; SLOTS] = [const { AtomicU8::new(0) }; SLOTS];
static PCS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
/// Where noise is not wanted, and where it is as in the caller.
static QUIETS: [AtomicU8; SLOTS] = [const { AtomicU8::new(0) }; SLOTS];
static TOUCHED: [AtomicU64; CELLS] = [const { AtomicU64::new(0) }; CELLS];

/// A cell: a part of the address, the strand, whether it wrote, and the instruction's slot.
const WRITE: u64 = 1 << 16;
const STRAND_SHIFT: u32 = 17;
const STRAND: u64 = 0x7FFF << STRAND_SHIFT;
const TAG_SHIFT: u32 = 32;
/// Strands share the place, and one writes: every instruction that touches it is shared.
const SHARED: u64 = 1 << 63;

/// What is known of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// As far as is known, no other strand touches what it does.
    Alone,
    /// It is shared, which came out in this run.
    Learnt,
    /// It is shared, and that was known before.
    Known,
}

/// Callers that are asked whether noise is wanted in a library they called.
const CALLERS: usize = 4;

/// Where the event at `pc` is made, seen from the code that noise is wanted in, and whether that call has made one before
/// (`inside`, as far as the innermost call is concerned). `None` if noise is not wanted there.
pub fn wanted(me: &mut Thread, pc: u64, inside: bool) -> Option<(u64, bool)> {
    let asked = |pc: u64| QUIETS[slot(pc)].load(Ordering::Relaxed);
    let (mut found, mut at) = (asked(pc), (pc, inside));
    for level in 0..CALLERS {
        if found != Wanted::AsInCaller as u8 {
            break;
        }
        let depth = me.stack.depth();
        let Some(entry) = depth.checked_sub(level + 1).and_then(|n| me.stack.entry(n)) else { break };
        note(entry.caller);
        found = asked(entry.caller);
        at = (entry.caller, me.stack.touch_caller(level + 1));
    }
    (found == Wanted::Here as u8).then_some(at)
}

/// An event that is no plain access was made at this instruction: the driver is told of it once.
pub fn note(pc: u64) {
    let slot = slot(pc);
    if STATES[slot].load(Ordering::Relaxed) < LEARNT {
        PCS[slot].store(pc, Ordering::Relaxed);
        learn(slot);
    }
}

#[inline(always)]
fn slot(pc: u64) -> usize {
    ((pc ^ pc >> 16) as usize) & (SLOTS - 1)
}

/// Takes over what the driver knows (in the fork server).
pub fn load_known(count: u64) {
    let Some(base) = shared::area(layout::KNOWN) else { return };
    for at in 0..(count as usize).min(layout::FACTS_CAPACITY) {
        // SAFETY: the known table holds FACTS_CAPACITY words.
        let (pc, wanted) = Wanted::decode(unsafe { base.add(at).read() });
        STATES[slot(pc)].store(KNOWN, Ordering::Relaxed);
        QUIETS[slot(pc)].store(wanted as u8, Ordering::Relaxed);
    }
}

/// What is known of an access at an instruction.
#[inline(always)]
pub fn look(me: &mut Thread, addr: u64, write: bool, pc: u64) -> Seen {
    let slot = slot(pc);
    match STATES[slot].load(Ordering::Relaxed) {
        // These leave their mark too, for those that are not known yet.
        KNOWN => {
            touch(me, addr, write, pc, slot);
            Seen::Known
        }
        LEARNT => {
            touch(me, addr, write, pc, slot);
            Seen::Learnt
        }
        QUIET => {
            me.until_look = me.until_look.wrapping_sub(1);
            if me.until_look > SELDOM {
                me.until_look = SELDOM;
                return touch(me, addr, write, pc, slot);
            }
            Seen::Alone
        }
        _ => touch(me, addr, write, pc, slot),
    }
}

#[inline(never)]
fn touch(me: &Thread, addr: u64, write: bool, pc: u64, slot: usize) -> Seen {
    let state = &STATES[slot];
    let looks = state.load(Ordering::Relaxed);
    if looks == 0 {
        PCS[slot].store(pc, Ordering::Relaxed);
    }
    if looks < QUIET {
        state.store(looks + 1, Ordering::Relaxed);
    }
    let cell = &TOUCHED[(addr >> 3) as usize & (CELLS - 1)];
    let tag = (addr >> 21 & 0x3FFF_FFFF | 1 << 30) << TAG_SHIFT;
    let mine = (me.index as u64) << STRAND_SHIFT;
    let old = cell.load(Ordering::Relaxed);
    let same = (old & !SHARED) >> TAG_SHIFT == tag >> TAG_SHIFT;
    if same && old & SHARED != 0 {
        learn(slot);
        return Seen::Learnt;
    }
    let own = same && old & STRAND == mine;
    if own && (old & WRITE != 0 || !write) {
        return Seen::Alone;
    }
    let shared = same && !own && (write || old & WRITE != 0);
    let marks = if write { WRITE } else { 0 } | if shared { SHARED } else { 0 };
    cell.store(tag | mine | marks | slot as u64, Ordering::Relaxed);
    if shared {
        learn(slot);
        learn(old as usize & (SLOTS - 1));
        return Seen::Learnt;
    }
    Seen::Alone
}

static LEARNING: AtomicBool = AtomicBool::new(false);

#[cold]
fn learn(slot: usize) {
    if STATES[slot].load(Ordering::Relaxed) >= LEARNT || LEARNING.swap(true, Ordering::Acquire) {
        // Whoever holds the lock learns something too; this one comes up again.
        return;
    }
    STATES[slot].store(LEARNT, Ordering::Relaxed);
    let pc = PCS[slot].load(Ordering::Relaxed);
    let mut counters = live();
    let at = counters.learnt as usize;
    if at < layout::FACTS_CAPACITY
        && pc != 0
        && let Some(base) = shared::area(layout::LEARNT)
    {
        // SAFETY: the learnt table holds FACTS_CAPACITY words; the lock is held.
        unsafe { base.add(at).write(pc) };
        counters.learnt += 1;
    }
    LEARNING.store(false, Ordering::Release);
}
