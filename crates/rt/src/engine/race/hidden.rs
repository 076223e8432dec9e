//! Synchronisation out of sight.
//!
//! The precompiled std and libstdc++ lock, wait and wake without a call to us, except for the futex calls they end in.
//! What can be told from those is told here, on the safe side: more is ordered than need be, and no report is false.
//!
//! - A wait on a word that only unseen code uses (a condition variable of std, a parked strand): whoever waits has left a
//!   lock before that nobody saw it leave, one of those it once took. What it did is published to all who take such a one.
//! - The end of such a wait: it has taken a lock again. It comes after everything so far.
//! - A wait on a lock whose fast path the compiler's pass sees (std's mutex): the end of the wait acquires the word.
//! - A wake publishes to the word, and to all as above. If others went on at its point, unseen code may have taken a lock
//!   that they left: it comes after everything so far.

use super::super::strand::Strand;
use super::super::{ObjectClass, ObjectId, live::live, recorded, strand_count};
use super::{again, atomic, objects};
use crate::raw::Raw;
use threadbare_rules::clock::Clock;

static mut PUBLISHED: Clock = Clock::new();

fn published() -> Raw<Clock> {
    // SAFETY: single kernel thread.
    unsafe { Raw::new(&raw mut PUBLISHED) }
}

/// The event up to which somebody was taken to know what all strands did.
pub static mut ALL_HEARD: u64 = 0;

/// All that any strand did so far becomes known to a clock.
pub fn tell_all(clock: &mut Clock) {
    let now = live().events;
    clock.raise_all(strand_count(), now);
    // SAFETY: single kernel thread.
    unsafe { ALL_HEARD = now }
    again::lapses();
}

/// Everything that any strand did so far happens before.
pub fn acquire_all(this: &mut Strand) {
    tell_all(&mut this.clock);
    if recorded::is_on() {
        recorded::acquires_all();
    }
}

/// What unseen code published happens before.
pub fn acquire(this: &mut Strand) {
    this.clock.join_as(this.id.index(), &published());
}

/// The same, once an acquire fence comes.
pub fn acquire_later(this: &mut Strand) {
    this.fence_acquire.join(&published());
}

/// Whatever the strand did is published to unseen code.
pub fn release(this: &mut Strand) {
    this.publishes();
    published().join(&this.clock);
    if recorded::is_on() {
        recorded::releases(ObjectId::UNSEEN);
    }
}

/// The strand is about to wait on a futex word.
pub fn waits(this: &mut Strand, addr: u64) {
    if atomic::is_lock(addr) {
        atomic::mark_hidden(addr);
        return;
    }
    // The lock it has left is one that it has taken or tried to take in sight, once.
    while let Some(lock) = this.locks.pop() {
        atomic::mark_hidden(lock);
    }
    release(this);
}

/// The strand's wait on a futex word has ended.
pub fn waited(this: &mut Strand, addr: u64) {
    if atomic::is_lock(addr) {
        let futex = ObjectId::new(ObjectClass::Futex, addr);
        atomic::acquire(this, addr);
        this.clock.join_as(this.id.index(), &objects::clock(futex));
        acquire(this);
        if recorded::is_on() {
            recorded::acquires(futex);
            recorded::acquires(ObjectId::UNSEEN);
        }
    } else {
        acquire_all(this);
    }
}

/// The strand is about to take a lock that may be free by now.
pub fn takes(this: &mut Strand, lock: u64) {
    atomic::acquire(this, lock);
    acquire(this);
    if recorded::is_on() {
        recorded::acquires(ObjectId::UNSEEN);
    }
}

/// The strand wakes waiters of a futex word.
pub fn wakes(this: &mut Strand, addr: u64) {
    if atomic::is_lock(addr) {
        atomic::mark_hidden(addr);
    }
    acquire(this);
    if recorded::is_on() {
        recorded::acquires(ObjectId::UNSEEN);
    }
    release(this);
    let futex = ObjectId::new(ObjectClass::Futex, addr);
    objects::clock(futex).join(&this.clock);
    if recorded::is_on() {
        recorded::releases(futex);
    }
    // SAFETY: single kernel thread.
    unsafe { SWITCHES = live().switches }
}

/// Switches when a strand last stood before a wake.
static mut SWITCHES: u64 = 0;

/// The strand goes on after the point at which it woke others.
pub fn woke(this: &mut Strand) {
    // SAFETY: single kernel thread. Another strand's wake in between is a switch too.
    if unsafe { SWITCHES } != live().switches {
        acquire_all(this);
    }
}

/// Objects that precompiled code counts in, out of sight: where each begins.
static mut USED: [u64; 64] = [0; 64];
static mut USED_NEXT: usize = 0;
/// Bytes of the largest of them.
const LARGEST: u64 = 32;

/// Precompiled code is about to change an object by which it orders strands: whoever looks at it first comes after all.
pub fn uses(this: &mut Strand, object: u64) {
    release(this);
    // SAFETY: single kernel thread.
    unsafe {
        let used = &mut *(&raw mut USED);
        if !used.contains(&object) {
            used[USED_NEXT % used.len()] = object;
            USED_NEXT += 1;
        }
    }
}

/// Whether a word belongs to such an object.
pub fn is_used(addr: u64) -> bool {
    // SAFETY: single kernel thread.
    let used = unsafe { &*(&raw const USED) };
    used.iter().any(|&object| object != 0 && addr.wrapping_sub(object) < LARGEST)
}
