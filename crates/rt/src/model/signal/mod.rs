//! Signals of the program, delivered at points.
//!
//! The kernel sees only handlers of ours: for an asynchronous signal a note that it came ([`kernel`]), for a fault a
//! decision whether the program handles it or the run is over ([`fault`]). What the program sees is kept here: its
//! actions, a mask for each strand, what is pending. A handler of the program runs on the stack of the strand it is
//! for, when that strand is at a point or waits, so a run with signals is as deterministic as one without.
//!
//! Signals the program sends to itself, and those of its virtual timers, never reach the kernel.

mod action;
mod altstack;
mod fault;
mod kernel;
mod mask;
mod queue;
mod send;
mod wait;

use crate::raw::Raw;
use alloc::vec::Vec;

use crate::effect::{Effect, in_free_run};
use crate::engine::{self, ObjectId};
use crate::sys::c_int;
use threadbare_abi::strand::StrandId;

pub use altstack::was_older_stack;

pub use action::{any_handler, native_action};
pub use altstack::change as altstack;
pub use fault::init;
pub use kernel::{SigInfo, changed, forget_changes, with_mask};
pub use mask::{change as change_mask, sigmask, swap as swap_mask};
pub use queue::{Cause, deliver, due, route, send_process, send_strand, would_kill};
pub use send::{kill, queue_info, tgkill};
pub use wait::{pause, suspend, wait_for};

/// A set of signals, signal n at bit n - 1, as in the kernel.
pub type Set = u64;

pub const SIGILL: c_int = 4;
pub const SIGTRAP: c_int = 5;
pub const SIGABRT: c_int = 6;
pub const SIGBUS: c_int = 7;
pub const SIGFPE: c_int = 8;
pub const SIGKILL: c_int = 9;
pub const SIGSEGV: c_int = 11;
/// The driver's word that the run's time is over.
pub const SIGXCPU: c_int = 24;
pub const SIGCHLD: c_int = 17;
pub const SIGCONT: c_int = 18;
pub const SIGSTOP: c_int = 19;
pub const SIGTSTP: c_int = 20;
pub const SIGTTIN: c_int = 21;
pub const SIGTTOU: c_int = 22;
pub const SIGURG: c_int = 23;
pub const SIGWINCH: c_int = 28;
pub const SIGSYS: c_int = 31;

/// The set with one signal.
pub const fn bit(signal: c_int) -> Set {
    1 << (signal - 1)
}

/// Signals that nobody can block or handle.
pub const UNBLOCKABLE: Set = bit(SIGKILL) | bit(SIGSTOP);
/// Signals that an instruction raises, and `abort`.
pub const FAULTS: Set = bit(SIGILL)
    | bit(SIGTRAP)
    | bit(SIGABRT)
    | bit(SIGBUS)
    | bit(SIGFPE)
    | bit(SIGSEGV)
    | bit(SIGXCPU)
    | bit(SIGSYS);
/// Signals that do nothing unless they are handled.
const IGNORED: Set = bit(SIGCHLD) | bit(SIGCONT) | bit(SIGURG) | bit(SIGWINCH);
/// Signals that stop the process unless they are handled.
const STOPPING: Set = bit(SIGSTOP) | bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);

/// A call of a run that is not controlled, which waits for a signal: whoever sent it, the strand comes after that.
pub fn came<R>(call: impl FnOnce() -> R) -> R {
    let made = call();
    in_free_run(Effect::AfterAll, ObjectId::SIGNALS, 0);
    made
}

/// Whether a number is a signal's.
pub fn valid(signal: c_int) -> bool {
    (1..=64).contains(&signal)
}

/// A handler that runs on a strand: where its stack begins, and the mask to go back to.
#[derive(Clone, Copy, Debug)]
struct Running {
    sp: usize,
    mask: Set,
}

/// What signals keep for a strand.
#[derive(Debug, Default)]
pub struct PerStrand {
    mask: Set,
    /// What it waits for in `sigwait` and the like.
    awaited: Set,
    running: Vec<Running>,
    /// Handlers ran since [`arm`].
    ran: bool,
    /// One of them was installed without `SA_RESTART`.
    ran_without_restart: bool,
    altstack: altstack::Stack,
}

/// What a wait that was interrupted does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interruption {
    /// No handler ran: wait again.
    Spurious,
    /// All handlers that ran let system calls go on: wait again, unless the call is one that never does.
    Restart,
    /// The call fails with `EINTR`.
    Eintr,
}

fn own(id: StrandId) -> Raw<PerStrand> {
    engine::strand(id).part(|strand| &mut strand.model.signal)
}

/// Before a wait: handlers that run from now on interrupt it.
pub fn arm() {
    let mut own = own(engine::me());
    own.ran = false;
    own.ran_without_restart = false;
}

/// After a wait that was interrupted: what ran since [`arm`].
pub fn interruption() -> Interruption {
    let own = own(engine::me());
    match (own.ran, own.ran_without_restart) {
        (false, _) => Interruption::Spurious,
        (true, false) => Interruption::Restart,
        (true, true) => Interruption::Eintr,
    }
}

/// Runs what is pending for the running strand; true if a handler ran.
pub fn attend() -> bool {
    route();
    deliver()
}

/// In the child of a fork nothing is pending.
pub fn after_fork_child() {
    queue::clear();
}

/// A new strand blocks what its creator blocks.
pub fn inherit(parent: StrandId, child: StrandId) {
    own(child).mask = own(parent).mask;
}

/// Handlers that were left by a jump are over: their masks are undone.
fn prune() {
    let here = 0u8;
    let sp = &raw const here as usize;
    let mut own = own(engine::me());
    while let Some(last) = own.running.last()
        && sp > last.sp
    {
        own.mask = last.mask;
        own.running.pop();
    }
}
