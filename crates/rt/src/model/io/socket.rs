//! Connections. Safe before init and after fork.

use super::{begin, nonblocking, read, retry, socket_deadline, touched, wait};
use crate::engine;
use crate::model::kernel::{
    F_GETFL, F_SETFL, O_NONBLOCK, POLLOUT, SO_ERROR, SO_SNDTIMEO, SO_TYPE, SOCK_STREAM, SOL_SOCKET, error::*,
    nr, raw, result,
};
use crate::sys::{c_int, c_void, fail};

interpose!(accept, 3, accept_hook);
interpose!(accept4, 4, accept4_hook);
interpose!(connect, 3, connect_hook);
interpose!(__connect, 3, connect_hook);
interpose!(shutdown, 2, shutdown_hook);

fn option(fd: c_int, name: c_int) -> Option<c_int> {
    let mut value: c_int = 0;
    let mut length = size_of::<c_int>() as u32;
    // SAFETY: writes at most our own int.
    let got = unsafe {
        raw(
            nr::GETSOCKOPT,
            [
                fd as usize,
                SOL_SOCKET as usize,
                name as usize,
                &raw mut value as usize,
                &raw mut length as usize,
            ],
        )
    };
    (got == 0).then_some(value)
}

/// Whether a descriptor is a stream socket.
pub fn is_stream(fd: c_int) -> bool {
    option(fd, SO_TYPE) == Some(SOCK_STREAM)
}

/// Runs `work` with a descriptor made nonblocking.
pub fn without_blocking<R>(fd: c_int, work: impl FnOnce() -> R) -> R {
    // SAFETY: the descriptor's flags, changed and put back before anybody else runs.
    unsafe {
        let flags = raw(nr::FCNTL, [fd as usize, F_GETFL as usize, 0]);
        if flags < 0 || flags as c_int & O_NONBLOCK != 0 {
            return work();
        }
        raw(nr::FCNTL, [fd as usize, F_SETFL as usize, flags as usize | O_NONBLOCK as usize]);
        let done = work();
        raw(nr::FCNTL, [fd as usize, F_SETFL as usize, flags as usize]);
        done
    }
}

/// `accept4` under control; the kernel's result.
pub fn accept(fd: c_int, address: *mut c_void, length: *mut u32, flags: c_int, pc: u64) -> isize {
    read::when_readable(fd, pc, || {
        // SAFETY: the caller's out pointers.
        unsafe { raw(nr::ACCEPT4, [fd as usize, address as usize, length as usize, flags as usize]) }
    })
}

unsafe extern "C" fn accept_hook(fd: c_int, address: *mut c_void, length: *mut u32, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_in(|| unsafe {
            real!(accept: fn(c_int, *mut c_void, *mut u32) -> c_int)(fd, address, length)
        });
    }
    result(accept(fd, address, length, 0, pc)) as c_int
}

unsafe extern "C" fn accept4_hook(
    fd: c_int,
    address: *mut c_void,
    length: *mut u32,
    flags: c_int,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(accept4: fn(c_int, *mut c_void, *mut u32, c_int) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::passes_in(|| unsafe { call(fd, address, length, flags) });
    }
    result(accept(fd, address, length, flags, pc)) as c_int
}

/// `connect` under control; the kernel's result.
pub fn connect(fd: c_int, address: *const c_void, length: u32, pc: u64) -> isize {
    begin(fd, pc);
    let blocking = !nonblocking(fd);
    let mut limit = None;
    let mut attempt = 0;
    loop {
        let done = without_blocking(fd, || {
            // SAFETY: the caller's address.
            unsafe { raw(nr::CONNECT, [fd as usize, address as usize, length as usize]) }
        });
        touched();
        if !blocking {
            return done;
        }
        let limit = *limit.get_or_insert_with(|| socket_deadline(fd, SO_SNDTIMEO));
        match -done as c_int {
            EINPROGRESS | EALREADY => {
                return match wait(fd, POLLOUT, limit, pc) {
                    Ok(()) => -(option(fd, SO_ERROR).unwrap_or(EIO) as isize),
                    Err(EAGAIN) => -(EINPROGRESS as isize),
                    Err(error) => -(error as isize),
                };
            }
            // A local listener's queue is full.
            EAGAIN => {
                if let Err(error) = retry(fd, &mut attempt, limit, pc) {
                    return -(error as isize);
                }
            }
            _ => return done,
        }
    }
}

unsafe extern "C" fn connect_hook(fd: c_int, address: *const c_void, length: u32, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe {
            real!(connect: fn(c_int, *const c_void, u32) -> c_int)(fd, address, length)
        });
    }
    result(connect(fd, address, length, pc)) as c_int
}

unsafe extern "C" fn shutdown_hook(fd: c_int, how: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe { real!(shutdown: fn(c_int, c_int) -> c_int)(fd, how) });
    }
    begin(fd, pc);
    // SAFETY: the caller's request; it does not block.
    let done = unsafe { raw(nr::SHUTDOWN, [fd as usize, how as usize]) };
    touched();
    if done < 0 { fail(-done as c_int) } else { 0 }
}
