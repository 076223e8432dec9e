//! Runs that begin later than at `main`: where the program calls `check`.
//!
//! A Rust program with a `check` says so before `main`, one in C has its symbol. The server then forks a *scout*, which runs `main` without choices. When that comes to its first
//! check, it becomes the server in the other's place: all runs begin there, and what came before is made once. A scout that ends before, or takes too long, is
//! given up, and runs begin at `main`.

use super::sched::{Phase, engine};
use super::{server, unseen};
use crate::sys::{nr, syscall3, syscall6};
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// The program has a check.
static ANNOUNCED: AtomicBool = AtomicBool::new(false);
/// What scout and server share: one of the states below. Null in all others.
static STATE: AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut());

const LOOKS: u32 = 0;
const SERVES: u32 = 1;
const GIVEN_UP: u32 = 2;

/// Pauses of a millisecond that a scout gets.
const PATIENCE: u32 = 10_000;
const WNOHANG: usize = 1;
const SIGKILL: usize = 9;

/// Strands that there are at the check, where runs begin; 0 where they begin at `main`.
static OLDER: AtomicU32 = AtomicU32::new(0);

/// Whether the strand was there when the run began, at a check.
pub fn is_older(id: super::StrandId) -> bool {
    u32::from(id.0) < OLDER.load(Ordering::Relaxed)
}

/// The program has a check. Called by a constructor.
pub fn announce() {
    ANNOUNCED.store(true, Ordering::Relaxed);
}

/// In the server, before `main`. True in a scout; returns to the server if that found no check.
pub fn goes_ahead() -> bool {
    if !ANNOUNCED.load(Ordering::Relaxed) && !unseen::program_wants(b"\0threadbare_rt_check\0") {
        return false;
    }
    let Some(state) = shared_word() else { return false };
    match server::fork() {
        0 => {
            server::goes_with_parent();
            STATE.store(core::ptr::from_ref(state).cast_mut(), Ordering::Relaxed);
            true
        }
        pid if pid > 0 => {
            look_after(pid as usize, state);
            false
        }
        _ => false,
    }
}

fn shared_word() -> Option<&'static AtomicU32> {
    const MAP_SHARED_ANONYMOUS: usize = 0x21;
    // SAFETY: a new mapping, zeroed; it is never unmapped.
    unsafe {
        let at = syscall6(nr::MMAP, 0, 4096, 3, MAP_SHARED_ANONYMOUS, usize::MAX, 0);
        (at > 0).then(|| &*(at as *const AtomicU32))
    }
}

/// Returns if the scout is of no use. Else ends with it.
fn look_after(pid: usize, state: &AtomicU32) {
    let mut status = 0i32;
    for _ in 0..PATIENCE {
        let ended = wait(pid, &mut status, WNOHANG);
        if state.load(Ordering::Acquire) == SERVES {
            if !ended {
                // The driver must hear when the scout is gone.
                server::close();
                wait(pid, &mut status, 0);
            }
            server::quit();
        }
        if ended {
            return;
        }
        let pause = [0u64, 1_000_000];
        // SAFETY: two words.
        unsafe { syscall3(nr::NANOSLEEP, pause.as_ptr() as usize, 0, 0) };
    }
    let served = state.compare_exchange(LOOKS, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire).is_err();
    if served {
        server::close();
    } else {
        // SAFETY: a child of ours that nobody has waited for.
        unsafe { syscall3(nr::KILL, pid, SIGKILL, 0) };
    }
    wait(pid, &mut status, 0);
    if served {
        server::quit();
    }
}

/// Whether the child has ended.
fn wait(pid: usize, status: &mut i32, options: usize) -> bool {
    loop {
        // SAFETY: waits for a child of ours.
        let got = unsafe { syscall6(nr::WAIT4, pid, core::ptr::from_mut(status) as usize, options, 0, 0, 0) };
        if got != -(crate::sys::errno::EINTR as isize) {
            return got != 0;
        }
    }
}

/// The program comes to a check, with the options it wants its campaign to have. The first time, in the scout, the server is here: returns at the
/// beginning of every run. True then.
pub fn comes(options: &CStr) -> bool {
    if engine().phase != Phase::Before {
        return false;
    }
    let state = STATE.swap(core::ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: null, or a word that is never unmapped.
    let Some(state) = (unsafe { state.as_ref() }) else { return false };
    if state.compare_exchange(LOOKS, SERVES, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return false;
    }
    OLDER.store(engine().strands.len() as u32, Ordering::Relaxed);
    server::serve_at_check(options);
    true
}
