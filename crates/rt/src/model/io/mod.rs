//! Blocking input and output.
//!
//! A call is tried without blocking; if it would block, the strand waits until the descriptor is ready while others
//! run, and tries again. Descriptors keep their flags, because other processes may share them: what cannot be asked
//! for without blocking is asked for only when `poll` says that it will not block. Timeouts of sockets are virtual.

mod buffers;
mod files;
mod locks;
pub mod maps;
mod message;
mod queue;
mod read;
mod receive;
mod send;
pub mod settle;
mod socket;
mod transfer;
mod write;

use threadbare_abi::fault::{Fault, Faults};
use threadbare_abi::op::{Op, OpKind};

use crate::effect::{Effect, Mode, Was, effect, here, in_free_run};
use crate::engine::{self, ObjectClass, ObjectId, PollFd, Wake, faults};
use crate::model::kernel::{F_GETFL, O_NONBLOCK, SOL_SOCKET, Stat, TimeVal, error::*, nr, raw};
use crate::model::signal::{self, Interruption};
use crate::model::single::Single;
use crate::model::{cancel, kernel};
use crate::sys::c_int;

pub use files::{close, open_at};
pub use locks::{fcntl, flock};
pub use message::{receive_messages, send_messages};
pub use read::{read, readv, wait_readable};
pub use receive::{receive, receive_message};
pub use send::{send, send_message};
pub use socket::{accept, connect};
pub use transfer::{sendfile, splice, tee};
pub use write::{write, writev};

/// A call on a descriptor begins: it is a cancellation point and a point.
pub fn begin(fd: c_int, pc: u64) {
    cancel::check();
    engine::point(Op::new(OpKind::Io, fd as u64, pc));
    signal::arm();
}

/// A call on a descriptor that fails for no reason of the program's: the error. Files do not.
pub fn disturbed(fd: c_int, pc: u64) -> Option<c_int> {
    if !faults::may(Faults::IO)
        || matches!(file_type(fd), kernel::S_IFREG | kernel::S_IFBLK | kernel::S_IFDIR)
    {
        return None;
    }
    if !nonblocking(fd) {
        return faults::happens(Fault::Interrupted, pc).then_some(EINTR);
    }
    faults::happens(Fault::Again, pc).then_some(EAGAIN)
}

/// How many of these bytes are moved: one, where a short read or write may come.
pub fn shortened(fd: c_int, count: usize, writes: bool, pc: u64) -> usize {
    if count < 2 || !faults::may(Faults::IO) {
        return count;
    }
    let may = match file_type(fd) {
        // A pipe takes little whole or not at all.
        kernel::S_IFIFO => !writes || count > kernel::PIPE_BUF,
        kernel::S_IFSOCK => socket::is_stream(fd),
        kernel::S_IFREG => writes,
        _ => false,
    };
    if may && faults::happens(Fault::Short, pc) { 1 } else { count }
}

/// Strands that wait for nothing the kernel could tell of.
const RETRY: ObjectId = ObjectId::new(ObjectClass::Io, u64::MAX);
static RETRYING: Single<usize> = Single::new(0);

/// A call may have made a descriptor ready that another strand waits for.
pub fn touched() {
    engine::io_touched();
    effect(Effect::Release(Mode::Alone, Was::Open), ObjectId::DESCRIPTORS, here());
    if *RETRYING.get() > 0 {
        engine::wake_all(RETRY, u32::MAX);
    }
}

/// A call of a run that is not controlled, by which others may get something.
pub fn passes_out<R>(call: impl FnOnce() -> R) -> R {
    in_free_run(Effect::Release(Mode::Alone, Was::Open), ObjectId::DESCRIPTORS, 0);
    call()
}

/// A call of a run that is not controlled, by which something of others may come.
pub fn passes_in<R>(call: impl FnOnce() -> R) -> R {
    let made = call();
    in_free_run(Effect::Acquire(Mode::Alone), ObjectId::DESCRIPTORS, 0);
    made
}

/// The running strand has what others may have sent it, or knows that there is nothing.
pub fn came_in() {
    effect(Effect::Acquire(Mode::Alone), ObjectId::DESCRIPTORS, here());
}

/// What `poll` says of a descriptor now; 0 if it is not ready.
pub fn ready(fd: c_int, events: i16) -> i16 {
    let mut poll = PollFd { fd, events, revents: 0 };
    // SAFETY: one entry of our own.
    unsafe { raw(nr::POLL, [&raw mut poll as usize, 1, 0]) };
    poll.revents
}

/// Whether the program made a descriptor nonblocking.
pub fn nonblocking(fd: c_int) -> bool {
    // SAFETY: asks for flags.
    let flags = unsafe { raw(nr::FCNTL, [fd as usize, F_GETFL as usize, 0]) };
    flags >= 0 && flags as c_int & O_NONBLOCK != 0
}

/// The file type of a descriptor, 0 for one without a type or a bad one.
pub fn file_type(fd: c_int) -> u32 {
    let mut stat = Stat::ZERO;
    // SAFETY: writes our own struct.
    unsafe { raw(nr::FSTAT, [fd as usize, &raw mut stat as usize]) };
    stat.mode & kernel::S_IFMT
}

/// Waits until a descriptor is ready; `EAGAIN` at the deadline, `EINTR` after a handler.
pub fn wait(fd: c_int, events: i16, deadline: Option<u64>, pc: u64) -> Result<(), c_int> {
    let op = Op::new(OpKind::IoWait, fd as u64, pc);
    loop {
        let mut poll = [PollFd { fd, events, revents: 0 }];
        match engine::wait_fd(op, &mut poll, deadline) {
            Wake::Go => return Ok(()),
            Wake::TimedOut => return Err(EAGAIN),
            Wake::Interrupted => interrupted(deadline.is_some())?,
        }
    }
}

/// A wait was interrupted: `EINTR` if the call ends by that. Calls with a timeout are not restarted.
pub fn interrupted(timed: bool) -> Result<(), c_int> {
    cancel::check();
    match signal::interruption() {
        Interruption::Spurious => Ok(()),
        Interruption::Restart if !timed => Ok(()),
        _ => Err(EINTR),
    }
}

/// Waits before another try of a call whose readiness the kernel does not tell: until some other strand did input or
/// output, or a little while that grows.
pub fn retry(fd: c_int, attempt: &mut u32, deadline: Option<u64>, pc: u64) -> Result<(), c_int> {
    if deadline.is_some_and(|at| at <= engine::now()) {
        return Err(EAGAIN);
    }
    let op = Op::new(OpKind::IoWait, fd as u64, pc);
    let pause = 10_000u64 << (*attempt).min(16);
    *attempt += 1;
    let until = (engine::now() + pause).min(deadline.unwrap_or(u64::MAX));
    *RETRYING.get() += 1;
    let outcome = engine::sleep_on(op, RETRY, Some(until), u32::MAX);
    *RETRYING.get() -= 1;
    match outcome {
        Wake::Interrupted => interrupted(deadline.is_some()),
        Wake::Go => Ok(()),
        Wake::TimedOut => {
            // Whoever holds it may be another process, which needs real time.
            let moment = [0u64, 200_000];
            // SAFETY: a short sleep of the only kernel thread.
            unsafe { raw(nr::NANOSLEEP, [&raw const moment as usize, 0]) };
            Ok(())
        }
    }
}

/// The virtual deadline of a socket's timeout option, if it has one.
pub fn socket_deadline(fd: c_int, option: c_int) -> Option<u64> {
    let mut limit = TimeVal::default();
    let mut length = size_of::<TimeVal>() as u32;
    // SAFETY: writes at most our own struct.
    let got = unsafe {
        raw(
            nr::GETSOCKOPT,
            [
                fd as usize,
                SOL_SOCKET as usize,
                option as usize,
                &raw mut limit as usize,
                &raw mut length as usize,
            ],
        )
    };
    let ns = (limit.sec as u64).saturating_mul(1_000_000_000).saturating_add(limit.usec as u64 * 1000);
    (got == 0 && ns != 0).then(|| engine::now().saturating_add(ns))
}

/// A wait that is set up only when it is needed.
pub struct Patience {
    fd: c_int,
    pc: u64,
    option: c_int,
    limit: Option<Option<u64>>,
    attempt: u32,
    in_vain: bool,
}

impl Patience {
    /// For a descriptor, and the socket option (`SO_RCVTIMEO`, `SO_SNDTIMEO`) with its timeout.
    pub fn new(fd: c_int, option: c_int, pc: u64) -> Self {
        Patience { fd, pc, option, limit: None, attempt: 0, in_vain: false }
    }

    /// The call said that it would block: waits, or says why not.
    pub fn wait(&mut self, events: i16) -> Result<(), c_int> {
        if nonblocking(self.fd) {
            return Err(EAGAIN);
        }
        let limit = *self.limit.get_or_insert_with(|| socket_deadline(self.fd, self.option));
        if self.in_vain && ready(self.fd, events) != 0 {
            return retry(self.fd, &mut self.attempt, limit, self.pc);
        }
        self.in_vain = true;
        wait(self.fd, events, limit, self.pc)
    }

    /// The call did a part of its work. A part counts as an event, so that a schedule can tell before which one the
    /// strand waited.
    pub fn moved(&mut self) {
        engine::event();
        self.in_vain = false;
        self.attempt = 0;
    }
}
