//! Sending signals. Safe before init and after fork; a handler may call these.

use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

use super::kernel::SigInfo;
use super::queue::{self, Cause};
use super::{send_process, send_strand, valid};
use crate::effect::{Effect, effect};
use crate::engine::{self, ObjectId};
use crate::model::kernel::{nr, raw, result};
use crate::model::{identity, thread};
use crate::sys::errno::{EAGAIN, EINVAL, ESRCH};
use crate::sys::{c_int, fail, pid_t, pthread_t};

interpose!(raise, 1, raise_hook);
interpose!(gsignal, 1, raise_hook);
interpose!(kill, 2, kill_hook);
interpose!(tgkill, 3, tgkill_hook);
interpose!(sigqueue, 3, sigqueue_hook);
interpose!(pthread_kill, 2, pthread_kill_hook);
interpose!(pthread_sigqueue, 3, pthread_sigqueue_hook);

fn own_pid() -> pid_t {
    // SAFETY: no arguments.
    unsafe { raw(nr::GETPID, []) as pid_t }
}

fn point(signal: c_int, pc: u64) {
    engine::point(Op::new(OpKind::Signal, signal as u64, pc));
    effect(Effect::Change, ObjectId::SIGNALS, pc);
}

/// What was sent may be for the sender, and is then handled before the call returns.
fn sent() {
    queue::route();
    queue::deliver();
}

unsafe extern "C" fn raise_hook(signal: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(raise: fn(c_int) -> c_int)(signal) };
    }
    if !valid(signal) {
        return if signal == 0 { 0 } else { fail(EINVAL) };
    }
    point(signal, pc);
    send_strand(engine::me(), signal, Cause::Strand);
    sent();
    0
}

/// `kill` under control.
pub fn kill(pid: pid_t, signal: c_int, pc: u64) -> c_int {
    if pid != own_pid() || !valid(signal) {
        // SAFETY: a signal to other processes, or an error; our group is told by the kernel.
        return result(unsafe { raw(nr::KILL, [pid as usize, signal as usize]) }) as c_int;
    }
    point(signal, pc);
    send_process(signal, Cause::Process);
    sent();
    0
}

unsafe extern "C" fn kill_hook(pid: pid_t, signal: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(kill: fn(pid_t, c_int) -> c_int)(pid, signal) };
    }
    kill(pid, signal, pc)
}

/// `tgkill` and `tkill` under control; 0 or an errno.
pub fn tgkill(tid: pid_t, signal: c_int, pc: u64) -> c_int {
    let Some(id) = identity::strand_of(tid) else { return ESRCH };
    to_strand(id, signal, Cause::Strand, pc)
}

fn to_strand(id: StrandId, signal: c_int, cause: Cause, pc: u64) -> c_int {
    if engine::strand(id).ended {
        return ESRCH;
    }
    if !valid(signal) {
        return if signal == 0 { 0 } else { EINVAL };
    }
    point(signal, pc);
    send_strand(id, signal, cause);
    sent();
    0
}

unsafe extern "C" fn tgkill_hook(pid: pid_t, tid: pid_t, signal: c_int, pc: u64) -> c_int {
    if !engine::controlled() || pid != own_pid() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(tgkill: fn(pid_t, pid_t, c_int) -> c_int)(pid, tid, signal) };
    }
    match tgkill(tid, signal, pc) {
        0 => 0,
        error => fail(error),
    }
}

unsafe extern "C" fn sigqueue_hook(pid: pid_t, signal: c_int, value: u64, pc: u64) -> c_int {
    if !engine::controlled() || pid != own_pid() || signal == 0 {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigqueue: fn(pid_t, c_int, u64) -> c_int)(pid, signal, value) };
    }
    if !valid(signal) {
        return fail(EINVAL);
    }
    if queue::full() {
        return fail(EAGAIN);
    }
    point(signal, pc);
    send_process(signal, Cause::Queue(value));
    sent();
    0
}

unsafe extern "C" fn pthread_kill_hook(target: pthread_t, signal: c_int, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(pthread_kill: fn(pthread_t, c_int) -> c_int)(target, signal) };
    }
    match thread::find(target) {
        // glibc lets a handle of an ended thread that was not joined be signalled.
        Some(id) if engine::strand(id).ended && (signal == 0 || valid(signal)) => 0,
        Some(id) => to_strand(id, signal, Cause::Strand, pc),
        None => ESRCH,
    }
}

unsafe extern "C" fn pthread_sigqueue_hook(target: pthread_t, signal: c_int, value: u64, pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(pthread_sigqueue: fn(pthread_t, c_int, u64) -> c_int)(target, signal, value) };
    }
    if queue::full() {
        return EAGAIN;
    }
    match thread::find(target) {
        Some(id) => to_strand(id, signal, Cause::Queue(value), pc),
        None => ESRCH,
    }
}

/// `rt_sigqueueinfo` and `rt_tgsigqueueinfo` under control; 0 or an errno.
///
/// # Safety
/// `info` points to a `siginfo_t`.
pub unsafe fn queue_info(target: Option<StrandId>, signal: c_int, info: *const SigInfo, pc: u64) -> c_int {
    if !valid(signal) {
        return EINVAL;
    }
    // SAFETY: the caller's promise.
    let cause = Cause::Given(unsafe { *info });
    match target {
        Some(id) => to_strand(id, signal, cause, pc),
        None => {
            point(signal, pc);
            send_process(signal, cause);
            sent();
            0
        }
    }
}
