//! Pending signals: who they are for, and the handlers they run.

use alloc::vec::Vec;
use core::sync::atomic::Ordering;

use threadbare_abi::strand::StrandId;

use super::action::{self, Handler};
use super::kernel::{self, SA_NODEFER, SA_RESETHAND, SA_RESTART, SigInfo};
use super::{IGNORED, Running, SIGCHLD, STOPPING, Set, bit, own, prune};
use crate::effect::{Effect, effect, here};
use crate::engine::strand::State;
use crate::engine::{self, ATTENTION, ObjectId, attention};
use crate::model::kernel::{nr, raw};
use crate::model::single::Single;
use crate::sys::{c_int, c_void, get_errno, set_errno};

const SI_KERNEL: c_int = 0x80;
const SI_QUEUE: c_int = -1;
const SI_TIMER: c_int = -2;
const SI_TKILL: c_int = -6;
/// Signals from this one on are queued, each with its value.
const REAL_TIME: c_int = 32;
/// The most real-time signals that may be pending.
const QUEUE_LIMIT: usize = 4096;

/// Who sent a signal and how.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// The kernel.
    Kernel,
    /// `kill`.
    Process,
    /// `raise`, `pthread_kill`.
    Strand,
    /// `sigqueue`.
    Queue(u64),
    /// A POSIX timer.
    Timer { number: usize, value: u64 },
    /// The program made it up itself.
    Given(SigInfo),
}

struct Pending {
    /// The strand it is for; `None` while nobody can take it.
    target: Option<StrandId>,
    /// It was sent to the process, not to the strand.
    shared: bool,
    info: SigInfo,
}

static QUEUE: Single<Vec<Pending>> = Single::new(Vec::new());
/// Signals that a descriptor of the program reports.
static REPORTED: Single<Set> = Single::new(0);

fn info_of(signal: c_int, cause: Cause) -> SigInfo {
    let mut info = SigInfo { signal, ..SigInfo::ZERO };
    // SAFETY: two system calls without arguments.
    let sender = || unsafe { [raw(nr::GETPID, []) as u32, raw(nr::GETUID, []) as u32] };
    match cause {
        Cause::Kernel => info.code = SI_KERNEL,
        Cause::Process => info.first = sender(),
        Cause::Strand => (info.code, info.first) = (SI_TKILL, sender()),
        Cause::Queue(value) => (info.code, info.first, info.value) = (SI_QUEUE, sender(), value),
        Cause::Timer { number, value } => {
            (info.code, info.first, info.value) = (SI_TIMER, [number as u32, 0], value);
        }
        Cause::Given(given) => info = SigInfo { signal, ..given },
    }
    info
}

/// Sends a signal to the process; false if one was pending already, which then stands for both.
pub fn send_process(signal: c_int, cause: Cause) -> bool {
    add(None, info_of(signal, cause))
}

/// Sends a signal to a strand; false as for [`send_process`].
pub fn send_strand(id: StrandId, signal: c_int, cause: Cause) -> bool {
    add(Some(id), info_of(signal, cause))
}

/// Whether no more real-time signals can be queued.
pub fn full() -> bool {
    QUEUE.get().len() >= QUEUE_LIMIT
}

/// Descriptors report these signals: they are left to the kernel while all strands block them.
pub fn report(set: Set) {
    *REPORTED.get() |= set;
    kernel::block_native(set);
}

fn living() -> impl Iterator<Item = StrandId> {
    (0..engine::strand_count() as u16).map(StrandId).filter(|&id| !engine::strand(id).ended)
}

fn takes(id: StrandId, signal: c_int) -> bool {
    own(id).mask & bit(signal) == 0
}

fn add(target: Option<StrandId>, info: SigInfo) -> bool {
    let signal = info.signal;
    effect(Effect::Before, ObjectId::SIGNALS, here());
    let blocked_by_all = living().all(|id| !takes(id, signal));
    if ignored(signal) && living().all(|id| takes(id, signal)) {
        return true;
    }
    if *REPORTED.get() & bit(signal) != 0 && blocked_by_all {
        // SAFETY: a signal to this process, which the kernel keeps for the descriptor.
        unsafe { raw(nr::KILL, [raw(nr::GETPID, []) as usize, signal as usize]) };
        engine::io_touched();
        return true;
    }
    let shared = target.is_none();
    let mut queue = QUEUE.get();
    let twice = |other: &Pending| {
        other.info.signal == signal && other.shared == shared && (shared || other.target == target)
    };
    if signal < REAL_TIME && queue.iter().any(twice) {
        return false;
    }
    queue.push(Pending { target, shared, info });
    ATTENTION.fetch_or(attention::SIGNAL, Ordering::Relaxed);
    if signal != SIGCHLD {
        engine::stops::ring();
    }
    true
}

fn ignored(signal: c_int) -> bool {
    match action::of(signal).handler {
        Handler::Ignore => true,
        Handler::Default => IGNORED & bit(signal) != 0,
        Handler::Function(_) => false,
    }
}

/// Whether this signal would end the process if it came now.
pub fn would_kill(signal: c_int) -> bool {
    let default = matches!(action::of(signal).handler, Handler::Default);
    default && (IGNORED | STOPPING) & bit(signal) == 0 && living().any(|id| takes(id, signal))
}

/// Finds out who pending signals are for and ends the waits of those strands; true if some strand can go on by that.
pub fn route() -> bool {
    while let Some(info) = kernel::take_arrived() {
        add(None, info);
    }
    let mut woke = false;
    let mut waiting = false;
    let mut soon = false;
    for pending in QUEUE.get().iter_mut() {
        let signal = pending.info.signal;
        let gone = |id: StrandId| engine::strand(id).ended || !takes(id, signal);
        if pending.shared && pending.target.is_none_or(gone) {
            // As the kernel does: the main strand if it can take it, else another.
            pending.target = living().find(|&id| takes(id, signal));
        }
        let awaited = |id: &StrandId| own(*id).awaited & bit(signal) != 0;
        let receiver = match pending.target {
            Some(id) if takes(id, signal) || awaited(&id) => Some(id),
            Some(_) => None,
            None => living().find(awaited),
        };
        let Some(id) = receiver.filter(|&id| !engine::strand(id).ended) else { continue };
        waiting = true;
        soon |= signal != SIGCHLD;
        if engine::strand(id).state() == State::Blocked {
            engine::interrupt(id);
            woke |= engine::strand(id).state() == State::Ready;
        }
    }
    if waiting {
        // Until the receiver has come to a point, which is soon.
        ATTENTION.fetch_or(attention::SIGNAL, Ordering::Relaxed);
        if soon {
            engine::stops::ring();
        }
    }
    woke
}

/// Runs the handlers of signals that are for the running strand; true if one ran.
pub fn deliver() -> bool {
    prune();
    let mut any = false;
    while let Some(info) = take(!own(engine::me()).mask) {
        any |= act(info);
    }
    any
}

/// Takes the first pending signal of a set that the running strand may have.
pub fn take(set: Set) -> Option<SigInfo> {
    let id = engine::me();
    let mut queue = QUEUE.get();
    let mut best: Option<usize> = None;
    for (index, pending) in queue.iter().enumerate() {
        let mine = pending.target.is_none_or(|target| target == id);
        let earlier = |other: usize| queue[other].info.signal <= pending.info.signal;
        if mine && set & bit(pending.info.signal) != 0 && !best.is_some_and(earlier) {
            best = Some(index);
        }
    }
    if best.is_some() {
        effect(Effect::After, ObjectId::SIGNALS, here());
    }
    best.map(|index| queue.remove(index).info)
}

/// Whether the running strand has a signal to handle.
pub fn due() -> bool {
    let id = engine::me();
    let mask = own(id).mask;
    QUEUE.get().iter().any(|pending| {
        pending.target.is_none_or(|target| target == id) && mask & bit(pending.info.signal) == 0
    })
}

/// Pending signals the running strand blocks.
pub fn pending() -> Set {
    while let Some(info) = kernel::take_arrived() {
        add(None, info);
    }
    let id = engine::me();
    QUEUE
        .get()
        .iter()
        .filter(|pending| pending.target.is_none_or(|target| target == id))
        .fold(0, |set, pending| set | bit(pending.info.signal))
}

/// Forgets all pending signals.
pub fn clear() {
    QUEUE.get().clear();
}

/// Forgets pending signals that have become ignored.
pub fn forget(signal: c_int) {
    QUEUE.get().retain(|pending| pending.info.signal != signal);
}

/// Acts on a signal; true if a handler ran.
fn act(mut info: SigInfo) -> bool {
    let signal = info.signal;
    let action = action::of(signal);
    let function = match action.handler {
        Handler::Function(function) => function,
        _ if ignored(signal) => return false,
        _ if STOPPING & bit(signal) != 0 => {
            kernel::release(signal, 0, 0);
            // SAFETY: stops this process until it is continued.
            unsafe { raw(nr::KILL, [raw(nr::GETPID, []) as usize, signal as usize]) };
            return false;
        }
        _ => {
            // The call at which the strand is, not what comes behind it.
            let pc = engine::strand(engine::me()).op.pc.saturating_sub(1);
            engine::crashed(signal, 0, pc, false)
        }
    };
    if action.flags & SA_RESETHAND != 0 {
        action::reset(signal);
    }
    // Handlers may look at the context; there is none to show at a point.
    let mut context = [0u64; 128];
    let mut me = own(engine::me());
    let mask = me.mask;
    me.running.push(Running { sp: &raw const context as usize, mask });
    me.mask |= action.mask;
    if action.flags & SA_NODEFER == 0 {
        me.mask |= bit(signal);
    }
    let errno = get_errno();
    // SAFETY: the program's handler; one with fewer parameters does not look at the others.
    unsafe { function(signal, &mut info, context.as_mut_ptr().cast::<c_void>()) };
    set_errno(errno);
    let mut me = own(engine::me());
    if let Some(over) = me.running.pop() {
        me.mask = over.mask;
    }
    me.ran = true;
    me.ran_without_restart |= action.flags & SA_RESTART == 0;
    true
}
