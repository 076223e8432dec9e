//! Receiving on sockets. Safe before init and after fork; a handler may call these.

use super::{Patience, begin, buffers, came_in, disturbed, settle, shortened, touched};
use crate::engine;
use crate::model::kernel::{
    MSG_DONTWAIT, MSG_ERRQUEUE, MSG_PEEK, MSG_WAITALL, MsgHdr, POLLIN, POLLPRI, SO_RCVTIMEO, error::*, nr,
    raw, result,
};
use crate::sys::{c_int, c_void};

const MSG_OOB: c_int = 1;

interpose_slot!(recv, 4, recv_hook);
interpose_slot!(__recv, 4, recv_hook);
interpose_slot!(__recv_chk, 5, recv_chk_hook);
interpose6_slot!(recvfrom, recvfrom_hook);
interpose7!(__recvfrom_chk, recvfrom_chk_hook);
interpose_slot!(recvmsg, 3, recvmsg_hook);

fn events(flags: c_int) -> i16 {
    if flags & MSG_OOB != 0 { POLLPRI } else { POLLIN }
}

/// Tries `attempt` until it does not say that it would block; the kernel's result.
fn patiently(fd: c_int, flags: c_int, patience: &mut Patience, attempt: impl Fn() -> isize) -> isize {
    loop {
        let got = settle::try_socket(fd, events(flags), flags, &attempt);
        let would_block = got == -(EAGAIN as isize) || got == -(EINTR as isize);
        if !would_block || flags & (MSG_DONTWAIT | MSG_ERRQUEUE) != 0 {
            if got >= 0 {
                touched();
                came_in();
            }
            return got;
        }
        if let Err(error) = patience.wait(events(flags)) {
            return -(error as isize);
        }
    }
}

/// `recvfrom` under control; the kernel's result.
pub fn receive(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    flags: c_int,
    address: *mut c_void,
    length: *mut u32,
    pc: u64,
) -> isize {
    begin(fd, pc);
    if let Some(error) = disturbed(fd, pc) {
        return -(error as isize);
    }
    let count = if flags & MSG_WAITALL == 0 { shortened(fd, count, false, pc) } else { count };
    let mut patience = Patience::new(fd, SO_RCVTIMEO, pc);
    let wants_all = flags & MSG_WAITALL != 0 && flags & (MSG_PEEK | MSG_DONTWAIT) == 0;
    let mut done = 0;
    loop {
        let got = patiently(fd, flags, &mut patience, || {
            // SAFETY: a part of the caller's buffer, and the caller's out pointers.
            unsafe {
                raw(
                    nr::RECVFROM,
                    [
                        fd as usize,
                        buffer as usize + done,
                        count - done,
                        (flags & !MSG_WAITALL | MSG_DONTWAIT) as usize,
                        address as usize,
                        length as usize,
                    ],
                )
            }
        });
        if got <= 0 {
            return if done > 0 { done as isize } else { got };
        }
        done += got as usize;
        // The count of a datagram that was cut off by MSG_TRUNC may be more than asked for.
        if !wants_all || done >= count || !super::socket::is_stream(fd) {
            return done as isize;
        }
        patience.moved();
    }
}

/// `recvmsg` under control; the kernel's result. `MSG_WAITALL` is left to the program, which must count anyway.
///
/// # Safety
/// The message is as `recvmsg` wants it.
pub unsafe fn receive_message(fd: c_int, message: *mut MsgHdr, flags: c_int, pc: u64) -> isize {
    begin(fd, pc);
    let mut patience = Patience::new(fd, SO_RCVTIMEO, pc);
    // The kernel writes these even when it fails.
    // SAFETY: the caller's message.
    let (namelen, controllen) = unsafe { ((*message).namelen, (*message).controllen) };
    patiently(fd, flags, &mut patience, || {
        // SAFETY: the caller's message.
        unsafe {
            (*message).namelen = namelen;
            (*message).controllen = controllen;
            raw(nr::RECVMSG, [fd as usize, message as usize, (flags & !MSG_WAITALL | MSG_DONTWAIT) as usize])
        }
    })
}

/// `recvfrom` into the caller's memory.
fn receive_into(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    flags: c_int,
    from: (*mut c_void, *mut u32),
    slot: *const u64,
) -> isize {
    // SAFETY: the stub's stack pointer.
    let got = receive(fd, buffer, count, flags, from.0, from.1, unsafe { *slot });
    buffers::received_one(slot, buffer, count, got);
    result(got)
}

const NOBODY: (*mut c_void, *mut u32) = (core::ptr::null_mut(), core::ptr::null_mut());

unsafe extern "C" fn recv_hook(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    flags: c_int,
    slot: *const u64,
) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        let got = super::passes_in(|| unsafe {
            real!(recv: fn(c_int, *mut c_void, usize, c_int) -> isize)(fd, buffer, count, flags)
        });
        buffers::received_in_free_run(slot, buffer, count, got);
        return got;
    }
    receive_into(fd, buffer, count, flags, NOBODY, slot)
}

unsafe extern "C" fn recv_chk_hook(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    room: usize,
    flags: c_int,
    slot: *const u64,
) -> isize {
    if !engine::controlled() || count > room {
        let call = real!(__recv_chk: fn(c_int, *mut c_void, usize, usize, c_int) -> isize);
        // SAFETY: the caller's request, unchanged.
        let got = super::passes_in(|| unsafe { call(fd, buffer, count, room, flags) });
        buffers::received_in_free_run(slot, buffer, count, got);
        return got;
    }
    receive_into(fd, buffer, count, flags, NOBODY, slot)
}

unsafe extern "C" fn recvfrom_hook(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    flags: c_int,
    address: *mut c_void,
    length: *mut u32,
    slot: *const u64,
) -> isize {
    if !engine::controlled() {
        let call = real!(recvfrom: fn(c_int, *mut c_void, usize, c_int, *mut c_void, *mut u32) -> isize);
        // SAFETY: the caller's request, unchanged.
        let got = super::passes_in(|| unsafe { call(fd, buffer, count, flags, address, length) });
        buffers::received_in_free_run(slot, buffer, count, got);
        return got;
    }
    receive_into(fd, buffer, count, flags, (address, length), slot)
}

unsafe extern "C" fn recvfrom_chk_hook(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    room: usize,
    flags: c_int,
    address: *mut c_void,
    length: *mut u32,
    pc: u64,
) -> isize {
    if !engine::controlled() || count > room {
        let call = real!(__recvfrom_chk: fn(c_int, *mut c_void, usize, usize, c_int, *mut c_void, *mut u32) -> isize);
        // SAFETY: the caller's request, unchanged.
        return super::passes_in(|| unsafe { call(fd, buffer, count, room, flags, address, length) });
    }
    result(receive(fd, buffer, count, flags, address, length, pc))
}

unsafe extern "C" fn recvmsg_hook(fd: c_int, message: *mut MsgHdr, flags: c_int, slot: *const u64) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::passes_in(|| unsafe {
            real!(recvmsg: fn(c_int, *mut MsgHdr, c_int) -> isize)(fd, message, flags)
        });
    }
    // SAFETY: the stub's stack pointer, and the caller's message.
    unsafe {
        let got = receive_message(fd, message, flags, *slot);
        if got > 0 {
            buffers::received(slot, buffers::parts_of(message), got);
        }
        result(got)
    }
}
