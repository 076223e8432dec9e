//! Several messages with one call. Safe before init and after fork.

use super::{Patience, begin, receive, send, touched};
use crate::engine;
use crate::model::kernel::{MMsgHdr, MSG_DONTWAIT, MSG_WAITFORONE, POLLIN, SO_RCVTIMEO, error::*, result};
use crate::model::time;
use crate::sys::{c_int, c_uint, timespec};

interpose!(recvmmsg, 5, recvmmsg_hook);
interpose!(sendmmsg, 4, sendmmsg_hook);

/// `sendmmsg` under control; the kernel's result.
///
/// # Safety
/// `messages` points to `count` messages.
pub unsafe fn send_messages(
    fd: c_int,
    messages: *mut MMsgHdr,
    count: c_uint,
    flags: c_int,
    pc: u64,
) -> isize {
    begin(fd, pc);
    for index in 0..count.min(1024) as usize {
        // SAFETY: the caller's array.
        let put = unsafe {
            let message = &mut *messages.add(index);
            let put = send::message_on(fd, &message.hdr, flags, pc);
            if put >= 0 {
                message.len = put as u32;
            }
            put
        };
        if put < 0 {
            return if index > 0 { index as isize } else { put };
        }
    }
    count.min(1024) as isize
}

/// `recvmmsg` under control; the kernel's result.
///
/// # Safety
/// `messages` points to `count` messages, `limit` is null or points to a `timespec`.
pub unsafe fn receive_messages(
    fd: c_int,
    messages: *mut MMsgHdr,
    count: c_uint,
    flags: c_int,
    limit: *mut timespec,
    pc: u64,
) -> isize {
    let deadline = match time::deadline_relative(limit) {
        Ok(at) => at,
        Err(error) => return -(error as isize),
    };
    let mut done = 0;
    let mut last = -(EAGAIN as isize);
    let mut patience = Patience::new(fd, SO_RCVTIMEO, pc);
    while done < count.min(1024) as usize {
        // SAFETY: the caller's array.
        let message = unsafe { &mut *messages.add(done) };
        // SAFETY: as above; each is tried without waiting.
        last = unsafe {
            receive::receive_message(fd, &mut message.hdr, flags & !MSG_WAITFORONE | MSG_DONTWAIT, pc)
        };
        if last >= 0 {
            message.len = last as u32;
            done += 1;
            patience.moved();
            // The kernel looks at the timeout after each message only.
            if engine::now() >= deadline {
                break;
            }
            continue;
        }
        let enough = done > 0 && flags & MSG_WAITFORONE != 0;
        if last != -(EAGAIN as isize) || flags & MSG_DONTWAIT != 0 || enough {
            break;
        }
        if let Err(error) = patience.wait(POLLIN) {
            last = -(error as isize);
            break;
        }
    }
    touched();
    if !limit.is_null() {
        // SAFETY: the caller's pointer.
        unsafe { *limit = time::remaining(deadline) };
    }
    if done > 0 { done as isize } else { last }
}

unsafe extern "C" fn recvmmsg_hook(
    fd: c_int,
    messages: *mut MMsgHdr,
    count: c_uint,
    flags: c_int,
    limit: *mut timespec,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(recvmmsg: fn(c_int, *mut MMsgHdr, c_uint, c_int, *mut timespec) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(fd, messages, count, flags, limit) };
    }
    // SAFETY: the caller's array.
    result(unsafe { receive_messages(fd, messages, count, flags, limit, pc) }) as c_int
}

unsafe extern "C" fn sendmmsg_hook(
    fd: c_int,
    messages: *mut MMsgHdr,
    count: c_uint,
    flags: c_int,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(sendmmsg: fn(c_int, *mut MMsgHdr, c_uint, c_int) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(fd, messages, count, flags) };
    }
    // SAFETY: the caller's array.
    result(unsafe { send_messages(fd, messages, count, flags, pc) }) as c_int
}
