//! Reading and setting clocks. Safe before init and after fork.

use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::time::{LONG, LONG_TICK, TICK};

use super::{REALTIME, REALTIME_COARSE, SECOND, SET_AHEAD, base, from_timespec, to_timespec, was_read};
use crate::engine::{self, faults};
use crate::model::kernel::TimeVal;
use crate::model::single::Single;
use crate::sys::errno::EINVAL;
use crate::sys::{c_int, c_void, fail, timespec};

/// Virtual nanoseconds a read takes.
const READ_TIME: u64 = 50;
/// Events between two reads that count as nothing.
const NOTHING: u64 = 64;
/// Reads in a row until time goes twice as fast.
const PATIENCE: u32 = 64;
/// Doublings at the most: 50 ns to 1.6 ms a read.
const DOUBLINGS: u32 = 15;

/// Reads after which a strand is taken to work until some time has come.
const MANY: u32 = 64;

/// Up to which event time has gone faster.
static HURRIED: Single<u64> = Single::new(0);

const TIME_UTC: c_int = 1;

interpose!(clock_gettime, 2, clock_gettime_hook);
interpose!(__clock_gettime, 2, clock_gettime_hook);
interpose!(clock_getres, 2, clock_getres_hook);
interpose!(clock_settime, 2, clock_settime_hook);
interpose!(gettimeofday, 2, gettimeofday_hook);
interpose!(__gettimeofday, 2, gettimeofday_hook);
interpose!(settimeofday, 2, settimeofday_hook);
interpose!(time, 1, time_hook);
interpose!(timespec_get, 2, timespec_get_hook);

/// How far the wall clock is set back by a fault: an hour.
const STEP: i64 = 3_600_000_000_000;

/// Virtual time of a read by the running strand.
fn read(pc: u64) -> u64 {
    was_read(pc);
    let id = engine::me();
    let events = engine::live::live().events;
    let own = &mut engine::strand(id).model.time;
    if events.wrapping_sub(own.read_at) <= NOTHING {
        own.streak += 1;
    } else {
        own.streak /= 2;
    }
    let streak = own.streak;
    if own.reads > MANY {
        hurry(events);
    }
    engine::advance(READ_TIME << (streak / PATIENCE).min(DOUBLINGS));
    match streak {
        // Whoever polls the clock waits for time to pass: the others may use it.
        1.. if streak.is_multiple_of(PATIENCE) => engine::yield_point(pc),
        1.. if streak.is_multiple_of(16) => engine::point(Op::new(OpKind::Clock, 0, pc)),
        _ => engine::event(),
    }
    engine::strand(id).model.time.read_at = engine::live::live().events;
    engine::now()
}

/// In a long run the clock goes faster for those who work until some time has come.
fn hurry(events: u64) {
    let mut hurried = HURRIED.get();
    let since = (*hurried).max(LONG);
    if events > since && !engine::keeps_deadlines() {
        *hurried = events;
        engine::advance((events - since) * (LONG_TICK - TICK));
    }
}

/// What a clock shows now, in nanoseconds; `None` if there is no such clock.
fn show(clock: c_int, pc: u64) -> Option<u64> {
    base(clock)?;
    let passed = read(pc);
    // Somebody has set it, to an earlier time: that is what programs do not expect.
    if matches!(clock, REALTIME | REALTIME_COARSE) && faults::happens(Fault::Clock, pc) {
        *SET_AHEAD.get() -= STEP;
    }
    Some(base(clock)? + passed)
}

/// `clock_gettime` under control; 0 or an errno.
pub fn clock_gettime(clock: c_int, out: *mut timespec, pc: u64) -> c_int {
    match show(clock, pc) {
        Some(ns) => {
            // SAFETY: the caller's out pointer.
            unsafe { *out = to_timespec(ns) };
            0
        }
        None => EINVAL,
    }
}

unsafe extern "C" fn clock_gettime_hook(clock: c_int, out: *mut timespec, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(clock_gettime: fn(c_int, *mut timespec) -> c_int)(clock, out) };
    }
    match clock_gettime(clock, out, pc) {
        0 => 0,
        error => fail(error),
    }
}

/// `clock_getres`; 0 or an errno.
pub fn clock_getres(clock: c_int, out: *mut timespec) -> c_int {
    if base(clock).is_none() {
        return EINVAL;
    }
    if !out.is_null() {
        // SAFETY: the caller's out pointer.
        unsafe { *out = timespec { tv_sec: 0, tv_nsec: 1 } };
    }
    0
}

unsafe extern "C" fn clock_getres_hook(clock: c_int, out: *mut timespec, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(clock_getres: fn(c_int, *mut timespec) -> c_int)(clock, out) };
    }
    match clock_getres(clock, out) {
        0 => 0,
        error => fail(error),
    }
}

fn set_realtime(ns: u64) {
    let shown = base(REALTIME).unwrap_or(0) + engine::now();
    *SET_AHEAD.get() += ns.wrapping_sub(shown) as i64;
}

unsafe extern "C" fn clock_settime_hook(clock: c_int, time: *const timespec, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(clock_settime: fn(c_int, *const timespec) -> c_int)(clock, time) };
    }
    // SAFETY: the caller's pointer.
    match from_timespec(unsafe { *time }) {
        Ok(ns) if clock == REALTIME => set_realtime(ns),
        _ => return fail(EINVAL),
    }
    0
}

unsafe extern "C" fn settimeofday_hook(time: *const TimeVal, zone: *const c_void, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(settimeofday: fn(*const TimeVal, *const c_void) -> c_int)(time, zone) };
    }
    if !time.is_null() {
        // SAFETY: the caller's pointer.
        let time = unsafe { *time };
        match from_timespec(timespec { tv_sec: time.sec, tv_nsec: time.usec.saturating_mul(1000) }) {
            Ok(ns) => set_realtime(ns),
            Err(error) => return fail(error),
        }
    }
    0
}

/// `gettimeofday` under control.
pub fn gettimeofday(out: *mut TimeVal, zone: *mut c_void, pc: u64) -> c_int {
    if !out.is_null()
        && let Some(ns) = show(REALTIME, pc)
    {
        // SAFETY: the caller's out pointer.
        unsafe { *out = TimeVal { sec: (ns / SECOND) as i64, usec: (ns % SECOND / 1000) as i64 } };
    }
    if !zone.is_null() {
        // SAFETY: `struct timezone` is two ints.
        unsafe { *zone.cast::<[c_int; 2]>() = [0, 0] };
    }
    0
}

unsafe extern "C" fn gettimeofday_hook(out: *mut TimeVal, zone: *mut c_void, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(gettimeofday: fn(*mut TimeVal, *mut c_void) -> c_int)(out, zone) };
    }
    gettimeofday(out, zone, pc)
}

/// `time` under control.
pub fn time(out: *mut i64, pc: u64) -> i64 {
    let seconds = (show(REALTIME, pc).unwrap_or(0) / SECOND) as i64;
    if !out.is_null() {
        // SAFETY: the caller's out pointer.
        unsafe { *out = seconds };
    }
    seconds
}

unsafe extern "C" fn time_hook(out: *mut i64, pc: u64) -> i64 {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(time: fn(*mut i64) -> i64)(out) };
    }
    time(out, pc)
}

unsafe extern "C" fn timespec_get_hook(out: *mut timespec, what: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(timespec_get: fn(*mut timespec, c_int) -> c_int)(out, what) };
    }
    if what != TIME_UTC || clock_gettime(REALTIME, out, pc) != 0 {
        return 0;
    }
    what
}
