//! Waiting for children. Safe before init and after fork.

use alloc::vec::Vec;

use threadbare_abi::op::{Op, OpKind};

use super::{CHILDREN, P_PID, WNOHANG, reaped};
use crate::engine::{self, PollFd, Wake};
use crate::model::io::{begin, interrupted, retry, settle};
use crate::model::kernel::{POLLIN, error::*, nr, raw, result};
use crate::model::signal::SigInfo;
use crate::sys::{c_int, c_uint, c_void, pid_t};

/// `WUNTRACED | WCONTINUED`: news that a process descriptor does not tell.
const OTHER_NEWS: c_int = 2 | 8;
const WEXITED: c_int = 4;
const P_PIDFD: c_uint = 3;

interpose!(wait, 1, wait_hook);
interpose!(__wait, 1, wait_hook);
interpose!(waitpid, 3, waitpid_hook);
interpose!(__waitpid, 3, waitpid_hook);
interpose!(wait3, 3, wait3_hook);
interpose!(wait4, 4, wait4_hook);
interpose!(waitid, 4, waitid_hook);

/// Descriptors of processes, closed when dropped.
struct Watched(Vec<PollFd>);

impl Watched {
    /// For one child, or for all that are known.
    fn new(pid: pid_t) -> Self {
        let open = |&child: &pid_t| {
            // SAFETY: makes a descriptor.
            let fd = unsafe { raw(nr::PIDFD_OPEN, [child as usize, 0]) } as c_int;
            PollFd { fd, events: POLLIN, revents: 0 }
        };
        let wanted = |&&child: &&pid_t| pid <= 0 || child == pid;
        Watched(CHILDREN.get().iter().filter(wanted).map(open).filter(|poll| poll.fd >= 0).collect())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        for poll in &self.0 {
            // SAFETY: a descriptor of our own.
            unsafe { raw(nr::CLOSE, [poll.fd as usize]) };
        }
    }
}

/// Asks until there is news of a child: `ask` says `None` if there is none yet, which `WNOHANG` takes for an answer.
fn until_news(pid: pid_t, options: c_int, pc: u64, ask: impl Fn() -> Option<isize>) -> isize {
    // Process ids differ from run to run, so the point does not name one.
    begin(-1, pc);
    let waits = options as usize & WNOHANG == 0;
    let mut attempt = 0;
    loop {
        let mut watched = Watched::new(pid);
        if watched.0.is_empty() || options & OTHER_NEWS != 0 {
            drop(watched);
            match ask() {
                None if waits => {}
                got => return got.unwrap_or(0),
            }
            if let Err(error) = retry(-1, &mut attempt, None, pc) {
                return -(error as isize);
            }
            continue;
        }
        let asks =
            if waits { settle::goes_on(&mut watched.0) } else { settle::finds_any_ready(&mut watched.0) };
        if asks && let Some(got) = ask() {
            return got;
        }
        if !waits {
            return 0;
        }
        let outcome = engine::wait_fd(Op::new(OpKind::IoWait, u64::MAX, pc), &mut watched.0, None);
        // Cancelling does not come back, so the descriptors go first.
        drop(watched);
        if outcome == Wake::Interrupted
            && let Err(error) = interrupted(false)
        {
            return -(error as isize);
        }
    }
}

/// `wait4` under control; the kernel's result.
pub fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: *mut c_void, pc: u64) -> isize {
    let ask = || {
        // SAFETY: the caller's out pointers.
        let got = unsafe {
            raw(nr::WAIT4, [pid as usize, status as usize, options as usize | WNOHANG, usage as usize])
        };
        if got > 0 {
            // SAFETY: the caller's pointer, which the kernel has written.
            let stopped = !status.is_null() && unsafe { matches!(*status & 0xFF, 0x7F) || *status == 0xFFFF };
            if !stopped {
                reaped(got as pid_t);
            }
        }
        (got != 0).then_some(got)
    };
    until_news(pid, options, pc, ask)
}

/// `waitid` under control; the kernel's result.
pub fn wait_id(
    kind: c_uint,
    id: c_uint,
    info: *mut SigInfo,
    options: c_int,
    usage: *mut c_void,
    pc: u64,
) -> isize {
    let ask = || {
        let mut told = SigInfo::ZERO;
        // SAFETY: our own struct, and the caller's out pointer.
        let got = unsafe {
            raw(
                nr::WAITID,
                [
                    kind as usize,
                    id as usize,
                    &raw mut told as usize,
                    options as usize | WNOHANG,
                    usage as usize,
                ],
            )
        };
        if got == 0 && !info.is_null() {
            // SAFETY: the caller's out pointer.
            unsafe { *info = told };
        }
        if got == 0 && told.signal == 0 {
            return None;
        }
        if got == 0 && options as usize & super::WNOWAIT == 0 {
            reaped(told.first[0] as pid_t);
        }
        Some(got)
    };
    let pid = if kind as usize == P_PID { id as pid_t } else { -1 };
    if kind == P_PIDFD || options & WEXITED == 0 {
        // Whoever it is, news come without a descriptor of ours.
        return until_news(pid, options | OTHER_NEWS, pc, ask);
    }
    until_news(pid, options, pc, ask)
}

unsafe extern "C" fn wait4_hook(
    pid: pid_t,
    status: *mut c_int,
    options: c_int,
    usage: *mut c_void,
    pc: u64,
) -> pid_t {
    if !engine::controlled() {
        let call = real!(wait4: fn(pid_t, *mut c_int, c_int, *mut c_void) -> pid_t);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(pid, status, options, usage) };
    }
    result(wait4(pid, status, options, usage, pc)) as pid_t
}

unsafe extern "C" fn waitpid_hook(pid: pid_t, status: *mut c_int, options: c_int, pc: u64) -> pid_t {
    // SAFETY: the same call without usage.
    unsafe { wait4_hook(pid, status, options, core::ptr::null_mut(), pc) }
}

unsafe extern "C" fn wait3_hook(status: *mut c_int, options: c_int, usage: *mut c_void, pc: u64) -> pid_t {
    // SAFETY: the same call for any child.
    unsafe { wait4_hook(-1, status, options, usage, pc) }
}

unsafe extern "C" fn wait_hook(status: *mut c_int, pc: u64) -> pid_t {
    // SAFETY: the same call for any child.
    unsafe { wait4_hook(-1, status, 0, core::ptr::null_mut(), pc) }
}

unsafe extern "C" fn waitid_hook(
    kind: c_uint,
    id: c_uint,
    info: *mut SigInfo,
    options: c_int,
    pc: u64,
) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe {
            real!(waitid: fn(c_uint, c_uint, *mut SigInfo, c_int) -> c_int)(kind, id, info, options)
        };
    }
    if options & !(0x0100_0000 | 0x2F) != 0 {
        return crate::sys::fail(EINVAL);
    }
    result(wait_id(kind, id, info, options, core::ptr::null_mut(), pc)) as c_int
}
