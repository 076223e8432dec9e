//! Processes the program starts. Safe before init and after fork.
//!
//! A child that the program forks goes on with the forking strand alone and takes no part in the run; a program it
//! executes is not controlled at all. Both are said once. Waiting for a child is waiting for its process descriptor.
//!
//! **The child of the program's own `fork`** keeps the models but makes no choices, and nothing of it is recorded.

mod execute;
mod spawn;
mod wait;

use alloc::vec::Vec;

use crate::engine;
use crate::model::kernel::{nr, raw};
use crate::model::single::Single;
use crate::model::{io, signal, time};
use crate::sys::{c_int, pid_t};

pub use execute::about_to_execute;
pub use wait::{wait_id, wait4};

const P_PID: usize = 1;
const WNOHANG: usize = 1;
const WEXITED: usize = 4;
const WNOWAIT: usize = 0x0100_0000;

/// Children that were started and not waited for.
static CHILDREN: Single<Vec<pid_t>> = Single::new(Vec::new());

/// Whether any was ever started.
static STARTED: Single<bool> = Single::new(false);

interpose!(fork, 0, fork_hook);
interpose!(__fork, 0, fork_hook);
interpose!(vfork, 0, fork_hook);
interpose!(__vfork, 0, fork_hook);
interpose!(_Fork, 0, plain_fork_hook);
interpose!(daemon, 2, daemon_hook);

fn started(pid: pid_t) {
    CHILDREN.get().push(pid);
    *STARTED.get() = true;
    io::touched();
}

fn reaped(pid: pid_t) {
    CHILDREN.get().retain(|&child| child != pid);
}

/// Whether the program has started any.
pub fn any_started() -> bool {
    *STARTED.get()
}

/// Whether a process the program started still runs, or one that such a process left behind.
pub fn children_alive() -> bool {
    let own = CHILDREN.get().iter().any(|&pid| {
        let mut info = signal::SigInfo::ZERO;
        // SAFETY: asks about a child and leaves it to be waited for.
        let got = unsafe {
            raw(nr::WAITID, [P_PID, pid as usize, &raw mut info as usize, WNOHANG | WEXITED | WNOWAIT, 0])
        };
        got == 0 && info.signal == 0
    });
    // In this order: what a child leaves has another parent before the child counts as ended.
    own || *STARTED.get() && !*FORKED.get() && engine::orphans::alive()
}

/// Whether this process is a child that the program forked off the run.
static FORKED: Single<bool> = Single::new(false);

/// Whether this process is a child that the program forked.
pub fn forked() -> bool {
    *FORKED.get()
}

/// Whether this strand is all that a forked child has, so that it may use the kernel's time and signals directly.
pub fn alone_in_child() -> bool {
    *FORKED.get() && engine::live_strands() == 1
}

/// Whether a strand is inside libc's `fork`.
static FORKING: Single<bool> = Single::new(false);

/// Before `main`: the first handler that a child runs is ours, so that none of the program's takes part in the run.
pub fn init() {
    crate::sys::in_children(in_child);
}

/// In the child of a fork.
extern "C" fn in_child() {
    if !core::mem::take(&mut FORKING.get()) {
        return;
    }
    *FORKED.get() = true;
    engine::forked_child();
    crate::model::after_fork_child();
    time::after_fork_child();
    CHILDREN.get().clear();
}

fn fork(pc: u64, fork: impl FnOnce() -> pid_t) -> pid_t {
    engine::event();
    engine::warn_once("fork: the child process is not controlled", pc);
    // Handlers of `pthread_atfork` run inside, under libc's locks.
    engine::pin();
    *FORKING.get() = true;
    let pid = signal::with_mask(fork);
    engine::unpin();
    match pid {
        // Where libc ran no handlers.
        0 => in_child(),
        1.. => started(pid),
        _ => {}
    }
    *FORKING.get() = false;
    pid
}

/// `fork`, and `vfork`, which may be `fork`.
unsafe extern "C" fn fork_hook(pc: u64) -> pid_t {
    let call = real!(fork: fn() -> pid_t);
    if !engine::controlled() {
        // SAFETY: no arguments.
        return unsafe { call() };
    }
    // SAFETY: as above.
    fork(pc, || unsafe { call() })
}

unsafe extern "C" fn plain_fork_hook(pc: u64) -> pid_t {
    let call = real!(_Fork: fn() -> pid_t);
    if !engine::controlled() {
        // SAFETY: no arguments.
        return unsafe { call() };
    }
    // SAFETY: as above.
    fork(pc, || unsafe { call() })
}

/// The run is this process: it stays in the foreground.
unsafe extern "C" fn daemon_hook(keep_dir: c_int, keep_streams: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(daemon: fn(c_int, c_int) -> c_int)(keep_dir, keep_streams) };
    }
    engine::event();
    engine::warn_once("daemon: the program stays in the foreground", pc);
    if keep_dir == 0 {
        // SAFETY: a C string.
        unsafe { raw(nr::CHDIR, [c"/".as_ptr() as usize]) };
    }
    0
}
