//! Atomic operations and fences: what they order, by C11's rules (`threadbare_rules::sequence`).
//!
//! The object is locked before the operation is made and until what it did is known (`before`, `done`): value and clock change together.
//!
//! Code that the compiler's pass has not seen may write atomics too. As under control the last value seen tells; such a writer may have
//! published whatever any strand did.

use super::super::thread::Thread;
use super::objects::{self, Object, State};
use super::plain::{self, Mine};
use super::{LOCKS, Race, hidden, race_of, slots, syncs};
use crate::effect::Atomic;
use crate::engine::race::pristine;
use core::ptr::null_mut;
use threadbare_abi::object::ObjectId;
use threadbare_abi::op::{OpKind, Order};
use threadbare_rules::cells::has_cells;
use threadbare_rules::sequence::{Known, take};
use threadbare_rules::{bits, each};

/// An atomic operation is about to be made.
#[inline]
pub fn before(me: &mut Thread, addr: u64) {
    slots::ready(me);
    let Some(mut race) = race_of(me) else { return };
    let object = objects::find(ObjectId::memory(addr));
    race.holding = if object.lock() { core::ptr::from_ref(object).cast_mut() } else { null_mut() };
}

/// It has been made.
pub fn done(me: &mut Thread, what: Atomic, addr: u64, size: u8, order: Order, pc: u64) {
    let Some(mut race) = race_of(me) else { return };
    // SAFETY: objects are never given back.
    let held = unsafe { race.holding.as_ref() }.filter(|object| object.addr() == addr || !has_cells(addr));
    let object = match held {
        Some(object) => object,
        None => {
            // The other half of 16 bytes; or a holder that did not give it back.
            let object = objects::find(ObjectId::memory(addr));
            if !object.lock() {
                return hidden::acquire_all(me);
            }
            object
        }
    };
    happened(me, object, what, addr, size, order, pc);
    object.unlock();
    if held.is_some() {
        race.holding = null_mut();
    }
}

fn happened(me: &mut Thread, object: &Object, what: Atomic, addr: u64, size: u8, order: Order, pc: u64) {
    let Some(mut race) = race_of(me) else { return };
    let state = object.state();
    state.look(race.generation);
    let first = core::mem::replace(&mut state.size, size) == 0;
    let (found, kind) = match what {
        Atomic::Load(found) | Atomic::Refused { found, .. } => (Some(found), OpKind::AtomicLoad),
        Atomic::Store(_) => (None, OpKind::AtomicStore),
        Atomic::Update(found, _) | Atomic::Exchange(found, _) => (Some(found), OpKind::AtomicRmw),
    };
    if let Some(found) = found {
        let loads = kind == OpKind::AtomicLoad;
        // What was there first was made by the program itself, in nearly all programs, if it is exchanged first.
        let unseen = match first {
            true => loads && !is_known(addr, size, found),
            false => found != state.last && !plain::is_written(addr, size as u64),
        };
        if unseen && syncs(&race) {
            meets_unseen_writer(&mut race, state);
        }
    }
    check(me, kind, addr, size, pc);
    let Some(mut race) = race_of(me).filter(|race| syncs(race)) else {
        state.last = value(addr, size);
        return;
    };
    if found.is_some() {
        let race = &mut *race;
        take(&mut race.clock, &mut race.fence_acquire, &state.sequence.clock, order);
        if state.hidden {
            hidden::acquire_published(race, order.acquires());
        }
        for other in objects::neighbours(ObjectId::memory(addr), size) {
            if other.lock() {
                other.state().look(race.generation);
                take(&mut race.clock, &mut race.fence_acquire, &other.state().sequence.clock, order);
                other.unlock();
            }
        }
    }
    match what {
        Atomic::Load(found) => state.last = found,
        Atomic::Refused { found, .. } => {
            (state.last, state.compared) = (found, true);
            note_lock(&mut race, addr);
        }
        Atomic::Store(stored) => {
            publish(&mut race, state, me.index, order, false);
            state.last = stored;
        }
        Atomic::Update(..) | Atomic::Exchange(..) => {
            publish(&mut race, state, me.index, order, true);
            state.compared |= matches!(what, Atomic::Exchange(..));
            state.last = match what {
                Atomic::Exchange(_, new) => new,
                // Nobody in sight has changed it since: the lock is held.
                _ => value(addr, size),
            };
            note_lock(&mut race, addr);
        }
    }
    if kind != OpKind::AtomicLoad {
        for other in objects::neighbours(ObjectId::memory(addr), size) {
            if other.lock() {
                let theirs = other.state();
                theirs.look(race.generation);
                theirs.sequence.clock.join(&state.sequence.clock);
                if theirs.size != 0 {
                    theirs.last = value(other.addr(), theirs.size);
                }
                other.unlock();
            }
        }
    }
}

/// Whether the first look at a word orders nothing: code that was seen has written it, or nobody has.
fn is_known(addr: u64, size: u8, found: u64) -> bool {
    has_cells(addr) && plain::is_written(addr, size as u64) && !hidden::is_used(addr)
        || pristine::unchanged(addr, size, found)
}

#[cold]
fn meets_unseen_writer(race: &mut Race, state: &mut State) {
    state.hidden = true;
    slots::hear_all(race);
    state.sequence.clock.join(&race.clock);
}

fn publish(race: &mut Race, state: &mut State, strand: u16, order: Order, carries_on: bool) {
    if order.releases() {
        slots::advance(race);
    }
    state.sequence.publish(strand, &race.clock, &race.fence_release, order, carries_on);
}

fn note_lock(race: &mut Race, addr: u64) {
    if race.locks.len() < LOCKS && !race.locks.contains(&addr) {
        race.locks.push(addr);
    }
}

fn check(me: &mut Thread, kind: OpKind, addr: u64, size: u8, pc: u64) {
    let Some(stamp) = slots::stamp_of(me) else { return };
    let ignored = race_of(me).map_or(0, |race| race.ignored[(kind != OpKind::AtomicLoad) as usize]);
    if ignored != 0 {
        return;
    }
    let mine = Mine { kind, addr, size: size as u64, pc };
    let writes = kind != OpKind::AtomicLoad;
    if (addr & 7) + size as u64 <= 8 {
        plain::one(me, &mine, stamp, addr, bits(addr & 7, size as u64), writes, true);
    } else {
        each(addr, size as u64, |addr, bits| plain::one(me, &mine, stamp, addr, bits, writes, true));
    }
}

fn value(addr: u64, size: u8) -> u64 {
    // SAFETY: the program has an atomic object of this size there.
    unsafe {
        match size {
            1 => (addr as *const u8).read_volatile() as u64,
            2 => (addr as *const u16).read_unaligned() as u64,
            4 => (addr as *const u32).read_unaligned() as u64,
            _ => (addr as *const u64).read_unaligned(),
        }
    }
}

/// A fence.
pub fn fence(me: &mut Thread, order: Order) {
    slots::ready(me);
    let Some(mut race) = race_of(me).filter(|race| syncs(race)) else { return };
    if order.acquires() {
        let race = &mut *race;
        race.clock.join(&race.fence_acquire);
    }
    if order.releases() {
        slots::advance(&mut race);
        let race = &mut *race;
        race.fence_release.assign(&race.clock);
    }
}

/// Whether a word has been compared and exchanged by code that was seen, as locks are.
pub fn is_lock(addr: u64) -> bool {
    objects::known(ObjectId::memory(addr)).is_some_and(|object| {
        has_cells(addr) && object.lock() && {
            let compared = object.state().compared;
            object.unlock();
            compared
        }
    })
}

/// Unseen code uses the word too.
pub fn mark_hidden(addr: u64) {
    if let Some(object) = objects::known(ObjectId::memory(addr)).filter(|object| object.lock()) {
        object.state().hidden = true;
        object.unlock();
    }
}

/// The strand acquires a word outside of an atomic operation.
pub fn acquire(me: &mut Thread, addr: u64) {
    let Some(mut race) = race_of(me) else { return };
    let Some(object) = objects::known(ObjectId::memory(addr)) else { return };
    if !object.lock() {
        return hidden::acquire_all(me);
    }
    let state = object.state();
    state.look(race.generation);
    if state.size != 0 {
        let found = value(addr, state.size);
        if found != state.last {
            meets_unseen_writer(&mut race, state);
            state.last = found;
        }
        race.clock.join(&state.sequence.clock);
    }
    object.unlock();
}
