//! System calls on x86-64.

use core::arch::asm;

/// Numbers of the system calls the runtime makes or models.
pub mod nr {
    #![allow(missing_docs)]
    pub const READ: i64 = 0;
    pub const WRITE: i64 = 1;
    pub const OPEN: i64 = 2;
    pub const CLOSE: i64 = 3;
    pub const FSTAT: i64 = 5;
    pub const POLL: i64 = 7;
    pub const LSEEK: i64 = 8;
    pub const MMAP: i64 = 9;
    pub const MPROTECT: i64 = 10;
    pub const MUNMAP: i64 = 11;
    pub const RT_SIGACTION: i64 = 13;
    pub const RT_SIGPROCMASK: i64 = 14;
    pub const PREAD64: i64 = 17;
    pub const SCHED_YIELD: i64 = 24;
    pub const MADVISE: i64 = 28;
    pub const NANOSLEEP: i64 = 35;
    pub const GETPID: i64 = 39;
    pub const GETPPID: i64 = 110;
    pub const SENDTO: i64 = 44;
    pub const RECVFROM: i64 = 45;
    pub const CLONE: i64 = 56;
    pub const WAIT4: i64 = 61;
    pub const KILL: i64 = 62;
    pub const FCNTL: i64 = 72;
    pub const SETPGID: i64 = 109;
    pub const SIGALTSTACK: i64 = 131;
    pub const PRCTL: i64 = 157;
    pub const ARCH_PRCTL: i64 = 158;
    pub const GETTID: i64 = 186;
    pub const FUTEX: i64 = 202;
    pub const CLOCK_GETTIME: i64 = 228;
    pub const CLOCK_NANOSLEEP: i64 = 230;
    pub const EXIT_GROUP: i64 = 231;
    pub const EPOLL_WAIT: i64 = 232;
    pub const TGKILL: i64 = 234;
    pub const EPOLL_PWAIT: i64 = 281;
    pub const GETRANDOM: i64 = 318;
    pub const FUTEX_WAITV: i64 = 449;
}

/// A system call with six arguments; returns the kernel's value, an error as a negative errno.
///
/// # Safety
/// As the system call says.
#[inline]
pub unsafe fn syscall6(n: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let r: isize;
    // SAFETY: the x86-64 system call convention; the caller answers for the call itself.
    unsafe {
        asm!("syscall", inlateout("rax") n as isize => r, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
             in("r8") e, in("r9") f, out("rcx") _, out("r11") _, options(nostack));
    }
    r
}

/// A system call with three arguments.
///
/// # Safety
/// As the system call says.
#[inline]
pub unsafe fn syscall3(n: i64, a: usize, b: usize, c: usize) -> isize {
    // SAFETY: passed on.
    unsafe { syscall6(n, a, b, c, 0, 0, 0) }
}
