//! CPU time: a strand's work is what virtual time measures. Safe before init and after fork.

use super::SECOND;
use crate::engine;
use crate::sys::c_void;

/// Clock ticks a second, as `sysconf(_SC_CLK_TCK)` says.
const TICKS: u64 = 100;

interpose!(clock, 0, clock_hook);
interpose!(times, 1, times_hook);

unsafe extern "C" fn clock_hook(_pc: u64) -> i64 {
    if !engine::controlled() {
        // SAFETY: no arguments.
        return unsafe { real!(clock: fn() -> i64)() };
    }
    engine::event();
    (engine::now() / 1000) as i64
}

unsafe extern "C" fn times_hook(out: *mut [i64; 4], _pc: u64) -> i64 {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(times: fn(*mut c_void) -> i64)(out.cast()) };
    }
    engine::event();
    let ticks = (engine::now() / (SECOND / TICKS)) as i64;
    if !out.is_null() {
        // SAFETY: `struct tms` is four longs: user, system, and the children's.
        unsafe { *out = [ticks, 0, 0, 0] };
    }
    ticks + (super::MONOTONIC_BASE / (SECOND / TICKS)) as i64
}
