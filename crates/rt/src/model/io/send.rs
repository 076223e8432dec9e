//! Sending on sockets. Safe before init and after fork; a handler may call these.

use super::{Patience, begin, buffers, disturbed, settle, shortened, touched};
use crate::engine;
use crate::model::kernel::{IoVec, MSG_DONTWAIT, MsgHdr, POLLOUT, SO_SNDTIMEO, error::*, nr, raw, result};
use crate::sys::{c_int, c_void};

interpose_slot!(send, 4, send_hook);
interpose_slot!(__send, 4, send_hook);
interpose6_slot!(sendto, sendto_hook);
interpose_slot!(sendmsg, 3, sendmsg_hook);

const WOULD_BLOCK: isize = -(EAGAIN as isize);
const INTERRUPTED: isize = -(EINTR as isize);

/// Sends all of a buffer, waiting as a blocking socket does; the kernel's result.
pub fn all(
    fd: c_int,
    buffer: *const c_void,
    count: usize,
    flags: c_int,
    address: *const c_void,
    length: u32,
    pc: u64,
) -> isize {
    let mut patience = Patience::new(fd, SO_SNDTIMEO, pc);
    let mut done = 0;
    loop {
        let put = settle::try_socket(fd, POLLOUT, flags, || {
            // SAFETY: a part of the caller's buffer, and the caller's address.
            unsafe {
                raw(
                    nr::SENDTO,
                    [
                        fd as usize,
                        buffer as usize + done,
                        count - done,
                        (flags | MSG_DONTWAIT) as usize,
                        address as usize,
                        length as usize,
                    ],
                )
            }
        });
        touched();
        match put {
            WOULD_BLOCK | INTERRUPTED if flags & MSG_DONTWAIT == 0 => {
                if let Err(error) = patience.wait(POLLOUT) {
                    return if done > 0 { done as isize } else { -(error as isize) };
                }
            }
            ..0 => return if done > 0 { done as isize } else { put },
            _ => {
                // Only a stream takes less than all.
                done += put as usize;
                if done >= count || flags & MSG_DONTWAIT != 0 {
                    return done as isize;
                }
                patience.moved();
            }
        }
    }
}

/// As [`all`], for several buffers.
pub fn all_parts(fd: c_int, parts: &[IoVec], flags: c_int, pc: u64) -> isize {
    let message = MsgHdr {
        name: core::ptr::null_mut(),
        namelen: 0,
        iov: parts.as_ptr().cast_mut(),
        iovlen: parts.len(),
        control: core::ptr::null_mut(),
        controllen: 0,
        flags: 0,
    };
    // SAFETY: the message refers to the caller's buffers.
    unsafe { message_on(fd, &message, flags, pc) }
}

/// Sends a message, waiting as a blocking socket does; the kernel's result.
///
/// # Safety
/// The message is as `sendmsg` wants it.
pub unsafe fn message_on(fd: c_int, message: &MsgHdr, flags: c_int, pc: u64) -> isize {
    let mut patience = Patience::new(fd, SO_SNDTIMEO, pc);
    let sent = loop {
        let at = core::ptr::from_ref(message) as usize;
        let put = settle::try_socket(fd, POLLOUT, flags, || {
            // SAFETY: the caller's message.
            unsafe { raw(nr::SENDMSG, [fd as usize, at, (flags | MSG_DONTWAIT) as usize]) }
        });
        touched();
        if put != WOULD_BLOCK && put != INTERRUPTED || flags & MSG_DONTWAIT != 0 {
            break put;
        }
        if let Err(error) = patience.wait(POLLOUT) {
            return -(error as isize);
        }
    };
    if sent < 0 || flags & MSG_DONTWAIT != 0 || message.iov.is_null() {
        return sent;
    }
    // A stream may have taken only some of it: the rest follows without the control part.
    let mut skip = sent as usize;
    let mut done = sent;
    // SAFETY: the caller's array.
    for part in unsafe { core::slice::from_raw_parts(message.iov, message.iovlen) } {
        if skip >= part.len {
            skip -= part.len;
            continue;
        }
        let rest = part.len - skip;
        let put =
            all(fd, (part.base as usize + skip) as *const c_void, rest, flags, core::ptr::null(), 0, pc);
        skip = 0;
        if put < 0 {
            break;
        }
        done += put;
        if (put as usize) < rest {
            break;
        }
    }
    done
}

/// `sendto` under control; the kernel's result.
pub fn send(
    fd: c_int,
    buffer: *const c_void,
    count: usize,
    flags: c_int,
    address: *const c_void,
    length: u32,
    pc: u64,
) -> isize {
    begin(fd, pc);
    if let Some(error) = disturbed(fd, pc) {
        return -(error as isize);
    }
    all(fd, buffer, shortened(fd, count, true, pc), flags, address, length, pc)
}

/// `sendmsg` under control; the kernel's result.
///
/// # Safety
/// The message is as `sendmsg` wants it.
pub unsafe fn send_message(fd: c_int, message: *const MsgHdr, flags: c_int, pc: u64) -> isize {
    begin(fd, pc);
    // SAFETY: passed on.
    unsafe { message_on(fd, &*message, flags, pc) }
}

unsafe extern "C" fn send_hook(
    fd: c_int,
    buffer: *const c_void,
    count: usize,
    flags: c_int,
    slot: *const u64,
) -> isize {
    if !engine::controlled() {
        buffers::sent_in_free_run(slot, buffer, count);
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe {
            real!(send: fn(c_int, *const c_void, usize, c_int) -> isize)(fd, buffer, count, flags)
        });
    }
    buffers::sent_one(slot, buffer, count);
    // SAFETY: the stub's stack pointer.
    result(send(fd, buffer, count, flags, core::ptr::null(), 0, unsafe { *slot }))
}

unsafe extern "C" fn sendto_hook(
    fd: c_int,
    buffer: *const c_void,
    count: usize,
    flags: c_int,
    address: *const c_void,
    length: u32,
    slot: *const u64,
) -> isize {
    if !engine::controlled() {
        let call = real!(sendto: fn(c_int, *const c_void, usize, c_int, *const c_void, u32) -> isize);
        buffers::sent_in_free_run(slot, buffer, count);
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe { call(fd, buffer, count, flags, address, length) });
    }
    buffers::sent_one(slot, buffer, count);
    // SAFETY: the stub's stack pointer.
    result(send(fd, buffer, count, flags, address, length, unsafe { *slot }))
}

unsafe extern "C" fn sendmsg_hook(
    fd: c_int,
    message: *const MsgHdr,
    flags: c_int,
    slot: *const u64,
) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe {
            real!(sendmsg: fn(c_int, *const MsgHdr, c_int) -> isize)(fd, message, flags)
        });
    }
    // SAFETY: the stub's stack pointer, and the caller's message.
    unsafe {
        buffers::sent(slot, buffers::parts_of(message));
        result(send_message(fd, message, flags, *slot))
    }
}
