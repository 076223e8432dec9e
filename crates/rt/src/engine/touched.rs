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
//!
//! Entries are taken together where one can say the same: bytes of one strand's accesses at an instruction, strands that did the same to
//! the same bytes. Of points only matters what conflicts with them: a write says what a read does, and that several have written says
//! all. So memory that strands share, or only read, has one entry in the end, in the cell's own word.

use super::race::SYNC;
use super::race::marks::{self, Chain, Entry};
use super::sched::engine;
use super::{learn, shadow};

/// A cell's word, besides the bit of `race`: whether it writes, and the low half of the pc.
const CHAINED: u64 = 1 << 1;
const WRITES: u64 = 1 << 2;
const PC_SHIFT: u32 = 32;
const PC: u64 = !0 << PC_SHIFT;
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

/// An access as cells keep it: of the running strand, to bytes of one cell, at an instruction that is no point yet, or 0.
#[derive(Clone, Copy)]
pub struct New {
    addr: u64,
    bytes: u64,
    /// A power of two, or 0 if it has no shape.
    size: u32,
    /// Instruction and whether it writes.
    what: u64,
    me: u64,
}

impl New {
    /// One whose size is a power of two.
    #[inline(always)]
    pub fn of(addr: u64, size: u32, write: bool, pc: u64) -> New {
        New::part(addr, bits(addr & 7, size as u64), size, write, pc)
    }

    #[inline(always)]
    fn part(addr: u64, bytes: u64, size: u32, write: bool, pc: u64) -> New {
        let what = pc << PC_SHIFT | (write as u64) << WRITES.trailing_zeros();
        New { addr, bytes: bytes << BYTES_SHIFT, size, what, me: engine().current.0 as u64 + 1 }
    }

    /// The word of a cell that has been touched in no other way.
    #[inline(always)]
    fn alone(self) -> u64 {
        self.what | self.bytes | self.me << OWNER_SHIFT
    }

    /// What a chained cell's word has of its last access; only that there is a chain if more cannot be told exactly.
    #[inline(always)]
    fn last(self) -> u64 {
        if self.me > FIRST_STRANDS || self.size == 0 {
            return CHAINED;
        }
        let shape = self.addr & 7 | (self.size.trailing_zeros() as u64) << 3;
        self.what | shape << SHAPE_SHIFT | self.me << FIRST_SHIFT | CHAINED
    }

    /// Whether one look tells that the cell knows of it: the last access was the same, or the only one at other bytes, or
    /// several have done the same and nobody anything else.
    #[inline(always)]
    pub fn repeats(self, cell: *mut shadow::Cell) -> bool {
        // SAFETY: the cell is in the shadow; single kernel thread.
        let touch = unsafe { &mut (*cell).touch };
        let alone = self.alone();
        if (*touch ^ alone) & !(BYTES | SYNC) == 0 {
            *touch |= alone;
            return true;
        }
        if (*touch ^ (self.what | self.bytes | SEVERAL)) & (!(BYTES | SYNC) | self.bytes) == 0 {
            return true;
        }
        let last = self.last();
        (*touch ^ last) & !(CHAIN | SYNC) == 0 && last != CHAINED
    }

    /// Notes it; true if it conflicts with an earlier one. The instructions of those are learnt.
    #[inline(always)]
    pub fn note(self) -> bool {
        // SAFETY: the cell is in the shadow; single kernel thread.
        let touch = unsafe { &mut (*shadow::cell(self.addr)).touch };
        let old = *touch & !SYNC;
        let last = self.last();
        let new = entry(self.alone());
        if old & CHAINED != 0 {
            let chain = chain_of(old);
            *touch = chained(chain, last) | *touch & SYNC;
            return !again(chain, &new) && further(touch, new, last);
        }
        if old == 0 {
            *touch |= self.alone();
            learn::note_stack(self.addr, self.me);
            return false;
        }
        !covers(&entry(old), &new) && further(touch, new, last)
    }

    #[inline(never)]
    fn note_apart(self) {
        self.note();
    }
}

/// Notes an access of the running strand, at an instruction that is no point yet; true if it conflicts with an
/// earlier one. The instructions of those are learnt.
#[inline(always)]
pub fn note(addr: u64, size: u32, write: bool, pc: u64) -> bool {
    if (addr & 7) + size as u64 > 8 || !size.is_power_of_two() {
        return many(addr, size, write, pc);
    }
    let new = New::of(addr, size, write, pc);
    !new.repeats(shadow::cell(addr)) && new.note()
}

/// Notes an access that is a point: nothing is learnt of it.
#[inline(always)]
pub fn note_point(addr: u64, size: u32, write: bool) {
    let from = addr & 7;
    if from + size as u64 > 8 {
        many(addr, size, write, 0);
        return;
    }
    let bytes = bits(from, size as u64);
    // SAFETY: the cell is in the shadow; single kernel thread.
    let old = unsafe { (*shadow::cell(addr)).touch };
    // Several have written here: that says all there is to say.
    let whole = SEVERAL | WRITES | bytes << BYTES_SHIFT;
    if old & (PC | CHAINED | whole) != whole {
        New::part(addr, bytes, 0, write, 0).note_apart();
    }
}

#[inline(never)]
fn many(addr: u64, size: u32, write: bool, pc: u64) -> bool {
    let end = addr + size as u64;
    let (mut at, mut shared) = (addr, false);
    while at < end {
        let next = ((at & !7) + 8).min(end);
        let new = New::part(at, bits(at & 7, next - at), 0, write, pc);
        shared |= !new.repeats(shadow::cell(at)) && new.note();
        at = next;
    }
    shared
}

/// Whether the access is in the chain, perhaps at other bytes, which are added if nobody else has been there.
#[inline(always)]
fn again(chain: Chain, new: &Entry) -> bool {
    let mut own: *mut Entry = core::ptr::null_mut();
    let (mut met, mut twin) = (false, false);
    let covered = chain.any_mut(|entry| {
        if covers(entry, new) {
            return true;
        }
        let same = (entry.pc, entry.write) == (new.pc, new.write);
        if marks::strand(entry.mark ^ new.mark) == 0 {
            if same {
                own = entry;
            }
        } else {
            // With the new bytes the two may become one of several.
            twin |= same;
            met |= marks::bytes(entry.mark & new.mark) != 0 && entry.write | new.write != 0;
        }
        false
    });
    let grows = !covered && !met && !twin && !own.is_null();
    if grows {
        // SAFETY: an entry of the chain; single kernel thread.
        unsafe { (*own).mark |= marks::bytes(new.mark) as u64 }
    }
    covered || grows
}

fn chain_of(word: u64) -> Chain {
    Chain::numbered(((word & CHAIN) >> CHAIN_SHIFT) as u32)
}

fn chained(chain: Chain, last: u64) -> u64 {
    (chain.number() as u64) << CHAIN_SHIFT | last
}

/// The access tells something new of a cell that has been touched before.
#[inline(never)]
fn further(cell: &mut u64, mut new: Entry, last: u64) -> bool {
    let old = *cell & !SYNC;
    let mut shared = false;
    if old & CHAINED != 0 {
        let chain = chain_of(old);
        chain.each_mut(|entry| shared |= meets(entry, &new));
        known_if(shared, &mut new);
        let mut joined = false;
        chain.each_mut(|entry| joined = joined || joins(entry, &new));
        if joined {
            tidy(cell, chain);
        } else if !chain.push(new) {
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

/// Entries of a chain that are made fewer.
const FEW: usize = 6;

/// Takes together what one entry can say. A chain of which one is left is none.
fn tidy(cell: &mut u64, chain: Chain) {
    let mut kept = [Entry::default(); FEW];
    let (mut used, mut whole) = (0, true);
    chain.each(|entry| {
        let mut new = *entry;
        let mut at = 0;
        while at < used {
            if joins(&mut kept[at], &new) {
                // What it has become may go together with another one.
                new = kept[at];
                used -= 1;
                kept[at] = kept[used];
                at = 0;
            } else {
                at += 1;
            }
        }
        if used < FEW {
            kept[used] = new;
            used += 1;
        } else {
            whole = false;
        }
    });
    if !whole {
        return;
    }
    if used == 1 {
        *cell = word(&kept[0]) | *cell & SYNC;
        return chain.free();
    }
    chain.retain(|_| false);
    for entry in &kept[..used] {
        chain.push(*entry);
    }
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
/// with one of them, too. Of a point only matters what it conflicts with, and a write does so with all that a read does.
#[inline(always)]
fn covers(entry: &Entry, new: &Entry) -> bool {
    let strand = marks::strand(entry.mark);
    entry.pc == new.pc
        && (entry.write == new.write || entry.write != 0 && new.pc == 0)
        && (strand == marks::strand(new.mark) || strand == SEVERAL_STRANDS as usize)
        && marks::bytes(new.mark) & !marks::bytes(entry.mark) == 0
}

/// Takes a new access into an earlier one if one entry can say both; false if not.
fn joins(earlier: &mut Entry, new: &Entry) -> bool {
    if covers(earlier, new) {
        return true;
    }
    if covers(new, earlier) {
        *earlier = *new;
        return true;
    }
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
