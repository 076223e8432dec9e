//! No strand can go on: what can change that, in this order.
//!
//! 1. A file descriptor that has become ready.
//! 2. A strand that is held back before the end of the process.
//! 3. Time: it jumps to the next deadline or timer. If strands wait for file descriptors, and some output was made
//!    since the last jump, the kernel gets a moment of real time first; while processes the program started are alive,
//!    virtual time keeps pace with real time.
//! 4. Spinning strands: their loops may be bounded.
//! 5. The outside world, if a strand waits for a file descriptor that somebody outside may have the other end of.
//!
//! Otherwise it is a deadlock, or a livelock if strands spin.

use super::sched::{self, engine};
use super::{deadlock, due, ending, io, spin, strand};
use threadbare_abi::verdict::VerdictKind;

/// Real milliseconds the kernel gets to deliver what is under way on loopback.
const GRACE_MS: u64 = 2;
/// Real milliseconds at a time that virtual time waits for processes the program started.
const CHILD_GRACE_MS: u64 = 200;

/// Makes some strand able to go on, or ends the run.
#[cold]
#[inline(never)]
pub fn wait_for_something() {
    let e = engine();
    let waits_for_io = !e.io.is_empty();
    if waits_for_io && io::poll_now() {
        return;
    }
    let earliest = e.timed.iter().map(|&id| strand(id).wait.deadline).min().unwrap_or(u64::MAX);
    let earliest = earliest.min(e.timer).min(e.overdue);
    if ending::goes_on(earliest) {
        return;
    }
    if earliest != u64::MAX {
        if waits_for_io && give_others_time(earliest) {
            return;
        }
        due::wake_at(earliest);
        if crate::model::signal::route()
            || engine().can_count() != 0
            || !engine().timed.is_empty()
            || engine().timer != u64::MAX
        {
            return;
        }
    }
    if !e.spinners.is_empty() {
        if !spin::resume() {
            if !crate::model::process::children_alive() {
                livelock();
            }
            io::poll_wait(GRACE_MS as i32);
            spin::look_again();
        }
        return;
    }
    if waits_for_io {
        if !io::nobody_outside() {
            io::poll_wait(-1);
            return;
        }
        // A child that has just ended may have written before.
        if io::poll_now() {
            return;
        }
    }
    if crate::model::signal::route() {
        return;
    }
    deadlock::total()
}

/// Before time jumps to `earliest`: gives the kernel, or processes the program started, a moment. True if something is
/// ready, or if less time has passed than that.
fn give_others_time(earliest: u64) -> bool {
    let ahead = earliest.saturating_sub(due::now()) / 1_000_000;
    if crate::model::process::children_alive() {
        let pause = ahead.min(CHILD_GRACE_MS);
        if io::poll_wait(pause as i32) {
            return true;
        }
        due::advance(pause * 1_000_000);
        return pause < ahead;
    }
    let recent = core::mem::take(&mut engine().io_recent);
    recent && ahead > 0 && io::poll_wait(ahead.min(GRACE_MS) as i32)
}

/// Strands spin, and nothing can change.
pub fn livelock() -> ! {
    let this = sched::this();
    super::fail_run(
        VerdictKind::Livelock,
        0,
        this.op.addr,
        this.op.pc,
        format_args!("strands spin on memory that nobody can change"),
    )
}
