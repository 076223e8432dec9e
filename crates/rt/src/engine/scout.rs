//! Runs that begin later than at `main`: where the program calls `check`, or where Rust's libtest calls a test.
//!
//! A Rust program with a `check` says so before `main`, one in C has its symbol; libtest is known by its own (`unseen.rs`). The server then forks a *scout*, which runs `main` without
//! choices. When that comes to the first check, or test, it becomes the server in the other's place: all runs begin there, and what came before is made once. A scout that ends before, or
//! takes too long, is given up, and runs begin at `main`.
//!
//! What libtest does before a test (its arguments, the list of tests, a strand for the test) is a hundred points and most of a short run's time, and none of it is the
//! test's. A run ends where the test has passed, for the same reason. A program that has both goes on to its check from the test, by a second scout: a test without a check begins at its own function.

use super::sched::{Phase, engine};
use super::{lists, server, unseen};
use crate::sys::{nr, syscall3, syscall6};
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use threadbare_abi::strand::StrandId;

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

/// In the server, before `main`. True in a scout; returns to the server if that was of no use.
pub fn goes_ahead() -> bool {
    (has_check() || unseen::has_tests()) && sends_a_scout()
}

fn has_check() -> bool {
    ANNOUNCED.load(Ordering::Relaxed) || unseen::program_wants(b"\0threadbare_rt_check\0")
}

/// True in a scout; returns here if that was of no use.
fn sends_a_scout() -> bool {
    let Some(state) = shared_word() else { return false };
    match server::as_main(server::fork) {
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
        pause();
    }
    let served = state.compare_exchange(LOOKS, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire).is_err();
    if served {
        server::close();
    } else {
        kill(pid);
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
    if !stays() {
        return false;
    }
    serves(options);
    true
}

/// What a test gives back: `Result<(), String>`. The parts of a text are never [`NO_TEXT`], and where there is no text, one of the words is.
type Value = [u64; 3];
const NO_TEXT: u64 = 1 << 63;

/// This process is a probe, and has called no test.
static PROBES: AtomicBool = AtomicBool::new(false);
/// A test that returns and gives no text back has passed, and is all that libtest does.
static ALONE: AtomicBool = AtomicBool::new(false);

/// libtest is about to call a test, whose value goes there. As above, unless there is a check to come. True if the test is to be left out. Safe
/// before init and after fork; not in a signal handler.
pub(crate) extern "C" fn test_begins(value: Option<&mut Value>) -> bool {
    if !super::controlled() {
        return false;
    }
    if PROBES.load(Ordering::Relaxed) {
        // There are several tests.
        server::quit_with(1);
    }
    if !stays() {
        return false;
    }
    if let Some(value) = value
        && probes(value)
    {
        return true;
    }
    // Whoever sent this scout is not needed any more: it, or one of its own, is the server.
    if !(has_check() && sends_a_scout()) {
        serves(c"");
    }
    false
}

/// The test has returned. As above.
pub(crate) extern "C" fn test_ends(value: &Value, pc: u64) {
    let passes = ALONE.load(Ordering::Relaxed) && value.contains(&NO_TEXT);
    if passes && super::controlled() && engine().phase == Phase::Running {
        crate::model::exit::request(0, pc);
    }
}

/// Looks what libtest does when a test returns at once, in a process of its own: true there. What is left to do once a test has passed
/// (results that are printed, lists that are freed) takes longer than many a test, and says no more; but only if the test need not panic,
/// and no other comes after it.
fn probes(value: &mut Value) -> bool {
    match server::as_main(server::fork) {
        0 => {
            server::goes_with_parent();
            PROBES.store(true, Ordering::Relaxed);
            *value = [NO_TEXT; 3];
            true
        }
        pid if pid > 0 => {
            let passed = status_of(pid as usize) == Some(0);
            ALONE.store(passed, Ordering::Relaxed);
            false
        }
        _ => false,
    }
}

/// How a child has ended; one that takes too long is killed.
fn status_of(pid: usize) -> Option<i32> {
    let mut status = 0;
    for _ in 0..PATIENCE {
        if wait(pid, &mut status, WNOHANG) {
            return Some(status);
        }
        pause();
    }
    kill(pid);
    wait(pid, &mut status, 0);
    None
}

fn pause() {
    let time = [0u64, 1_000_000];
    // SAFETY: two words.
    unsafe { syscall3(nr::NANOSLEEP, time.as_ptr() as usize, 0, 0) };
}

fn kill(pid: usize) {
    // SAFETY: a child of ours that nobody has waited for.
    unsafe { syscall3(nr::KILL, pid, SIGKILL, 0) };
}

/// Whether this is a scout that may become the server.
fn stays() -> bool {
    if engine().phase != Phase::Before {
        return false;
    }
    let state = STATE.swap(core::ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: null, or a word that is never unmapped.
    let state = unsafe { state.as_ref() };
    state.is_some_and(|state| {
        state.compare_exchange(LOOKS, SERVES, Ordering::AcqRel, Ordering::Acquire).is_ok()
    })
}

fn serves(options: &CStr) {
    OLDER.store(engine().strands.len() as u32, Ordering::Relaxed);
    if unseen::has_tests() && super::me() != StrandId::MAIN {
        lists::waits_for_test(&mut super::strand(StrandId::MAIN));
    }
    unseen::no_spare_stacks();
    server::serve_from_here(options);
}
