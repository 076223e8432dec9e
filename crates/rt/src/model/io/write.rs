//! `write` and its kind. Safe before init and after fork; a handler may call these.

use super::{Patience, begin, buffers, disturbed, file_type, nonblocking, send, settle, shortened, touched};
use crate::engine;
use crate::model::kernel::{
    IoVec, MAX_RW, PIPE_BUF, POLLOUT, S_IFBLK, S_IFDIR, S_IFREG, S_IFSOCK, SO_SNDTIMEO, error::*, nr, raw,
    result,
};
use crate::sys::{c_int, c_void};

interpose_slot!(write, 3, write_hook);
interpose_slot!(__write, 3, write_hook);
interpose_slot!(writev, 3, writev_hook);
interpose_slot!(pwrite, 4, pwrite_hook);
interpose_slot!(pwrite64, 4, pwrite_hook);
interpose_slot!(__pwrite64, 4, pwrite_hook);
interpose!(eventfd_write, 2, eventfd_write_hook);

/// `write` under control; the kernel's result.
pub fn write(fd: c_int, buffer: *const c_void, count: usize, pc: u64) -> isize {
    begin(fd, pc);
    if let Some(error) = disturbed(fd, pc) {
        return -(error as isize);
    }
    write_on(fd, buffer, shortened(fd, count, true, pc), pc)
}

fn write_on(fd: c_int, buffer: *const c_void, count: usize, pc: u64) -> isize {
    match file_type(fd) {
        S_IFREG | S_IFBLK | S_IFDIR => {
            // SAFETY: the caller's buffer; files do not block.
            let put = unsafe { raw(nr::WRITE, [fd as usize, buffer as usize, count]) };
            touched();
            put
        }
        S_IFSOCK => send::all(fd, buffer, count, 0, core::ptr::null(), 0, pc),
        _ => pipe(fd, buffer, count.min(MAX_RW), pc),
    }
}

/// Writes all of it, as much at a time as cannot block when the descriptor is ready.
fn pipe(fd: c_int, buffer: *const c_void, count: usize, pc: u64) -> isize {
    let mut patience = Patience::new(fd, SO_SNDTIMEO, pc);
    let whole = count > PIPE_BUF && nonblocking(fd);
    let mut done = 0;
    loop {
        if settle::is_ready(fd, POLLOUT) {
            let portion = if whole { count } else { (count - done).min(PIPE_BUF) };
            // SAFETY: a part of the caller's buffer.
            let put = unsafe { raw(nr::WRITE, [fd as usize, buffer as usize + done, portion]) };
            touched();
            if put >= 0 {
                done += put as usize;
                if done == count || whole {
                    return done as isize;
                }
                patience.moved();
                continue;
            }
            if put != -(EAGAIN as isize) && put != -(EINTR as isize) {
                return if done > 0 { done as isize } else { put };
            }
        }
        if let Err(error) = patience.wait(POLLOUT) {
            return if done > 0 { done as isize } else { -(error as isize) };
        }
    }
}

unsafe extern "C" fn write_hook(fd: c_int, buffer: *const c_void, count: usize, slot: *const u64) -> isize {
    if !engine::controlled() {
        buffers::sent_in_free_run(slot, buffer, count);
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe {
            real!(write: fn(c_int, *const c_void, usize) -> isize)(fd, buffer, count)
        });
    }
    buffers::sent_one(slot, buffer, count);
    // SAFETY: the stub's stack pointer.
    result(write(fd, buffer, count, unsafe { *slot }))
}

/// `writev` under control; the kernel's result.
pub fn writev(fd: c_int, parts: *const IoVec, count: c_int, pc: u64) -> isize {
    begin(fd, pc);
    let kind = file_type(fd);
    if matches!(kind, S_IFREG | S_IFBLK | S_IFDIR) || !(1..=1024).contains(&count) {
        // SAFETY: the caller's array and buffers; files do not block.
        let put = unsafe { raw(nr::WRITEV, [fd as usize, parts as usize, count as usize]) };
        touched();
        return put;
    }
    // SAFETY: the caller's array.
    let parts = unsafe { core::slice::from_raw_parts(parts, count as usize) };
    if kind == S_IFSOCK {
        return send::all_parts(fd, parts, 0, pc);
    }
    let total = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len));
    if total <= PIPE_BUF {
        return pipe_atomic(fd, parts, pc);
    }
    let mut done = 0isize;
    for part in parts.iter().filter(|part| part.len > 0) {
        let put = pipe(fd, part.base.cast(), part.len, pc);
        if put < 0 {
            return if done > 0 { done } else { put };
        }
        done += put;
        if (put as usize) < part.len {
            break;
        }
    }
    done
}

/// A few bytes go into a pipe together or not at all.
fn pipe_atomic(fd: c_int, parts: &[IoVec], pc: u64) -> isize {
    let mut patience = Patience::new(fd, SO_SNDTIMEO, pc);
    loop {
        if settle::is_ready(fd, POLLOUT) {
            // SAFETY: the caller's array and buffers.
            let put = unsafe { raw(nr::WRITEV, [fd as usize, parts.as_ptr() as usize, parts.len()]) };
            touched();
            if put != -(EAGAIN as isize) && put != -(EINTR as isize) {
                return put;
            }
        }
        if let Err(error) = patience.wait(POLLOUT) {
            return -(error as isize);
        }
    }
}

unsafe extern "C" fn writev_hook(fd: c_int, parts: *const IoVec, count: c_int, slot: *const u64) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe {
            real!(writev: fn(c_int, *const IoVec, c_int) -> isize)(fd, parts, count)
        });
    }
    // SAFETY: the stub's stack pointer, and the caller's array.
    unsafe {
        buffers::sent(slot, buffers::parts(parts, count as usize));
        result(writev(fd, parts, count, *slot))
    }
}

unsafe extern "C" fn pwrite_hook(
    fd: c_int,
    buffer: *const c_void,
    count: usize,
    at: i64,
    slot: *const u64,
) -> isize {
    if !engine::controlled() {
        buffers::sent_in_free_run(slot, buffer, count);
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe {
            real!(pwrite64: fn(c_int, *const c_void, usize, i64) -> isize)(fd, buffer, count, at)
        });
    }
    buffers::sent_one(slot, buffer, count);
    // SAFETY: the stub's stack pointer, the caller's buffer; what has positions does not block.
    unsafe {
        begin(fd, *slot);
        result(raw(nr::PWRITE64, [fd as usize, buffer as usize, count, at as usize]))
    }
}

unsafe extern "C" fn eventfd_write_hook(fd: c_int, value: u64, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe { real!(eventfd_write: fn(c_int, u64) -> c_int)(fd, value) });
    }
    if result(write(fd, (&raw const value).cast(), 8, pc)) == 8 { 0 } else { -1 }
}
