//! Virtual time as the program sees it.
//!
//! The engine counts virtual nanoseconds since the run began. Every clock of the program is that count plus a fixed
//! base, so the same schedule reads the same times. Reading a clock takes a little time; a strand that reads it again
//! and again with nothing between sees it go faster and faster, so that a loop that waits for a time ends.

mod clock;
mod cpu;
mod posix_timer;
mod sleep;
mod timer;
mod timerfd;

use crate::engine;
use crate::model::single::Single;
use crate::sys::errno::EINVAL;
use crate::sys::timespec;

pub use clock::{clock_getres, clock_gettime, gettimeofday, time};
pub use sleep::{clock_nanosleep, nanosleep};
pub use timer::{clear as after_fork_child, fire_due};
pub use timerfd::{
    closed as timerfd_closed, create as timerfd_create, gettime as timerfd_gettime,
    settime as timerfd_settime,
};

/// `CLOCK_REALTIME`.
pub const REALTIME: i32 = 0;
/// `CLOCK_MONOTONIC`.
pub const MONOTONIC: i32 = 1;
const PROCESS_CPU: i32 = 2;
const THREAD_CPU: i32 = 3;
const MONOTONIC_RAW: i32 = 4;
const REALTIME_COARSE: i32 = 5;
const MONOTONIC_COARSE: i32 = 6;
const BOOTTIME: i32 = 7;
const REALTIME_ALARM: i32 = 8;
const BOOTTIME_ALARM: i32 = 9;
const TAI: i32 = 11;

const SECOND: u64 = 1_000_000_000;
const REALTIME_BASE: u64 = 1_700_000_000 * SECOND;
const MONOTONIC_BASE: u64 = 10_000 * SECOND;
const TAI_AHEAD: u64 = 37 * SECOND;

/// How far the program has set its real-time clock from where it began.
static SET_AHEAD: Single<i64> = Single::new(0);

/// What time keeps for a strand.
#[derive(Clone, Copy, Debug, Default)]
pub struct PerStrand {
    /// Events of the run when the strand last read a clock.
    read_at: u64,
    /// Reads with nothing between them.
    streak: u32,
    /// It has read a clock, and made no deadline of it yet.
    unused: bool,
    /// Reads that it made no deadline of.
    reads: u32,
}

/// Reads of clocks that no deadline was made of, and the place of the last one.
static UNUSED: Single<(u32, u64)> = Single::new((0, 0));

/// The running strand reads a clock.
fn was_read(pc: u64) {
    let mut unused = UNUSED.get();
    *unused = (unused.0 + 1, pc);
    let own = &mut engine::strand(engine::me()).model.time;
    own.unused = true;
    own.reads += 1;
}

/// What the running strand has read is a deadline's: when that is over is a choice, whatever the clock says.
fn was_used() {
    let own = &mut engine::strand(engine::me()).model.time;
    if core::mem::take(&mut own.unused) {
        own.reads -= 1;
        UNUSED.get().0 -= 1;
    }
}

/// Where a clock was read, if the run may depend on what it showed: one time alone says nothing.
pub fn measured() -> Option<u64> {
    let (reads, pc) = *UNUSED.get();
    (reads > 1).then_some(pc)
}

/// What a clock shows when the run begins, in nanoseconds; `None` if there is no such clock.
fn base(clock: i32) -> Option<u64> {
    let realtime = || REALTIME_BASE.wrapping_add_signed(*SET_AHEAD.get());
    match clock {
        REALTIME | REALTIME_COARSE | REALTIME_ALARM => Some(realtime()),
        TAI => Some(realtime() + TAI_AHEAD),
        MONOTONIC | MONOTONIC_RAW | MONOTONIC_COARSE | BOOTTIME | BOOTTIME_ALARM => Some(MONOTONIC_BASE),
        PROCESS_CPU | THREAD_CPU => Some(0),
        // A strand's or a process's own CPU clock.
        _ if clock < 0 => Some(0),
        _ => None,
    }
}

fn to_timespec(ns: u64) -> timespec {
    timespec { tv_sec: (ns / SECOND) as i64, tv_nsec: (ns % SECOND) as i64 }
}

/// The nanoseconds of a `timespec`; times before the epoch count as 0, times beyond 500 years as the end of time.
fn from_timespec(time: timespec) -> Result<u64, i32> {
    if !(0..SECOND as i64).contains(&time.tv_nsec) {
        return Err(EINVAL);
    }
    if time.tv_sec < 0 {
        return Ok(0);
    }
    Ok((time.tv_sec as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec as u64))
}

/// The virtual time at which a clock of the program shows `abs`. A null pointer means never.
pub fn deadline(clock: i32, abs: *const timespec) -> Result<u64, i32> {
    if abs.is_null() {
        return Ok(u64::MAX);
    }
    was_used();
    // SAFETY: the program's pointer to a `timespec`.
    let at = from_timespec(unsafe { *abs })?;
    Ok(at.saturating_sub(base(clock).ok_or(EINVAL)?))
}

/// The virtual time `relative` from now. A null pointer means never.
pub fn deadline_relative(relative: *const timespec) -> Result<u64, i32> {
    if relative.is_null() {
        return Ok(u64::MAX);
    }
    // SAFETY: the program's pointer to a `timespec`.
    let time = unsafe { *relative };
    if time.tv_sec < 0 {
        return Err(EINVAL);
    }
    Ok(engine::now().saturating_add(from_timespec(time)?))
}

/// What is left until a deadline, for calls that tell it.
pub fn remaining(deadline: u64) -> timespec {
    to_timespec(deadline.saturating_sub(engine::now()))
}
