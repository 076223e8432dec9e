//! Virtual timers, and those of them that raise `SIGALRM`: `alarm`, `ualarm`, `setitimer`.
//!
//! The engine knows the earliest one and calls [`fire_due`] when virtual time has come there. Timers of CPU time
//! (`ITIMER_VIRTUAL`, `ITIMER_PROF`) count virtual time too: a strand's work is what makes it pass.

use crate::raw::Raw;
use alloc::vec::Vec;

use super::{SECOND, timerfd};
use crate::engine;
use crate::model::kernel::TimeVal;
use crate::model::signal::{self, Cause};
use crate::model::single::Single;
use crate::sys::errno::EINVAL;
use crate::sys::{c_int, c_uint, fail};

const SIGALRM: c_int = 14;
const SIGVTALRM: c_int = 26;
const SIGPROF: c_int = 27;
/// Virtual time between two firings at the least, so that a tiny interval leaves the program time to run.
const SHORTEST: u64 = 1000;
/// A timer that is not armed.
pub const NEVER: u64 = u64::MAX;

/// What a timer does when it fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Raises the signal of interval timer 0, 1 or 2.
    Interval(c_int),
    /// A POSIX timer with this number: raises its signal (0: none) with a value.
    Posix { number: usize, signal: c_int, value: u64 },
    /// Makes a timer descriptor readable.
    Descriptor(c_int),
}

/// A timer.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// What it does.
    pub action: Action,
    /// When, or [`NEVER`].
    pub deadline: u64,
    /// How long until it does it again, or 0.
    pub interval: u64,
    /// Firings that found the last one not taken yet.
    pub overrun: u64,
    /// The clock it goes by.
    pub clock: c_int,
}

impl Timer {
    /// The signal it raises, if it raises one.
    fn signal(&self) -> Option<c_int> {
        match self.action {
            Action::Interval(which) => Some([SIGALRM, SIGVTALRM, SIGPROF][which as usize]),
            Action::Posix { signal, .. } => Some(signal).filter(|&signal| signal != 0),
            Action::Descriptor(_) => None,
        }
    }

    /// Whether its firing would end the process: a watchdog is slower than everybody it watches.
    fn kills(&self) -> bool {
        self.signal().is_some_and(signal::would_kill)
    }
}

static TIMERS: Single<Vec<Timer>> = Single::new(Vec::new());

interpose!(alarm, 1, alarm_hook);
interpose!(ualarm, 2, ualarm_hook);
interpose!(setitimer, 3, setitimer_hook);
interpose!(getitimer, 2, getitimer_hook);

/// The timer a test finds.
pub fn find(wanted: impl Fn(&Timer) -> bool) -> Option<Raw<Timer>> {
    let at = TIMERS.get().iter().position(wanted)?;
    Some(TIMERS.get().part(|timers| &mut timers[at]))
}

/// Adds a timer that is not armed.
pub fn add(action: Action, clock: c_int) -> Raw<Timer> {
    let mut timers = TIMERS.get();
    timers.push(Timer { action, deadline: NEVER, interval: 0, overrun: 0, clock });
    let last = timers.len() - 1;
    timers.part(|timers| &mut timers[last])
}

/// Takes a timer away; false if there is none.
pub fn remove(wanted: impl Fn(&Timer) -> bool) -> bool {
    let mut timers = TIMERS.get();
    let before = timers.len();
    timers.retain(|timer| !wanted(timer));
    timers.len() < before
}

/// Takes all timers away: a child of a fork has none.
pub fn clear() {
    TIMERS.get().clear();
}

/// Arms a timer for a virtual time ([`NEVER`] disarms it).
pub fn arm(timer: &mut Timer, deadline: u64, interval: u64) {
    timer.deadline = deadline;
    timer.interval = if interval == 0 { 0 } else { interval.max(SHORTEST) };
    timer.overrun = 0;
    if deadline != NEVER {
        engine::timer_armed(deadline);
    }
}

/// Virtual time until a timer fires and its interval, both 0 when it is not armed.
pub fn state(timer: &Timer) -> (u64, u64) {
    if timer.deadline == NEVER {
        return (0, 0);
    }
    (timer.deadline.saturating_sub(engine::now()).max(1), timer.interval)
}

/// Fires the timers whose time has come and tells the engine the next.
pub fn fire_due() {
    let now = engine::now();
    let mut next = NEVER;
    let mut index = 0;
    while let Some(timer) = TIMERS.get().get_mut(index) {
        index += 1;
        if timer.deadline <= now && timer.kills() && engine::others_can_go_on() {
            engine::timer_overdue(timer.deadline);
        } else if timer.deadline <= now {
            let late = (now - timer.deadline).checked_div(timer.interval).unwrap_or(0);
            timer.deadline = match timer.interval {
                0 => NEVER,
                interval => timer.deadline + (late + 1) * interval,
            };
            next = next.min(timer.deadline);
            fire(timer, late + 1);
        } else {
            next = next.min(timer.deadline);
        }
    }
    if next != NEVER {
        engine::timer_armed(next);
    }
}

fn fire(timer: &mut Timer, times: u64) {
    match (timer.action, timer.signal()) {
        (Action::Interval(_), Some(number)) => {
            signal::send_process(number, Cause::Kernel);
        }
        (Action::Posix { number, value, .. }, Some(signal)) => {
            let fresh = signal::send_process(signal, Cause::Timer { number, value });
            timer.overrun = if fresh { times - 1 } else { timer.overrun + times };
        }
        (Action::Descriptor(fd), _) => timerfd::expire(fd, times),
        (_, None) => {}
    }
}

fn interval_timer(which: c_int) -> Raw<Timer> {
    let action = Action::Interval(which);
    match find(|timer| timer.action == action) {
        Some(timer) => timer,
        None => add(action, super::MONOTONIC),
    }
}

/// Sets an interval timer; what it was before, as by [`state`].
pub fn set_interval(which: c_int, value: u64, interval: u64) -> (u64, u64) {
    let mut timer = interval_timer(which);
    let before = state(&timer);
    arm(&mut timer, if value == 0 { NEVER } else { engine::now() + value }, interval);
    before
}

unsafe extern "C" fn alarm_hook(seconds: c_uint, _pc: u64) -> c_uint {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(alarm: fn(c_uint) -> c_uint)(seconds) };
    }
    engine::event();
    let (left, _) = set_interval(0, seconds as u64 * SECOND, 0);
    left.div_ceil(SECOND) as c_uint
}

unsafe extern "C" fn ualarm_hook(value: c_uint, interval: c_uint, _pc: u64) -> c_uint {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(ualarm: fn(c_uint, c_uint) -> c_uint)(value, interval) };
    }
    engine::event();
    let (left, _) = set_interval(0, value as u64 * 1000, interval as u64 * 1000);
    (left / 1000) as c_uint
}

fn micros(time: TimeVal) -> Option<u64> {
    if time.sec < 0 || !(0..1_000_000).contains(&time.usec) {
        return None;
    }
    Some((time.sec as u64).saturating_mul(SECOND).saturating_add(time.usec as u64 * 1000).min(NEVER / 4))
}

fn timeval(ns: u64) -> TimeVal {
    // Rounded up: an armed timer never shows zero.
    let us = ns.div_ceil(1000);
    TimeVal { sec: (us / 1_000_000) as i64, usec: (us % 1_000_000) as i64 }
}

/// `struct itimerval`: interval, then value.
type IntervalValue = [TimeVal; 2];

unsafe extern "C" fn setitimer_hook(
    which: c_int,
    new: *const IntervalValue,
    old: *mut IntervalValue,
    _pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(setitimer: fn(c_int, *const IntervalValue, *mut IntervalValue) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(which, new, old) };
    }
    engine::event();
    if !(0..=2).contains(&which) {
        return fail(EINVAL);
    }
    // SAFETY: the caller's pointer; Linux takes null for a disarmed value.
    let [interval, value] = if new.is_null() { [TimeVal::default(); 2] } else { unsafe { *new } };
    let (Some(interval), Some(value)) = (micros(interval), micros(value)) else { return fail(EINVAL) };
    let (left, every) = set_interval(which, value, interval);
    if !old.is_null() {
        // SAFETY: the caller's out pointer.
        unsafe { *old = [timeval(every), timeval(left)] };
    }
    0
}

unsafe extern "C" fn getitimer_hook(which: c_int, out: *mut IntervalValue, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(getitimer: fn(c_int, *mut IntervalValue) -> c_int)(which, out) };
    }
    engine::event();
    if !(0..=2).contains(&which) {
        return fail(EINVAL);
    }
    let (left, every) = state(&interval_timer(which));
    // SAFETY: the caller's out pointer.
    unsafe { *out = [timeval(every), timeval(left)] };
    0
}
