//! Which plain accesses are points.
//!
//! A plain access is a point where its instruction has been seen touching memory that two strands touch, one of them
//! writing. That is learnt: a shadow word for every 8 bytes keeps who touched it while several strands were alive.
//! An instruction learnt in a run is a point from then on, in this run and (through the driver) in later ones; at the
//! fixpoint every conflicting pair is a pair of points.

use super::follow::STOP_AT;
use super::live::live;
use super::sched::{self, Phase, engine, point};
use super::{memory, record, shared, spin};
use threadbare_abi::layout::{self, PointMode};
use threadbare_abi::op::{Op, OpKind, Order};

/// 0 while no plain access can matter: bare run, before `main`, only one strand alive.
pub static mut GATE: u8 = 0;

/// Whether plain accesses are looked at.
pub fn set_gate(open: bool) {
    // SAFETY: single kernel thread.
    unsafe { GATE = open as u8 }
}

const HOT_SLOTS: usize = 1 << 16;
/// Above this many, everything is a point: the table would get slow.
const HOT_MOST: usize = HOT_SLOTS / 2;

/// Low halves of the known pcs, open addressing; a clash makes one more point, the same in every run.
static mut HOT: [u32; HOT_SLOTS] = [0; HOT_SLOTS];
static mut HOT_COUNT: usize = 0;
static mut KNOWN_LOADED: usize = 0;
static mut MODE: PointMode = PointMode::Shared;

#[inline(always)]
fn slot(pc: u64) -> usize {
    (((pc as u32).wrapping_mul(0x9E37_79B1)) >> 16) as usize & (HOT_SLOTS - 1)
}

#[inline(always)]
fn is_hot(pc: u64) -> bool {
    let key = pc as u32;
    let mut at = slot(pc);
    // SAFETY: indices are masked; single kernel thread.
    unsafe {
        loop {
            let found = HOT[at];
            if found == key {
                return true;
            }
            if found == 0 {
                return false;
            }
            at = (at + 1) & (HOT_SLOTS - 1);
        }
    }
}

/// Makes an instruction a point; true if it was none.
fn insert(pc: u64) -> bool {
    if is_hot(pc) {
        return false;
    }
    // SAFETY: as above.
    unsafe {
        if HOT_COUNT >= HOT_MOST {
            if MODE == PointMode::Shared {
                MODE = PointMode::All;
            }
            return false;
        }
        let mut at = slot(pc);
        while HOT[at] != 0 {
            at = (at + 1) & (HOT_SLOTS - 1);
        }
        HOT[at] = pc as u32;
        HOT_COUNT += 1;
    }
    true
}

/// Takes over what the driver knows (in the fork server, so that every child has it).
pub fn load_known(count: u64) {
    let Some(base) = shared::area(layout::KNOWN_OFFSET) else { return };
    let count = (count as usize).min(layout::PCS_CAPACITY);
    // SAFETY: the known table holds PCS_CAPACITY pcs; single kernel thread.
    unsafe {
        while KNOWN_LOADED < count {
            insert((base as *const u64).add(KNOWN_LOADED).read());
            KNOWN_LOADED += 1;
        }
    }
}

/// Sets what a point is, for this run.
pub fn begin(mode: PointMode) {
    // SAFETY: single kernel thread.
    unsafe { MODE = mode }
}

fn learn(pc: u64) {
    if !insert(pc) {
        return;
    }
    let counters = live();
    let at = counters.learnt as usize;
    if at < layout::PCS_CAPACITY
        && let Some(base) = shared::area(layout::LEARNT_OFFSET)
    {
        // SAFETY: the learnt table holds PCS_CAPACITY pcs.
        unsafe { (base as *mut u64).add(at).write(pc) }
        counters.learnt += 1;
    }
}

const LEAF_BITS: u32 = 21;
const LEAF_CELLS: usize = 1 << (LEAF_BITS - 3);
const LEAVES: usize = 4096;
const OWNER: u32 = 0xFFFF;
const WRITTEN: u32 = 1 << 16;
const MANY: u32 = 1 << 17;

#[derive(Clone, Copy)]
struct Leaf {
    key: u64,
    cells: *mut u32,
}

static mut TABLE: [Leaf; LEAVES] = [Leaf { key: 0, cells: core::ptr::null_mut() }; LEAVES];
static mut LAST: Leaf = Leaf { key: 0, cells: core::ptr::null_mut() };
static mut POOL: usize = 0;
static mut POOL_LEFT: usize = 0;

/// Reserves shadow memory in the fork server, so that the children need no system call for it.
pub fn init() {
    // SAFETY: once, single kernel thread.
    unsafe {
        POOL = memory::reserve(LEAVES * LEAF_CELLS * 4);
        POOL_LEFT = LEAVES;
    }
}

#[inline]
fn cell(addr: u64) -> *mut u32 {
    let key = (addr >> LEAF_BITS) + 1;
    // SAFETY: single kernel thread; a leaf has LEAF_CELLS cells.
    unsafe {
        if LAST.key != key {
            LAST = find_leaf(key);
        }
        LAST.cells.add((addr >> 3) as usize & (LEAF_CELLS - 1))
    }
}

#[cold]
fn find_leaf(key: u64) -> Leaf {
    let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) as usize & (LEAVES - 1);
    // SAFETY: as above; the table is never full, because there are only so many leaves.
    unsafe {
        loop {
            let found = TABLE[at];
            if found.key == key {
                return found;
            }
            if found.key == 0 {
                if POOL_LEFT <= 1 {
                    // A run that touches 8 GiB of shared memory shares the last leaf: more points, no fewer.
                    return Leaf { key, cells: POOL as *mut u32 };
                }
                let made = Leaf { key, cells: POOL as *mut u32 };
                POOL += LEAF_CELLS * 4;
                POOL_LEFT -= 1;
                TABLE[at] = made;
                return made;
            }
            at = (at + 1) & (LEAVES - 1);
        }
    }
}

/// Notes that the running strand touches 8 bytes; true if another strand does too and one of them writes.
#[inline]
fn touch(addr: u64, write: bool) -> bool {
    let cell = cell(addr);
    let me = engine().current.0 as u32 + 1;
    let flag = if write { WRITTEN } else { 0 };
    // SAFETY: `cell` is in the shadow.
    unsafe {
        let old = *cell;
        if old == 0 {
            *cell = me | flag;
            return false;
        }
        let many = if old & OWNER == me { old & MANY } else { MANY };
        let new = old | flag | many;
        if new != old {
            *cell = new;
        }
        new & (MANY | WRITTEN) == (MANY | WRITTEN)
    }
}

/// Fresh memory (allocated, or a new strand's) belongs to nobody yet.
pub fn forget(addr: u64, size: u64) {
    // SAFETY: reading the gate on the single kernel thread.
    if unsafe { GATE } == 0 || size > 1 << 16 {
        return;
    }
    let mut at = addr & !7;
    while at < addr + size {
        // SAFETY: `cell` is in the shadow.
        unsafe { *cell(at) = 0 }
        at += 8;
    }
}

/// A plain access while several strands are alive.
#[inline]
pub fn access(kind: OpKind, addr: u64, size: u32, pc: u64) {
    // SAFETY: single kernel thread.
    let mode = unsafe { MODE };
    let write = !matches!(kind, OpKind::Read | OpKind::ReadRange);
    if mode == PointMode::All || mode == PointMode::Shared && is_hot(pc) {
        access_point(kind, addr, size, pc, write)
    } else {
        access_alone(kind, addr, size, pc, write, mode)
    }
}

/// An access at an instruction that is no point; it may turn out to be one, or a schedule may stop at it.
#[inline(never)]
fn access_alone(kind: OpKind, addr: u64, size: u32, pc: u64, write: bool, mode: PointMode) {
    // SAFETY: single kernel thread.
    let mut stops = live().events + 1 >= unsafe { STOP_AT };
    if mode == PointMode::Shared {
        let mut shared = touch(addr, write);
        let last = (addr + size.max(1) as u64 - 1) & !7;
        let mut at = (addr & !7) + 8;
        while at <= last {
            shared |= touch(at, write);
            at += 8;
        }
        if shared {
            learn(pc);
            stops = true;
        }
    }
    if stops {
        return access_point(kind, addr, size, pc, write);
    }
    spin::touched(pc, addr, size);
    live().events += 1;
    if engine().plan.record == layout::Record::Everything as u32 {
        let op = Op { kind, order: Order::Relaxed, size, addr, pc };
        record::push(threadbare_abi::event::EventKind::Point, engine().current, op, live().events);
    }
}

fn access_point(kind: OpKind, addr: u64, size: u32, pc: u64, write: bool) {
    if engine().phase != Phase::Running {
        return;
    }
    point(Op { kind, order: Order::Relaxed, size, addr, pc });
    if write {
        // A store to shared memory is progress only if it may change something; a spin that writes the same value
        // again and again is caught by the limit on points or time.
        sched::progress();
    } else if size <= 8 {
        // SAFETY: the program is about to read this place itself.
        let value = unsafe {
            match size {
                1 => (addr as *const u8).read_volatile() as u64,
                2 => (addr as *const u16).read_unaligned() as u64,
                4 => (addr as *const u32).read_unaligned() as u64,
                8 => (addr as *const u64).read_unaligned(),
                _ => return,
            }
        };
        spin::observe(pc, addr, value, size as u8);
    }
}
