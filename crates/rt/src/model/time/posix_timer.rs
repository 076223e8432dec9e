//! `timer_create` and its family on virtual time, for timers that raise a signal or do nothing.
//!
//! A timer that starts a thread (`SIGEV_THREAD`) would need libc's own helper thread, which nobody could control: it
//! is refused, and that is said.

use core::ffi::c_void;

use super::timer::{self, Action};
use super::timerfd::{IntervalSpec, due};
use super::{base, from_timespec, to_timespec};
use crate::engine;
use crate::model::single::Single;
use crate::model::state::{of, uses};
use crate::raw::Raw;
use crate::sys::errno::{EINVAL, ENOTSUP};
use crate::sys::{c_int, fail};
use threadbare_abi::op::{OpKind, state};

const SIGEV_SIGNAL: c_int = 0;
const SIGEV_NONE: c_int = 1;
const SIGEV_THREAD_ID: c_int = 4;
const SIGALRM: c_int = 14;
const TIMER_ABSTIME: c_int = 1;

/// The part of `struct sigevent` that matters here.
#[repr(C)]
struct SigEvent {
    value: u64,
    signal: c_int,
    notify: c_int,
}

/// Timers made so far; a handle is a number from 1.
static MADE: Single<usize> = Single::new(0);

interpose!(timer_create, 3, timer_create_hook);
interpose!(timer_settime, 4, timer_settime_hook);
interpose!(timer_gettime, 2, timer_gettime_hook);
interpose!(timer_getoverrun, 1, timer_getoverrun_hook);
interpose!(timer_delete, 1, timer_delete_hook);

fn timer_of(handle: *mut c_void) -> Option<Raw<timer::Timer>> {
    timer::find(|timer| matches!(timer.action, Action::Posix { number, .. } if number == handle as usize))
}

unsafe extern "C" fn timer_create_hook(
    clock: c_int,
    event: *const SigEvent,
    out: *mut *mut c_void,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(timer_create: fn(c_int, *const c_void, *mut *mut c_void) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(clock, event.cast(), out) };
    }
    engine::event();
    uses(OpKind::StateWrite, of(state::TIMERS), pc);
    if base(clock).is_none() {
        return fail(EINVAL);
    }
    let number = *MADE.get() + 1;
    let (notify, signal, value) = if event.is_null() {
        (SIGEV_SIGNAL, SIGALRM, number as u64)
    } else {
        // SAFETY: the caller's pointer.
        unsafe { ((*event).notify, (*event).signal, (*event).value) }
    };
    let signal = match notify {
        SIGEV_NONE => 0,
        SIGEV_SIGNAL | SIGEV_THREAD_ID if (1..=64).contains(&signal) => signal,
        SIGEV_SIGNAL | SIGEV_THREAD_ID => return fail(EINVAL),
        _ => {
            engine::warn_once("timer_create with SIGEV_THREAD", pc);
            return fail(ENOTSUP);
        }
    };
    *MADE.get() = number;
    timer::add(Action::Posix { number, signal, value }, clock);
    // SAFETY: the caller's out pointer.
    unsafe { *out = number as *mut c_void };
    0
}

unsafe extern "C" fn timer_settime_hook(
    handle: *mut c_void,
    flags: c_int,
    new: *const IntervalSpec,
    old: *mut IntervalSpec,
    _pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call =
            real!(timer_settime: fn(*mut c_void, c_int, *const IntervalSpec, *mut IntervalSpec) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(handle, flags, new, old) };
    }
    engine::event();
    let Some(mut timer) = timer_of(handle) else { return fail(EINVAL) };
    let before = timer::state(&timer);
    // SAFETY: the caller's pointer.
    let [interval, value] = unsafe { *new };
    let (Ok(interval), Some(deadline)) =
        (from_timespec(interval), due(timer.clock, value, flags & TIMER_ABSTIME != 0))
    else {
        return fail(EINVAL);
    };
    timer::arm(&mut timer, deadline, interval);
    if !old.is_null() {
        // SAFETY: the caller's out pointer.
        unsafe { *old = [to_timespec(before.1), to_timespec(before.0)] };
    }
    0
}

unsafe extern "C" fn timer_gettime_hook(handle: *mut c_void, out: *mut IntervalSpec, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(timer_gettime: fn(*mut c_void, *mut IntervalSpec) -> c_int)(handle, out) };
    }
    engine::event();
    let Some(timer) = timer_of(handle) else { return fail(EINVAL) };
    let (left, every) = timer::state(&timer);
    // SAFETY: the caller's out pointer.
    unsafe { *out = [to_timespec(every), to_timespec(left)] };
    0
}

unsafe extern "C" fn timer_getoverrun_hook(handle: *mut c_void, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(timer_getoverrun: fn(*mut c_void) -> c_int)(handle) };
    }
    engine::event();
    match timer_of(handle) {
        Some(timer) => timer.overrun.min(c_int::MAX as u64) as c_int,
        None => fail(EINVAL),
    }
}

unsafe extern "C" fn timer_delete_hook(handle: *mut c_void, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(timer_delete: fn(*mut c_void) -> c_int)(handle) };
    }
    engine::event();
    let gone = timer::remove(
        |timer| matches!(timer.action, Action::Posix { number, .. } if number == handle as usize),
    );
    if gone { 0 } else { fail(EINVAL) }
}
