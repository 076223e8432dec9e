//! What the outside world says, said again in a replay.
//!
//! Whether a descriptor is ready may depend on another process, or on the kernel's own timers. A schedule holds it: a
//! strand that waited for a descriptor waits there again, though the descriptor be ready sooner this time; one that did
//! not wait is given real time until the descriptor is ready. For a call that never waits the answer is recorded.

use super::nonblocking;
use crate::engine::{self, PollFd};
use crate::model::kernel::{MSG_DONTWAIT, error::EAGAIN, nr, raw};
use crate::model::{cancel, signal};
use crate::sys::c_int;

/// Real milliseconds given to a descriptor that the schedule says is ready.
const PATIENCE_MS: usize = 2000;

/// Asks the kernel, with some patience.
fn any_ready(fds: &mut [PollFd], patience_ms: usize) -> bool {
    // SAFETY: entries of our own.
    unsafe { raw(nr::POLL, [fds.as_mut_ptr() as usize, fds.len(), patience_ms]) > 0 }
}

/// How long a call that did not wait may take: a wait that a signal or a cancellation ends at once is none.
fn patience() -> usize {
    if cancel::due() || signal::due() { 0 } else { PATIENCE_MS }
}

/// Whether a call that may wait goes on at once.
pub fn goes_on(fds: &mut [PollFd]) -> bool {
    match engine::blocks_here() {
        None => any_ready(fds, 0),
        Some(true) => false,
        Some(false) => any_ready(fds, patience()),
    }
}

/// Whether a call that never waits finds something ready.
pub fn finds_any_ready(fds: &mut [PollFd]) -> bool {
    let found = any_ready(fds, 0);
    let said = engine::outside(found);
    if said && !found {
        any_ready(fds, PATIENCE_MS);
    }
    said
}

/// Whether a read or write is tried now: a nonblocking one as the world says, a blocking one if it need not wait.
pub fn is_ready(fd: c_int, events: i16) -> bool {
    let mut fds = [PollFd { fd, events, revents: 0 }];
    if nonblocking(fd) { finds_any_ready(&mut fds) } else { goes_on(&mut fds) }
}

/// Tries a call on a socket that says itself whether it would block: `EAGAIN` where the schedule says that it did.
pub fn try_socket(fd: c_int, events: i16, flags: c_int, attempt: impl Fn() -> isize) -> isize {
    const WOULD_BLOCK: isize = -(EAGAIN as isize);
    let mut fds = [PollFd { fd, events, revents: 0 }];
    if flags & MSG_DONTWAIT != 0 || nonblocking(fd) {
        return if finds_any_ready(&mut fds) { attempt() } else { WOULD_BLOCK };
    }
    match engine::blocks_here() {
        None => attempt(),
        Some(true) => WOULD_BLOCK,
        Some(false) => match attempt() {
            WOULD_BLOCK if any_ready(&mut fds, patience()) => attempt(),
            done => done,
        },
    }
}
