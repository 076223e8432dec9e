//! The engine: strands, points, switches, waits, the run's beginning and end.
//!
//! | serves | file | what |
//! |---|---|---|
//! | Strands and their choices | `strand` | what is known of one thread of the program |
//! |  | `sched` | points, decisions, switches |
//! |  | `lists` | which strands can go on, which wait |
//! |  | `crowds` | those of many strands that wait for one object |
//! |  | `wait` | the two kinds of wait all models are made of |
//! |  | `due` | virtual time and deadlines |
//! |  | `idle` | what to do when no strand can go on |
//! |  | `io` | strands that wait for file descriptors |
//! |  | `faults` | choices of the environment's |
//! |  | `own` | choices of the program's own |
//! |  | `stores` | which store an atomic load sees |
//! |  | `part` | parts of the code that are made atomic, to see what that mends |
//! |  | `carriers` | stacks and thread-local storage |
//! |  | `ending` | the end of the process, and whether others go first |
//! | Schedules | `segments` | the schedule as it is made |
//! |  | `follow` | a schedule instead of a strategy |
//! |  | `lenient` | a plan that is followed loosely |
//! |  | `guidance` | what strategy and driver tell each other |
//! |  | `stops` | where a strand makes a point although it does nothing that is one |
//! | Plain accesses and loops | `access` | the way of an access, for each kind and size |
//! |  | `learn` | which accesses are points |
//! |  | `touched` | who touched what |
//! |  | `lineage` | what creations and joins order |
//! |  | `shadow` | what is known of the program's memory |
//! |  | `copies` | copies of whole structures |
//! |  | `registers` | the registers of an access |
//! |  | `unseen` | functions that order strands and are not interposed |
//! |  | `spin` | strands that wait for memory |
//! |  | `loops` | which loops end by themselves |
//! |  | `rounds` | rounds that come to nothing |
//! | What is looked for | `race` | data races |
//! |  | `addressable` | whether memory that is touched is there |
//! |  | `leaks` | memory that is left at the end |
//! |  | `destroyed` | objects that are used after they were destroyed |
//! |  | `deadlock` | cycles of waits |
//! |  | `locks` | locks held and their orders |
//! |  | `words` | locks that are words of the program's own |
//! |  | `lost` | wakes that nobody waited for |
//! |  | `verdict` | the end of a run |
//! | What is told | `coverage` | the run's class, and pairs of places |
//! |  | `steps` | what each step did, for planners |
//! |  | `local` | what a strand has of its own at a step |
//! |  | `reads` | who reads from whom |
//! |  | `values` | what variables were |
//! |  | `watch` | moments whose stacks the driver wants |
//! |  | `record` | the event stream |
//! |  | `recorded` | what a kept trace has besides |
//! |  | `report` | records in words |
//! |  | `frames` | the shadow call stack |
//! |  | `holders` | whose frame memory on a stack is in |
//! |  | `modules` | loaded modules, and places in them |
//! |  | `live` | the counters |
//! |  | `debug` | what a debugger sees |
//! | Runs and their driver | `start` | whether there is a driver, and what it gave us |
//! |  | `shared` | the memory that both have |
//! |  | `server` | fork server, the beginning of a run |
//! |  | `snapshot` | the next run in the same process |
//! |  | `batch` | runs that are made without a word to the driver |
//! |  | `given` | inputs that come when the program stands before `main` |
//! |  | `scout` | runs that begin at the program's `check` |
//! |  | `orphans` | processes that a run leaves behind |
//! |  | `memory` | address space of the runtime's own |

// Strands and their choices.
pub mod carriers;
pub mod crowds;
pub mod due;
pub mod ending;
pub mod faults;
mod holders;
pub mod idle;
pub mod io;
pub mod lists;
pub mod own;
pub mod part;
pub mod sched;
pub mod stores;
pub mod strand;
pub mod wait;

// Schedules.
pub mod follow;
pub mod guidance;
pub mod lenient;
pub mod segments;
pub mod stops;

// Plain accesses and loops.
pub mod access;
pub mod copies;
pub mod learn;
pub mod lineage;
pub mod loops;
pub mod registers;
pub mod rounds;
pub mod shadow;
pub mod spin;
pub mod touched;
pub mod unseen;

// What is looked for.
pub mod addressable;
pub mod deadlock;
pub mod destroyed;
pub mod leaks;
pub mod locks;
pub mod lost;
pub mod race;
pub mod verdict;
pub mod words;

// What is told.
pub mod coverage;
pub mod debug;
pub mod frames;
pub mod live;
pub mod local;
pub mod modules;
pub mod reads;
pub mod record;
pub mod recorded;
pub mod report;
pub mod steps;
pub mod values;
pub mod watch;

// Runs and their driver.
pub mod batch;
pub mod given;
pub mod memory;
pub mod orphans;
pub mod scout;
pub mod server;
pub mod shared;
pub mod snapshot;
pub mod start;

use crate::effect::{Effect, effect};
use crate::heap::arena::Slot;
use crate::raw::Raw;
use crate::sys::{c_void, pthread_t};
use alloc::boxed::Box;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::step::Doubt;
use threadbare_abi::strand::MAX_STRANDS;
pub use threadbare_abi::strand::StrandId;
use threadbare_strategy::rng::Rng;

pub use carriers::StackWish;
pub use due::{advance, now, timer_armed, timer_overdue};
pub use follow::blocks_here;
pub use io::{PollFd, io_touched, wait_fd};
pub use sched::{ATTENTION, attention, point, yield_point};
pub use segments::outside;
pub use shared::is_own_mapping;
pub use start::{controlled, cpus, driven, is_instrumented, mark_instrumented};
pub use strand::Strand;
pub use verdict::{
    crashed, crashed_with, end_run, ends_now, exits, fail_run, fatal, fatal_about, note_verdict, warn_once,
};
pub use wait::{
    ObjectClass, ObjectId, Ready, Wake, acquire, interrupt, notify, requeue, retract, retract_from, sleep_on,
    waiting, wake_all, wake_one,
};

use sched::engine;

/// Whether some strand can go on.
pub fn others_can_go_on() -> bool {
    engine().can_count() != 0
}

/// Whether deadlines come only when nobody can go on.
pub fn keeps_deadlines() -> bool {
    engine().in_order
}

/// The strand that runs.
#[inline(always)]
pub fn me() -> StrandId {
    engine().current
}

/// A strand.
#[inline(always)]
pub fn strand(id: StrandId) -> Raw<Strand> {
    // SAFETY: ids come from the engine and are in range; strands live as long as the run; one kernel thread.
    unsafe { Raw::new(*engine().strands.get_unchecked(id.index())) }
}

/// What the driver wants: the flags of the plan.
pub fn plan_flags() -> u32 {
    engine().plan.flags
}

/// Strands of the run so far, ended ones included.
pub fn strand_count() -> usize {
    engine().strands.len()
}

/// Strands that have not ended.
pub fn live_strands() -> usize {
    engine().live
}

/// Counts an interposed call that is no point.
#[inline]
pub fn event() {
    if controlled() {
        live::live().events += 1;
        // SAFETY: single kernel thread.
        if live::live().events >= unsafe { stops::STOP_AT } && stops::must_stop(live::live().events) {
            // A stop falls on this call: it is made a point.
            live::live().events -= 1;
            point(Op::new(OpKind::Clock, 0, 0));
        }
    }
}

/// The running strand is not preempted until [`unpin`]; it may still wait.
pub fn pin() {
    strand(me()).pinned += 1;
}

/// The opposite of [`pin`].
pub fn unpin() {
    let mut this = strand(me());
    this.pinned = this.pinned.saturating_sub(1);
}

/// Random numbers for the running strand of the program, the same for a whole campaign.
pub fn entropy() -> Raw<Rng> {
    sched::this().part(|strand| &mut strand.entropy)
}

/// The running strand has got memory whose address depends on who else asked for some before.
pub fn given_in_order(pc: u64) {
    static mut LAST: StrandId = StrandId::NONE;
    if controlled() && live_strands() > 1 {
        let me = me();
        // SAFETY: single kernel thread.
        let last = unsafe { core::mem::replace(&mut *(&raw mut LAST), me) };
        if last != StrandId::NONE && last != me {
            steps::doubt(Doubt::Address, pc);
        }
    }
}

/// Where the running strand's memory comes from.
pub fn heap_slot() -> Raw<Slot> {
    /// Before there are strands, and for the main one.
    static mut EVERYBODYS: Slot = Slot::EVERYBODYS;
    let alone = !controlled() || engine().current == StrandId::MAIN;
    if alone {
        // SAFETY: single kernel thread, or the heap's lock is held.
        unsafe { Raw::new(&raw mut EVERYBODYS) }
    } else {
        sched::this().part(|strand| &mut strand.heap)
    }
}

/// libc's handle of a strand.
pub fn pthread_of(id: StrandId) -> pthread_t {
    strand(id).pthread
}

/// The latest strand with this handle.
pub fn by_pthread(pthread: pthread_t) -> Option<StrandId> {
    lists::by_handle(pthread)
}

/// The lowest and highest address of a strand's stack.
pub fn strand_stack(id: StrandId) -> (usize, usize) {
    strand(id).stack
}

/// A strand's start function.
pub type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// Makes a strand that will run `start(arg)`; an errno if it cannot be made. Whoever asked for it says
/// [`Effect::Create`].
pub fn spawn(start: Start, arg: *mut c_void, stack: StackWish) -> Result<StrandId, i32> {
    if strand_count() >= MAX_STRANDS {
        return Err(crate::sys::errno::EAGAIN);
    }
    let carrier = carriers::take(stack)?;
    addressable::strand_begins(carrier.stack);
    let e = engine();
    let id = StrandId(e.strands.len() as u16);
    let mut parent = strand(e.current);
    parent.children += 1;
    let mut new =
        Strand::new(id, e.current, parent.children, parent.path.child(parent.children), e.plan.entropy);
    new.fs = carrier.fs;
    new.pthread = carrier.pthread;
    new.stack = carrier.stack;
    new.carrier = Some(carrier);
    // A stack of the program's own making may lie anywhere: all that happens on it is noted.
    new.stack_shared = learn::stacks_shared() || stack.base != 0;
    // SAFETY: the carrier is parked elsewhere; its stack below `sp` is free.
    new.sp = unsafe {
        crate::arch::first_frame(
            carrier.sp,
            strand_first as *const () as usize,
            start as usize,
            arg as usize,
            strand_last as *const () as usize,
        )
    };
    if stack.base != 0 {
        let size = (carrier.stack.1 - carrier.stack.0) as u64;
        effect(Effect::Fresh(size), ObjectId::memory(carrier.stack.0 as u64), 0);
    }
    lists::add(Box::into_raw(Box::new(new)));
    Ok(id)
}

unsafe extern "C" fn strand_first(start: Start, arg: *mut c_void) -> *mut c_void {
    crate::model::thread::strand_body(start, arg)
}

unsafe extern "C" fn strand_last(result: *mut c_void, _unwound: usize) -> ! {
    crate::model::thread::strand_end(result)
}

/// Nobody will ask for an ended strand any more (it was joined, or was detached): its carrier may be used again.
pub fn release(id: StrandId) {
    if let Some(carrier) = strand(id).carrier.take() {
        carriers::retire(carrier);
    }
}

/// The running strand has ended; the models know. Never returns.
pub fn finish() -> ! {
    sched::end_current()
}

/// The program forked; this is the child, in which only the forking strand exists. It goes on by itself: no choices,
/// nothing recorded, nothing told to the driver.
pub fn forked_child() {
    let cpus = cpus();
    if !cpus.is_empty() {
        // SAFETY: the mask has as many bytes as told.
        unsafe {
            crate::sys::syscall3(crate::sys::nr::SCHED_SETAFFINITY, 0, cpus.len(), cpus.as_ptr() as usize)
        };
    }
    live::detach();
    shared::detach();
    ATTENTION.store(0, core::sync::atomic::Ordering::Relaxed);
    lists::keep_only_current();
    addressable::stop();
    faults::leave();
    learn::set_gate(false);
    race::set_on(false);
    coverage::set_on(false);
}

static mut HEAP_ASIDE: bool = false;

/// Whether the program's allocations come from the deterministic arena: not in a bare run, and not while libc makes a
/// carrier, whose memory must not move the program's.
#[inline]
pub fn heap_is_ours() -> bool {
    // SAFETY: written on the single kernel thread of a driven process.
    driven() && !unsafe { HEAP_ASIDE }
}

/// Runs `work` with libc's own allocator.
pub fn with_heap_aside<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: single kernel thread; `work` makes no point.
    unsafe {
        let before = HEAP_ASIDE;
        HEAP_ASIDE = true;
        let made = work();
        HEAP_ASIDE = before;
        made
    }
}
