//! Strands that wait for file descriptors.
//!
//! The kernel is asked without blocking after every call that may have made a descriptor ready, and at idle.
//!
//! **Readiness of descriptors is part of the schedule** where it may come from outside (`engine::outside`,
//! `engine::blocks_here`), so that a replay waits where the run waited.

use super::sched::{self, ATTENTION, Stop, attention, engine, reschedule};
use super::strand::State;
use super::wait::{ObjectClass, ObjectId, Wait, Wake};
use super::{lists, me, strand};
use crate::sys::{nr, syscall3};
use core::sync::atomic::Ordering;
use threadbare_abi::op::Op;
use threadbare_abi::strand::StrandId;

/// `struct pollfd`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PollFd {
    /// The descriptor.
    pub fd: i32,
    /// What is asked for.
    pub events: i16,
    /// What is there.
    pub revents: i16,
}

/// A strand and the descriptors it waits for; the slice lives on the waiting strand's stack.
#[derive(Clone, Copy, Debug)]
pub struct IoWait {
    strand: StrandId,
    fds: *mut PollFd,
    count: usize,
}

/// Another strand's descriptor may be ready now.
pub fn io_touched() {
    let mut e = engine();
    e.io_recent = true;
    if !e.io.is_empty() {
        ATTENTION.fetch_or(attention::IO, Ordering::Relaxed);
    }
}

/// Waits until one of `fds` is ready, the deadline, or a signal. Make the point first.
pub fn wait_fd(op: Op, fds: &mut [PollFd], deadline: Option<u64>) -> Wake {
    if sched::attend_signals() || crate::model::cancel::wanted(op.kind) {
        return Wake::Interrupted;
    }
    let mut e = engine();
    let mut this = strand(e.current);
    this.op = op;
    this.wait = Wait {
        key: ObjectId::new(ObjectClass::Io, op.addr),
        deadline: deadline.unwrap_or(u64::MAX),
        ..Wait::NONE
    };
    let waits = e.current;
    e.io.push(IoWait { strand: waits, fds: fds.as_mut_ptr(), count: fds.len() });
    lists::set_blocked(&mut this);
    ATTENTION.fetch_or(attention::IO, Ordering::Relaxed);
    reschedule(Stop::Blocked);
    let id = me();
    engine().io.retain(|wait| wait.strand != id);
    let outcome = core::mem::replace(&mut strand(id).wait, Wait::NONE).outcome;
    if outcome == Wake::Interrupted {
        sched::attend_signals();
    }
    sched::progress();
    outcome
}

fn poll(fds: *mut PollFd, count: usize, timeout_ms: i32) -> isize {
    // SAFETY: `fds` points to `count` entries on the stack of a strand that waits.
    unsafe { syscall3(nr::POLL, fds as usize, count, timeout_ms as usize) }
}

/// Enables the strands whose descriptors are ready; true if there is one.
pub fn poll_now() -> bool {
    let e = engine();
    let mut any = false;
    for wait in &e.io {
        if strand(wait.strand).state() == State::Blocked && poll(wait.fds, wait.count, 0) != 0 {
            lists::set_ready(&mut strand(wait.strand));
            any = true;
        }
    }
    any
}

/// Whether a descriptor that a strand waits for is ready.
pub fn is_ready(id: StrandId) -> bool {
    engine().io.iter().any(|wait| wait.strand == id && poll(wait.fds, wait.count, 0) != 0)
}

/// The same for one strand that a schedule wants next, with some patience.
pub fn poll_for(id: StrandId) -> bool {
    let e = engine();
    let Some(wait) = e.io.iter().find(|wait| wait.strand == id) else {
        return false;
    };
    let (fds, count) = (wait.fds, wait.count);
    if poll(fds, count, 2000) == 0 {
        return false;
    }
    lists::set_ready(&mut strand(id));
    true
}

/// Waits in real time until some descriptor is ready; true if one is.
pub fn poll_wait(timeout_ms: i32) -> bool {
    let e = engine();
    let mut all = alloc::vec::Vec::new();
    for wait in &e.io {
        for index in 0..wait.count {
            // SAFETY: as in `poll`.
            all.push(unsafe { *wait.fds.add(index) });
        }
    }
    poll(all.as_mut_ptr(), all.len(), timeout_ms);
    poll_now()
}

/// Bytes of a descriptor's name that tell what it is.
const NAME: usize = 40;

/// What the kernel calls a descriptor (`pipe:[1234]`, `anon_inode:[eventfd]`, a path); empty if it is not open.
fn name_of(fd: i32, name: &mut [u8; NAME]) -> &[u8] {
    let mut path = [0u8; 32];
    let mut text = crate::sys::Text::new(&mut path);
    let _ = core::fmt::Write::write_fmt(&mut text, format_args!("/proc/self/fd/{fd}\0"));
    // SAFETY: `path` is a C string; the kernel writes at most NAME bytes.
    let got =
        unsafe { syscall3(nr::READLINK, path.as_ptr() as usize, name.as_mut_ptr() as usize, name.len()) };
    if got < 0 { &[] } else { &name[..got as usize] }
}

/// Whether the strands wait only for pipes that this process alone has the ends of, and for event counters: then
/// nobody outside can end a wait.
pub fn nobody_outside() -> bool {
    const MOST: i32 = 1024;
    let e = engine();
    if crate::model::process::forked() {
        // The parent has the other ends, too.
        return false;
    }
    for wait in &e.io {
        for index in 0..wait.count {
            // SAFETY: as in `poll`.
            let fd = unsafe { (*wait.fds.add(index)).fd };
            let (mut buffer, mut other_buffer) = ([0; NAME], [0; NAME]);
            let name = name_of(fd, &mut buffer);
            let ours = name == b"anon_inode:[eventfd]"
                || name.starts_with(b"pipe:")
                    && (0..MOST).any(|other| other != fd && name_of(other, &mut other_buffer) == name);
            if fd < 3 || !ours {
                return false;
            }
        }
    }
    !e.io.is_empty() && !crate::model::process::children_alive()
}
