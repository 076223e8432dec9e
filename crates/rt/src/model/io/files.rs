//! Opening, closing and doubling descriptors. Safe before init and after fork.
//!
//! Opening a FIFO blocks until the other side is opened too. It is opened without blocking instead; a writer tries
//! until there is a reader, a reader waits until there is a writer, which a read of an empty pipe tells: it would
//! block if there is one, and is at its end if there is none.

use core::ffi::CStr;

use super::{begin, maps, ready, retry, touched};
use crate::engine;
use crate::model::kernel::{
    AT_FDCWD, F_GETFL, F_SETFL, O_ACCMODE, O_NONBLOCK, O_PATH, O_RDONLY, O_WRONLY, POLLIN, S_IFIFO, S_IFMT,
    Stat, error::*, nr, raw, result,
};
use crate::model::{entropy, time};
use crate::sys::{c_char, c_int, c_uint};
const O_CREAT: c_int = 0o100;
const O_TRUNC: c_int = 0o1000;
const O_TMPFILE: c_int = 0o20000000;

interpose!(open, 3, open_hook);
interpose!(open64, 3, open_hook);
interpose!(__open, 3, open_hook);
interpose!(__open64, 3, open_hook);
interpose!(__open_2, 2, open_2_hook);
interpose!(__open64_2, 2, open_2_hook);
interpose!(openat, 4, openat_hook);
interpose!(openat64, 4, openat_hook);
interpose!(__openat_2, 3, openat_2_hook);
interpose!(__openat64_2, 3, openat_2_hook);
interpose!(creat, 2, creat_hook);
interpose!(creat64, 2, creat_hook);
interpose!(close, 1, close_hook);
interpose!(__close, 1, close_hook);
interpose!(close_range, 3, close_range_hook);
interpose!(closefrom, 1, closefrom_hook);
interpose!(dup, 1, dup_hook);
interpose!(dup2, 2, dup2_hook);
interpose!(__dup2, 2, dup2_hook);
interpose!(dup3, 3, dup3_hook);

/// Whether opening a path in this way waits for the other side of a FIFO.
fn waits_for_peer(dir: c_int, path: *const c_char, flags: c_int) -> bool {
    let mode = flags & O_ACCMODE;
    if flags & (O_NONBLOCK | O_PATH) != 0 || mode != O_RDONLY && mode != O_WRONLY {
        return false;
    }
    let mut stat = Stat::ZERO;
    // SAFETY: the caller's path; writes our own struct.
    let got = unsafe { raw(nr::NEWFSTATAT, [dir as usize, path as usize, &raw mut stat as usize, 0]) };
    got == 0 && stat.mode & S_IFMT == S_IFIFO
}

/// `openat` under control; the kernel's result.
pub fn open_at(dir: c_int, path: *const c_char, flags: c_int, mode: c_uint, pc: u64) -> isize {
    begin(-1, pc);
    // SAFETY: the caller's path; without one it is the kernel that says so.
    let list = !path.is_null() && maps::is_list(unsafe { CStr::from_ptr(path) }, flags);
    if let Some(fd) = list.then(|| maps::open(flags)).flatten() {
        touched();
        return fd as isize;
    }
    // SAFETY: the caller's path.
    let open = |flags: c_int| unsafe {
        raw(nr::OPENAT, [dir as usize, path as usize, flags as usize, mode as usize])
    };
    if waits_for_peer(dir, path, flags) {
        return open_fifo(flags, pc, open);
    }
    let fd = open(flags);
    touched();
    // SAFETY: the caller's path, which the kernel has read.
    if fd >= 0 && matches!(unsafe { CStr::from_ptr(path) }.to_bytes(), b"/dev/urandom" | b"/dev/random") {
        entropy::mark(fd as c_int, true);
    }
    fd
}

fn open_fifo(flags: c_int, pc: u64, open: impl Fn(c_int) -> isize) -> isize {
    let mut attempt = 0;
    let fd = loop {
        let fd = open(flags | O_NONBLOCK);
        touched();
        if fd != -(ENXIO as isize) {
            break fd;
        }
        if let Err(error) = retry(-1, &mut attempt, None, pc) {
            return -(error as isize);
        }
    };
    if fd < 0 {
        return fd;
    }
    if flags & O_ACCMODE == O_RDONLY {
        while !has_writer(fd as c_int) {
            if let Err(error) = retry(fd as c_int, &mut attempt, None, pc) {
                // SAFETY: the descriptor just made, which nobody knows.
                unsafe { raw(nr::CLOSE, [fd as usize]) };
                return -(error as isize);
            }
        }
    }
    // SAFETY: the descriptor just made.
    unsafe {
        let now = raw(nr::FCNTL, [fd as usize, F_GETFL as usize, 0]);
        raw(nr::FCNTL, [fd as usize, F_SETFL as usize, now as usize & !(O_NONBLOCK as usize)]);
    }
    touched();
    fd
}

fn has_writer(fd: c_int) -> bool {
    if ready(fd, POLLIN) != 0 {
        return true;
    }
    let mut byte = 0u8;
    // SAFETY: one byte of an empty pipe.
    unsafe { raw(nr::READ, [fd as usize, &raw mut byte as usize, 1]) == -(EAGAIN as isize) }
}

/// The mode argument is there only with these flags.
fn mode_of(flags: c_int, mode: c_uint) -> c_uint {
    if flags & (O_CREAT | O_TMPFILE) != 0 { mode } else { 0 }
}

unsafe extern "C" fn open_hook(path: *const c_char, flags: c_int, mode: c_uint, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(open64: fn(*const c_char, c_int, c_uint) -> c_int)(path, flags, mode) };
    }
    result(open_at(AT_FDCWD, path, flags, mode_of(flags, mode), pc)) as c_int
}

unsafe extern "C" fn open_2_hook(path: *const c_char, flags: c_int, pc: u64) -> c_int {
    if !engine::controlled() || flags & (O_CREAT | O_TMPFILE) != 0 {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(__open64_2: fn(*const c_char, c_int) -> c_int)(path, flags) };
    }
    result(open_at(AT_FDCWD, path, flags, 0, pc)) as c_int
}

unsafe extern "C" fn openat_hook(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(openat64: fn(c_int, *const c_char, c_int, c_uint) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(dir, path, flags, mode) };
    }
    result(open_at(dir, path, flags, mode_of(flags, mode), pc)) as c_int
}

unsafe extern "C" fn openat_2_hook(dir: c_int, path: *const c_char, flags: c_int, pc: u64) -> c_int {
    if !engine::controlled() || flags & (O_CREAT | O_TMPFILE) != 0 {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(__openat64_2: fn(c_int, *const c_char, c_int) -> c_int)(dir, path, flags) };
    }
    result(open_at(dir, path, flags, 0, pc)) as c_int
}

unsafe extern "C" fn creat_hook(path: *const c_char, mode: c_uint, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(creat64: fn(*const c_char, c_uint) -> c_int)(path, mode) };
    }
    result(open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, pc)) as c_int
}

/// A descriptor's number stands for nothing, or something else, from now on.
fn forget(fd: c_int) {
    entropy::mark(fd, false);
    time::timerfd_closed(fd);
}

/// `close` under control; the kernel's result.
pub fn close(fd: c_int, pc: u64) -> isize {
    begin(fd, pc);
    // SAFETY: the caller's request.
    let done = unsafe { raw(nr::CLOSE, [fd as usize]) };
    forget(fd);
    touched();
    done
}

unsafe extern "C" fn close_hook(fd: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe { real!(close: fn(c_int) -> c_int)(fd) });
    }
    result(close(fd, pc)) as c_int
}

fn closed_range(first: c_uint, last: c_uint) {
    for fd in first..=last.min(1023) {
        forget(fd as c_int);
    }
    touched();
}

unsafe extern "C" fn close_range_hook(first: c_uint, last: c_uint, flags: c_int, pc: u64) -> c_int {
    if engine::controlled() {
        begin(first as c_int, pc);
    }
    // SAFETY: the caller's request, unchanged.
    let done = unsafe { real!(close_range: fn(c_uint, c_uint, c_int) -> c_int)(first, last, flags) };
    // CLOSE_RANGE_CLOEXEC only marks them.
    if engine::controlled() && flags & 4 == 0 {
        closed_range(first, last);
    }
    done
}

unsafe extern "C" fn closefrom_hook(first: c_int, pc: u64) {
    if engine::controlled() {
        begin(first, pc);
    }
    // SAFETY: the caller's request, unchanged.
    unsafe { real!(closefrom: fn(c_int))(first) };
    if engine::controlled() {
        closed_range(first.max(0) as c_uint, c_uint::MAX);
    }
}

/// What is known of a descriptor holds for its double.
pub fn doubled(old: c_int, new: c_int) {
    if old != new {
        forget(new);
        entropy::mark(new, entropy::serves(old));
    }
    touched();
}

unsafe extern "C" fn dup_hook(old: c_int, pc: u64) -> c_int {
    if engine::controlled() {
        begin(old, pc);
    }
    // SAFETY: the caller's request, unchanged.
    let new = unsafe { real!(dup: fn(c_int) -> c_int)(old) };
    if engine::controlled() && new >= 0 {
        doubled(old, new);
    }
    new
}

unsafe extern "C" fn dup2_hook(old: c_int, new: c_int, pc: u64) -> c_int {
    if engine::controlled() {
        begin(new, pc);
    }
    // SAFETY: the caller's request, unchanged.
    let done = unsafe { real!(dup2: fn(c_int, c_int) -> c_int)(old, new) };
    if engine::controlled() && done >= 0 {
        doubled(old, done);
    }
    done
}

unsafe extern "C" fn dup3_hook(old: c_int, new: c_int, flags: c_int, pc: u64) -> c_int {
    if engine::controlled() {
        begin(new, pc);
    }
    // SAFETY: the caller's request, unchanged.
    let done = unsafe { real!(dup3: fn(c_int, c_int, c_int) -> c_int)(old, new, flags) };
    if engine::controlled() && done >= 0 {
        doubled(old, done);
    }
    done
}
