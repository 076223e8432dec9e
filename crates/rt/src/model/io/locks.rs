//! Locks on files, and `fcntl`. Safe before init and after fork.
//!
//! The kernel does not tell when a lock becomes free, so a strand that waits for one tries again after others' calls.

use super::{begin, came_in, files, retry, touched};
use crate::engine;
use crate::model::kernel::{
    F_DUPFD, F_DUPFD_CLOEXEC, F_OFD_SETLK, F_OFD_SETLKW, F_SETLK, F_SETLKW, error::*, nr, raw, result,
};
use crate::sys::{c_int, fail, get_errno};

const LOCK_NB: c_int = 4;
const F_LOCK: c_int = 1;
const F_TLOCK: c_int = 2;

interpose!(fcntl, 3, fcntl_hook);
interpose!(fcntl64, 3, fcntl_hook);
interpose!(__fcntl, 3, fcntl_hook);
interpose!(flock, 2, flock_hook);
interpose!(lockf, 3, lockf_hook);
interpose!(lockf64, 3, lockf_hook);

/// Tries until the lock is not held by another; the kernel's result.
fn until_free(fd: c_int, pc: u64, attempt_lock: impl Fn() -> isize) -> isize {
    begin(fd, pc);
    let mut attempt = 0;
    loop {
        let done = attempt_lock();
        if done != -(EAGAIN as isize) && done != -(EACCES as isize) {
            touched();
            came_in();
            return done;
        }
        if let Err(error) = retry(fd, &mut attempt, None, pc) {
            return -(error as isize);
        }
    }
}

/// `fcntl` under control; the kernel's result.
pub fn fcntl(fd: c_int, command: c_int, argument: usize, pc: u64) -> isize {
    // SAFETY: the caller's request.
    let call = |command: c_int| unsafe { raw(nr::FCNTL, [fd as usize, command as usize, argument]) };
    match command {
        F_SETLKW => until_free(fd, pc, || call(F_SETLK)),
        F_OFD_SETLKW => until_free(fd, pc, || call(F_OFD_SETLK)),
        F_SETLK | F_OFD_SETLK => {
            begin(fd, pc);
            let done = call(command);
            touched();
            came_in();
            done
        }
        F_DUPFD | F_DUPFD_CLOEXEC => {
            begin(fd, pc);
            let new = call(command);
            if new >= 0 {
                files::doubled(fd, new as c_int);
            }
            new
        }
        _ => {
            engine::event();
            call(command)
        }
    }
}

unsafe extern "C" fn fcntl_hook(fd: c_int, command: c_int, argument: usize, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(fcntl64: fn(c_int, c_int, usize) -> c_int)(fd, command, argument) };
    }
    result(fcntl(fd, command, argument, pc)) as c_int
}

/// `flock` under control; the kernel's result.
pub fn flock(fd: c_int, operation: c_int, pc: u64) -> isize {
    // SAFETY: the caller's request.
    let call = |operation: c_int| unsafe { raw(nr::FLOCK, [fd as usize, operation as usize]) };
    if operation & LOCK_NB == 0 {
        return until_free(fd, pc, || call(operation | LOCK_NB));
    }
    begin(fd, pc);
    let done = call(operation);
    touched();
    done
}

unsafe extern "C" fn flock_hook(fd: c_int, operation: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(flock: fn(c_int, c_int) -> c_int)(fd, operation) };
    }
    result(flock(fd, operation, pc)) as c_int
}

unsafe extern "C" fn lockf_hook(fd: c_int, command: c_int, length: i64, pc: u64) -> c_int {
    let call = real!(lockf64: fn(c_int, c_int, i64) -> c_int);
    if !engine::controlled() || command != F_LOCK {
        // SAFETY: the caller's request, unchanged.
        let done = unsafe { call(fd, command, length) };
        if engine::controlled() {
            engine::event();
            touched();
        }
        return done;
    }
    let done = until_free(fd, pc, || {
        // SAFETY: the caller's request, without waiting.
        match unsafe { call(fd, F_TLOCK, length) } {
            0 => 0,
            _ => -(get_errno() as isize),
        }
    });
    if done < 0 { fail(-done as c_int) } else { 0 }
}
