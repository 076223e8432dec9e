//! Waiting for several descriptors: `poll`, `select`, `epoll_wait`. Safe before init and after fork.
//!
//! The kernel is asked with no timeout; if nothing is ready the strand waits, with a virtual deadline. These calls are
//! never restarted after a handler.

use alloc::vec::Vec;

use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};

use crate::engine::{self, PollFd, Wake, faults};
use crate::model::io::{begin, came_in, interrupted, settle};
use crate::model::kernel::{
    POLLERR, POLLHUP, POLLIN, POLLOUT, POLLPRI, POLLRDBAND, POLLRDNORM, POLLWRBAND, POLLWRNORM, TimeVal,
    error::*, nr, raw, result,
};
use crate::model::{cancel, signal, time};
use crate::sys::{c_int, c_void, timespec};

interpose!(poll, 3, poll_hook);
interpose!(__poll, 3, poll_hook);
interpose!(__poll_chk, 4, poll_chk_hook);
interpose!(ppoll, 4, ppoll_hook);
interpose!(__ppoll_chk, 5, ppoll_chk_hook);
interpose!(select, 5, select_hook);
interpose!(__select, 5, select_hook);
interpose6!(pselect, pselect_hook);
interpose!(epoll_wait, 4, epoll_wait_hook);
interpose!(epoll_pwait, 5, epoll_pwait_hook);
interpose!(epoll_pwait2, 5, epoll_pwait2_hook);
interpose!(epoll_ctl, 4, epoll_ctl_hook);

/// A deadline that never comes.
const NEVER: u64 = u64::MAX;

fn after_ms(timeout: c_int) -> u64 {
    if timeout < 0 { NEVER } else { engine::now() + timeout as u64 * 1_000_000 }
}

/// What a call asks the kernel.
struct Question<A, C> {
    /// Asks without waiting; the kernel's result.
    ask: A,
    /// Writes the answer that nothing is ready.
    clear: C,
    /// What to wait for meanwhile.
    watched: Vec<PollFd>,
}

/// Asks until something is ready; the kernel's result.
fn until_ready(
    mut question: Question<impl Fn() -> isize, impl Fn()>,
    deadline: u64,
    mask: *const signal::Set,
    pc: u64,
) -> isize {
    let first = question.watched.first().map_or(-1, |poll| poll.fd);
    begin(first, pc);
    // SAFETY: the caller's pointer, if it has one.
    let saved = (!mask.is_null()).then(|| signal::swap_mask(unsafe { *mask }));
    let got = if saved.is_some() && signal::attend() {
        -(EINTR as isize)
    } else {
        asked(&mut question, deadline, first, pc)
    };
    came_in();
    if let Some(mask) = saved {
        signal::change_mask(2, mask);
    }
    got
}

fn asked(
    question: &mut Question<impl Fn() -> isize, impl Fn()>,
    deadline: u64,
    first: c_int,
    pc: u64,
) -> isize {
    let Question { ask, clear, watched } = question;
    if deadline > engine::now() && faults::happens(Fault::Interrupted, pc) {
        return -(EINTR as isize);
    }
    if deadline <= engine::now() {
        if settle::finds_any_ready(watched) {
            return ask();
        }
        clear();
        // Whoever looks without waiting will look again: the others may go on.
        engine::yield_point(pc);
        return 0;
    }
    let op = Op::new(OpKind::IoWait, first as u64, pc);
    loop {
        if settle::goes_on(watched) {
            let got = ask();
            if got != 0 && got != -(EINTR as isize) {
                return got;
            }
        }
        match engine::wait_fd(op, watched, (deadline != NEVER).then_some(deadline)) {
            Wake::Go => {}
            Wake::TimedOut => {
                clear();
                return 0;
            }
            Wake::Interrupted => {
                cancel::check();
                if let Err(error) = interrupted(true) {
                    return -(error as isize);
                }
            }
        }
    }
}

/// More descriptors than any process has.
const TOO_MANY: usize = 1 << 24;

/// `poll` under control; the kernel's result.
pub fn poll(fds: *mut PollFd, count: usize, deadline: u64, mask: *const signal::Set, pc: u64) -> isize {
    if count > TOO_MANY {
        return -(EINVAL as isize);
    }
    if fds.is_null() && count > 0 {
        return -(EFAULT as isize);
    }
    let mut watched = Vec::with_capacity(count);
    for index in 0..count {
        // SAFETY: the caller's array.
        watched.push(unsafe { *fds.add(index) });
    }
    let question = Question {
        // SAFETY: the caller's array.
        ask: || unsafe { raw(nr::POLL, [fds as usize, count, 0]) },
        clear: || {
            for index in 0..count {
                // SAFETY: as above.
                unsafe { (*fds.add(index)).revents = 0 };
            }
        },
        watched,
    };
    until_ready(question, deadline, mask, pc)
}

unsafe extern "C" fn poll_hook(fds: *mut PollFd, count: usize, timeout: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe {
            real!(poll: fn(*mut PollFd, usize, c_int) -> c_int)(fds, count, timeout)
        });
    }
    result(poll(fds, count, after_ms(timeout), core::ptr::null(), pc)) as c_int
}

unsafe extern "C" fn poll_chk_hook(
    fds: *mut PollFd,
    count: usize,
    timeout: c_int,
    room: usize,
    pc: u64,
) -> c_int {
    if !engine::controlled() || room / size_of::<PollFd>() < count {
        let call = real!(__poll_chk: fn(*mut PollFd, usize, c_int, usize) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(fds, count, timeout, room) });
    }
    result(poll(fds, count, after_ms(timeout), core::ptr::null(), pc)) as c_int
}

/// `ppoll` under control; the kernel's result.
pub fn ppoll(
    fds: *mut PollFd,
    count: usize,
    limit: *const timespec,
    mask: *const signal::Set,
    pc: u64,
) -> isize {
    match time::deadline_relative(limit) {
        Ok(deadline) => poll(fds, count, deadline, mask, pc),
        Err(error) => -(error as isize),
    }
}

unsafe extern "C" fn ppoll_hook(
    fds: *mut PollFd,
    count: usize,
    limit: *const timespec,
    mask: *const signal::Set,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(ppoll: fn(*mut PollFd, usize, *const timespec, *const signal::Set) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(fds, count, limit, mask) });
    }
    result(ppoll(fds, count, limit, mask, pc)) as c_int
}

unsafe extern "C" fn ppoll_chk_hook(
    fds: *mut PollFd,
    count: usize,
    limit: *const timespec,
    mask: *const signal::Set,
    room: usize,
    pc: u64,
) -> c_int {
    if !engine::controlled() || room / size_of::<PollFd>() < count {
        let call =
            real!(__ppoll_chk: fn(*mut PollFd, usize, *const timespec, *const signal::Set, usize) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(fds, count, limit, mask, room) });
    }
    result(ppoll(fds, count, limit, mask, pc)) as c_int
}

/// The most descriptors `select` is asked about.
const SELECT_LIMIT: usize = 65_536;
type Sets = [*mut u64; 3];

/// What each of the three sets of `select` asks for.
const ASKED: [i16; 3] = [
    POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR,
    POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR,
    POLLPRI,
];

/// The words of one set.
fn words(set: *mut u64, count: usize) -> Vec<u64> {
    if set.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's set has a bit for each of `count` descriptors.
    unsafe { core::slice::from_raw_parts(set, count.div_ceil(64)) }.to_vec()
}

/// `select` under control, with the kernel's result.
pub fn select(count: c_int, sets: Sets, deadline: u64, mask: *const signal::Set, pc: u64) -> isize {
    if !(0..=SELECT_LIMIT as c_int).contains(&count) {
        return -(EINVAL as isize);
    }
    let wanted = sets.map(|set| words(set, count as usize));
    let mut watched: Vec<PollFd> = Vec::new();
    for fd in 0..count {
        let mut events = 0;
        for (set, asked) in wanted.iter().zip(ASKED) {
            if set.get(fd as usize / 64).is_some_and(|word| word >> (fd % 64) & 1 == 1) {
                events |= asked;
            }
        }
        if events != 0 {
            watched.push(PollFd { fd, events, revents: 0 });
        }
    }
    let ask = || {
        for (set, wanted) in sets.iter().zip(&wanted) {
            if !set.is_null() {
                // SAFETY: the caller's set, as long as what was read of it.
                unsafe { core::ptr::copy_nonoverlapping(wanted.as_ptr(), *set, wanted.len()) };
            }
        }
        let mut none = TimeVal::default();
        let at = sets.map(|set| set as usize);
        // SAFETY: the caller's sets.
        unsafe { raw(nr::SELECT, [count as usize, at[0], at[1], at[2], &raw mut none as usize]) }
    };
    let clear = || {
        for (set, wanted) in sets.iter().zip(&wanted) {
            if !set.is_null() {
                // SAFETY: as above.
                unsafe { core::ptr::write_bytes(*set, 0, wanted.len()) };
            }
        }
    };
    until_ready(Question { ask, clear, watched }, deadline, mask, pc)
}

/// The deadline of a `struct timeval`.
fn after_timeval(limit: *const TimeVal) -> Result<u64, c_int> {
    if limit.is_null() {
        return Ok(NEVER);
    }
    // SAFETY: the caller's pointer. Linux takes microseconds of more than a second.
    let limit = unsafe { *limit };
    if limit.sec < 0 || limit.usec < 0 {
        return Err(EINVAL);
    }
    let ns = (limit.sec as u64).saturating_mul(1_000_000_000).saturating_add(limit.usec as u64 * 1000);
    Ok(engine::now().saturating_add(ns).min(NEVER - 1))
}

/// `select` with Linux's habit of telling the time that is left; the kernel's result.
pub fn select_timeval(count: c_int, sets: Sets, limit: *mut TimeVal, pc: u64) -> isize {
    let deadline = match after_timeval(limit) {
        Ok(deadline) => deadline,
        Err(error) => return -(error as isize),
    };
    let got = select(count, sets, deadline, core::ptr::null(), pc);
    if !limit.is_null() {
        let left = time::remaining(deadline);
        // SAFETY: the caller's pointer.
        unsafe { *limit = TimeVal { sec: left.tv_sec, usec: left.tv_nsec / 1000 } };
    }
    got
}

unsafe extern "C" fn select_hook(
    count: c_int,
    read: *mut u64,
    write: *mut u64,
    except: *mut u64,
    limit: *mut TimeVal,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(select: fn(c_int, *mut u64, *mut u64, *mut u64, *mut TimeVal) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(count, read, write, except, limit) });
    }
    result(select_timeval(count, [read, write, except], limit, pc)) as c_int
}

unsafe extern "C" fn pselect_hook(
    count: c_int,
    read: *mut u64,
    write: *mut u64,
    except: *mut u64,
    limit: *const timespec,
    mask: *const signal::Set,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(
            pselect: fn(c_int, *mut u64, *mut u64, *mut u64, *const timespec, *const signal::Set) -> c_int
        );
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(count, read, write, except, limit, mask) });
    }
    let got = match time::deadline_relative(limit) {
        Ok(deadline) => select(count, [read, write, except], deadline, mask, pc),
        Err(error) => -(error as isize),
    };
    result(got) as c_int
}

/// `epoll_pwait` under control; the kernel's result.
pub fn epoll(
    fd: c_int,
    events: *mut c_void,
    room: c_int,
    deadline: u64,
    mask: *const signal::Set,
    pc: u64,
) -> isize {
    let question = Question {
        // SAFETY: the caller's array.
        ask: || unsafe { raw(nr::EPOLL_WAIT, [fd as usize, events as usize, room as usize, 0]) },
        clear: || {},
        watched: alloc::vec![PollFd { fd, events: POLLIN, revents: 0 }],
    };
    until_ready(question, deadline, mask, pc)
}

unsafe extern "C" fn epoll_wait_hook(
    fd: c_int,
    events: *mut c_void,
    room: c_int,
    timeout: c_int,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(epoll_wait: fn(c_int, *mut c_void, c_int, c_int) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(fd, events, room, timeout) });
    }
    result(epoll(fd, events, room, after_ms(timeout), core::ptr::null(), pc)) as c_int
}

unsafe extern "C" fn epoll_pwait_hook(
    fd: c_int,
    events: *mut c_void,
    room: c_int,
    timeout: c_int,
    mask: *const signal::Set,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(epoll_pwait: fn(c_int, *mut c_void, c_int, c_int, *const signal::Set) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(fd, events, room, timeout, mask) });
    }
    result(epoll(fd, events, room, after_ms(timeout), mask, pc)) as c_int
}

unsafe extern "C" fn epoll_pwait2_hook(
    fd: c_int,
    events: *mut c_void,
    room: c_int,
    limit: *const timespec,
    mask: *const signal::Set,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call =
            real!(epoll_pwait2: fn(c_int, *mut c_void, c_int, *const timespec, *const signal::Set) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::io::passes_in(|| unsafe { call(fd, events, room, limit, mask) });
    }
    let got = match time::deadline_relative(limit) {
        Ok(deadline) => epoll(fd, events, room, deadline, mask, pc),
        Err(error) => -(error as isize),
    };
    result(got) as c_int
}

unsafe extern "C" fn epoll_ctl_hook(
    fd: c_int,
    what: c_int,
    target: c_int,
    event: *mut c_void,
    pc: u64,
) -> c_int {
    let call = real!(epoll_ctl: fn(c_int, c_int, c_int, *mut c_void) -> c_int);
    if engine::controlled() {
        begin(fd, pc);
    }
    // SAFETY: the caller's request, unchanged.
    let done = unsafe { call(fd, what, target, event) };
    if engine::controlled() {
        // A new interest may be ready at once for a strand that waits on this set.
        crate::model::io::touched();
    }
    done
}
