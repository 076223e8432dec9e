//! Waiting for signals. Safe before init and after fork, where libc's own calls serve.

use threadbare_abi::op::{Op, OpKind};

use super::kernel::SigInfo;
use super::{Interruption, Set, UNBLOCKABLE, arm, interruption, kernel, mask, own, queue};
use crate::engine::{self, ObjectClass, ObjectId, Wake};
use crate::model::state::uses;
use crate::model::{cancel, process, time};
use crate::sys::errno::{EAGAIN, EINTR, EINVAL};
use crate::sys::{c_int, fail, timespec};

interpose!(pause, 0, pause_hook);
interpose!(sigsuspend, 1, sigsuspend_hook);
interpose!(__sigsuspend, 1, sigsuspend_hook);
interpose!(sigpause, 1, sigpause_hook);
interpose!(sigwait, 2, sigwait_hook);
interpose!(sigwaitinfo, 2, sigwaitinfo_hook);
interpose!(sigtimedwait, 3, sigtimedwait_hook);
interpose!(signalfd, 3, signalfd_hook);

/// Waits for a signal or a deadline.
fn wait(op: Op, deadline: Option<u64>) -> Wake {
    let outcome = if process::children_alive() || process::alone_in_child() {
        // A child's end is news from outside, which only a wait for input or output listens to.
        engine::wait_fd(op, &mut [], deadline)
    } else {
        engine::sleep_on(op, ObjectId::new(ObjectClass::Signal, engine::me().0 as u64), deadline, u32::MAX)
    };
    if outcome == Wake::Interrupted {
        cancel::check();
    }
    outcome
}

/// `pause` under control: returns when a handler has run.
pub fn pause(pc: u64) {
    cancel::check();
    let op = Op::new(OpKind::Signal, 0, pc);
    engine::point(op);
    arm();
    while wait(op, None) != Wake::Interrupted || interruption() == Interruption::Spurious {}
}

unsafe extern "C" fn pause_hook(pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: no arguments.
        return super::came(|| unsafe { real!(pause: fn() -> c_int)() });
    }
    pause(pc);
    fail(EINTR)
}

/// `sigsuspend` under control: waits with another mask until a handler has run.
pub fn suspend(set: Set, pc: u64) {
    cancel::check();
    let op = Op::new(OpKind::Signal, 0, pc);
    engine::point(op);
    arm();
    let old = mask::swap(set);
    queue::route();
    if !queue::deliver() {
        while wait(op, None) != Wake::Interrupted || interruption() == Interruption::Spurious {}
    }
    mask::change(mask::SETMASK, old);
}

unsafe extern "C" fn sigsuspend_hook(set: *const Set, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::came(|| unsafe { real!(sigsuspend: fn(*const Set) -> c_int)(set) });
    }
    // SAFETY: the caller's pointer.
    suspend(unsafe { *set }, pc);
    fail(EINTR)
}

unsafe extern "C" fn sigpause_hook(set: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::came(|| unsafe { real!(sigpause: fn(c_int) -> c_int)(set) });
    }
    suspend(set as u32 as Set, pc);
    fail(EINTR)
}

/// Waits for a signal of a set and takes it; an errno if the deadline came or a handler ran.
pub fn wait_for(set: Set, deadline: Option<u64>, pc: u64) -> Result<SigInfo, c_int> {
    cancel::check();
    let set = set & !UNBLOCKABLE;
    let op = Op::new(OpKind::Signal, 0, pc);
    engine::point(op);
    kernel::catch_all(set);
    arm();
    loop {
        queue::route();
        if let Some(info) = queue::take(set) {
            return Ok(info);
        }
        if deadline.is_some_and(|at| at <= engine::now()) {
            return Err(EAGAIN);
        }
        own(engine::me()).awaited = set;
        let outcome = wait(op, deadline);
        own(engine::me()).awaited = 0;
        if outcome == Wake::Interrupted && interruption() != Interruption::Spurious {
            return Err(EINTR);
        }
    }
}

unsafe extern "C" fn sigwait_hook(set: *const Set, out: *mut c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::came(|| unsafe { real!(sigwait: fn(*const Set, *mut c_int) -> c_int)(set, out) });
    }
    // SAFETY: the caller's pointers.
    unsafe {
        loop {
            // A handler does not end this wait.
            if let Ok(info) = wait_for(*set, None, pc) {
                *out = info.signal;
                return 0;
            }
        }
    }
}

unsafe fn wait_info(set: *const Set, out: *mut SigInfo, deadline: Option<u64>, pc: u64) -> c_int {
    // SAFETY: the caller's pointers.
    unsafe {
        match wait_for(*set, deadline, pc) {
            Ok(info) => {
                if !out.is_null() {
                    *out = info;
                }
                info.signal
            }
            Err(error) => fail(error),
        }
    }
}

unsafe extern "C" fn sigwaitinfo_hook(set: *const Set, out: *mut SigInfo, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return super::came(|| unsafe {
            real!(sigwaitinfo: fn(*const Set, *mut SigInfo) -> c_int)(set, out)
        });
    }
    // SAFETY: the caller's pointers.
    unsafe { wait_info(set, out, None, pc) }
}

unsafe extern "C" fn sigtimedwait_hook(
    set: *const Set,
    out: *mut SigInfo,
    limit: *const timespec,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        let call = real!(sigtimedwait: fn(*const Set, *mut SigInfo, *const timespec) -> c_int);
        // SAFETY: the caller's request, unchanged.
        return super::came(|| unsafe { call(set, out, limit) });
    }
    match time::deadline_relative(limit) {
        // SAFETY: the caller's pointers.
        Ok(at) => unsafe { wait_info(set, out, (at != u64::MAX).then_some(at), pc) },
        Err(_) => fail(EINVAL),
    }
}

unsafe extern "C" fn signalfd_hook(fd: c_int, set: *const Set, flags: c_int, pc: u64) -> c_int {
    uses(OpKind::Io, ObjectId::DESCRIPTORS, pc);
    // SAFETY: the caller's request, unchanged.
    let fd = unsafe { real!(signalfd: fn(c_int, *const Set, c_int) -> c_int)(fd, set, flags) };
    if fd >= 0 && engine::controlled() {
        engine::event();
        // SAFETY: the caller's pointer, which the call took.
        queue::report(unsafe { *set });
    }
    fd
}
