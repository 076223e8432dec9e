//! Plain accesses, and frees, against what others did to the same bytes: the rules are those of `threadbare-rules`.

use super::super::shadow::{self, Cell};
use super::super::strand::Strand;
use super::tell::{self, Mine};
use super::{SYNC, atomic, hidden, marks};
use threadbare_abi::op::OpKind;
use threadbare_rules::plain::Access;
use threadbare_rules::{Who, bits, each};

impl Who for Strand {
    #[inline(always)]
    fn strand(&self) -> u16 {
        self.id.0
    }

    #[inline(always)]
    fn knows(&self, strand: usize) -> u64 {
        self.clock.get(strand)
    }

    /// It, or somebody out of sight for all, has published that.
    #[inline(always)]
    fn heard_of(&self) -> u64 {
        // SAFETY: single kernel thread.
        self.clock.get(self.id.index()).max(unsafe { hidden::ALL_HEARD })
    }
}

/// The running strand makes an access.
#[inline]
pub fn access(this: &mut Strand, event: u64, mine: &Mine, noted: bool) {
    let from = mine.addr & 7;
    let size = mine.size as u64;
    if from + size <= 8 {
        one(this, event, mine, shadow::cell(mine.addr), bits(from, size), noted);
    } else {
        each(mine.addr, size, |addr, bits| one(this, event, mine, shadow::cell(addr), bits, false));
    }
}

/// An access within one cell, if there is nothing new to be told and the cell's two marks will do; else nothing is done, and that is
/// false.
#[inline(always)]
pub fn quick<const NOTED: bool>(
    this: &Strand,
    event: u64,
    writes: bool,
    addr: u64,
    size: u64,
    pc: u64,
) -> bool {
    let access = Access { event, pc, bits: bits(addr & 7, size), writes, noted: NOTED };
    // SAFETY: the cell is in the shadow; single kernel thread.
    let cell = unsafe { &mut *shadow::cell(addr) };
    if cell.touch & SYNC != 0 {
        return false;
    }
    let told =
        |other: u32, wrote: bool| tell::is_told(pc, other, if wrote { OpKind::Write } else { OpKind::Read });
    marks::with(|chains| cell.marks.quick(chains, this, &access, told))
}

/// Whether the last write of a cell covers these bytes, and nobody uses them atomically.
#[inline(always)]
pub fn is_known_written(addr: u64, size: u64) -> bool {
    // SAFETY: the cell is in the shadow; single kernel thread.
    let cell = unsafe { &*shadow::cell(addr) };
    cell.touch & SYNC == 0 && bits(addr & 7, size) & !(cell.marks.write as u8) == 0
}

#[inline(always)]
fn one(this: &mut Strand, event: u64, mine: &Mine, cell: *mut Cell, bits: u8, noted: bool) {
    // SAFETY: `cell` is in the shadow; single kernel thread.
    let cell = unsafe { &mut *cell };
    if cell.touch & SYNC != 0 {
        atomic::against(this, mine, cell, bits);
    }
    let access = Access { event, pc: mine.pc, bits, writes: mine.writes(), noted };
    marks::with(|chains| {
        cell.marks.access(chains, this, &access, |entry| tell::race(this, mine, bits, entry));
    });
}

/// An atomic access to bytes that others may touch plainly.
pub fn atomic_access(this: &Strand, mine: &Mine) {
    each(mine.addr, mine.size as u64, |addr, bits| {
        // SAFETY: the cell is in the shadow; single kernel thread.
        check(this, mine, unsafe { &*shadow::cell(addr) }, bits);
    });
}

/// Whether some plain write to all of these bytes of one cell is known.
pub fn is_written(addr: u64, size: u64) -> bool {
    let wanted = bits(addr & 7, size.min(8 - (addr & 7)));
    // SAFETY: the cell is in the shadow; single kernel thread.
    let cell = unsafe { &*shadow::cell(addr) };
    marks::with(|chains| cell.marks.are_written(chains, wanted))
}

/// Tells what a write (or for an atomic load, a read) of these bytes races with; leaves no mark.
fn check(this: &Strand, mine: &Mine, cell: &Cell, bits: u8) {
    let access = Access { event: 0, pc: mine.pc, bits, writes: mine.writes(), noted: false };
    marks::with(|chains| {
        cell.marks.check(chains, this, &access, |entry| tell::race(this, mine, bits, entry));
    });
}

/// Bytes of a block that are looked at when it is freed.
const FREED_MOST: u64 = 1 << 20;

/// The running strand frees memory: a write of all of it.
pub fn free(this: &mut Strand, addr: u64, size: u64, pc: u64) {
    let mine = Mine { kind: OpKind::Free, addr, size: size.min(FREED_MOST) as u32, pc };
    each(addr, size.min(FREED_MOST), |at, bits| {
        // SAFETY: the cell is in the shadow; single kernel thread.
        let cell = unsafe { &mut *shadow::cell(at) };
        let mine = Mine { addr: at, ..mine };
        if cell.touch & SYNC != 0 {
            atomic::against(this, &mine, cell, bits);
        }
        check(this, &mine, cell, bits);
    });
}
