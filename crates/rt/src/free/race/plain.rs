//! Plain accesses against the cells: the rules are those of `threadbare_rules::cells`.

use super::super::thread::{self, Thread};
use super::{race_of, shadow, slots, tell};
use core::sync::atomic::Ordering;
use threadbare_abi::op::OpKind;
use threadbare_rules::cells::{self, CELLS, Fate, fate, has_cells};
use threadbare_rules::{bits, each};

/// Bytes of one access that are looked at.
const MOST: u64 = 1 << 20;

/// An access of the running strand.
#[derive(Clone, Copy, Debug)]
pub struct Mine {
    pub kind: OpKind,
    pub addr: u64,
    pub size: u64,
    pub pc: u64,
}

/// What the hooks call where one look does not do. Safe in a signal, after fork.
pub unsafe extern "C" fn hook<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    if let (Some(kind), Some(mut me)) = (OpKind::from_code(KIND), thread::me()) {
        access(&mut me, &Mine { kind, addr, size: SIZE as u64, pc });
    }
}

/// The strand is about to make an access.
#[inline]
pub fn access(me: &mut Thread, mine: &Mine) {
    // SAFETY: the stamp of a slot, or that of silent strands.
    let mut stamp = unsafe { me.stamp_at.as_ref() }.map_or(0, |stamp| stamp.load(Ordering::Relaxed));
    if stamp == 0 {
        match silent(me, mine) {
            Some(found) => stamp = found,
            None => return,
        }
    }
    let writes = !mine.kind.only_reads_memory();
    let from = mine.addr & 7;
    if from + mine.size <= 8 {
        one(me, mine, stamp, mine.addr, bits(from, mine.size), writes, false);
    } else {
        each(mine.addr, mine.size.min(MOST), |addr, bits| one(me, mine, stamp, addr, bits, writes, false));
    }
}

/// The stamp of a strand that the hooks do not look at, if the access counts all the same.
#[cold]
#[inline(never)]
fn silent(me: &mut Thread, mine: &Mine) -> Option<u64> {
    slots::settle(me);
    let ignored = race_of(me)?.ignored;
    let left_out = if mine.kind.only_reads_memory() { ignored[0] } else { ignored[1] };
    if left_out != 0 { None } else { slots::stamp_of(me) }
}

/// An access to bytes of one word; leaves a mark.
#[inline]
pub fn one(me: &mut Thread, mine: &Mine, stamp: u64, addr: u64, bits: u8, writes: bool, atomic: bool) {
    if !has_cells(addr) {
        return;
    }
    let Some(mut race) = race_of(me) else { return };
    let new = cells::cell(stamp, bits, writes, atomic, mine.pc);
    let places = shadow::cells(addr);
    let mut stored = false;
    let mut raced = [0u64; CELLS];
    let mut races = 0;
    for place in places {
        let old = place.load(Ordering::Relaxed);
        match fate(old, new, |slot| race.clock.get(slot)) {
            Fate::Stays => {}
            Fate::Enough => {
                stored = true;
                break;
            }
            Fate::Free if stored => {}
            Fate::Goes if stored => place.store(0, Ordering::Relaxed),
            Fate::Free | Fate::Goes => {
                place.store(new, Ordering::Relaxed);
                stored = true;
            }
            Fate::Races => {
                raced[races] = old;
                races += 1;
            }
        }
    }
    if !stored {
        race.turn = race.turn.wrapping_add(1);
        places[race.turn as usize % CELLS].store(new, Ordering::Relaxed);
    }
    for &old in &raced[..races] {
        tell::race(me, mine, addr, bits, old);
    }
}

/// Whether some plain write to each of these bytes of one word is known.
pub fn is_written(addr: u64, size: u64) -> bool {
    let wanted = bits(addr & 7, size.min(8 - (addr & 7)));
    let mut found = 0;
    for place in shadow::cells(addr) {
        let cell = place.load(Ordering::Relaxed);
        if cells::writes(cell) && !cells::is_atomic(cell) {
            found |= cells::bytes(cell);
        }
    }
    wanted & !found == 0
}

/// The strand frees a block: a write of all of it, which stays until the memory is given out again.
pub fn free(me: &mut Thread, addr: u64, size: u64, pc: u64) {
    access(me, &Mine { kind: OpKind::Free, addr, size: size.min(MOST), pc });
}
