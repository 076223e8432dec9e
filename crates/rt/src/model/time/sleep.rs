//! Sleeping until a virtual time. Safe before init and after fork, where libc's own calls serve.

use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};

use super::{deadline, deadline_relative, remaining};
use crate::engine::{self, ObjectClass, ObjectId, Wake, faults};
use crate::model::kernel::{nr, raw};
use crate::model::process;
use crate::model::signal::{self, Interruption};
use crate::sys::errno::{EINTR, EINVAL, ENOTSUP};
use crate::sys::{c_int, c_uint, fail, timespec};

const TIMER_ABSTIME: c_int = 1;

interpose!(nanosleep, 2, nanosleep_hook);
interpose!(__nanosleep, 2, nanosleep_hook);
interpose!(clock_nanosleep, 4, clock_nanosleep_hook);
interpose!(usleep, 1, usleep_hook);
interpose!(sleep, 1, sleep_hook);
interpose!(thrd_sleep, 2, thrd_sleep_hook);

/// The running strand sleeps; `Interrupted` if a signal handler ended it.
pub fn sleep_until(until: u64, pc: u64) -> Wake {
    crate::model::cancel::check();
    let op = Op::new(OpKind::Sleep, until, pc);
    if until <= engine::now() {
        engine::yield_point(pc);
        return Wake::TimedOut;
    }
    engine::point(op);
    signal::arm();
    if process::alone_in_child() {
        return sleep_really(until);
    }
    if faults::happens(Fault::Interrupted, pc) {
        return Wake::Interrupted;
    }
    let key = ObjectId::new(ObjectClass::Sleep, engine::me().0 as u64);
    while engine::now() < until {
        if engine::sleep_on(op, key, Some(until), u32::MAX) == Wake::Interrupted {
            crate::model::cancel::check();
            if signal::interruption() != Interruption::Spurious {
                return Wake::Interrupted;
            }
        }
    }
    Wake::TimedOut
}

/// A forked child has other processes to keep pace with.
fn sleep_really(until: u64) -> Wake {
    let mut left = remaining(until);
    loop {
        // SAFETY: reads and writes our own struct.
        let slept = unsafe { raw(nr::NANOSLEEP, [&raw const left as usize, &raw mut left as usize]) };
        if slept == 0 {
            engine::advance(until.saturating_sub(engine::now()));
            return Wake::TimedOut;
        }
        signal::attend();
        if signal::interruption() != Interruption::Spurious {
            let left = left.tv_sec as u64 * super::SECOND + left.tv_nsec as u64;
            engine::advance(until.saturating_sub(engine::now() + left));
            return Wake::Interrupted;
        }
    }
}

/// `nanosleep` under control; 0 or an errno.
pub fn nanosleep(wish: *const timespec, left: *mut timespec, pc: u64) -> c_int {
    match deadline_relative(wish) {
        Ok(until) => finish(sleep_until(until, pc), until, left),
        Err(error) => error,
    }
}

fn finish(outcome: Wake, until: u64, left: *mut timespec) -> c_int {
    if outcome != Wake::Interrupted {
        return 0;
    }
    if !left.is_null() {
        // SAFETY: the caller's out pointer.
        unsafe { *left = remaining(until) };
    }
    EINTR
}

unsafe extern "C" fn nanosleep_hook(wish: *const timespec, left: *mut timespec, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(nanosleep: fn(*const timespec, *mut timespec) -> c_int)(wish, left) };
    }
    match nanosleep(wish, left, pc) {
        0 => 0,
        error => fail(error),
    }
}

/// `clock_nanosleep` under control; 0 or an errno.
pub fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    wish: *const timespec,
    left: *mut timespec,
    pc: u64,
) -> c_int {
    match super::base(clock) {
        None => return EINVAL,
        Some(0) if clock == super::THREAD_CPU => return EINVAL,
        // No strand's own clock can be slept on; the process's clock goes with virtual time.
        Some(0) if clock != super::PROCESS_CPU => return ENOTSUP,
        _ => {}
    }
    if flags & TIMER_ABSTIME == 0 {
        return nanosleep(wish, left, pc);
    }
    match deadline(clock, wish) {
        Ok(until) => finish(sleep_until(until, pc), until, core::ptr::null_mut()),
        Err(error) => error,
    }
}

unsafe extern "C" fn clock_nanosleep_hook(
    clock: c_int,
    flags: c_int,
    wish: *const timespec,
    left: *mut timespec,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(clock_nanosleep: fn(c_int, c_int, *const timespec, *mut timespec) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(clock, flags, wish, left) };
    }
    clock_nanosleep(clock, flags, wish, left, pc)
}

unsafe extern "C" fn usleep_hook(micros: c_uint, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(usleep: fn(c_uint) -> c_int)(micros) };
    }
    let until = engine::now() + micros as u64 * 1000;
    if sleep_until(until, pc) == Wake::Interrupted { fail(EINTR) } else { 0 }
}

unsafe extern "C" fn sleep_hook(seconds: c_uint, pc: u64) -> c_uint {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sleep: fn(c_uint) -> c_uint)(seconds) };
    }
    let until = engine::now() + seconds as u64 * super::SECOND;
    if sleep_until(until, pc) != Wake::Interrupted {
        return 0;
    }
    let left = remaining(until);
    left.tv_sec as c_uint + (left.tv_nsec >= 500_000_000) as c_uint
}

unsafe extern "C" fn thrd_sleep_hook(wish: *const timespec, left: *mut timespec, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(thrd_sleep: fn(*const timespec, *mut timespec) -> c_int)(wish, left) };
    }
    match nanosleep(wish, left, pc) {
        0 => 0,
        EINTR => -1,
        _ => -2,
    }
}
