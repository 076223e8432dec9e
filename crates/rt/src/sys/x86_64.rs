//! System calls on x86-64.

use core::arch::asm;

/// Numbers of the system calls the runtime makes or models.
pub mod nr {
    #![allow(missing_docs)]
    pub const READ: i64 = 0;
    pub const WRITE: i64 = 1;
    pub const OPEN: i64 = 2;
    pub const CLOSE: i64 = 3;
    pub const STAT: i64 = 4;
    pub const FSTAT: i64 = 5;
    pub const POLL: i64 = 7;
    pub const LSEEK: i64 = 8;
    pub const MMAP: i64 = 9;
    pub const MPROTECT: i64 = 10;
    pub const MUNMAP: i64 = 11;
    pub const RT_SIGACTION: i64 = 13;
    pub const RT_SIGPROCMASK: i64 = 14;
    pub const IOCTL: i64 = 16;
    pub const PREAD64: i64 = 17;
    pub const PWRITE64: i64 = 18;
    pub const READV: i64 = 19;
    pub const WRITEV: i64 = 20;
    pub const ACCESS: i64 = 21;
    pub const SELECT: i64 = 23;
    pub const SCHED_YIELD: i64 = 24;
    pub const MINCORE: i64 = 27;
    pub const MADVISE: i64 = 28;
    pub const PAUSE: i64 = 34;
    pub const NANOSLEEP: i64 = 35;
    pub const SETITIMER: i64 = 38;
    pub const GETPID: i64 = 39;
    pub const SENDFILE: i64 = 40;
    pub const CONNECT: i64 = 42;
    pub const ACCEPT: i64 = 43;
    pub const SENDTO: i64 = 44;
    pub const RECVFROM: i64 = 45;
    pub const SENDMSG: i64 = 46;
    pub const RECVMSG: i64 = 47;
    pub const SHUTDOWN: i64 = 48;
    pub const GETSOCKOPT: i64 = 55;
    pub const CLONE: i64 = 56;
    pub const FORK: i64 = 57;
    pub const VFORK: i64 = 58;
    pub const EXECVE: i64 = 59;
    pub const EXIT: i64 = 60;
    pub const WAIT4: i64 = 61;
    pub const KILL: i64 = 62;
    pub const SEMOP: i64 = 65;
    pub const MSGSND: i64 = 69;
    pub const MSGRCV: i64 = 70;
    pub const FCNTL: i64 = 72;
    pub const FLOCK: i64 = 73;
    pub const FTRUNCATE: i64 = 77;
    pub const CHDIR: i64 = 80;
    pub const FCHDIR: i64 = 81;
    pub const READLINK: i64 = 89;
    pub const UMASK: i64 = 95;
    pub const GETTIMEOFDAY: i64 = 96;
    pub const GETRUSAGE: i64 = 98;
    pub const GETUID: i64 = 102;
    pub const SETPGID: i64 = 109;
    pub const GETPPID: i64 = 110;
    pub const RT_SIGTIMEDWAIT: i64 = 128;
    pub const RT_SIGQUEUEINFO: i64 = 129;
    pub const RT_SIGSUSPEND: i64 = 130;
    pub const SIGALTSTACK: i64 = 131;
    pub const SETPRIORITY: i64 = 141;
    pub const SCHED_SETSCHEDULER: i64 = 144;
    pub const PRCTL: i64 = 157;
    pub const ARCH_PRCTL: i64 = 158;
    pub const GETTID: i64 = 186;
    pub const TKILL: i64 = 200;
    pub const TIME: i64 = 201;
    pub const FUTEX: i64 = 202;
    pub const SCHED_SETAFFINITY: i64 = 203;
    pub const SCHED_GETAFFINITY: i64 = 204;
    pub const IO_GETEVENTS: i64 = 208;
    pub const GETDENTS64: i64 = 217;
    pub const SEMTIMEDOP: i64 = 220;
    pub const CLOCK_GETTIME: i64 = 228;
    pub const CLOCK_GETRES: i64 = 229;
    pub const CLOCK_NANOSLEEP: i64 = 230;
    pub const EXIT_GROUP: i64 = 231;
    pub const EPOLL_WAIT: i64 = 232;
    pub const TGKILL: i64 = 234;
    pub const MQ_TIMEDSEND: i64 = 242;
    pub const MQ_TIMEDRECEIVE: i64 = 243;
    pub const WAITID: i64 = 247;
    pub const OPENAT: i64 = 257;
    pub const NEWFSTATAT: i64 = 262;
    pub const PSELECT6: i64 = 270;
    pub const PPOLL: i64 = 271;
    pub const SPLICE: i64 = 275;
    pub const TEE: i64 = 276;
    pub const EPOLL_PWAIT: i64 = 281;
    pub const TIMERFD_CREATE: i64 = 283;
    pub const TIMERFD_SETTIME: i64 = 286;
    pub const TIMERFD_GETTIME: i64 = 287;
    pub const ACCEPT4: i64 = 288;
    pub const EVENTFD2: i64 = 290;
    pub const DUP3: i64 = 292;
    pub const RT_TGSIGQUEUEINFO: i64 = 297;
    pub const RECVMMSG: i64 = 299;
    pub const PRLIMIT64: i64 = 302;
    pub const SENDMMSG: i64 = 307;
    pub const GETCPU: i64 = 309;
    pub const GETRANDOM: i64 = 318;
    pub const MEMFD_CREATE: i64 = 319;
    pub const USERFAULTFD: i64 = 323;
    pub const IO_URING_ENTER: i64 = 426;
    pub const PIDFD_OPEN: i64 = 434;
    pub const CLONE3: i64 = 435;
    pub const EPOLL_PWAIT2: i64 = 441;
    pub const FUTEX_WAITV: i64 = 449;
    pub const FUTEX_WAKE: i64 = 454;
    pub const FUTEX_WAIT: i64 = 455;
    pub const FUTEX_REQUEUE: i64 = 456;
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
