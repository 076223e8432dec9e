//! The functions of the program, by number.
//!
//! The numbers are those of the table in shared memory, where the driver has put what earlier runs found. A table of this
//! process leads from a function to its number; it is filled before the run and grows with it.
//!
//! Nobody waits for anybody: a strand that finds another one adding a function does without the number this time.

use super::frames::PC;
use super::thread::Thread;
use crate::engine::shared;
use core::sync::atomic::{AtomicU64, Ordering};
use threadbare_abi::layout::TASKS;
use threadbare_abi::tasks::{FUNCTIONS, ROW, Tasks, marks};

const SLOTS: usize = 1 << 14;
/// Slots that are looked at for one function.
const PROBES: usize = 64;
/// The number, with one more, lies above the pc.
const SHIFT: u32 = 48;
/// The number is not there yet.
const COMING: u64 = 0xFFFE;
/// There was no room.
const LOST: u64 = 0xFFFF;

static NUMBERS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// The table in shared memory.
#[inline(always)]
pub fn table() -> Option<&'static Tasks> {
    // SAFETY: the area is of this type; its fields are atomics.
    shared::area(TASKS).map(|base| unsafe { &*base })
}

/// Functions that have a number, in this table.
fn known(table: &Tasks) -> usize {
    (table.count.load(Ordering::Relaxed) as usize).min(FUNCTIONS)
}

/// Takes over what the driver knows (in the fork server).
pub fn load() {
    let Some(table) = table() else { return };
    for slot in NUMBERS.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0) {
        slot.store(0, Ordering::Relaxed);
    }
    for (number, function) in table.functions.iter().enumerate().take(known(table)) {
        let pc = function.load(Ordering::Relaxed) & PC;
        let free = slots(pc).find(|slot| slot.load(Ordering::Relaxed) == 0);
        if let Some(slot) = free.filter(|_| pc != 0) {
            slot.store((number as u64 + 1) << SHIFT | pc, Ordering::Relaxed);
        }
    }
}

fn slots(pc: u64) -> impl Iterator<Item = &'static AtomicU64> {
    let first = slot(pc);
    (0..PROBES).map(move |probe| &NUMBERS[first.wrapping_add(probe) & (SLOTS - 1)])
}

/// Where a function is looked for first. Cheap, as this is asked at the end of every call.
#[inline(always)]
fn slot(pc: u64) -> usize {
    (pc.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SLOTS.ilog2())) as usize
}

/// The number of a function, which it gets now if it has none; `None` if there is no room, or another strand is at it.
#[inline]
pub fn number(pc: u64) -> Option<u16> {
    let found = NUMBERS[slot(pc)].load(Ordering::Relaxed);
    let number = found >> SHIFT;
    if found & PC == pc && number < COMING { Some(number as u16 - 1) } else { look_up(pc) }
}

#[cold]
#[inline(never)]
fn look_up(pc: u64) -> Option<u16> {
    if pc == 0 {
        return None;
    }
    for slot in slots(pc) {
        let mut found = slot.load(Ordering::Acquire);
        if found == 0 {
            match slot.compare_exchange(0, COMING << SHIFT | pc, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return add(slot, pc),
                Err(other) => found = other,
            }
        }
        if found & PC == pc {
            let number = found >> SHIFT;
            return (number < COMING).then_some((number as u16).wrapping_sub(1));
        }
    }
    None
}

fn add(slot: &AtomicU64, pc: u64) -> Option<u16> {
    let table = table()?;
    let number = table.count.fetch_add(1, Ordering::Relaxed);
    let Some(function) = table.functions.get(number as usize) else {
        slot.store(LOST << SHIFT | pc, Ordering::Release);
        return None;
    };
    function.store(pc, Ordering::Relaxed);
    slot.store((number + 1) << SHIFT | pc, Ordering::Release);
    Some(number as u16)
}

/// What is known of a function.
#[inline(always)]
pub fn marks_of(table: &Tasks, number: u16) -> u32 {
    table.marks[number as usize & (FUNCTIONS - 1)].load(Ordering::Relaxed)
}

/// The strand is in the function while others live, and this holds for it too.
#[inline]
pub fn mark(table: &Tasks, me: &Thread, number: u16, more: u32) {
    let at = number as usize & (FUNCTIONS - 1);
    let wanted = marks::BESIDE | more;
    let has = table.marks[at].load(Ordering::Relaxed);
    let strand = table.strands[at].load(Ordering::Relaxed);
    if has & wanted != wanted || has & marks::SEVERAL == 0 && strand != me.path.0 {
        mark_new(table, me, at, wanted);
    }
}

#[cold]
#[inline(never)]
fn mark_new(table: &Tasks, me: &Thread, at: usize, mut wanted: u32) {
    let strand = &table.strands[at];
    if let Err(other) = strand.compare_exchange(0, me.path.0, Ordering::Relaxed, Ordering::Relaxed)
        && other != me.path.0
    {
        wanted |= marks::SEVERAL;
    }
    table.marks[at].fetch_or(wanted, Ordering::Relaxed);
}

/// The second function ran in another strand while the first was interrupted.
pub fn pair(table: &Tasks, first: u16, second: u16) {
    let (word, bit) = bit_of(table, first, second);
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

fn bit_of(table: &Tasks, first: u16, second: u16) -> (&AtomicU64, u64) {
    let row = &table.pairs[first as usize & (FUNCTIONS - 1)];
    (&row[(second as usize / 64) & (ROW - 1)], 1 << (second % 64))
}

/// Whether a pair could be covered, by what is known, and was not.
pub fn is_open(table: &Tasks, first: u16, second: u16) -> bool {
    let (word, bit) = bit_of(table, first, second);
    word.load(Ordering::Relaxed) & bit == 0 && can_meet(table, first, second)
}

/// Whether both run beside others, are seen to, and not in one and the same strand alone. (The driver's rules for what is
/// out of reach are the same.)
fn can_meet(table: &Tasks, first: u16, second: u16) -> bool {
    let (one, other) = (marks_of(table, first), marks_of(table, second));
    let strand = |number: u16| table.strands[number as usize & (FUNCTIONS - 1)].load(Ordering::Relaxed);
    is_asked_for(one)
        && is_asked_for(other)
        && one & (marks::EVENTS | marks::INTERRUPTED) != 0
        && other & marks::EVENTS != 0
        && ((one | other) & marks::SEVERAL != 0 || strand(first) != strand(second))
}

fn is_asked_for(has: u32) -> bool {
    has & marks::BESIDE != 0 && has & marks::LIBRARY == 0
}

/// Functions that are looked at more closely to find an open pair.
const LOOKS: usize = 64;

/// Whether a pair that begins with this function is open.
pub fn begins_open(table: &Tasks, first: u16) -> bool {
    let is_left = |second: u16| {
        let (word, bit) = bit_of(table, first, second);
        word.load(Ordering::Relaxed) & bit == 0 && is_asked_for(marks_of(table, second))
    };
    let mut left = (0..known(table) as u16).filter(|&second| is_left(second)).take(LOOKS);
    left.any(|second| can_meet(table, first, second))
}

/// Whether a pair that ends with this function is open.
pub fn ends_open(table: &Tasks, second: u16) -> bool {
    let is_left = |first: u16| {
        let (word, bit) = bit_of(table, first, second);
        word.load(Ordering::Relaxed) & bit == 0 && is_asked_for(marks_of(table, first))
    };
    let mut left = (0..known(table) as u16).filter(|&first| is_left(first)).take(LOOKS);
    left.any(|first| can_meet(table, first, second))
}

/// Whether a function is left to interrupt, or to let run through.
pub fn any_function_open(table: &Tasks) -> bool {
    let is_left = |has: u32, where_it: u32, done: u32| has & where_it != 0 && has & done == 0;
    (0..known(table) as u16).map(|number| marks_of(table, number)).filter(|&has| is_asked_for(has)).any(
        |has| {
            is_left(has, marks::EVENTS, marks::INTERRUPTED) || is_left(has, marks::RETURNED, marks::THROUGH)
        },
    )
}

/// Whether a pair is left, of those that noise can bring about.
pub fn any_pair_open(table: &Tasks) -> bool {
    let makes_events = |number: u16| marks_of(table, number) & marks::EVENTS != 0;
    (0..known(table) as u16).any(|number| makes_events(number) && begins_open(table, number))
}
