//! Data races, by happens-before.
//!
//! Every strand has a vector clock; what orders strands joins clocks: locks and all other models (`objects`),
//! atomics (`atomic`), code that nobody sees (`hidden`). Every plain access is compared with the marks that earlier ones
//! left in the shadow (`plain`); what neither orders is a race, and is told (`tell`). The run goes on.
//!
//! - *The clock is the run's event count.* An access is named by its strand and event; a strand's vector clock holds
//!   for each strand the last event of it that happens before (`rules::clock`). No strand counts epochs of its own.
//! - *Marks.* Every 8 bytes that strands touch have a cell (`engine/shadow.rs`) with the last write and the last read:
//!   event, strand, bytes, low half of the pc (`rules::marks`). Where two do not do (strands that read at the same
//!   time, neighbours in one cell) a cell has a chain of as many as it takes, so nothing is forgotten. `rules::plain`
//!   compares an access with the marks, tells what nothing orders (`tell.rs`, once a run for each pair of
//!   instructions), and drops marks that say no more than the new one. What a strand does again at one instruction
//!   before others hear of it keeps its first mark: the same come after it.
//! - *Objects.* Locks, semaphores, barriers, futex wakes, annotations have a clock each; all descriptors share one, as
//!   do all signals (`objects.rs`). An atomic object keeps the clock that its release sequence publishes;
//!   read-modify-writes carry it on, fences and relaxed operations have clocks in the strand (`atomic.rs`).
//! - *Stores that may still be seen.* With a memory model other than `sc` an atomic object keeps its last stores, each
//!   with what it published and who saw it (`rules::stores`); a load, right before it is made, chooses among those that
//!   the clocks do not hide (`choice.rs`), and a store its place among them. The newest is the plain choice and is not
//!   recorded; another one is a segment with the strand's event count in its stretch, so that a schedule that does not
//!   speak of a load means the newest. A run that draws the newest everywhere keeps no stores. Planners are told of
//!   every such choice, and count execution graphs (`explore::planner::graph`).
//! - *From the second strand on.* What came before it is ordered by its creation, so nothing is lost. A strand's stack
//!   is its own until another strand touches it.
//!
//! *Hidden synchronisation.* Precompiled code (Rust's std, libstdc++) synchronises without a call to us. The rule is to
//! order more than need be, never less:
//!
//! - An atomic operation that finds another value than the last one seen there met an unseen writer, and acquires from
//!   every strand; so does the first load of a word, unless instrumented code has written it (the shadow's marks tell)
//!   or it still has the value it had when `main` began (`pristine.rs`).
//! - A futex wait on a word that only unseen code uses (a condition variable of std) publishes what the strand did, and
//!   its end comes after everything so far. A wait on a lock whose fast path is in sight acquires the word
//!   (`hidden.rs`).
//! - What leaves no trace at all (`std::thread::park` that finds its token, `Once::wait`, slow paths of std's locks
//!   that find them free) is found by name in the program's symbol table, and a call of ours is put at its entry
//!   (`engine/unseen.rs`, `arch/x86_64_entry.rs`).
//! - A libc call is an access of the caller, and a `free` a write, only if instrumented code makes it itself
//!   (`tsan/strings/`).
//!
//! **A race does not end its run**, a memory error does: behind a race the program goes on as its machine code does,
//! behind an access to memory it does not have nothing it does means anything.

pub mod again;
pub mod atomic;
pub mod hidden;
pub mod marks;
pub mod objects;
pub mod plain;
pub mod pristine;
pub mod stores;
pub mod tell;

use super::live::live;
use super::sched::{engine, this};
use super::strand::Strand;
use super::{ObjectId, StrandId, recorded, shadow, watch};
use tell::Mine;
use threadbare_abi::op::{OpKind, Order};

/// The bit of a cell's `touch` that says that atomic operations use some of its bytes.
pub const SYNC: u64 = 1;

/// Whether this run looks for races: 1 from the second strand on.
static mut ON: u8 = 0;
static mut WANTED: bool = false;
/// Whether what is found is told: the clocks may be wanted for what atomic loads may see alone.
static mut TELLS: bool = false;

/// Reserves memory. Once, in the fork server.
pub fn init() {
    marks::init();
    pristine::keep();
}

/// Runs begin later than at `main`.
pub fn look_again() {
    pristine::keep();
}

/// The run begins.
pub fn begin(wanted: bool) {
    atomic::choice::begin();
    // SAFETY: single kernel thread.
    unsafe { (WANTED, TELLS) = (wanted || atomic::choice::is_on(), wanted) }
}

/// Whether races are told.
fn tells() -> bool {
    // SAFETY: single kernel thread.
    unsafe { TELLS }
}

/// Races are possible from now on: there is a second strand. Or they are not looked for any more: the run is over.
pub fn set_on(on: bool) {
    // SAFETY: single kernel thread.
    unsafe { ON = (on && WANTED) as u8 }
    again::lapses();
}

/// Whether races are looked for right now.
#[inline(always)]
pub fn is_on() -> bool {
    // SAFETY: single kernel thread.
    unsafe { ON != 0 }
}

/// What a strand keeps for the program's annotations: counts of sections to be left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignored {
    /// Reads.
    pub reads: u16,
    /// Writes.
    pub writes: u16,
    /// Synchronisation.
    pub sync: u16,
}

/// The running strand is making a plain access, now.
#[inline(always)]
pub fn access(kind: OpKind, addr: u64, size: u32, pc: u64) {
    if is_on() {
        access_slow::<false>(kind, addr, size, pc);
    }
}

/// The same of an access that is no point, and that those who look for points have noted.
#[inline(always)]
pub fn access_noted(kind: OpKind, addr: u64, size: u32, pc: u64) {
    if is_on() {
        access_slow::<true>(kind, addr, size, pc);
    }
}

#[inline(never)]
fn access_slow<const NOTED: bool>(kind: OpKind, addr: u64, size: u32, pc: u64) {
    if NOTED {
        again::looked();
    }
    let this = this();
    let left_out = this.ignored.reads | this.ignored.writes;
    let in_one = (addr & 7) + size as u64 <= 8 && size != 0;
    if in_one && left_out == 0 && !watch::or_recorded() && !shadow::is_full() {
        let writes = !matches!(kind, OpKind::Read | OpKind::ReadRange);
        // Where no race is told, all that is asked later is which bytes were written.
        if !tells() && (!writes || plain::is_known_written(addr, size as u64)) {
            return;
        }
        if plain::quick::<NOTED>(&this, live().events, writes, addr, size as u64, pc) {
            return;
        }
    }
    thorough(kind, addr, size, pc, NOTED)
}

#[inline(never)]
fn thorough(kind: OpKind, addr: u64, size: u32, pc: u64, noted: bool) {
    let mut this = this();
    let mine = Mine { kind, addr, size, pc };
    if watch::is_on() {
        watch::happens(pc);
    }
    if recorded::is_on() {
        recorded::access(kind, addr, size.into(), pc);
    }
    if size == 0 || shadow::is_full() {
        return;
    }
    if (this.ignored.reads | this.ignored.writes) != 0 && left_out(&this, &mine) {
        return;
    }
    plain::access(&mut this, live().events, &mine, noted);
}

#[cold]
fn left_out(this: &Strand, mine: &Mine) -> bool {
    if mine.writes() { this.ignored.writes != 0 } else { this.ignored.reads != 0 }
}

/// An atomic load has found `found`. Nothing has happened since.
#[inline]
pub fn loaded(addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    if is_on() && !shadow::is_full() {
        atomic::load(&mut this(), addr, size, found, order, pc);
    }
}

/// An atomic compare-and-exchange has found another value than it expected.
#[inline]
pub fn refused(addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    if is_on() && !shadow::is_full() {
        atomic::refused(&mut this(), addr, size, found, order, pc);
    }
}

/// An atomic store has been made.
#[inline]
pub fn stored(addr: u64, size: u8, value: u64, order: Order, pc: u64) {
    if is_on() && !shadow::is_full() {
        atomic::store(&mut this(), addr, size, value, order, pc);
    }
}

/// An atomic read-modify-write has found `found` and written.
#[inline]
pub fn updated(addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    if is_on() && !shadow::is_full() {
        atomic::update(&mut this(), addr, size, found, order, pc);
    }
}

/// An atomic compare-and-exchange has found what it expected.
#[inline]
pub fn exchanged(addr: u64, size: u8, found: u64, order: Order, pc: u64) {
    if is_on() && !shadow::is_full() {
        atomic::exchanged(&mut this(), addr, size, found, order, pc);
    }
}

/// A fence.
pub fn fence(order: Order) {
    if is_on() {
        atomic::fence(&mut this(), order);
        if recorded::is_on() {
            recorded::fence(order);
        }
    }
}

impl Strand {
    /// Others may know from now on what it did so far: an object, or another strand, gets its clock.
    fn publishes(&mut self) {
        self.clock.raise(self.id.index(), live().events);
        again::lapses();
    }
}

/// The running strand comes after the last release of an object.
pub fn acquire(object: ObjectId) {
    if is_on() {
        let mut this = this();
        stores::settle(&mut this);
        if this.ignored.sync == 0 {
            let at = this.id.index();
            this.clock.join_as(at, &objects::clock(object));
            if recorded::is_on() {
                recorded::acquires(object);
            }
        }
    }
}

/// Whoever acquires the object comes after the running strand.
pub fn release(object: ObjectId) {
    if is_on() {
        let mut this = this();
        stores::settle(&mut this);
        if this.ignored.sync == 0 {
            this.publishes();
            objects::clock(object).join(&this.clock);
            if recorded::is_on() {
                recorded::releases(object);
            }
        }
    }
}

/// The running strand is about to wait on a futex word.
pub fn futex_waits(addr: usize) {
    if is_on() {
        stores::settle(&mut this());
        hidden::waits(&mut this(), addr as u64);
    }
}

/// Its wait has ended.
pub fn futex_waited(addr: usize) {
    if is_on() {
        hidden::waited(&mut this(), addr as u64);
    }
}

/// The running strand wakes waiters of a futex word.
pub fn futex_wakes(addr: usize) {
    if is_on() {
        stores::settle(&mut this());
        hidden::wakes(&mut this(), addr as u64);
    }
}

/// The running strand is about to see what others published, out of our sight.
pub fn acquires_unseen() {
    if is_on() {
        hidden::acquire_all(&mut this());
    }
}

/// The running strand is about to take a lock out of our sight; whether it has to wait is not known.
pub fn takes_unseen(lock: u64) {
    if is_on() {
        hidden::takes(&mut this(), lock);
    }
}

/// Precompiled code is about to change this object, by which it orders strands, for the running strand.
pub fn uses_unseen(object: u64) {
    if is_on() {
        hidden::uses(&mut this(), object);
    }
}

/// The running strand goes on after the point at which it woke.
pub fn futex_woke() {
    if is_on() {
        hidden::woke(&mut this());
    }
}

/// The running strand creates another, which comes after what it did so far.
pub fn created(id: StrandId) {
    // SAFETY: single kernel thread.
    if !unsafe { WANTED } {
        return;
    }
    let (mut parent, mut new) = (this(), super::strand(id));
    parent.publishes();
    new.clock.assign(&parent.clock);
    new.view.join(&parent.view);
    stores::settle(&mut parent);
}

/// The running strand has joined another that has ended: it comes after all of it.
pub fn joined(other: StrandId) {
    if is_on() {
        let mut other = super::strand(other);
        let at = other.id.index();
        other.clock.raise(at, live().events);
        let clock = &other.clock;
        let mut this = this();
        this.clock.join(clock);
        this.view.join(&other.view);
        stores::settle(&mut this);
        if recorded::is_on() {
            recorded::joined(other.id);
        }
    }
}

/// The running strand frees memory, called straight from code that the compiler's pass has seen.
pub fn freed(addr: u64, size: u64, pc: u64) {
    if is_on() && !shadow::is_full() && engine().current.index() < super::strand_count() {
        if recorded::is_on() {
            recorded::access(OpKind::Free, addr, size, pc);
        }
        plain::free(&mut this(), addr, size, pc);
    }
}
