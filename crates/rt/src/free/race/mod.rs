//! Data races of free runs, by happens-before, while the strands run in parallel.
//!
//! The rules are those of the controlled check (`engine::race`); what is kept is made for many threads at once, and for speed: after
//! ThreadSanitizer (Serebryany and Iskhodzhanov, WBIA 2009), with four cells for each 8 bytes.
//!
//! | file | what |
//! |---|---|
//! | `shadow` | where the cells lie, and what is kept of heap blocks |
//! | `slots` | the slots in which strands count their epochs |
//! | `plain` | an access against the cells |
//! | `objects` | clocks of locks, atomics and their kind |
//! | `atomic` | atomic operations, fences |
//! | `hidden` | what precompiled code does out of sight |
//! | `signals` | handlers of signals |
//! | `tell` | what is found |
//!
//! - *The hooks look first* (`tsan/plain.rs`): a strand that did the same in the same epoch has nothing to do. That is one comparison of four
//!   cells, without a call.
//! - *A cell has its place.* 28 bits of the instruction lie in it, so the earlier access of a race is always named, however long ago it was. Its
//!   callers are not kept: they come from the run that is made again under control (`explore::free`), as in a controlled campaign.
//! - *Strands that are silent.* A strand without a slot (more than 256 at a time, or after all slots had counted to their end) leaves no
//!   marks and looks at none until it next synchronises: then it takes a slot from another strand.
//! - *Generations.* When all slots have counted to their end, everything that is known is forgotten, and they begin anew. A cell has one bit of the
//!   generation: what is written late by a strand that was stopped meanwhile means nothing.
//!
//! *Out of sight* the same is presumed as under control (`engine::race`), with one difference. There a strand that is inside precompiled code goes
//! on at a point only; here it may go on at any time, by what others do meanwhile. So whatever precompiled code may have waited for is
//! acquired at the strand's *next* event (`Pending`), not where it went in.
//!
//! What is told is what is right; what is missed is the rest: an access whose cell others have taken, two that came at the very same time,
//! whatever precompiled code ordered without need.

pub mod atomic;
pub mod hidden;
pub mod objects;
pub mod plain;
pub mod shadow;
pub mod signals;
pub mod slots;
pub mod tell;

use super::thread::Thread;
use crate::raw::Raw;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use objects::Object;
use threadbare_abi::object::{ObjectClass, ObjectId};
use threadbare_rules::epochs::Times;
use threadbare_rules::sequence::Known;

static ON: AtomicBool = AtomicBool::new(false);

/// Whether this run looks for races. Safe before init, in a signal, after fork.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// What a strand acquires at its next event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pending {
    /// Nothing.
    Nothing,
    /// A lock that precompiled code has taken for it.
    Lock(u64),
    /// All that any strand did.
    All,
}

/// Initialisations that a strand may be in at a time.
const ONCES: usize = 16;
/// Locks of the program's own that are remembered of a strand.
const LOCKS: usize = 64;

/// What is kept of a strand.
#[derive(Debug)]
pub struct Race {
    /// Its slot, as far as nobody has taken it.
    slot: Option<usize>,
    generation: u32,
    clock: Times,
    fence_acquire: Times,
    fence_release: Times,
    pending: Pending,
    /// Sections that are left out: of reads, writes, synchronisation.
    ignored: [u16; 3],
    /// The atomic object that it holds while an operation is made.
    holding: *mut Object,
    /// Words that it has taken as locks, or tried to.
    locks: Vec<u64>,
    /// Draws which cell is given up.
    turn: u32,
    onces: [(usize, usize); ONCES],
    onces_used: usize,
}

/// A run begins, before its first strand: false if it cannot look for races.
pub fn begin() -> bool {
    let ready = shadow::reserve();
    ON.store(ready, Ordering::Relaxed);
    ready
}

/// This process is a child that the program forked.
pub fn stop() {
    ON.store(false, Ordering::Relaxed);
}

/// A strand's record is made; the running strand (none for the first one) creates it.
pub fn created(parent: Option<&mut Thread>, child: &mut Thread) {
    if !on() {
        return;
    }
    let mut race = Box::new(Race {
        slot: None,
        generation: slots::generation(),
        clock: Times::with_room(),
        fence_acquire: Times::with_room(),
        fence_release: Times::with_room(),
        pending: Pending::Nothing,
        ignored: [0; 3],
        holding: null_mut(),
        locks: Vec::with_capacity(LOCKS),
        turn: 0,
        onces: [(0, 0); ONCES],
        onces_used: 0,
    });
    if let Some(parent) = parent {
        release_with(parent, |clock, _| race.clock.assign(clock));
        if let Some(parent) = race_of(parent) {
            race.generation = parent.generation;
        }
    }
    child.stamp_at = slots::off();
    child.race = Box::into_raw(race);
}

/// A strand runs from now on, on this thread. What others did on its stack and in its thread-local storage is no matter of its own.
pub fn begins(me: &mut Thread) {
    if on() {
        if me.index > 0 {
            shadow::forget_own_stack();
        }
        slots::ready(me);
    }
}

/// The strand ends.
pub fn ends(me: &mut Thread) {
    if on() {
        slots::leave(me);
    }
}

/// What is kept of a strand, if races are looked for.
#[inline(always)]
fn race_of(me: &mut Thread) -> Option<Raw<Race>> {
    // SAFETY: made with the record, and never given back; only its own thread uses it while it lives.
    unsafe { Raw::at(me.race) }
}

/// Whether the strand's synchronisation counts.
fn syncs(race: &Race) -> bool {
    race.ignored[2] == 0
}

/// The strand comes after all who released the object.
pub fn acquire(me: &mut Thread, object: ObjectId) {
    slots::ready(me);
    let Some(mut race) = race_of(me).filter(|race| syncs(race)) else { return };
    let known = objects::with(object, |state| {
        state.look(race.generation);
        race.clock.join(&state.sequence.clock);
    });
    if known.is_none() {
        hidden::acquire_all(me);
    }
}

/// Whoever acquires the object comes after the strand.
pub fn release(me: &mut Thread, object: ObjectId) {
    release_with(me, |clock, generation| {
        objects::with(object, |state| {
            state.look(generation);
            state.sequence.clock.join(clock);
        });
    });
}

/// The strand's epoch ends, and what it knows goes to `to`, with the generation of it.
fn release_with(me: &mut Thread, to: impl FnOnce(&Times, u32)) {
    slots::ready(me);
    let Some(mut race) = race_of(me).filter(|race| syncs(race)) else { return };
    slots::advance(&mut race);
    to(&race.clock, race.generation);
}

/// The strand takes an object: after a read-write lock's last readers, too, if it takes it alone.
pub fn takes(me: &mut Thread, object: ObjectId, shared: bool) {
    acquire(me, object);
    if object.class == ObjectClass::RwLock && !shared {
        acquire(me, ObjectId::new(ObjectClass::Readers, object.addr));
    }
}

/// The strand gives an object back. Readers come after the last writer; a writer, after the last readers too.
pub fn gives_back(me: &mut Thread, object: ObjectId, shared: bool) {
    release(me, if shared { ObjectId::new(ObjectClass::Readers, object.addr) } else { object });
}

/// The strand has waited for the end of another.
pub fn joined(me: &mut Thread, other: &Thread) {
    slots::ready(me);
    // SAFETY: the other has ended, and its record stays.
    let (Some(mut race), Some(other)) = (race_of(me), unsafe { other.race.as_ref() }) else { return };
    if race.generation == other.generation {
        race.clock.join(&other.clock);
    }
}

/// A section in which something is not looked at begins or ends: reads, writes, synchronisation.
pub fn exempt(me: &mut Thread, what: usize, begins: bool) {
    let Some(mut race) = race_of(me) else { return };
    let count = &mut race.ignored[what];
    *count = if begins { *count + 1 } else { count.saturating_sub(1) };
    slots::look_again(me);
}

/// A stamp that says: not now.
static OFF: AtomicU64 = AtomicU64::new(0);

/// What `pthread_once` is given.
type Routine = unsafe extern "C" fn();

/// `pthread_once` runs this in place of the program's routine: others that come later come after it.
unsafe extern "C" fn first_time() {
    let Some(mut me) = super::thread::me() else { return };
    let Some((control, routine)) = innermost_once(&mut me) else { return };
    // An earlier attempt may have been left by an exception.
    acquire(&mut me, ObjectId::new(ObjectClass::Once, control as u64));
    // SAFETY: the program's own routine, which it gave to `pthread_once`.
    unsafe { crate::model::once::call(core::mem::transmute::<usize, unsafe extern "C" fn()>(routine)) };
    if let Some(mut me) = super::thread::me() {
        release(&mut me, ObjectId::new(ObjectClass::Once, control as u64));
    }
}

/// The initialisation that the strand is in: its control word and routine.
fn innermost_once(me: &mut Thread) -> Option<(usize, usize)> {
    let race = race_of(me)?;
    race.onces.get(race.onces_used.checked_sub(1)?).copied()
}

/// An exception leaves the initialisation that the strand is in: whoever tries again comes after that.
pub fn left_once() {
    if on()
        && let Some(mut me) = super::thread::me()
        && let Some((control, _)) = innermost_once(&mut me)
    {
        release(&mut me, ObjectId::new(ObjectClass::Once, control as u64));
        if let Some(mut race) = race_of(&mut me) {
            race.onces_used -= 1;
        }
    }
}

/// Makes `pthread_once` with a routine that tells when the program's own is through.
pub fn once(control: usize, routine: Routine, make: impl FnOnce(Routine)) {
    let race = super::thread::me().filter(|_| on()).and_then(|mut me| race_of(&mut me));
    let Some(mut race) = race.filter(|race| race.onces_used < ONCES) else { return make(routine) };
    let depth = race.onces_used;
    race.onces[depth] = (control, routine as usize);
    race.onces_used = depth + 1;
    make(first_time);
    // An exception may have passed by inner ones.
    race.onces_used = depth;
}
