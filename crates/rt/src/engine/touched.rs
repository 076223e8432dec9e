//! Who has touched memory, and where: every 8 bytes remember each access that tells something new.
//!
//! What a cell has to answer is which earlier accesses conflict with a new one (bytes in common, another strand, one of the
//! two writes), all of them, since each is an instruction to be learnt. So it keeps every different access: instruction,
//! bytes, whether it wrote, and which strand, or that several did. An access at an instruction that is a point already has no
//! instruction here: there is nothing to learn of it, only from it.
//!
//! That is exact: of each conflicting pair of a run both are learnt when the later one is made. What has been noted need not
//! be compared again, since whoever conflicts with it and came later has found it. So an access that is made again costs a
//! few instructions.

use super::race::SYNC;
use super::race::marks::{self, Chain, Entry};
use super::sched::engine;
use super::{learn, shadow};

/// A cell's word, besides the bit of `race`: whether it writes, and the low half of the pc.
const CHAINED: u64 = 1 << 1;
const WRITES: u64 = 1 << 2;
const PC_SHIFT: u32 = 32;
/// Of a cell with one access: the strand's index + 1, or that several did this; the bytes.
const SEVERAL: u64 = 1 << 3;
const OWNER_SHIFT: u32 = 4;
const OWNER: u64 = 0x7FFF;
const BYTES_SHIFT: u32 = 20;
const BYTES: u64 = 0xFF << BYTES_SHIFT;
/// Of a cell with a chain of them: its number, and the last access of one of the first strands, if its bytes have a shape.
const FIRST_SHIFT: u32 = 3;
const FIRST_STRANDS: u64 = 15;
const SHAPE_SHIFT: u32 = 7;
const CHAIN_SHIFT: u32 = 12;
const CHAIN: u64 = (marks::NODES as u64 - 1) << CHAIN_SHIFT;
const _: () = assert!(marks::NODES <= 1 << (PC_SHIFT - CHAIN_SHIFT));

/// In an entry of a chain: more than one strand did this.
const SEVERAL_STRANDS: u16 = 0xFFFE;

static mut CHAINS: bool = false;
static mut LOST: bool = false;

/// Whether something could not be noted: there was no room.
pub fn has_lost() -> bool {
    // SAFETY: single kernel thread.
    unsafe { LOST || shadow::is_full() }
}

/// The bits of the bytes `from..from + size` of a cell.
#[inline(always)]
fn bits(from: u64, size: u64) -> u64 {
    ((1 << size) - 1) << from
}

/// Notes an access of the running strand, at an instruction that is no point yet, or 0; true if it conflicts with an
/// earlier one. The instructions of those are learnt.
#[inline(always)]
pub fn note(addr: u64, size: u32, write: bool, pc: u64) -> bool {
    let from = addr & 7;
    if from + size as u64 <= 8 {
        one(addr, bits(from, size as u64), write, pc)
    } else {
        many(addr, size, write, pc)
    }
}

#[inline(never)]
fn many(addr: u64, size: u32, write: bool, pc: u64) -> bool {
    let end = addr + size as u64;
    let (mut at, mut shared) = (addr, false);
    while at < end {
        let next = ((at & !7) + 8).min(end);
        shared |= one(at, bits(at & 7, next - at), write, pc);
        at = next;
    }
    shared
}

#[inline(always)]
fn one(addr: u64, bytes: u64, write: bool, pc: u64) -> bool {
    // SAFETY: the cell is in the shadow; single kernel thread.
    let cell = unsafe { &mut (*shadow::cell(addr)).touch };
    let me = engine().current.0 as u64 + 1;
    let what = pc << PC_SHIFT | (write as u64) << WRITES.trailing_zeros();
    let mine = what | bytes << BYTES_SHIFT | me << OWNER_SHIFT;
    let old = *cell & !SYNC;
    // The same, perhaps at other bytes: nobody else has been there.
    if (old ^ mine) & !BYTES == 0 {
        *cell |= mine;
        return false;
    }
    if old == 0 {
        *cell |= mine;
        learn::note_stack(addr, me);
        return false;
    }
    let last = last(what, bytes, me);
    if old & !CHAIN == last {
        return false;
    }
    further(cell, mine, last)
}

/// What a chained cell's word has of its last access, if that can be told exactly; 0 if not.
#[inline(always)]
fn last(what: u64, bytes: u64, me: u64) -> u64 {
    let from = bytes.trailing_zeros() as u64;
    let size = bytes.count_ones() as u64;
    if me > FIRST_STRANDS || !size.is_power_of_two() {
        return 0;
    }
    let shape = from | (size.trailing_zeros() as u64) << 3;
    what | shape << SHAPE_SHIFT | me << FIRST_SHIFT | CHAINED
}

fn chain_of(word: u64) -> Chain {
    Chain::numbered(((word & CHAIN) >> CHAIN_SHIFT) as u32)
}

fn chained(chain: Chain, last: u64) -> u64 {
    (chain.number() as u64) << CHAIN_SHIFT | last | CHAINED
}

/// The cell has been touched before, and not in this way the last time.
#[inline(never)]
fn further(cell: &mut u64, mine: u64, last: u64) -> bool {
    let old = *cell & !SYNC;
    let mut new = entry(mine);
    let mut shared = false;
    if old & CHAINED != 0 {
        let chain = chain_of(old);
        *cell = chained(chain, last) | *cell & SYNC;
        if chain.any(|entry| covers(entry, &new)) {
            return false;
        }
        chain.each_mut(|entry| shared |= meets(entry, &new));
        known_if(shared, &mut new);
        let mut joined = false;
        chain.each_mut(|entry| joined = joined || joins(entry, &new));
        if !joined && !chain.push(new) {
            lose();
        }
        return shared;
    }
    let mut first = entry(old);
    shared = meets(&mut first, &new);
    known_if(shared, &mut new);
    if joins(&mut first, &new) {
        *cell = word(&first) | *cell & SYNC;
        return shared;
    }
    match Chain::new() {
        Some(chain) => {
            chain.push(first);
            chain.push(new);
            *cell = chained(chain, last) | *cell & SYNC;
            // SAFETY: single kernel thread.
            unsafe { CHAINS = true }
        }
        None => lose(),
    }
    shared
}

#[cold]
fn lose() {
    // SAFETY: single kernel thread.
    unsafe { LOST = true }
}

/// An instruction that is learnt need not be kept.
fn known_if(shared: bool, entry: &mut Entry) {
    if shared {
        entry.pc = 0;
    }
}

fn entry(word: u64) -> Entry {
    let owner = (word >> OWNER_SHIFT & OWNER) as u16;
    let strand = if word & SEVERAL != 0 { SEVERAL_STRANDS } else { owner.wrapping_sub(1) };
    let mark = marks::mark(0, strand, (word >> BYTES_SHIFT) as u8);
    Entry { mark, pc: (word >> PC_SHIFT) as u32, write: (word & WRITES != 0) as u32 }
}

fn word(entry: &Entry) -> u64 {
    let strand = marks::strand(entry.mark) as u64;
    let owner = if strand == SEVERAL_STRANDS as u64 { SEVERAL } else { (strand + 1) << OWNER_SHIFT };
    let writes = if entry.write != 0 { WRITES } else { 0 };
    (entry.pc as u64) << PC_SHIFT | (marks::bytes(entry.mark) as u64) << BYTES_SHIFT | writes | owner
}

/// Whether two accesses conflict; if so the earlier one is learnt.
fn meets(earlier: &mut Entry, new: &Entry) -> bool {
    let meets = marks::bytes(earlier.mark & new.mark) != 0
        && earlier.write | new.write != 0
        && marks::strand(earlier.mark) != marks::strand(new.mark);
    if meets && earlier.pc != 0 {
        learn::learn_low(earlier.pc);
        earlier.pc = 0;
    }
    meets
}

/// Whether an entry says all that a new access does. Of one that several made, whoever conflicts with the new one conflicts
/// with one of them, too.
fn covers(entry: &Entry, new: &Entry) -> bool {
    let strand = marks::strand(entry.mark);
    (strand == marks::strand(new.mark) || strand == SEVERAL_STRANDS as usize)
        && marks::bytes(new.mark) & !marks::bytes(entry.mark) == 0
        && (entry.pc, entry.write) == (new.pc, new.write)
}

/// Takes a new access into an earlier one that differs from it in the bytes or in the strand; false if there is more to it.
fn joins(earlier: &mut Entry, new: &Entry) -> bool {
    if (earlier.pc, earlier.write) != (new.pc, new.write) {
        return false;
    }
    let bytes = marks::bytes(new.mark);
    if marks::strand(earlier.mark) == marks::strand(new.mark) {
        earlier.mark |= bytes as u64;
    } else if marks::bytes(earlier.mark) == bytes {
        earlier.mark = marks::mark(0, SEVERAL_STRANDS, bytes);
    } else {
        return false;
    }
    true
}

/// All of this memory is written, for the last time: true if others have touched it. Their instructions are learnt.
pub fn last_write(addr: u64, size: u64) -> bool {
    let mut shared = false;
    let new = Entry { mark: marks::mark(0, engine().current.0, 0xFF), pc: 0, write: 1 };
    shadow::each(addr, size, |cell| {
        let old = cell.touch & !SYNC;
        if old & CHAINED != 0 {
            chain_of(old).each_mut(|entry| shared |= meets(entry, &new));
        } else if old != 0 {
            let mut first = entry(old);
            if meets(&mut first, &new) {
                shared = true;
                cell.touch = word(&first) | cell.touch & SYNC;
            }
        }
    });
    shared
}

/// Gives back what these cells have of chains.
pub fn forget(cells: &[shadow::Cell]) {
    // SAFETY: single kernel thread.
    if !unsafe { CHAINS } {
        return;
    }
    for cell in cells.iter().filter(|cell| cell.touch & CHAINED != 0) {
        chain_of(cell.touch).free();
    }
}
