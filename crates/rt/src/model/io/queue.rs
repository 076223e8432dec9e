//! Message queues and semaphores that processes share. Safe before init and after fork.
//!
//! POSIX message queues are descriptors, which `poll` knows. System V objects are not: a strand that would block on one
//! tries again after others' calls.

use super::{begin, came_in, ready, retry, touched, wait};
use crate::engine;
use crate::model::kernel::{POLLIN, POLLOUT, error::*};
use crate::model::time;
use crate::sys::{c_char, c_int, c_uint, c_void, fail, get_errno, timespec};

const IPC_NOWAIT: c_int = 0o4000;

interpose!(mq_receive, 4, mq_receive_hook);
interpose!(mq_timedreceive, 5, mq_timedreceive_hook);
interpose!(mq_send, 4, mq_send_hook);
interpose!(mq_timedsend, 5, mq_timedsend_hook);
interpose!(semop, 3, semop_hook);
interpose!(semtimedop, 4, semtimedop_hook);
interpose!(msgsnd, 4, msgsnd_hook);
interpose!(msgrcv, 5, msgrcv_hook);

/// Waits until a queue is ready, if its flags let it wait; an errno if it does not come.
fn queue_ready(queue: c_int, events: i16, limit: *const timespec, pc: u64) -> Result<(), c_int> {
    begin(queue, pc);
    while ready(queue, events) == 0 {
        if super::nonblocking(queue) {
            return Err(EAGAIN);
        }
        let at = time::deadline(time::REALTIME, limit)?;
        match wait(queue, events, (at != u64::MAX).then_some(at), pc) {
            Err(EAGAIN) => return Err(ETIMEDOUT),
            waited => waited?,
        }
    }
    Ok(())
}

unsafe extern "C" fn mq_timedreceive_hook(
    queue: c_int,
    buffer: *mut c_char,
    room: usize,
    priority: *mut c_uint,
    limit: *const timespec,
    pc: u64,
) -> isize {
    let call = real!(mq_timedreceive: fn(c_int, *mut c_char, usize, *mut c_uint, *const timespec) -> isize);
    if engine::controlled()
        && let Err(error) = queue_ready(queue, POLLIN, limit, pc)
    {
        return fail(error) as isize;
    }
    let limit = if engine::controlled() { core::ptr::null() } else { limit };
    // SAFETY: the caller's request; a queue that is ready does not block.
    let got = unsafe { call(queue, buffer, room, priority, limit) };
    if engine::controlled() {
        touched();
    }
    got
}

unsafe extern "C" fn mq_receive_hook(
    queue: c_int,
    buffer: *mut c_char,
    room: usize,
    priority: *mut c_uint,
    pc: u64,
) -> isize {
    // SAFETY: the same call without a limit.
    unsafe { mq_timedreceive_hook(queue, buffer, room, priority, core::ptr::null(), pc) }
}

unsafe extern "C" fn mq_timedsend_hook(
    queue: c_int,
    buffer: *const c_char,
    count: usize,
    priority: c_uint,
    limit: *const timespec,
    pc: u64,
) -> c_int {
    let call = real!(mq_timedsend: fn(c_int, *const c_char, usize, c_uint, *const timespec) -> c_int);
    if engine::controlled()
        && let Err(error) = queue_ready(queue, POLLOUT, limit, pc)
    {
        return fail(error);
    }
    let limit = if engine::controlled() { core::ptr::null() } else { limit };
    // SAFETY: the caller's request; a queue that is ready does not block.
    let put = unsafe { call(queue, buffer, count, priority, limit) };
    if engine::controlled() {
        touched();
    }
    put
}

unsafe extern "C" fn mq_send_hook(
    queue: c_int,
    buffer: *const c_char,
    count: usize,
    priority: c_uint,
    pc: u64,
) -> c_int {
    // SAFETY: the same call without a limit.
    unsafe { mq_timedsend_hook(queue, buffer, count, priority, core::ptr::null(), pc) }
}

/// Tries a System V call until it does not say that it would block.
fn patiently(would_block: c_int, deadline: Option<u64>, pc: u64, attempt_call: impl Fn() -> isize) -> isize {
    // Numbers of these objects differ from run to run, so the point does not name one.
    begin(-1, pc);
    let mut attempt = 0;
    loop {
        let done = attempt_call();
        if done >= 0 || get_errno() != would_block {
            touched();
            came_in();
            return done;
        }
        if let Err(error) = retry(-1, &mut attempt, deadline, pc) {
            return fail(error) as isize;
        }
    }
}

/// `struct sembuf`.
#[repr(C)]
#[derive(Clone, Copy)]
struct SemBuf {
    number: u16,
    change: i16,
    flags: i16,
}

unsafe extern "C" fn semtimedop_hook(
    set: c_int,
    operations: *mut SemBuf,
    count: usize,
    limit: *const timespec,
    pc: u64,
) -> c_int {
    let call = real!(semtimedop: fn(c_int, *mut SemBuf, usize, *const timespec) -> c_int);
    if !engine::controlled() || count == 0 || count > 500 {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| super::passes_in(|| unsafe { call(set, operations, count, limit) }));
    }
    let at = match time::deadline_relative(limit) {
        Ok(at) => at,
        Err(error) => return fail(error),
    };
    // SAFETY: the caller's array.
    let wanted = unsafe { core::slice::from_raw_parts(operations, count) };
    let may_wait = wanted.iter().all(|operation| operation.flags as c_int & IPC_NOWAIT == 0);
    let mut tried = wanted.to_vec();
    for operation in &mut tried {
        operation.flags |= IPC_NOWAIT as i16;
    }
    // SAFETY: our own copy of the caller's operations.
    let attempt = || unsafe { call(set, tried.as_ptr().cast_mut(), count, core::ptr::null()) as isize };
    let would_block = if may_wait { EAGAIN } else { 0 };
    patiently(would_block, (at != u64::MAX).then_some(at), pc, attempt) as c_int
}

unsafe extern "C" fn semop_hook(set: c_int, operations: *mut SemBuf, count: usize, pc: u64) -> c_int {
    // SAFETY: the same call without a limit.
    unsafe { semtimedop_hook(set, operations, count, core::ptr::null(), pc) }
}

unsafe extern "C" fn msgsnd_hook(
    queue: c_int,
    message: *const c_void,
    size: usize,
    flags: c_int,
    pc: u64,
) -> c_int {
    let call = real!(msgsnd: fn(c_int, *const c_void, usize, c_int) -> c_int);
    if !engine::controlled() || flags & IPC_NOWAIT != 0 {
        // SAFETY: the caller's request, unchanged.
        return super::passes_out(|| unsafe { call(queue, message, size, flags) });
    }
    // SAFETY: the caller's message, without waiting.
    let attempt = || unsafe { call(queue, message, size, flags | IPC_NOWAIT) as isize };
    patiently(EAGAIN, None, pc, attempt) as c_int
}

unsafe extern "C" fn msgrcv_hook(
    queue: c_int,
    message: *mut c_void,
    size: usize,
    kind: i64,
    flags: c_int,
    pc: u64,
) -> isize {
    const ENOMSG: c_int = 42;
    let call = real!(msgrcv: fn(c_int, *mut c_void, usize, i64, c_int) -> isize);
    if !engine::controlled() || flags & IPC_NOWAIT != 0 {
        // SAFETY: the caller's request, unchanged.
        return super::passes_in(|| unsafe { call(queue, message, size, kind, flags) });
    }
    // SAFETY: the caller's buffer, without waiting.
    let attempt = || unsafe { call(queue, message, size, kind, flags | IPC_NOWAIT) };
    patiently(ENOMSG, None, pc, attempt)
}
