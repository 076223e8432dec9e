//! Who has touched memory, and where: the rules are those of `threadbare_rules::touched`, the words those of cells.

use super::race::marks;
use super::sched::engine;
use super::{learn, lineage, shadow};
use threadbare_rules::again;
use threadbare_rules::bits;
use threadbare_rules::touched::{self as rules, Noted};

const _: () = assert!(rules::FOREIGN == super::race::SYNC);

/// Whether something could not be noted: there was no room.
pub fn has_lost() -> bool {
    marks::with(|chains| chains.has_lost()) || shadow::is_full() || lineage::has_lost()
}

/// An access of the running strand, to bytes of one cell, at an instruction that is no point yet, or 0.
#[derive(Clone, Copy)]
pub struct New {
    addr: u64,
    new: rules::New,
}

impl New {
    /// One whose size is a power of two.
    #[inline(always)]
    pub fn of(addr: u64, size: u32, write: bool, pc: u64) -> New {
        New { addr, new: rules::New::of(lineage::me(), addr, size, write, pc) }
    }

    #[inline(always)]
    fn bytes(addr: u64, bits: u8, write: bool, pc: u64) -> New {
        New { addr, new: rules::New::bytes(lineage::me(), addr, bits, write, pc) }
    }

    /// Whether one look tells that the cell knows of it.
    #[inline(always)]
    pub fn repeats(self, cell: *mut shadow::Cell) -> bool {
        // SAFETY: the cell is in the shadow; single kernel thread.
        self.new.repeats(unsafe { &mut (*cell).touch })
    }

    /// Notes it; true if it conflicts with an earlier one. The instructions of those are learnt.
    #[inline(always)]
    pub fn note(self) -> bool {
        // SAFETY: the cell is in the shadow; single kernel thread.
        let touch = unsafe { &mut (*shadow::cell(self.addr)).touch };
        let new = self.new.named(lineage::named());
        let noted = marks::with(|chains| new.note(touch, chains, &lineage::Running, learn::learn_low));
        if noted == Noted::First {
            learn::note_stack(self.addr, engine().current.0 as u64 + 1);
        }
        noted == Noted::Conflicts
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
    let bits = bits(from, size as u64);
    // SAFETY: the cell is in the shadow; single kernel thread.
    if !rules::says_all(unsafe { (*shadow::cell(addr)).touch }, bits) {
        New::bytes(addr, bits, write, 0).note_apart();
    }
}

#[inline(never)]
fn many(addr: u64, size: u32, write: bool, pc: u64) -> bool {
    let mut shared = false;
    threadbare_rules::each(addr, size as u64, |at, bits| {
        let new = New::bytes(at, bits, write, pc);
        shared |= !new.repeats(shadow::cell(at)) && new.note();
    });
    shared
}

/// All of this memory is written, for the last time: true if others have touched it. Their instructions are learnt.
pub fn last_write(addr: u64, size: u64) -> bool {
    let mut shared = false;
    shadow::each(addr, size, |cell| {
        shared |= marks::with(|chains| {
            rules::last_write(&mut cell.touch, chains, &lineage::Running, learn::learn_low)
        });
        again::forget(&mut cell.marks);
    });
    shared
}

/// Gives back what these cells have of chains.
pub fn forget(cells: &[shadow::Cell]) {
    marks::with(|chains| {
        if chains.any() {
            cells.iter().for_each(|cell| rules::forget(cell.touch, chains));
        }
    });
}
