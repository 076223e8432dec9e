//! Moving bytes between descriptors. Safe before init and after fork.
//!
//! Both descriptors are made nonblocking for the length of one try; a transfer may always be shorter than asked for.

use super::socket::without_blocking;
use super::{Patience, begin, came_in, nonblocking, ready, touched};
use crate::engine;
use crate::model::kernel::{POLLIN, POLLOUT, SO_RCVTIMEO, SO_SNDTIMEO, error::*, nr, raw, result};
use crate::sys::{c_int, c_uint};

const SPLICE_F_NONBLOCK: c_uint = 2;

interpose!(sendfile, 4, sendfile_hook);
interpose!(sendfile64, 4, sendfile_hook);
interpose6!(splice, splice_hook);
interpose!(tee, 4, tee_hook);

fn transfer(from: c_int, to: c_int, pc: u64, attempt: impl Fn() -> isize) -> isize {
    begin(from, pc);
    if nonblocking(from) || nonblocking(to) {
        let done = attempt();
        touched();
        came_in();
        return done;
    }
    let mut source = Patience::new(from, SO_RCVTIMEO, pc);
    let mut target = Patience::new(to, SO_SNDTIMEO, pc);
    loop {
        let done = without_blocking(from, || without_blocking(to, &attempt));
        touched();
        came_in();
        if done != -(EAGAIN as isize) && done != -(EINTR as isize) {
            return done;
        }
        let waited = if ready(from, POLLIN) == 0 { source.wait(POLLIN) } else { target.wait(POLLOUT) };
        if let Err(error) = waited {
            return -(error as isize);
        }
    }
}

/// `sendfile` under control; the kernel's result.
pub fn sendfile(to: c_int, from: c_int, offset: *mut i64, count: usize, pc: u64) -> isize {
    transfer(from, to, pc, || {
        // SAFETY: the caller's request.
        unsafe { raw(nr::SENDFILE, [to as usize, from as usize, offset as usize, count]) }
    })
}

/// `splice` under control; the kernel's result.
pub fn splice(
    from: c_int,
    from_at: *mut i64,
    to: c_int,
    to_at: *mut i64,
    count: usize,
    flags: c_uint,
    pc: u64,
) -> isize {
    let attempt = || {
        let flags = flags | SPLICE_F_NONBLOCK;
        // SAFETY: the caller's request, without waiting.
        unsafe {
            raw(
                nr::SPLICE,
                [from as usize, from_at as usize, to as usize, to_at as usize, count, flags as usize],
            )
        }
    };
    if flags & SPLICE_F_NONBLOCK != 0 {
        begin(from, pc);
        let done = attempt();
        touched();
        return done;
    }
    transfer(from, to, pc, attempt)
}

/// `tee` under control; the kernel's result.
pub fn tee(from: c_int, to: c_int, count: usize, flags: c_uint, pc: u64) -> isize {
    let attempt = || {
        let flags = flags | SPLICE_F_NONBLOCK;
        // SAFETY: the caller's request, without waiting.
        unsafe { raw(nr::TEE, [from as usize, to as usize, count, flags as usize]) }
    };
    if flags & SPLICE_F_NONBLOCK != 0 {
        begin(from, pc);
        let done = attempt();
        touched();
        return done;
    }
    transfer(from, to, pc, attempt)
}

unsafe extern "C" fn sendfile_hook(to: c_int, from: c_int, offset: *mut i64, count: usize, pc: u64) -> isize {
    if !engine::controlled() {
        let call = real!(sendfile64: fn(c_int, c_int, *mut i64, usize) -> isize);
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe { call(to, from, offset, count) });
    }
    result(sendfile(to, from, offset, count, pc))
}

unsafe extern "C" fn splice_hook(
    from: c_int,
    from_at: *mut i64,
    to: c_int,
    to_at: *mut i64,
    count: usize,
    flags: c_uint,
    pc: u64,
) -> isize {
    if !engine::controlled() {
        let call = real!(splice: fn(c_int, *mut i64, c_int, *mut i64, usize, c_uint) -> isize);
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| {
            // SAFETY: as above.
            super::passes_in(|| unsafe { call(from, from_at, to, to_at, count, flags) })
        });
    }
    result(splice(from, from_at, to, to_at, count, flags, pc))
}

unsafe extern "C" fn tee_hook(from: c_int, to: c_int, count: usize, flags: c_uint, pc: u64) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| {
            // SAFETY: as above.
            super::passes_in(|| unsafe {
                real!(tee: fn(c_int, c_int, usize, c_uint) -> isize)(from, to, count, flags)
            })
        });
    }
    result(tee(from, to, count, flags, pc))
}
