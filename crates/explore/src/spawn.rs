//! Starting a process with what only the child itself can set up.
//!
//! Everything here runs between `fork` and `exec`, where only async-signal-safe calls are allowed.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The numbers the shared memory and the control socket have in the program, the same in every job, so that the
/// numbers of the files the program opens are the same too.
pub(crate) const CHILD_FDS: [i32; 2] = [198, 199];
/// Above every number of interest.
const ASIDE: i32 = 256;

/// Makes the child its own process group, without address randomisation and core files, dying with the thread that
/// starts it, the first to go when the system has no memory left, and with `inherit` open as [`CHILD_FDS`]. No file it
/// writes grows beyond `file_size` bytes (0: no bound).
pub(crate) fn prepare(command: &mut Command, inherit: [BorrowedFd<'_>; 2], file_size: u64) {
    let fds = inherit.map(|fd| fd.as_raw_fd());
    command.process_group(0);
    let child = move || {
        // SAFETY: personality only changes flags of this process. Where it is forbidden, addresses vary between
        // servers and everything still works, so the result is not looked at.
        unsafe {
            let persona = libc::personality(0xffff_ffff);
            if persona >= 0 {
                libc::personality(persona as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            }
        }
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the struct outlives the call; without core files a crashing run costs no disk.
        unsafe { libc::setrlimit(libc::RLIMIT_CORE, &no_core) };
        if file_size != 0 {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the struct outlives both calls; a bound that is there and lower stays.
            unsafe {
                if libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) == 0 {
                    limit.rlim_cur = limit.rlim_cur.min(file_size);
                    libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
                }
            }
        }
        // SAFETY: a path that ends in a zero, bytes of ours, a descriptor of ours. Where it is forbidden, nothing is lost.
        unsafe {
            let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY);
            if file >= 0 {
                let score = b"800";
                libc::write(file, score.as_ptr().cast(), score.len());
                libc::close(file);
            }
        }
        // SAFETY: asks for a signal when the parent thread dies; no memory is involved.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // Out of the way first: one of them may have the other's number.
        let mut aside = [0; 2];
        for (to, from) in aside.iter_mut().zip(fds) {
            // SAFETY: the descriptor is open: its owner in the parent waits for this child to be started.
            *to = check(unsafe { libc::fcntl(from, libc::F_DUPFD_CLOEXEC, ASIDE) })?;
        }
        for (from, to) in aside.into_iter().zip(CHILD_FDS) {
            // SAFETY: whatever had the number is closed at exec anyway, or is the driver's own and not used here.
            check(unsafe { libc::dup2(from, to) })?;
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls only; it neither allocates nor takes a lock.
    unsafe { command.pre_exec(child) };
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
