//! `read` and its kind. Safe before init and after fork; a handler may call these.

use super::{Patience, begin, buffers, came_in, disturbed, settle, shortened, touched};
use crate::engine;
use crate::model::entropy;
use crate::model::kernel::{IoVec, POLLIN, SO_RCVTIMEO, error::*, nr, raw, result};
use crate::sys::{c_int, c_void, fail};

interpose_slot!(read, 3, read_hook);
interpose_slot!(__read, 3, read_hook);
interpose_slot!(__read_chk, 4, read_chk_hook);
interpose_slot!(readv, 3, readv_hook);
interpose_slot!(pread, 4, pread_hook);
interpose_slot!(pread64, 4, pread_hook);
interpose_slot!(__pread64, 4, pread_hook);
interpose!(eventfd_read, 2, eventfd_read_hook);

/// Waits until a read would not block, then does it; the kernel's result.
pub fn when_readable(fd: c_int, pc: u64, read: impl Fn() -> isize) -> isize {
    begin(fd, pc);
    if let Some(error) = disturbed(fd, pc) {
        return -(error as isize);
    }
    let mut patience = Patience::new(fd, SO_RCVTIMEO, pc);
    loop {
        if settle::is_ready(fd, POLLIN) {
            let got = read();
            if got != -(EAGAIN as isize) && got != -(EINTR as isize) {
                touched();
                came_in();
                return got;
            }
        }
        if let Err(error) = patience.wait(POLLIN) {
            return -(error as isize);
        }
    }
}

/// Waits until there is something to read, or a read would fail at once; an errno if a handler ended the wait.
pub fn wait_readable(fd: c_int, pc: u64) -> Result<(), c_int> {
    begin(fd, pc);
    let mut patience = Patience::new(fd, SO_RCVTIMEO, pc);
    while !settle::is_ready(fd, POLLIN) {
        match patience.wait(POLLIN) {
            // The read that follows tells it.
            Err(EAGAIN) => return Ok(()),
            waited => waited?,
        }
    }
    came_in();
    Ok(())
}

/// `read` under control; the kernel's result.
pub fn read(fd: c_int, buffer: *mut c_void, count: usize, pc: u64) -> isize {
    if entropy::serves(fd) {
        return entropy::serve(buffer, count);
    }
    let count = shortened(fd, count, false, pc);
    when_readable(fd, pc, || {
        // SAFETY: the caller's buffer.
        unsafe { raw(nr::READ, [fd as usize, buffer as usize, count]) }
    })
}

/// `read` into the caller's memory.
fn read_into(fd: c_int, buffer: *mut c_void, count: usize, slot: *const u64) -> isize {
    // SAFETY: the stub's stack pointer.
    let got = read(fd, buffer, count, unsafe { *slot });
    buffers::received_one(slot, buffer, count, got);
    result(got)
}

unsafe extern "C" fn read_hook(fd: c_int, buffer: *mut c_void, count: usize, slot: *const u64) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        let got = super::passes_in(|| unsafe {
            real!(read: fn(c_int, *mut c_void, usize) -> isize)(fd, buffer, count)
        });
        buffers::received_in_free_run(slot, buffer, count, got);
        return got;
    }
    read_into(fd, buffer, count, slot)
}

unsafe extern "C" fn read_chk_hook(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    room: usize,
    slot: *const u64,
) -> isize {
    if !engine::controlled() || count > room {
        let call = real!(__read_chk: fn(c_int, *mut c_void, usize, usize) -> isize);
        // SAFETY: the caller's request, unchanged.
        let got = super::passes_in(|| unsafe { call(fd, buffer, count, room) });
        buffers::received_in_free_run(slot, buffer, count, got);
        return got;
    }
    read_into(fd, buffer, count, slot)
}

/// `readv` under control; the kernel's result.
pub fn readv(fd: c_int, parts: *const IoVec, count: c_int, pc: u64) -> isize {
    if entropy::serves(fd) && count == 1 {
        // SAFETY: the caller's array.
        let part = unsafe { *parts };
        return entropy::serve(part.base.cast(), part.len);
    }
    when_readable(fd, pc, || {
        // SAFETY: the caller's array and buffers.
        unsafe { raw(nr::READV, [fd as usize, parts as usize, count as usize]) }
    })
}

unsafe extern "C" fn readv_hook(fd: c_int, parts: *const IoVec, count: c_int, slot: *const u64) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_in(|| unsafe {
            real!(readv: fn(c_int, *const IoVec, c_int) -> isize)(fd, parts, count)
        });
    }
    // SAFETY: the stub's stack pointer, and the caller's array.
    unsafe {
        let got = readv(fd, parts, count, *slot);
        if got > 0 {
            buffers::received(slot, buffers::parts(parts, count as usize), got);
        }
        result(got)
    }
}

unsafe extern "C" fn pread_hook(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    at: i64,
    slot: *const u64,
) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        let got = super::passes_in(|| unsafe {
            real!(pread64: fn(c_int, *mut c_void, usize, i64) -> isize)(fd, buffer, count, at)
        });
        buffers::received_in_free_run(slot, buffer, count, got);
        return got;
    }
    // SAFETY: the stub's stack pointer, the caller's buffer; what has positions does not block.
    let got = unsafe {
        begin(fd, *slot);
        raw(nr::PREAD64, [fd as usize, buffer as usize, count, at as usize])
    };
    buffers::received_one(slot, buffer, count, got);
    result(got)
}

unsafe extern "C" fn eventfd_read_hook(fd: c_int, value: *mut u64, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_in(|| unsafe { real!(eventfd_read: fn(c_int, *mut u64) -> c_int)(fd, value) });
    }
    match read(fd, value.cast(), 8, pc) {
        8 => 0,
        got if got < 0 => fail(-got as c_int),
        _ => -1,
    }
}
