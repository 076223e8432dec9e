//! Timer descriptors on virtual time.
//!
//! The descriptor is an eventfd: its counter adds up what is written, a read takes it all, and `poll` sees it, which
//! is just what a timer descriptor does. Firing is writing the number of expirations.

use super::timer::{self, Action, NEVER, Timer};
use super::{base, from_timespec, to_timespec};
use crate::engine;
use crate::model::io;
use crate::model::kernel::{nr, raw, result};
use crate::raw::Raw;
use crate::sys::errno::EINVAL;
use crate::sys::{c_int, fail, timespec};

const TFD_TIMER_ABSTIME: c_int = 1;
/// `TFD_NONBLOCK | TFD_CLOEXEC`, which are also eventfd's flags.
const CREATE_FLAGS: c_int = 0o4000 | 0o2000000;

/// `struct itimerspec`: interval, then value.
pub type IntervalSpec = [timespec; 2];

interpose!(timerfd_create, 2, timerfd_create_hook);
interpose!(timerfd_settime, 4, timerfd_settime_hook);
interpose!(timerfd_gettime, 2, timerfd_gettime_hook);

fn timer_of(fd: c_int) -> Option<Raw<Timer>> {
    timer::find(|timer| timer.action == Action::Descriptor(fd))
}

/// `timerfd_create` under control.
pub fn create(clock: c_int, flags: c_int) -> c_int {
    if base(clock).is_none() || clock < 0 || flags & !CREATE_FLAGS != 0 {
        return fail(EINVAL);
    }
    // SAFETY: makes a descriptor.
    let fd = result(unsafe { raw(nr::EVENTFD2, [0, flags as usize]) }) as c_int;
    if fd >= 0 {
        closed(fd);
        timer::add(Action::Descriptor(fd), clock);
    }
    fd
}

/// A descriptor was closed.
pub fn closed(fd: c_int) {
    timer::remove(|timer| timer.action == Action::Descriptor(fd));
}

/// A timer descriptor's time has come.
pub fn expire(fd: c_int, times: u64) {
    // SAFETY: writes eight bytes; an eventfd's counter cannot come near its limit by expirations.
    unsafe { raw(nr::WRITE, [fd as usize, &raw const times as usize, 8]) };
    engine::io_touched();
}

/// Virtual time until a relative or absolute value of a clock; `None` if it is not valid.
pub fn due(clock: c_int, value: timespec, absolute: bool) -> Option<u64> {
    let ns = from_timespec(value).ok()?;
    if ns == 0 {
        return Some(NEVER);
    }
    let at = if absolute { ns.saturating_sub(base(clock)?) } else { engine::now().saturating_add(ns) };
    Some(at.min(NEVER - 1))
}

/// `timerfd_settime` under control.
///
/// # Safety
/// The pointers are as the call says.
pub unsafe fn settime(fd: c_int, flags: c_int, new: *const IntervalSpec, old: *mut IntervalSpec) -> c_int {
    let Some(mut timer) = timer_of(fd) else { return fail(EINVAL) };
    let before = timer::state(&timer);
    // SAFETY: the caller's pointer.
    let [interval, value] = unsafe { *new };
    let (Ok(interval), Some(deadline)) =
        (from_timespec(interval), due(timer.clock, value, flags & TFD_TIMER_ABSTIME != 0))
    else {
        return fail(EINVAL);
    };
    drain(fd);
    timer::arm(&mut timer, deadline, interval);
    if !old.is_null() {
        // SAFETY: the caller's out pointer.
        unsafe { *old = [to_timespec(before.1), to_timespec(before.0)] };
    }
    0
}

/// Setting a timer forgets expirations that nobody read.
fn drain(fd: c_int) {
    let mut poll = [engine::PollFd { fd, events: 1, revents: 0 }];
    let mut count = 0u64;
    // SAFETY: asks one descriptor, and reads eight bytes of it when that cannot block.
    unsafe {
        if raw(nr::POLL, [poll.as_mut_ptr() as usize, 1, 0]) == 1 {
            raw(nr::READ, [fd as usize, &raw mut count as usize, 8]);
        }
    }
}

/// `timerfd_gettime` under control.
///
/// # Safety
/// The pointer is as the call says.
pub unsafe fn gettime(fd: c_int, out: *mut IntervalSpec) -> c_int {
    let Some(timer) = timer_of(fd) else { return fail(EINVAL) };
    let (left, every) = timer::state(&timer);
    // SAFETY: the caller's out pointer.
    unsafe { *out = [to_timespec(every), to_timespec(left)] };
    0
}

unsafe extern "C" fn timerfd_create_hook(clock: c_int, flags: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(timerfd_create: fn(c_int, c_int) -> c_int)(clock, flags) };
    }
    io::begin(-1, pc);
    io::touched();
    create(clock, flags)
}

unsafe extern "C" fn timerfd_settime_hook(
    fd: c_int,
    flags: c_int,
    new: *const IntervalSpec,
    old: *mut IntervalSpec,
    _pc: u64,
) -> c_int {
    if !engine::controlled() || timer_of(fd).is_none() {
        let call = real!(timerfd_settime: fn(c_int, c_int, *const IntervalSpec, *mut IntervalSpec) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(fd, flags, new, old) };
    }
    engine::event();
    // SAFETY: the caller's pointers.
    unsafe { settime(fd, flags, new, old) }
}

unsafe extern "C" fn timerfd_gettime_hook(fd: c_int, out: *mut IntervalSpec, _pc: u64) -> c_int {
    if !engine::controlled() || timer_of(fd).is_none() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(timerfd_gettime: fn(c_int, *mut IntervalSpec) -> c_int)(fd, out) };
    }
    engine::event();
    // SAFETY: the caller's pointer.
    unsafe { gettime(fd, out) }
}
