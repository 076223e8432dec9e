//! Synchronisation out of sight: as under control (`engine::race::hidden`), on the safe side.
//!
//! What precompiled code does between two events of a strand can be anywhere between them. So it is taken to publish
//! what the strand did before where it is entered or first seen, and to acquire at the strand's next event.

use super::super::thread::Thread;
use super::{Pending, Race, atomic, objects, race_of, slots};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use threadbare_abi::object::{ObjectClass, ObjectId};
use threadbare_rules::sequence::Known;

/// Everything that any strand did so far happens before.
pub fn acquire_all(me: &mut Thread) {
    if let Some(mut race) = race_of(me) {
        slots::hear_all(&mut race);
    }
}

/// What unseen code published happens before; or, without `now`, once an acquire fence comes.
pub fn acquire_published(race: &mut Race, now: bool) {
    objects::with(ObjectId::UNSEEN, |state| {
        state.look(race.generation);
        let to = if now { &mut race.clock } else { &mut race.fence_acquire };
        to.join(&state.sequence.clock);
    });
}

/// What was put off to the strand's next event.
pub fn settle(me: &mut Thread) {
    let Some(mut race) = race_of(me) else { return };
    match core::mem::replace(&mut race.pending, Pending::Nothing) {
        Pending::Nothing => {}
        Pending::All => acquire_all(me),
        Pending::Lock(lock) => {
            atomic::acquire(me, lock);
            let futex = ObjectId::new(ObjectClass::Futex, lock);
            objects::with(futex, |state| {
                state.look(race.generation);
                race.clock.join(&state.sequence.clock);
            });
            acquire_published(&mut race, true);
        }
    }
}

/// Whatever the strand did is published to unseen code.
fn publish(me: &mut Thread) {
    super::release(me, ObjectId::UNSEEN);
}

/// The strand is about to wait on a futex word.
pub fn waits(me: &mut Thread, addr: u64) {
    if atomic::is_lock(addr) {
        atomic::mark_hidden(addr);
        return;
    }
    if let Some(mut race) = race_of(me) {
        // The lock it has left is one that it has taken or tried to take in sight, once.
        while let Some(lock) = race.locks.pop() {
            atomic::mark_hidden(lock);
        }
    }
    publish(me);
}

/// Its wait has ended.
pub fn waited(me: &mut Thread, addr: u64) {
    let what = if atomic::is_lock(addr) { Pending::Lock(addr) } else { Pending::All };
    slots::put_off(me, what);
}

/// The strand is about to wake waiters of a futex word. It may take a lock in between, out of sight.
pub fn wakes(me: &mut Thread, addr: u64) {
    if atomic::is_lock(addr) {
        atomic::mark_hidden(addr);
    }
    if let Some(mut race) = race_of(me) {
        acquire_published(&mut race, true);
    }
    publish(me);
    super::release(me, ObjectId::new(ObjectClass::Futex, addr));
    if !atomic::is_lock(addr) {
        // It may hold a lock by now that another left out of sight and has not told yet (a `Barrier` of std).
        slots::put_off(me, Pending::All);
    }
}

/// The strand goes into code that takes a lock out of sight.
pub fn takes(me: &mut Thread, lock: u64) {
    slots::ready(me);
    atomic::mark_hidden(lock);
    slots::put_off(me, Pending::Lock(lock));
}

/// The strand goes into code that goes on by what any strand did.
pub fn goes_on(me: &mut Thread) {
    slots::ready(me);
    slots::put_off(me, Pending::All);
}

/// The strand goes into code that gives a lock back, waits, and takes it again, all out of sight.
pub fn gives_back(me: &mut Thread) {
    slots::ready(me);
    if let Some(mut race) = race_of(me) {
        while let Some(lock) = race.locks.pop() {
            atomic::mark_hidden(lock);
        }
    }
    publish(me);
    slots::put_off(me, Pending::All);
}

/// Objects that precompiled code counts in, out of sight: where each begins.
static USED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
static USED_NEXT: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the largest of them.
const LARGEST: u64 = 32;

/// Precompiled code is about to change an object by which it orders strands: whoever looks at it first comes after all.
pub fn uses(me: &mut Thread, object: u64) {
    publish(me);
    if !is_used(object) {
        let at = USED_NEXT.fetch_add(1, Ordering::Relaxed) % USED.len();
        USED[at].store(object, Ordering::Relaxed);
    }
}

/// Whether a word belongs to such an object.
pub fn is_used(addr: u64) -> bool {
    USED.iter().any(|object| {
        let object = object.load(Ordering::Relaxed);
        object != 0 && addr.wrapping_sub(object) < LARGEST
    })
}
