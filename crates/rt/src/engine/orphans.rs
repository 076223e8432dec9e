//! Processes that a run leaves behind.
//!
//! The run's group is killed when the run is over. A process that has left the group (`setsid`, a daemon) is not in it; its
//! parent is gone, so it becomes the server's child, and is ended here by its id. The server has no other children: what a
//! constructor started before the server was there is let alone, and then so is everything else.

use crate::sys::{nr, syscall3, syscall6};
use core::sync::atomic::{AtomicBool, Ordering};

const SIGKILL: i32 = 9;
const WNOHANG: usize = 1;
/// A run that starts processes faster than they can be ended is not followed for ever.
const ROUNDS: u32 = 10_000;

static ADOPTS: AtomicBool = AtomicBool::new(false);

/// From now on processes without a parent come to this one.
pub fn adopt() {
    const PR_SET_CHILD_SUBREAPER: usize = 36;
    let mut status = 0;
    if wait(&mut status, WNOHANG) >= 0 {
        return;
    }
    // SAFETY: changes who takes orphans; no memory is involved.
    let done = unsafe { syscall3(nr::PRCTL, PR_SET_CHILD_SUBREAPER, 1, 0) } == 0;
    ADOPTS.store(done, Ordering::Relaxed);
}

/// Ends what the run has left behind; how many there were. Without any it is one system call.
pub fn end() -> u64 {
    let mut ended = 0;
    if !ADOPTS.load(Ordering::Relaxed) {
        return 0;
    }
    for _ in 0..ROUNDS {
        let mut status = 0;
        let mut got = wait(&mut status, WNOHANG);
        if got == 0 && kill_children() {
            got = wait(&mut status, 0);
        }
        if got <= 0 {
            break;
        }
        ended += u64::from(status & 0x7F == SIGKILL);
    }
    ended
}

fn wait(status: &mut i32, options: usize) -> isize {
    // SAFETY: waits for children of our own; the status is ours.
    unsafe { syscall6(nr::WAIT4, usize::MAX, core::ptr::from_mut(status) as usize, options, 0, 0, 0) }
}

/// Kills the children that live; false if they are not known.
fn kill_children() -> bool {
    let mut text = [0u8; 4096];
    // SAFETY: the path ends in a zero, the buffer is ours; the descriptor is closed again.
    let got = unsafe {
        let fd = syscall3(nr::OPEN, c"/proc/thread-self/children".as_ptr() as usize, 0, 0);
        if fd < 0 {
            return false;
        }
        let got = syscall3(nr::READ, fd as usize, text.as_mut_ptr() as usize, text.len());
        syscall3(nr::CLOSE, fd as usize, 0, 0);
        got
    };
    let text = &text[..got.max(0) as usize];
    let mut any = false;
    // A number that the buffer cuts off has no blank behind it, and its turn comes in the next round.
    for word in text.split_inclusive(|&byte| byte == b' ') {
        let Some(digits) = word.strip_suffix(b" ") else { continue };
        let id = digits.iter().fold(0usize, |id, &digit| id * 10 + usize::from(digit.wrapping_sub(b'0')));
        if id > 1 {
            // SAFETY: a signal to a child that nobody has waited for, so the id is still its own.
            any |= unsafe { syscall3(nr::KILL, id, SIGKILL as usize, 0) } == 0;
        }
    }
    any
}
