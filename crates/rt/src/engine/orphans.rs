//! Processes that a run leaves behind.
//!
//! The run's group is killed when the run is over. A process that has left the group (`setsid`, a daemon) is not in it; its
//! parent is gone, so it becomes the server's child, and is ended here by its id. The server has no other children: what a
//! constructor started before the server was there is let alone, and then so is everything else.

use crate::sys::{Text, nr, syscall3, syscall6};
use core::ffi::CStr;
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
    ADOPTS.store(false, Ordering::Relaxed);
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
    let Some(text) = read(c"/proc/thread-self/children", &mut text) else { return false };
    let mut any = false;
    for id in ids(text) {
        // SAFETY: a signal to a child that nobody has waited for, so the id is still its own.
        any |= unsafe { syscall3(nr::KILL, id, SIGKILL as usize, 0) } == 0;
    }
    any
}

/// Asked by a run: whether a process that its children left behind still lives, or might, where orphans are not known.
pub fn alive() -> bool {
    let (mut path, mut text) = ([0u8; 64], [0u8; 4096]);
    if !ADOPTS.load(Ordering::Relaxed) {
        return true;
    }
    // SAFETY: no memory is involved.
    let (me, server) = unsafe { (syscall3(nr::GETPID, 0, 0, 0) as usize, syscall3(nr::GETPPID, 0, 0, 0)) };
    let children = path_of(&mut path, format_args!("/proc/{server}/task/{server}/children\0"));
    let Some(text) = read(children, &mut text) else { return true };
    ids(text).any(|id| {
        let (mut path, mut text) = ([0u8; 64], [0u8; 256]);
        let stat = path_of(&mut path, format_args!("/proc/{id}/stat\0"));
        // `pid (name) state …`, and the name may have anything in it.
        id != me
            && read(stat, &mut text).is_some_and(|text| {
                let name_ends = text.iter().rposition(|&byte| byte == b')').unwrap_or(0);
                !matches!(text.get(name_ends + 2), Some(b'Z' | b'X'))
            })
    })
}

fn path_of<'a>(buffer: &'a mut [u8], path: core::fmt::Arguments<'_>) -> &'a CStr {
    let _ = core::fmt::Write::write_fmt(&mut Text::new(buffer), path);
    CStr::from_bytes_until_nul(buffer).unwrap_or(c"")
}

/// The first bytes of a file; `None` if it cannot be opened.
fn read<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: the path is a C string, the buffer is ours; the descriptor is closed again.
    let got = unsafe {
        let fd = syscall3(nr::OPEN, path.as_ptr() as usize, 0, 0);
        if fd < 0 {
            return None;
        }
        let got = syscall3(nr::READ, fd as usize, buffer.as_mut_ptr() as usize, buffer.len());
        syscall3(nr::CLOSE, fd as usize, 0, 0);
        got
    };
    Some(&buffer[..got.max(0) as usize])
}

/// The processes of a list of children. A number that the buffer cuts off has no blank behind it, and is left out.
fn ids(text: &[u8]) -> impl Iterator<Item = usize> {
    text.split_inclusive(|&byte| byte == b' ')
        .filter_map(|word| word.strip_suffix(b" "))
        .map(|digits| {
            digits.iter().fold(0usize, |id, &digit| id * 10 + usize::from(digit.wrapping_sub(b'0')))
        })
        .filter(|&id| id > 1)
}
