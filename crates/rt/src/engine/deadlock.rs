//! Deadlocks: strands that wait for each other.
//!
//! A strand that waits without a deadline for a lock, an initialisation or a strand's end cannot go on before certain
//! other strands do ([`blockers`]). A cycle of such waits can never open again by itself. It is looked for when a strand
//! begins to wait, which is the only moment a cycle can close, and the run ends there: other strands may run on for ever.
//! When no strand at all can go on, `idle` asks for the cycle too, to tell it.
//!
//! A cycle is a verdict at once when nothing but the strands in it could open it. Where steps are told to a planner the others
//! still go on, for [`BESIDE`] at the most: a run that ended before they have done what they can would tell it nothing of
//! that, and runs that differ in nothing but how far the others came would be of different classes. Where the program has a way out in
//! principle, it is one only if it is still closed when the others have gone on for long ([`PATIENCE`]):
//!
//! - a join, or asynchronous cancellation: another strand may cancel;
//! - a signal handler: it may leave by `longjmp`;
//! - a futex word, which anybody may wake;
//! - a normal mutex whose own holder waits for it, or whose holder has ended: the program may use it as a semaphore
//!   that another strand gives back, which POSIX leaves undefined and Linux allows.
//!
//! A lock that was given back by a strand that did not hold it is such a semaphore: no cycle through it is a verdict
//! while any strand can go on.

use super::live::live;
use super::locks;
use super::sched::engine;
use super::strand::{State, Strand};
use super::wait::{ObjectClass, ObjectId};
use super::{follow, lost, me, steps, strand, strand_count, words};
use crate::model::single::Single;
use crate::model::{cancel, futex, mutex, once, rwlock, signal, spin};
use alloc::vec::Vec;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;

/// Events of other strands, and waits they have begun: after so many of either, a cycle that might be opened from outside
/// is a deadlock.
const PATIENCE: (u64, u64) = (1 << 20, 1 << 15);
/// The same of a cycle that nobody can open, while steps are told.
const BESIDE: (u64, u64) = (1 << 12, 1 << 10);
/// Locks given back by others that are remembered one by one.
const GIVEN_MOST: usize = 256;

struct Known {
    /// The cycle the verdict is about.
    told: Vec<StrandId>,
    /// A strand of a cycle that might still be opened.
    doubtful: StrandId,
    /// Locks that strands gave back which they did not hold; sorted.
    given: Vec<u64>,
}

static STATE: Single<Known> =
    Single::new(Known { told: Vec::new(), doubtful: StrandId::NONE, given: Vec::new() });

/// The event count, and the number of waits, at which the doubtful cycle is looked at again.
static mut AGAIN_AT: (u64, u64) = (u64::MAX, u64::MAX);

/// A strand gives back a lock that another one holds.
pub fn given_by_another(object: ObjectId) {
    let addr = object.addr;
    let given = &mut STATE.get().given;
    if given.len() < GIVEN_MOST
        && let Err(at) = given.binary_search(&addr)
    {
        given.insert(at, addr);
    }
}

fn is_semaphore(addr: u64) -> bool {
    let given = &STATE.get().given;
    given.len() == GIVEN_MOST || given.binary_search(&addr).is_ok()
}

/// Whether the verdict is about a cycle that this strand is in.
pub fn is_told(id: StrandId) -> bool {
    STATE.get().told.contains(&id)
}

/// The strands without whose doing a waiting strand cannot go on: each of them has to.
pub fn blockers(waiting: &Strand, mut visit: impl FnMut(StrandId)) {
    let mut one = |id: StrandId| {
        if id != StrandId::NONE && id.index() < strand_count() {
            visit(id);
        }
    };
    let addr = waiting.wait.key.addr as usize;
    match waiting.wait.key.class {
        ObjectClass::Mutex => one(mutex::holder_of(addr)),
        ObjectClass::Spin => one(spin::holder_of(addr)),
        ObjectClass::Once => one(once::runner_of(addr)),
        ObjectClass::Strand => one(StrandId(addr as u16)),
        ObjectClass::Futex => one(words::holder_of(addr)),
        ObjectClass::FutexLock => one(futex::holder_of(addr)),
        ObjectClass::RwLock => {
            let writer = rwlock::writer_of(addr);
            if writer != StrandId::NONE {
                one(writer);
            } else if waiting.op.kind == OpKind::WriteLock {
                locks::holders(waiting.wait.key, one);
            } else {
                // The lock prefers writers, and one waits.
                for index in 0..strand_count() as u16 {
                    let other = strand(StrandId(index));
                    let writes = other.op.kind == OpKind::WriteLock && other.wait.key == waiting.wait.key;
                    if other.state() == State::Blocked && writes {
                        one(other.id);
                    }
                }
            }
        }
        _ => {}
    }
}

fn waits_for_ever(other: &Strand) -> bool {
    other.state() == State::Blocked && other.wait.deadline == u64::MAX
}

/// The cycle of waits that begins and ends with `from`.
fn cycle(from: StrandId) -> Option<Vec<StrandId>> {
    let mut open = false;
    blockers(&strand(from), |id| open |= waits_for_ever(&strand(id)));
    if !open {
        return None;
    }
    let mut seen = alloc::vec![false; strand_count()];
    let mut path: Vec<(StrandId, Vec<StrandId>)> = Vec::new();
    let mut next = Some(from);
    loop {
        match next {
            Some(id) => {
                let mut others = Vec::new();
                blockers(&strand(id), |other| others.push(other));
                path.push((id, others));
            }
            None => _ = path.pop(),
        }
        let (_, others) = path.last_mut()?;
        next = None;
        while let Some(id) = others.pop() {
            if id == from {
                return Some(path.iter().map(|(id, _)| *id).collect());
            }
            if waits_for_ever(&strand(id)) && !core::mem::replace(&mut seen[id.index()], true) {
                next = Some(id);
                break;
            }
        }
    }
}

/// Whether the strand waits for a lock whose holder has ended.
fn waits_for_ended(id: StrandId) -> bool {
    let mut found = false;
    let other = strand(id);
    let class = other.wait.key.class;
    if waits_for_ever(&other)
        && (class.is_lock() || matches!(class, ObjectClass::Futex | ObjectClass::FutexLock))
    {
        blockers(&other, |holder| found |= strand(holder).state() == State::Ended);
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hope {
    /// Nobody can open it.
    None,
    /// Somebody could.
    Some,
    /// The program does such things.
    Likely,
}

fn hope(cycle: &[StrandId]) -> Hope {
    let mut hope = if signal::any_handler() { Hope::Some } else { Hope::None };
    for &id in cycle {
        let other = strand(id);
        let key = other.wait.key;
        if is_semaphore(key.addr) && key.class != ObjectClass::Strand {
            return Hope::Likely;
        }
        let alone = cycle.len() == 1 && key.class == ObjectClass::Mutex;
        if alone
            || matches!(key.class, ObjectClass::Strand | ObjectClass::Futex | ObjectClass::FutexLock)
            || cancel::is_asynchronous(id)
        {
            hope = Hope::Some;
        }
    }
    hope
}

/// The running strand has begun to wait without a deadline: if that closes a cycle, the run may end here.
#[inline]
pub fn waits(this: &Strand) {
    if this.wait.key.class.has_holder() {
        look(this.id);
    }
}

fn look(id: StrandId) {
    match cycle(id) {
        Some(found) => match hope(&found) {
            Hope::None if steps::is_on() || follow::goes_on() => {
                note(found);
                STATE.get().doubtful = StrandId::NONE;
                doubt(id, BESIDE);
            }
            Hope::None => verdict(found),
            Hope::Some => doubt(id, PATIENCE),
            Hope::Likely => {}
        },
        None if waits_for_ended(id) => doubt(id, PATIENCE),
        None => {}
    }
}

fn doubt(id: StrandId, patience: (u64, u64)) {
    let mut state = STATE.get();
    if state.doubtful == StrandId::NONE {
        state.doubtful = id;
        // SAFETY: single kernel thread.
        unsafe { AGAIN_AT = (live().events + patience.0, engine().arrivals + patience.1) };
        let mut e = engine();
        e.due_events = e.due_events.min(until());
    }
}

/// The running strand has ended: who waits for a lock it holds still?
pub fn ended(id: StrandId) {
    if locks::held_by(id).is_empty() {
        return;
    }
    for index in 0..strand_count() as u16 {
        let other = strand(StrandId(index));
        if waits_for_ever(&other) && locks::held_by(id).iter().any(|held| held.object == other.wait.key) {
            return doubt(other.id, PATIENCE);
        }
    }
}

/// The event count at which a cycle is looked at again.
pub fn until() -> u64 {
    // SAFETY: single kernel thread.
    unsafe { AGAIN_AT.0 }
}

/// Looks again at a cycle that might have been opened, when it is time.
#[inline]
pub fn look_again() {
    // SAFETY: single kernel thread.
    let (events, waits) = unsafe { AGAIN_AT };
    if live().events >= events || engine().arrivals >= waits {
        doubtful();
    }
}

#[cold]
#[inline(never)]
fn doubtful() {
    let mut state = STATE.get();
    let id = core::mem::replace(&mut state.doubtful, StrandId::NONE);
    // SAFETY: single kernel thread.
    unsafe { AGAIN_AT = (u64::MAX, u64::MAX) };
    if id != StrandId::NONE && waits_for_ever(&strand(id)) {
        match cycle(id) {
            Some(found) if hope(&found) != Hope::Likely => verdict(found),
            None if waits_for_ended(id) && !is_semaphore(strand(id).wait.key.addr) => {
                verdict(alloc::vec![id])
            }
            _ => {}
        }
    }
    // Another one may have closed meanwhile.
    for index in 0..strand_count() as u16 {
        let other = StrandId(index);
        if other != id && waits_for_ever(&strand(other)) && STATE.get().doubtful == StrandId::NONE {
            look(other);
        }
    }
}

/// No strand can go on: a deadlock, told with its cycle if there is one.
pub fn total() -> ! {
    let all = || (0..strand_count() as u16).map(StrandId).filter(|&id| strand(id).state() == State::Blocked);
    if let Some(found) = all().find_map(cycle) {
        verdict(found);
    }
    if let Some(id) = all().find(|&id| waits_for_ended(id)) {
        verdict(alloc::vec![id]);
    }
    lost::tell();
    let waiting = engine().blocked;
    if waiting == 1 {
        end(me(), format_args!("the only strand left waits for ever"));
    }
    end(me(), format_args!("all {waiting} strands wait"))
}

/// Ends the run with the cycle, or with the strand that waits for a lock whose holder has ended.
fn verdict(found: Vec<StrandId>) -> ! {
    let closing = note(found);
    end(closing, format_args!(""))
}

/// Notes the cycle as the run's verdict if there is none yet; who is to be told as the one who closed it.
fn note(mut found: Vec<StrandId>) -> StrandId {
    // Whoever closes the cycle, it is told from the strand that was created first.
    let first = (0..found.len()).min_by_key(|&at| found[at]).unwrap_or(0);
    found.rotate_left(first);
    let closing = *found.iter().find(|&&id| id == me()).unwrap_or(&found[0]);
    if live().verdict != VerdictKind::None as u32 {
        return closing;
    }
    let note = |message| note_about(closing, message);
    let joins = found.iter().all(|&id| strand(id).wait.key.class == ObjectClass::Strand);
    let lock = |id: &StrandId| {
        let class = strand(*id).wait.key.class;
        class.is_lock() || matches!(class, ObjectClass::Futex | ObjectClass::FutexLock)
    };
    let locks = found.iter().all(lock);
    let ended = waits_for_ended(found[0]);
    let count = found.len();
    STATE.get().told = found;
    match count {
        1 if ended => note(format_args!("a strand waits for a lock whose holder has ended")),
        1 if locks => note(format_args!("a strand waits for the lock it holds itself")),
        1 => note(format_args!("a strand waits for itself")),
        _ if locks => note(format_args!("lock cycle of {count} strands")),
        _ if joins => note(format_args!("join cycle of {count} strands")),
        _ => note(format_args!("cycle of {count} strands")),
    }
    closing
}

/// Notes the verdict, if there is none yet; it is about `id`, whoever runs.
fn note_about(id: StrandId, message: core::fmt::Arguments) {
    if live().verdict == VerdictKind::None as u32 {
        let op = strand(id).op;
        super::note_verdict(VerdictKind::Deadlock, 0, op.addr, op.pc, message);
        live().verdict_strand = id.0 as u32;
    }
}

/// Ends the run; the verdict is about `id`, whoever runs.
fn end(id: StrandId, message: core::fmt::Arguments) -> ! {
    note_about(id, message);
    let op = strand(id).op;
    super::fail_run(VerdictKind::Deadlock, 0, op.addr, op.pc, message)
}
