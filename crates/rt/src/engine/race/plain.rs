//! Plain accesses, and frees, against what others did to the same bytes.
//!
//! A new mark takes the place of those that say no more than it does: whoever races with one of them later races with
//! the new one too, or comes after both.

use super::super::shadow::{self, Cell};
use super::super::strand::Strand;
use super::marks::{self, Chain, Entry};
use super::tell::{self, Mine};
use super::{SYNC, atomic};
use threadbare_abi::op::OpKind;

/// Whether what a mark stands for happens before the running strand's next step.
#[inline(always)]
fn before(this: &Strand, mark: u64) -> bool {
    let other = marks::strand(mark);
    other == this.id.index() || this.clock.get(other) >= marks::event(mark)
}

/// The bits of the bytes `from..from + size` of a cell.
#[inline(always)]
fn bits(from: u64, size: u64) -> u8 {
    (((1u32 << size) - 1) << from) as u8
}

/// The running strand makes an access.
#[inline]
pub fn access(this: &mut Strand, event: u64, mine: &Mine) {
    let from = mine.addr & 7;
    let size = mine.size as u64;
    if from + size <= 8 {
        one(this, event, mine, shadow::cell(mine.addr), bits(from, size));
    } else {
        each(mine.addr, size, |addr, bits| one(this, event, mine, shadow::cell(addr), bits));
    }
}

/// An access within one cell, if there is nothing new to be told and the cell's two marks will do; else nothing is done, and that is
/// false. What the strand has done at this instruction since others last heard of it has one mark, that of the first: whoever
/// comes after one of these accesses comes after all.
#[inline(always)]
pub fn quick(this: &Strand, event: u64, writes: bool, addr: u64, size: u64, pc: u64) -> bool {
    let bits = bits(addr & 7, size);
    // SAFETY: the cell is in the shadow; single kernel thread.
    let cell = unsafe { &mut *shadow::cell(addr) };
    let (write, read) = (cell.write, cell.read);
    if cell.touch & SYNC != 0 {
        return false;
    }
    let new = marks::mark(event, this.id.0, bits);
    if let Some(chain) = marks::chain_of(read) {
        return quick_chained(this, chain, Entry { mark: new, pc: pc as u32, write: writes as u32 });
    }
    let fits = |mark: u64| mark == 0 || marks::bytes(mark) & !bits == 0;
    let told = |other: u32, op: OpKind| tell::is_told(pc, other, op);
    if write & bits as u64 != 0 && !before(this, write) && !told(cell.pcs as u32, OpKind::Write) {
        return false;
    }
    if !writes {
        if read == 0 || fits(read) && before(this, read) {
            cell.read = new;
            cell.pcs = cell.pcs & 0xFFFF_FFFF | pc << 32;
        } else if (cell.pcs >> 32) as u32 == pc as u32 && is_lately(this, read) {
            cell.read |= bits as u64;
        } else {
            return false;
        }
        return true;
    }
    if read & bits as u64 != 0 && !before(this, read) && !told((cell.pcs >> 32) as u32, OpKind::Read) {
        return false;
    }
    if fits(write) {
        cell.write = new;
        cell.pcs = cell.pcs & !0xFFFF_FFFF | pc & 0xFFFF_FFFF;
    } else if cell.pcs as u32 == pc as u32 && is_lately(this, write) {
        cell.write |= bits as u64;
    } else {
        return false;
    }
    if fits(read) {
        cell.read = 0;
        cell.pcs &= 0xFFFF_FFFF;
    }
    true
}

/// Whether a mark is the running strand's own, and nobody else has heard of it since.
#[inline(always)]
fn is_lately(this: &Strand, mark: u64) -> bool {
    marks::strand(mark) == this.id.index() && marks::event(mark) > super::heard_of(this)
}

/// The same for a cell with a chain: the strand's mark is there, and the access takes no other one's place.
#[inline(never)]
fn quick_chained(this: &Strand, chain: Chain, new: Entry) -> bool {
    let bits = marks::bytes(new.mark);
    let heard_of = super::heard_of(this);
    let mut own: *mut Entry = core::ptr::null_mut();
    let differs = chain.any_mut(|entry| {
        let mine = marks::strand(entry.mark) == this.id.index();
        if mine && (entry.pc, entry.write) == (new.pc, new.write) && marks::event(entry.mark) > heard_of {
            own = entry;
            return false;
        }
        let overlaps = entry.mark & bits as u64 != 0;
        let races = overlaps && entry.write | new.write != 0 && !before(this, entry.mark);
        let says_more = marks::bytes(entry.mark) & !bits != 0 || entry.write > new.write;
        races || !says_more && (new.write != 0 || before(this, entry.mark))
    });
    if differs || own.is_null() {
        return false;
    }
    // SAFETY: an entry of the chain; single kernel thread.
    unsafe { (*own).mark |= bits as u64 }
    true
}

/// Calls `visit` with the address and the bits of each cell of a range.
fn each(addr: u64, size: u64, mut visit: impl FnMut(u64, u8)) {
    let end = addr + size;
    let mut at = addr;
    while at < end {
        let next = ((at & !7) + 8).min(end);
        visit(at, bits(at & 7, next - at));
        at = next;
    }
}

#[inline(always)]
fn one(this: &mut Strand, event: u64, mine: &Mine, cell: *mut Cell, bits: u8) {
    // SAFETY: `cell` is in the shadow; single kernel thread.
    let cell = unsafe { &mut *cell };
    let (write, read) = (cell.write, cell.read);
    let writes = mine.writes();
    let new = marks::mark(event, this.id.0, bits);
    let whole = |mark: u64| marks::bytes(mark) & !bits == 0;
    if cell.touch & SYNC != 0 {
        atomic::against(this, mine, cell, bits);
    }
    if marks::chain_of(read).is_some() {
        return chained(this, mine, cell, new, bits);
    }
    if write & bits as u64 != 0 && !before(this, write) {
        tell::race(this, mine, bits, Entry { mark: write, pc: cell.pcs as u32, write: 1 });
    }
    if !writes {
        if read == 0 || whole(read) && before(this, read) {
            cell.read = new;
            cell.pcs = cell.pcs & 0xFFFF_FFFF | mine.pc << 32;
            return;
        }
        return chain(cell, new, mine);
    }
    if read & bits as u64 != 0 && !before(this, read) {
        tell::race(this, mine, bits, Entry { mark: read, pc: (cell.pcs >> 32) as u32, write: 0 });
    }
    // One that raced with the new mark has been told and may go.
    if (write == 0 || whole(write)) && (read == 0 || whole(read)) {
        cell.write = new;
        cell.read = 0;
        cell.pcs = mine.pc & 0xFFFF_FFFF;
    } else if write == 0 || whole(write) {
        cell.write = new;
        cell.pcs = cell.pcs & !0xFFFF_FFFF | mine.pc & 0xFFFF_FFFF;
    } else {
        chain(cell, new, mine);
    }
}

/// The cell needs more marks than two.
#[cold]
#[inline(never)]
fn chain(cell: &mut Cell, new: u64, mine: &Mine) {
    let Some(chain) = Chain::new() else { return };
    if cell.write != 0 {
        chain.push(Entry { mark: cell.write, pc: cell.pcs as u32, write: 1 });
    }
    if cell.read != 0 {
        chain.push(Entry { mark: cell.read, pc: (cell.pcs >> 32) as u32, write: 0 });
    }
    chain.push(Entry { mark: new, pc: mine.pc as u32, write: mine.writes() as u32 });
    cell.write = 0;
    cell.read = chain.as_read();
    cell.pcs = 0;
}

#[inline(never)]
fn chained(this: &mut Strand, mine: &Mine, cell: &mut Cell, new: u64, bits: u8) {
    let Some(chain) = marks::chain_of(cell.read) else { return };
    let writes = mine.writes();
    chain.each(|entry| {
        if entry.mark & bits as u64 != 0 && (writes || entry.write != 0) && !before(this, entry.mark) {
            tell::race(this, mine, bits, *entry);
        }
    });
    let kept = chain.retain(|entry| {
        let says_more = marks::bytes(entry.mark) & !bits != 0 || entry.write != 0 && !writes;
        says_more || !writes && !before(this, entry.mark)
    });
    if kept == 0 {
        chain.free();
        (cell.write, cell.read) = if writes { (new, 0) } else { (0, new) };
        cell.pcs = if writes { mine.pc & 0xFFFF_FFFF } else { mine.pc << 32 };
        return;
    }
    chain.push(Entry { mark: new, pc: mine.pc as u32, write: writes as u32 });
}

/// An atomic access to bytes that others may touch plainly.
pub fn atomic_access(this: &mut Strand, mine: &Mine) {
    each(mine.addr, mine.size as u64, |addr, bits| {
        // SAFETY: the cell is in the shadow; single kernel thread.
        let cell = unsafe { &mut *shadow::cell(addr) };
        check(this, mine, cell, bits);
    });
}

/// Whether some plain write to all of these bytes of one cell is known.
pub fn is_written(addr: u64, size: u64) -> bool {
    let wanted = bits(addr & 7, size.min(8 - (addr & 7)));
    // SAFETY: the cell is in the shadow; single kernel thread.
    let cell = unsafe { &*shadow::cell(addr) };
    let mut found = if cell.write != 0 { marks::bytes(cell.write) } else { 0 };
    if let Some(chain) = marks::chain_of(cell.read) {
        chain.each(|entry| {
            if entry.write != 0 {
                found |= marks::bytes(entry.mark);
            }
        });
    }
    wanted & !found == 0
}

/// Tells what a write (or for an atomic load, a read) of these bytes races with; leaves no mark.
fn check(this: &mut Strand, mine: &Mine, cell: &Cell, bits: u8) {
    let writes = mine.writes();
    if let Some(chain) = marks::chain_of(cell.read) {
        chain.each(|entry| {
            if entry.mark & bits as u64 != 0 && (writes || entry.write != 0) && !before(this, entry.mark) {
                tell::race(this, mine, bits, *entry);
            }
        });
        return;
    }
    if cell.write & bits as u64 != 0 && !before(this, cell.write) {
        tell::race(this, mine, bits, Entry { mark: cell.write, pc: cell.pcs as u32, write: 1 });
    }
    if writes && cell.read & bits as u64 != 0 && !before(this, cell.read) {
        tell::race(this, mine, bits, Entry { mark: cell.read, pc: (cell.pcs >> 32) as u32, write: 0 });
    }
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
