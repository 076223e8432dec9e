//! The memory that input and output touch: accesses of the caller, if instrumented code made the call.
//!
//! What is written to a descriptor is read from memory before: whoever receives it may use the memory again. What is
//! read from a descriptor is written to memory after: the data came from there.

use crate::free;
use crate::model::kernel::{IoVec, MsgHdr};
use crate::tsan::strings::Caller;

/// The kernel is about to read these buffers.
pub fn sent(slot: *const u64, parts: &[IoVec]) {
    let by = Caller::at(slot);
    for part in parts {
        by.reads(part.base, part.len);
    }
}

/// The kernel is about to read this buffer.
pub fn sent_one<T>(slot: *const u64, buffer: *const T, count: usize) {
    Caller::at(slot).reads(buffer, count);
}

/// The kernel has put as many bytes as `got` says into these buffers.
pub fn received(slot: *const u64, parts: &[IoVec], got: isize) {
    let by = Caller::at(slot);
    let mut left = got.max(0) as usize;
    for part in parts {
        let here = part.len.min(left);
        by.writes(part.base, here);
        left -= here;
    }
}

/// The kernel has put as many bytes as `got` says, at most `count`, into this buffer.
pub fn received_one<T>(slot: *const u64, buffer: *const T, count: usize, got: isize) {
    Caller::at(slot).writes(buffer, count.min(got.max(0) as usize));
}

/// [`sent_one`] of a free run that looks for races.
pub fn sent_in_free_run<T>(slot: *const u64, buffer: *const T, count: usize) {
    if free::race::on() {
        sent_one(slot, buffer, count);
    }
}

/// [`received_one`] of a free run that looks for races.
pub fn received_in_free_run<T>(slot: *const u64, buffer: *const T, count: usize, got: isize) {
    if free::race::on() {
        received_one(slot, buffer, count, got);
    }
}

/// The buffers of a call.
///
/// # Safety
/// If `count` is what the kernel takes, `parts` points to as many.
pub unsafe fn parts<'a>(parts: *const IoVec, count: usize) -> &'a [IoVec] {
    if parts.is_null() || count > 1024 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(parts, count) }
}

/// The buffers of a message.
///
/// # Safety
/// The message is as `sendmsg` and `recvmsg` want it.
pub unsafe fn parts_of<'a>(message: *const MsgHdr) -> &'a [IoVec] {
    // SAFETY: the caller's promise.
    unsafe { parts((*message).iov, (*message).iovlen) }
}
