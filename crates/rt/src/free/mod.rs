//! Free runs: the program's threads are the kernel's, in parallel, with real time and real I/O.
//!
//! Every interposed call goes to libc's own function, as in a bare run. Around those by which strands order each other, and
//! before atomics and shared accesses, the noise maker may delay the strand (after ConTest: Edelstein, Farchi, Nir, Ratsaby
//! and Ur, IBM Systems Journal 2002). Beside that a free run keeps little: who waits for what and holds what (for the
//! watchdog), the call stacks, and the order of concurrent events where it is to be recorded.
//!
//! | file | what |
//! |---|---|
//! | `server` | the fork server, the beginning of a run |
//! | `thread` | a strand that is a kernel thread: its record, how it begins and ends |
//! | `calls` | the interposed calls that are events |
//! | `access` | atomics and plain accesses |
//! | `sharing` | which plain accesses are shared |
//! | `noise` | whether, and what |
//! | `past` | what a strand did lately |
//! | `held` | the locks it holds |
//! | `heat` | how often places are passed |
//! | `turns` | who sleeps, and who goes on first |
//! | `cover` | which functions are interrupted, and by what |
//! | `functions` | the functions by number, and what is known of them |
//! | `guide` | noise where something is left to cover |
//! | `race` | data races |
//! | `record` | the order of events |
//! | `frames` | call stacks |
//! | `watchdog` | deadlocks |
//! | `tell` | verdicts, and what every strand was doing |
//! | `crash` | fatal signals, and the driver's word that time is over |
//!
//! Code here runs on many kernel threads at once, so nothing of [`crate::engine`]'s state may be used except what the
//! shared memory holds. Waits for an own lock are bounded: its holder may have been stopped by a signal.
//!
//! Events take a number each while they hold a lease of their object (`free/record.rs`). What fails is made again on a
//! controlled server by the strategy `recorded`, whose guide is the recording (`strategy::recorded`, `explore::free`):
//! the strand goes on whose next recorded event comes first. That run's segments are the schedule, so replay, details
//! and races are those of any controlled run.
//!
//! What runs cover goes round: the campaign's books (`explore::task_ledger`) give every run the table of all that is
//! covered, in shared memory (`abi::tasks`, `explore::tasks`); the strands add to it, and the driver takes it back as a
//! union. An earlier campaign's functions are found again by module and offset, as soon as the modules are known. A
//! function is the program's own also where a library's has taken in its code (`symbols/own_code.rs`): in optimised
//! Rust the code of most strands is in such a one.

pub mod access;
pub mod calls;
pub mod cover;
pub mod crash;
pub mod frames;
pub mod functions;
pub mod guide;
pub mod heat;
pub mod held;
pub mod noise;
pub mod past;
pub mod race;
pub mod record;
pub mod server;
pub mod sharing;
pub mod tell;
pub mod thread;
pub mod turns;
pub mod watchdog;

use core::sync::atomic::{AtomicBool, Ordering};

/// Whether a free run is under way in this process.
static ON: AtomicBool = AtomicBool::new(false);

/// Whether a free run is under way in this process. Safe before init, in a signal, after fork.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// An argument of an interposed call as a number; one that is larger than a register counts as 0.
#[inline(always)]
pub fn word<T>(value: &T) -> usize {
    if size_of::<T>() > size_of::<usize>() {
        return 0;
    }
    let mut word = 0usize;
    // SAFETY: the value has no more bytes than the word.
    unsafe {
        core::ptr::copy_nonoverlapping(
            (&raw const *value).cast::<u8>(),
            (&raw mut word).cast::<u8>(),
            size_of::<T>(),
        );
    }
    word
}

/// This process is a child that the program forked: it takes no part in the run.
extern "C" fn in_child() {
    if on() {
        ON.store(false, Ordering::Relaxed);
        cover::begin(false);
        race::stop();
        // SAFETY: the child has one kernel thread, this one.
        unsafe {
            crate::engine::learn::GATE = 0;
            crate::engine::addressable::CHECKING = 0;
        }
        crate::engine::live::detach();
        crate::engine::shared::detach();
        crate::engine::start::leave_free();
    }
}
