//! A race is told to the driver: once a run for each pair of instructions.

use super::super::strand::Strand;
use super::super::{frames, live::live, modules, report};
use threadbare_abi::op::OpKind;
use threadbare_abi::report::RecordTag;
use threadbare_rules::marks::{self, Entry};

/// An access of the running strand.
#[derive(Clone, Copy)]
pub struct Mine {
    /// What it is.
    pub kind: OpKind,
    /// Where.
    pub addr: u64,
    /// Bytes.
    pub size: u32,
    /// The instruction.
    pub pc: u64,
}

impl Mine {
    /// Whether it writes.
    #[inline(always)]
    pub fn writes(&self) -> bool {
        !self.kind.only_reads_memory()
    }
}

/// Races told in one run; a program with more has enough to do.
const MOST: u32 = 200;
const SEEN: usize = 1024;

/// Hashes of the pairs told, open addressing.
static mut TOLD: [u64; SEEN] = [0; SEEN];

/// Memory where the program says that races are benign.
static mut BENIGN: [(u64, u64); 64] = [(0, 0); 64];
static mut BENIGN_USED: usize = 0;

/// Races on this memory are not told.
pub fn benign(addr: u64, size: u64) {
    // SAFETY: single kernel thread.
    unsafe {
        if BENIGN_USED < 64 {
            BENIGN[BENIGN_USED] = (addr, size);
            BENIGN_USED += 1;
        }
    }
}

fn is_benign(addr: u64) -> bool {
    // SAFETY: single kernel thread.
    let benign = unsafe { &(&*(&raw const BENIGN))[..BENIGN_USED] };
    benign.iter().any(|&(from, size)| addr.wrapping_sub(from) < size)
}

#[inline(always)]
fn pair(pc: u64, other: u32, op: OpKind) -> u64 {
    pc.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (other as u64 | (op as u64) << 32)
}

#[inline(always)]
fn slot(pair: u64) -> usize {
    (pair >> 40) as usize % SEEN
}

/// Whether one look tells that an access here is known to race with an earlier plain one there.
#[inline(always)]
pub fn is_told(pc: u64, other: u32, op: OpKind) -> bool {
    let pair = pair(pc, other, op);
    // SAFETY: single kernel thread; the index is below SEEN.
    unsafe { TOLD[slot(pair)] == pair }
}

/// The access races with an earlier plain one.
#[inline(never)]
pub fn race(this: &Strand, mine: &Mine, bits: u8, other: Entry) {
    let op = if other.write != 0 { OpKind::Write } else { OpKind::Read };
    told(this, mine, bits, other, op);
}

/// The access races with an earlier atomic one.
#[inline(never)]
pub fn race_with_atomic(this: &Strand, mine: &Mine, bits: u8, other: Entry) {
    let op = if other.write != 0 { OpKind::AtomicStore } else { OpKind::AtomicLoad };
    told(this, mine, bits, other, op);
}

fn told(this: &Strand, mine: &Mine, bits: u8, other: Entry, op: OpKind) {
    if is_told(mine.pc, other.pc, op) || !super::tells() {
        return;
    }
    // SAFETY: single kernel thread.
    if live().races >= MOST || is_benign(mine.addr) || !unsafe { insert(pair(mine.pc, other.pc, op)) } {
        return;
    }
    live().races += 1;
    let shared = bits & marks::bytes(other.mark);
    let first = (mine.addr & !7) + shared.trailing_zeros() as u64;
    report::add(RecordTag::Race, this.id.0, [first, shared.count_ones() as u64, 0], format_args!(""));
    let size = (mine.size as u64) << 8;
    report::add(
        RecordTag::Access,
        this.id.0,
        [mine.pc, live().events, mine.kind as u64 | size],
        format_args!(""),
    );
    here(this);
    let size = (marks::bytes(other.mark).count_ones() as u64) << 8;
    report::add(
        RecordTag::Access,
        marks::strand(other.mark) as u16,
        [modules::whole_pc(other.pc), marks::event(other.mark), op as u64 | size],
        format_args!(""),
    );
    if let Some(block) = crate::heap::find(first as usize) {
        report::add(
            RecordTag::Block,
            this.id.0,
            [block.user as u64, block.size as u64, block.freed as u64],
            format_args!(""),
        );
    }
}

unsafe fn insert(pair: u64) -> bool {
    // SAFETY: single kernel thread; MOST is far below SEEN, so there is a free slot.
    let told = unsafe { &mut *(&raw mut TOLD) };
    let mut at = slot(pair);
    while told[at] != 0 {
        if told[at] == pair {
            return false;
        }
        at = (at + 1) % SEEN;
    }
    told[at] = pair;
    true
}

/// Callers that are told.
const FRAMES: usize = 64;

/// The stack and the locks of the running strand, for the record before.
pub fn here(this: &Strand) {
    let mut told = 0;
    frames::walk(this, true, |pc| {
        if told < FRAMES {
            report::add(RecordTag::AccessFrame, this.id.0, [pc, 0, 0], format_args!(""));
            told += 1;
        }
    });
    for held in &this.held {
        report::add(RecordTag::AccessHeld, this.id.0, [held.object.addr, held.pc, 0], format_args!(""));
    }
}
