//! A race is told to the driver: once a run for each pair of instructions, in the records of the controlled check.

use super::super::tell::REPORT;
use super::super::thread::Thread;
use super::plain::Mine;
use super::{shadow, slots};
use crate::engine::live::live;
use crate::engine::{modules, report};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use threadbare_abi::op::OpKind;
use threadbare_abi::report::RecordTag;
use threadbare_rules::cells::{self, PC_BITS};

/// Races told in one run; a program with more has enough to do.
const MOST: u32 = 200;
const SEEN: usize = 1024;
const FRAMES: usize = 64;

/// Hashes of the pairs told, open addressing.
static TOLD: [AtomicU64; SEEN] = [const { AtomicU64::new(0) }; SEEN];

/// Memory where the program says that races are benign: first address and bytes.
static BENIGN: [(AtomicU64, AtomicU64); 64] = [const { (AtomicU64::new(0), AtomicU64::new(0)) }; 64];
static BENIGN_USED: AtomicUsize = AtomicUsize::new(0);

/// Races on this memory are not told.
pub fn benign(addr: u64, size: u64) {
    let at = BENIGN_USED.fetch_add(1, Ordering::Relaxed);
    if let Some((from, bytes)) = BENIGN.get(at) {
        from.store(addr, Ordering::Relaxed);
        bytes.store(size, Ordering::Relaxed);
    }
}

fn is_benign(addr: u64) -> bool {
    BENIGN
        .iter()
        .take(BENIGN_USED.load(Ordering::Relaxed))
        .any(|(from, bytes)| addr.wrapping_sub(from.load(Ordering::Relaxed)) < bytes.load(Ordering::Relaxed))
}

fn op_of(cell: u64) -> OpKind {
    match (cells::is_atomic(cell), cells::writes(cell)) {
        (true, true) => OpKind::AtomicStore,
        (true, false) => OpKind::AtomicLoad,
        (false, true) => OpKind::Write,
        (false, false) => OpKind::Read,
    }
}

/// Whether the pair is new; from now on it is not.
fn insert(pair: u64) -> bool {
    let pair = pair.max(1);
    for step in 0..SEEN {
        let place = &TOLD[((pair >> 40) as usize).wrapping_add(step) % SEEN];
        match place.compare_exchange(0, pair, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(found) if found == pair => return false,
            Err(_) => {}
        }
    }
    false
}

/// The access races with an earlier one, whose cell this is.
#[cold]
#[inline(never)]
pub fn race(me: &Thread, mine: &Mine, addr: u64, bits: u8, cell: u64) {
    let op = op_of(cell);
    let other = cells::low_pc(cell) | (op as u64) << PC_BITS;
    let pair = mine.pc.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ other;
    if is_benign(mine.addr) || live().races >= MOST || !insert(pair) {
        return;
    }
    // Nobody is left who owned the slot: it was given up in between, with all that was known.
    let Some(strand) = slots::owner(cells::slot(cell), cells::epoch(cell)) else { return };
    let _held = REPORT.hold();
    live().races += 1;
    let shared = bits & cells::bytes(cell);
    let first = (addr & !7) + shared.trailing_zeros() as u64;
    report::add(RecordTag::Race, me.index, [first, shared.count_ones() as u64, 0], format_args!(""));
    let size = mine.size << 8;
    let event = me.events.load(Ordering::Relaxed);
    report::add(RecordTag::Access, me.index, [mine.pc, event, mine.kind as u64 | size], format_args!(""));
    let mut told = 0;
    me.stack.walk(|pc| {
        if told < FRAMES {
            report::add(RecordTag::AccessFrame, me.index, [pc, 0, 0], format_args!(""));
            told += 1;
        }
    });
    for held in me.held.known() {
        report::add(RecordTag::AccessHeld, me.index, [held.addr as u64, held.pc, 0], format_args!(""));
    }
    let size = (cells::bytes(cell).count_ones() as u64) << 8;
    let pc = whole_pc(cells::low_pc(cell));
    report::add(RecordTag::Access, strand, [pc, 0, op as u64 | size], format_args!(""));
    if let Some(block) = shadow::find(first) {
        let freed = (block.freed_at != 0) as u64;
        report::add(RecordTag::Block, me.index, [block.user, block.size, freed], format_args!(""));
    }
}

/// The pc with these low bits.
fn whole_pc(low: u64) -> u64 {
    const STEP: u64 = 1 << PC_BITS;
    let whole = |module: &modules::Module| {
        let pc = module.base & !(STEP - 1) | low;
        (pc..module.end).step_by(STEP as usize).find(|pc| *pc >= module.base)
    };
    modules::all().iter().find_map(whole).unwrap_or(low)
}
