//! What happens to objects and memory, said once by whoever does it, and who is told of it.
//!
//! A model says what it did ([`effect`]) and names nobody who looks on. Whoever looks on subscribes here, in the one place
//! where it can be seen what each effect is told to: the race check, coverage, steps for planners, locks held and their
//! orders, locks that are words of the program's own, deadlocks, lost wake-ups, watched moments, the event stream, spinning,
//! and the noise of free runs. Every effect is a constant where it is said, so what nobody wants costs nothing, and a
//! subscriber that is switched off costs its own test.
//!
//! An effect is said where it is made, not where it is published: an attempt that has to wait is none.

/// Those who look on. Nothing outside the engine names one of them (`tests/tests/effects.rs`).
mod observers {
    pub use crate::engine::{
        coverage, deadlock, destroyed, leaks, locks, lost, race, record, recorded, rounds, spin, steps,
        values, watch, words,
    };
}

use crate::engine::sched::{self, ATTENTION, attention};
use crate::engine::{self, ObjectClass, ObjectId, learn, lineage, shadow};
use crate::free;
use core::sync::atomic::Ordering;
use observers::*;
use threadbare_abi::event::EventKind;
use threadbare_abi::op::{Op, OpKind, Order};

/// For whom an object is taken or given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// For one strand alone.
    Alone,
    /// For one of several at a time.
    Shared,
}

/// Whether an object could have been acquired just before it is given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Was {
    /// By nobody who wants it for itself.
    Shut,
    /// It could.
    Open,
}

/// What an atomic operation did.
#[derive(Clone, Copy, Debug)]
pub enum Atomic {
    /// It loaded this.
    Load(u64),
    /// It stored this.
    Store(u64),
    /// It found the first and wrote, and may have changed nothing; the second is told.
    Update(u64, u64),
    /// It found what it expected, the first, and wrote the second.
    Exchange(u64, u64),
    /// It found this, and not what it expected, for which it would have written something. `takes`: it would have taken a word that is a lock.
    Refused { found: u64, expected: u64, new: u64, takes: bool },
}

/// What the program wants left out of the race check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exempt {
    /// Its reads.
    Reads,
    /// Its writes.
    Writes,
    /// Its synchronisation.
    Sync,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// An object is made.
    Make,
    /// An object is destroyed, or that is tried.
    Destroy,
    /// It is destroyed: nobody may use it until it is made anew.
    Destroyed,
    /// Whoever is making or destroying the object found that nobody could have acquired it right before.
    FoundShut,
    /// The running strand does not hold the object any more, and has not given it back.
    Lose,
    /// It is looked at and stays as it was.
    Look,
    /// It is changed, and no strand is ordered by that.
    Change,
    /// The running strand comes after all who said [`Effect::Before`] of it. Nothing else.
    After,
    /// Whoever says [`Effect::After`] of it from now on comes after the running strand. Nothing else.
    Before,
    /// The running strand is about to take it, and would have waited for ever.
    Want(Mode),
    /// Others can see that somebody has come to take it, taken or not.
    Announce,
    /// It is taken: the running strand comes after its last release.
    Acquire(Mode),
    /// It is given back: whoever acquires it comes after the running strand.
    Release(Mode, Was),
    /// Precompiled code has looked at a futex word out of sight. `certain`: it could have found nothing else.
    Peek { certain: bool },
    /// Precompiled code has used a futex word out of sight.
    Unseen,
    /// Precompiled code is about to take a lock that is a word, out of sight; whether it has to wait is not known.
    TakeUnseen,
    /// Precompiled code may go on at once, out of sight, by what any strand did.
    AfterAll,
    /// The running strand comes to a wait on a futex word.
    Wait,
    /// It is in the word's queue from now on.
    Queue,
    /// Its wait has ended, or there was none.
    Waited,
    /// The running strand comes to a wake of a futex word.
    Wake,
    /// It has gone on after the point before the wake, and wakes now.
    Wakes,
    /// A wake found so many that waited.
    Woke(usize),
    /// A word is read by the kernel for the running strand, at once.
    Read(u8),
    /// libc has written so many bytes for code that the compiler's pass has seen.
    Written(u64),
    /// An atomic operation has been made; nothing has happened since. Its bytes and its order.
    Atomic(Atomic, u8, Order),
    /// A fence.
    Fence(Order),
    /// The strand has been created by the running one.
    Create,
    /// The running strand ends.
    End,
    /// The strand has ended, and the running one has waited for it.
    Join,
    /// A block of so many bytes is allocated.
    Alloc(u64),
    /// A block of so many bytes is about to be freed. `seen`: by code that the compiler's pass has seen, so that whatever ordered
    /// the free after the last access was seen too.
    Free { size: u64, seen: bool },
    /// Nobody has used these bytes yet.
    Fresh(u64),
    /// Races on these bytes are meant to be.
    Benign(u64),
    /// A section begins, or ends, in which something is not looked at.
    Exempt(Exempt, bool),
}

/// Something happens to an object, by the instruction `pc`.
///
/// Safe before init and after fork, as far as the subscribers of the effect are: those of allocation are.
#[inline(always)]
pub fn effect(what: Effect, object: ObjectId, pc: u64) {
    let addr = object.addr as usize;
    match what {
        Effect::Make => {
            coverage::changes(object, pc);
            lost_hold(object);
            destroyed::made(object.addr);
        }
        Effect::Destroy => {
            destroyed::check(sched::this().op, true);
            coverage::changes(object, pc);
        }
        Effect::Destroyed => destroyed::destroyed(object, pc),
        Effect::FoundShut => steps::touches(sched::this().op.kind, object.addr, steps::EXCLUSIVE),
        Effect::Lose => lost_hold(object),
        Effect::Look => coverage::looks(object, pc),
        Effect::Change => coverage::changes(object, pc),
        Effect::After => race::acquire(object),
        Effect::Before => race::release(object),
        Effect::Want(mode) => locks::wants(object, pc, mode == Mode::Shared),
        Effect::Announce => steps::comes(),
        Effect::Acquire(mode) => acquired(object, mode, pc),
        Effect::Release(mode, was) => released(object, mode, was, pc),
        Effect::Peek { certain } => {
            if !learn::looked_unseen() && !certain {
                steps::blind(addr);
            }
            learn::atomic(object.addr, 4, false);
        }
        Effect::Unseen => steps::touched_unseen(addr),
        Effect::TakeUnseen => race::takes_unseen(object.addr),
        Effect::AfterAll => race::acquires_unseen(),
        Effect::Wait => {
            race::futex_waits(addr);
            words::waits(addr);
        }
        Effect::Queue => coverage::changes(object, pc),
        Effect::Waited => {
            words::waited(addr);
            race::futex_waited(addr);
        }
        Effect::Wake => {
            race::futex_wakes(addr);
            words::wakes();
        }
        Effect::Wakes => {
            race::futex_woke();
            coverage::changes(object, pc);
        }
        Effect::Woke(found) => lost::woke(object, found, pc),
        Effect::Read(size) => coverage::atomic(object.addr, size, false, pc),
        Effect::Written(size) => {
            if size > 0 {
                race::access(OpKind::WriteRange, object.addr, size.min(1 << 20) as u32, pc);
            }
        }
        Effect::Atomic(done, size, order) => atomic(done, object.addr, size, order, pc),
        Effect::Fence(order) => fence(order, pc),
        Effect::Create => created(object, pc),
        Effect::End => {
            coverage::changes(object, pc);
            steps::touches(OpKind::Exit, object.addr, steps::EXCLUSIVE);
            if let Some(id) = object.as_strand() {
                deadlock::ended(id);
            }
        }
        Effect::Join => {
            coverage::looks(object, pc);
            if let Some(id) = object.as_strand() {
                lineage::joined(id);
                race::joined(id);
                locks::joined(id);
            }
        }
        Effect::Alloc(size) => {
            forget(object.addr, size);
            if ATTENTION.load(Ordering::Relaxed) & (attention::WATCH | attention::VALUES | attention::LEAKS)
                != 0
            {
                allocated_slow(object.addr, size, pc);
            }
        }
        Effect::Free { size, seen } => {
            learn::released(object.addr, size, pc);
            destroyed::freed(object.addr, size);
            if seen {
                race::freed(object.addr, size, pc);
            }
            if ATTENTION.load(Ordering::Relaxed) & (attention::WATCH | attention::VALUES | attention::LEAKS)
                != 0
            {
                freed_slow(object.addr, pc);
            }
        }
        Effect::Fresh(size) => forget(object.addr, size),
        Effect::Benign(size) => race::tell::benign(object.addr, size),
        Effect::Exempt(what, begins) => exempt(what, begins),
    }
}

/// Something happens to an object in a free run: the same effects, told to those who look on while strands run in parallel.
///
/// Safe before init, in a signal and after fork: nobody looks on then, or those who do are.
#[inline]
pub fn in_free_run(what: Effect, object: ObjectId, pc: u64) {
    if free::race::on()
        && let Some(mut me) = free::thread::me()
    {
        told_free(&mut me, what, object, pc);
    }
}

#[inline]
fn told_free(me: &mut free::thread::Thread, what: Effect, object: ObjectId, pc: u64) {
    use free::race;
    match what {
        Effect::After => race::acquire(me, object),
        Effect::Before => race::release(me, object),
        Effect::Acquire(mode) => race::takes(me, object, mode == Mode::Shared),
        Effect::Release(mode, _) => race::gives_back(me, object, mode == Mode::Shared),
        Effect::TakeUnseen => race::hidden::takes(me, object.addr),
        Effect::AfterAll => race::hidden::goes_on(me),
        Effect::Unseen => race::hidden::uses(me, object.addr),
        Effect::Lose => race::hidden::gives_back(me),
        Effect::Wait => race::hidden::waits(me, object.addr),
        Effect::Waited => race::hidden::waited(me, object.addr),
        Effect::Wake => race::hidden::wakes(me, object.addr),
        Effect::Written(size) if size > 0 => race::plain::access(
            me,
            &race::plain::Mine { kind: OpKind::WriteRange, addr: object.addr, size, pc },
        ),
        Effect::Fence(order) => race::atomic::fence(me, order),
        Effect::Join => {
            if let Some(other) = object.as_strand().and_then(|id| free::thread::at(id.index())) {
                race::joined(me, other);
            }
        }
        Effect::Alloc(size) => race::shadow::allocated(object.addr, size),
        Effect::Free { size, seen } => {
            if seen {
                race::plain::free(me, object.addr, size, pc);
            }
            race::shadow::freed(object.addr, pc);
        }
        Effect::Fresh(size) => race::shadow::forget(object.addr, size),
        Effect::Benign(size) => race::tell::benign(object.addr, size),
        Effect::Exempt(what, begins) => {
            let which = match what {
                Exempt::Reads => 0,
                Exempt::Writes => 1,
                Exempt::Sync => 2,
            };
            race::exempt(me, which, begins);
        }
        _ => {}
    }
}

/// What is seldom to be done when a block is allocated.
#[cold]
fn allocated_slow(addr: u64, size: u64, pc: u64) {
    if watch::is_on() {
        watch::allocated(addr, pc);
    }
    if leaks::is_on() {
        leaks::allocated(addr, pc);
    }
    if values::is_on() {
        values::allocated(addr, size, pc);
    }
}

/// What is seldom to be done when a block is freed.
#[cold]
fn freed_slow(addr: u64, pc: u64) {
    if watch::is_on() {
        watch::freed(addr, pc);
    }
    if leaks::is_on() {
        leaks::freed(addr);
    }
    if values::is_on() {
        // The memory may be gone at the strand's next event.
        values::settle();
    }
}

/// A lock's holder has it no more.
#[inline(always)]
fn lost_hold(object: ObjectId) {
    if object.class.is_lock() {
        locks::given_back(engine::me(), object);
    }
}

#[inline(always)]
fn acquired(object: ObjectId, mode: Mode, pc: u64) {
    let shared = mode == Mode::Shared;
    if object.class.is_lock() {
        locks::taken(object, pc, shared);
    }
    race::acquire(object);
    if object.class == ObjectClass::RwLock && !shared {
        race::acquire(ObjectId::new(ObjectClass::Readers, object.addr));
    }
    if shared {
        coverage::looks(object, pc);
    } else {
        coverage::changes(object, pc);
    }
}

#[inline(always)]
fn released(object: ObjectId, mode: Mode, was: Was, pc: u64) {
    let shared = mode == Mode::Shared;
    // Readers come after the last writer; a writer, after the last readers too.
    race::release(if shared { ObjectId::new(ObjectClass::Readers, object.addr) } else { object });
    if shared {
        coverage::looks(object, pc);
    } else {
        coverage::changes(object, pc);
    }
    if was == Was::Open {
        return;
    }
    if let Some(by) = object.class.released_by(shared) {
        let readers_too = object.class == ObjectClass::RwLock && !shared;
        let whom = if readers_too { steps::EXCLUSIVE | steps::SHARED } else { steps::EXCLUSIVE };
        steps::touches(by, object.addr, whom);
    }
    if object.class.is_lock() {
        locks::given_back_by_any(object);
    }
}

#[inline(always)]
fn created(object: ObjectId, pc: u64) {
    let Some(id) = object.as_strand() else { return };
    lineage::created(id);
    race::created(id);
    coverage::created(id);
    if watch::is_on() {
        watch::created(id, pc);
    }
    locks::created(id);
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        let (parent, ordinal) = (engine::strand(id).parent, engine::strand(id).ordinal);
        record::push(EventKind::Created, id, Op::new(OpKind::Create, parent.0 as u64, 0), ordinal as u64);
    }
    steps::created(id);
}

/// Nothing is known of this memory any more.
#[inline]
fn forget(addr: u64, size: u64) {
    // SAFETY: reading the gate on the single kernel thread.
    if unsafe { learn::GATE } != 0 {
        coverage::forget(addr, size);
        shadow::forget(addr, size);
    }
}

fn exempt(what: Exempt, begins: bool) {
    let ignored = &mut sched::this().ignored;
    let count = match what {
        Exempt::Reads => &mut ignored.reads,
        Exempt::Writes => &mut ignored.writes,
        Exempt::Sync => &mut ignored.sync,
    };
    *count = if begins { *count + 1 } else { count.saturating_sub(1) };
    race::again::lapses();
}

#[inline(always)]
fn fence(order: Order, pc: u64) {
    if engine::controlled() {
        race::fence(order);
    } else if free::access::open() {
        free::access::fence(pc);
        in_free_run(Effect::Fence(order), ObjectId::NEVER, pc);
    }
}

#[inline(always)]
fn atomic(done: Atomic, addr: u64, size: u8, order: Order, pc: u64) {
    let (value, writes) = match done {
        Atomic::Load(value) | Atomic::Refused { found: value, .. } => (value, false),
        Atomic::Store(value) | Atomic::Update(_, value) | Atomic::Exchange(_, value) => (value, true),
    };
    if !engine::controlled() {
        if free::access::open() {
            if free::race::on()
                && let Some(mut me) = free::thread::me()
            {
                free::race::atomic::done(&mut me, done, addr, size, order, pc);
            }
            free::access::atomic_over(addr, value, writes, pc);
        }
        return;
    }
    match done {
        Atomic::Load(found) => race::loaded(addr, size, found, order, pc),
        Atomic::Refused { found, .. } => race::refused(addr, size, found, order, pc),
        Atomic::Store(value) => race::stored(addr, size, value, order, pc),
        Atomic::Update(found, _) => race::updated(addr, size, found, order, pc),
        Atomic::Exchange(found, _) => race::exchanged(addr, size, found, order, pc),
    }
    // What has changed nothing (a test-and-set of what is set) was for others a load.
    let same = matches!(done, Atomic::Update(found, _) | Atomic::Exchange(found, _) if size <= 8 && found == spin::load(addr, size));
    let changes = writes && !same;
    coverage::atomic(addr, size, changes, pc);
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        // In words: a reference to the effect would keep it in memory where nobody listens.
        let (kind, found) = match done {
            Atomic::Load(found) => (OpKind::AtomicLoad, found),
            Atomic::Store(stored) => (OpKind::AtomicStore, stored),
            Atomic::Update(found, _) => (OpKind::AtomicRmw, found),
            Atomic::Exchange(found, _) | Atomic::Refused { found, .. } => (OpKind::AtomicCas, found),
        };
        let op = Op { kind, order, size: size.into(), addr, pc };
        note_value(op, found, matches!(done, Atomic::Refused { .. }), value);
    }
    let lock = size == 4 && is_of_a_lock(done, addr, order);
    if changes && lock {
        sched::this().spin.clear();
    } else if changes {
        sched::progress();
    } else {
        // SAFETY: a byte that only the single kernel thread writes.
        if unsafe { learn::GATE } != 0 {
            spin::observe(pc, addr, value, size, false);
        }
    }
    if let Atomic::Exchange(expected, new) | Atomic::Refused { expected, new, .. } = done {
        steps::wants(expected, new);
    }
    if size == 4 {
        of_a_word(done, addr as usize, order, pc);
    }
}

/// Whether a word is taken as a lock, or given back by who took it.
#[inline(always)]
fn is_of_a_lock(done: Atomic, addr: u64, order: Order) -> bool {
    match done {
        Atomic::Exchange(0, 1) if order.acquires() => {
            rounds::takes_word(addr);
            true
        }
        Atomic::Store(0) | Atomic::Exchange(_, 0) if order.releases() => rounds::gives_back(addr),
        Atomic::Update(..) if order.releases() && spin::load(addr, 4) == 0 => rounds::gives_back(addr),
        _ => false,
    }
}

/// What an operation on a word of 4 bytes means if the word is a lock.
#[inline(always)]
fn of_a_word(done: Atomic, addr: usize, order: Order, pc: u64) {
    match done {
        Atomic::Exchange(0, 1) if order.acquires() => words::taken(addr, pc),
        Atomic::Refused { takes: true, .. } => words::refused(addr, pc),
        Atomic::Store(0) | Atomic::Exchange(_, 0) if order.releases() && words::any() => {
            words::given_back(addr)
        }
        Atomic::Update(..) if order.releases() && words::any() && spin::load(addr as u64, 4) == 0 => {
            words::given_back(addr);
        }
        _ => {}
    }
}

#[cold]
fn note_value(op: Op, found: u64, refused: bool, value: u64) {
    if recorded::is_on() {
        recorded::atomic(op, found, refused);
    }
    let told = Op { kind: OpKind::AtomicLoad, order: Order::Relaxed, ..op };
    record::push(EventKind::Value, engine::me(), told, value);
}

/// The instruction before which the running strand stands.
#[inline(always)]
pub fn here() -> u64 {
    sched::this().op.pc
}
