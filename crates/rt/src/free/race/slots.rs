//! Slots: where strands count their epochs.
//!
//! A strand that runs owns a slot, and its stamp lies there: the hooks read it, and whoever acquires from all strands ends
//! everybody's epoch by adding to it. Slots that were given back are taken in turn, so that it is long until one has another
//! owner; few are used as long as few are needed, because clocks are as long as the highest one.

use super::super::thread::Thread;
use super::{OFF, Pending, Race, hidden, race_of, shadow};
use crate::heap::lock::SpinLock;
use alloc::vec::Vec;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use threadbare_rules::cells::{EPOCH_SHIFT, LAST_EPOCH, epoch, stamp};
use threadbare_rules::epochs::SLOTS;
use threadbare_rules::sequence::Known;

/// A slot, apart from its neighbours: each is written by its owner all the time.
#[repr(align(64))]
struct Slot {
    stamp: AtomicU64,
    owner: AtomicPtr<Thread>,
}

static TABLE: [Slot; SLOTS] =
    [const { Slot { stamp: AtomicU64::new(0), owner: AtomicPtr::new(null_mut()) } }; SLOTS];
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// Slots that are in use, or have been.
static USED: AtomicUsize = AtomicUsize::new(0);
static LOCK: SpinLock = SpinLock::new();

/// Who owned each slot, and from which epoch on. Under the lock.
static mut OWNERS: [Vec<(u32, u16)>; SLOTS] = [const { Vec::new() }; SLOTS];
/// The slots that are taken in turn, and the next of them. Under the lock.
static mut TURNS: (usize, usize) = (FIRST_SLOTS, 0);

const FIRST_SLOTS: usize = 16;
const ONE: u64 = 1 << EPOCH_SHIFT;
/// Epochs that are left for others to count when an owner looks for another slot, and when they stop to.
const SPARE: u32 = 1 << 10;
const LEAST: u32 = 1 << 6;

/// The stamp of a strand that is silent.
pub fn off() -> *const AtomicU64 {
    &raw const OFF
}

/// The generation.
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

fn is_used_up(stamp: u64) -> bool {
    epoch(stamp) >= LAST_EPOCH - SPARE
}

fn owns(me: &Thread, slot: usize) -> bool {
    core::ptr::eq(TABLE[slot].owner.load(Ordering::Relaxed), me)
}

/// The strand is about to synchronise: it has a slot, and has acquired what precompiled code took for it.
#[inline]
pub fn ready(me: &mut Thread) {
    let Some(race) = race_of(me) else { return };
    let fits = race
        .slot
        .is_some_and(|slot| owns(me, slot) && !is_used_up(TABLE[slot].stamp.load(Ordering::Relaxed)));
    if !fits || race.generation != generation() {
        attach(me);
    }
    settle(me);
}

/// What was put off to the strand's next event.
#[inline]
pub fn settle(me: &mut Thread) {
    let Some(race) = race_of(me) else { return };
    if race.pending != Pending::Nothing {
        hidden::settle(me);
        look_again(me);
    }
}

/// Puts the strand's acquire off to its next event.
pub fn put_off(me: &mut Thread, what: Pending) {
    let Some(mut race) = race_of(me) else { return };
    // Two things at a time are all that there is.
    race.pending = if race.pending == Pending::Nothing || race.pending == what { what } else { Pending::All };
    look_again(me);
}

/// Whether the hooks may look at the strand's accesses themselves.
pub fn look_again(me: &mut Thread) {
    let Some(race) = race_of(me) else { return };
    let plain = race.pending == Pending::Nothing && race.ignored[0] | race.ignored[1] == 0;
    me.stamp_at = match race.slot {
        Some(slot) if plain && owns(me, slot) => &raw const TABLE[slot].stamp,
        _ => off(),
    };
}

/// The strand's stamp, whatever keeps the hooks from looking; `None` if it has no slot.
pub fn stamp_of(me: &mut Thread) -> Option<u64> {
    let race = race_of(me)?;
    let slot = race.slot.filter(|&slot| owns(me, slot) && race.generation == generation())?;
    Some(TABLE[slot].stamp.load(Ordering::Relaxed))
}

/// The strand's epoch ends: whoever hears of its clock knows all of it so far.
#[inline]
pub fn advance(race: &mut Race) {
    if let Some(slot) = race.slot {
        let before = TABLE[slot].stamp.fetch_add(ONE, Ordering::Relaxed);
        race.clock.raise(slot, epoch(before));
    }
}

/// All epochs of all strands end, and the strand knows them.
pub fn hear_all(race: &mut Race) {
    for (slot, other) in TABLE.iter().enumerate().take(USED.load(Ordering::Relaxed)) {
        let ends = epoch(other.stamp.load(Ordering::Relaxed)) < LAST_EPOCH - LEAST;
        let ends = ends && !other.owner.load(Ordering::Relaxed).is_null();
        let now = other.stamp.fetch_add(if ends { ONE } else { 0 }, Ordering::Relaxed);
        race.clock.raise(slot, epoch(now));
    }
}

/// The strand has ended.
pub fn leave(me: &mut Thread) {
    let Some(mut race) = race_of(me) else { return };
    let _held = LOCK.hold();
    give_up(me, &mut race);
    me.stamp_at = off();
}

/// Its slot is free. The lock is held.
fn give_up(me: &Thread, race: &mut Race) {
    let Some(slot) = race.slot.take() else { return };
    if race.generation == generation() {
        // Whoever has taken it goes on from there.
        race.clock.raise(slot, epoch(TABLE[slot].stamp.load(Ordering::Relaxed)));
    }
    if owns(me, slot) {
        TABLE[slot].owner.store(null_mut(), Ordering::Relaxed);
    }
}

/// Gives the strand another slot.
#[cold]
#[inline(never)]
fn attach(me: &mut Thread) {
    let Some(mut race) = race_of(me) else { return };
    if me.ended.load(Ordering::Relaxed) {
        return;
    }
    let _held = LOCK.hold();
    give_up(me, &mut race);
    let slot = free_slot().or_else(taken_from_another).unwrap_or_else(anew);
    if race.generation != generation() {
        race.clock.clear();
        race.fence_acquire.clear();
        race.fence_release.clear();
        race.generation = generation();
    }
    let place = &TABLE[slot];
    if place.stamp.load(Ordering::Relaxed) == 0 {
        place.stamp.store(stamp(slot, 0, generation()), Ordering::Relaxed);
    }
    let now = place.stamp.fetch_add(ONE, Ordering::Relaxed) + ONE;
    place.owner.store(me, Ordering::Relaxed);
    USED.fetch_max(slot + 1, Ordering::Relaxed);
    race.slot = Some(slot);
    race.clock.raise(slot, epoch(now));
    // SAFETY: the lock is held.
    unsafe { (&mut *(&raw mut OWNERS))[slot].push((epoch(now), me.index)) };
    look_again(me);
}

/// A slot that nobody owns.
fn free_slot() -> Option<usize> {
    // SAFETY: the lock is held.
    let (count, next) = unsafe { &mut *(&raw mut TURNS) };
    loop {
        let free = |slot: &usize| {
            TABLE[*slot].owner.load(Ordering::Relaxed).is_null()
                && !is_used_up(TABLE[*slot].stamp.load(Ordering::Relaxed))
        };
        if let Some(slot) = (0..*count).map(|step| (*next + step) % *count).find(free) {
            *next = (slot + 1) % *count;
            return Some(slot);
        }
        if *count == SLOTS {
            return None;
        }
        *next = *count;
        *count = (*count * 2).min(SLOTS);
    }
}

/// One that another strand owns, which is silent until it synchronises.
fn taken_from_another() -> Option<usize> {
    // SAFETY: the lock is held.
    let (_, next) = unsafe { &mut *(&raw mut TURNS) };
    let slot = (0..SLOTS)
        .map(|step| (*next + step) % SLOTS)
        .find(|&slot| !is_used_up(TABLE[slot].stamp.load(Ordering::Relaxed)))?;
    *next = (slot + 1) % SLOTS;
    silence(slot);
    Some(slot)
}

fn silence(slot: usize) {
    let owner = TABLE[slot].owner.swap(null_mut(), Ordering::Relaxed);
    // SAFETY: records are never given back; the field is one word, which its thread reads at every access.
    if let Some(owner) = unsafe { owner.as_mut() } {
        // SAFETY: as above.
        unsafe { (&raw mut owner.stamp_at).write_volatile(off()) };
    }
}

/// All slots have counted to their end: they begin anew, and all that is known is forgotten.
fn anew() -> usize {
    let next = generation() + 1;
    for (slot, place) in TABLE.iter().enumerate() {
        silence(slot);
        place.stamp.store(stamp(slot, 0, next), Ordering::Relaxed);
        // SAFETY: the lock is held.
        unsafe { (&mut *(&raw mut OWNERS))[slot].clear() };
    }
    shadow::forget_all();
    GENERATION.store(next, Ordering::Relaxed);
    USED.store(0, Ordering::Relaxed);
    // SAFETY: the lock is held.
    unsafe { TURNS = (FIRST_SLOTS, 1) };
    0
}

/// The strand that owned a slot in an epoch.
pub fn owner(slot: usize, epoch: u32) -> Option<u16> {
    let _held = LOCK.hold();
    // SAFETY: the lock is held.
    let owners = unsafe { &(&*(&raw const OWNERS))[slot] };
    owners.iter().rev().find(|(from, _)| *from <= epoch).map(|(_, strand)| *strand)
}
