//! Numbers, flags and structs of Linux on x86-64 that the models of the environment need.

#![allow(missing_docs)]

pub use crate::sys::nr;
use crate::sys::{c_int, c_void, fail, syscall6};

pub mod error {
    pub use crate::sys::errno::*;
    pub const ENXIO: i32 = 6;
    pub const EALREADY: i32 = 114;
    pub const EIO: i32 = 5;
}

pub const O_ACCMODE: c_int = 3;
pub const O_RDONLY: c_int = 0;
pub const O_WRONLY: c_int = 1;
pub const O_NONBLOCK: c_int = 0o4000;
pub const O_PATH: c_int = 0o10000000;
pub const AT_FDCWD: c_int = -100;

pub const F_DUPFD: c_int = 0;
pub const F_GETFL: c_int = 3;
pub const F_SETFL: c_int = 4;
pub const F_SETLK: c_int = 6;
pub const F_SETLKW: c_int = 7;
pub const F_OFD_SETLK: c_int = 37;
pub const F_OFD_SETLKW: c_int = 38;
pub const F_DUPFD_CLOEXEC: c_int = 1030;

pub const MSG_PEEK: c_int = 0x02;
pub const MSG_DONTWAIT: c_int = 0x40;
pub const MSG_WAITALL: c_int = 0x100;
pub const MSG_ERRQUEUE: c_int = 0x2000;
pub const MSG_WAITFORONE: c_int = 0x10000;

pub const SOL_SOCKET: c_int = 1;
pub const SO_TYPE: c_int = 3;
pub const SO_ERROR: c_int = 4;
pub const SO_RCVTIMEO: c_int = 20;
pub const SO_SNDTIMEO: c_int = 21;
pub const SOCK_STREAM: c_int = 1;

pub const POLLIN: i16 = 0x001;
pub const POLLPRI: i16 = 0x002;
pub const POLLOUT: i16 = 0x004;
pub const POLLERR: i16 = 0x008;
pub const POLLHUP: i16 = 0x010;
pub const POLLRDNORM: i16 = 0x040;
pub const POLLRDBAND: i16 = 0x080;
pub const POLLWRNORM: i16 = 0x100;
pub const POLLWRBAND: i16 = 0x200;

pub const S_IFMT: u32 = 0o170000;
pub const S_IFSOCK: u32 = 0o140000;
pub const S_IFREG: u32 = 0o100000;
pub const S_IFBLK: u32 = 0o060000;
pub const S_IFDIR: u32 = 0o040000;
pub const S_IFIFO: u32 = 0o010000;

/// The bytes a pipe that is ready for writing takes at once.
pub const PIPE_BUF: usize = 4096;
/// The most bytes one system call transfers.
pub const MAX_RW: usize = 0x7FFF_F000;

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IoVec {
    pub base: *mut u8,
    pub len: usize,
}

/// `struct msghdr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MsgHdr {
    pub name: *mut c_void,
    pub namelen: u32,
    pub iov: *mut IoVec,
    pub iovlen: usize,
    pub control: *mut c_void,
    pub controllen: usize,
    pub flags: c_int,
}

/// `struct mmsghdr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MMsgHdr {
    pub hdr: MsgHdr,
    pub len: u32,
}

/// `struct timeval`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeVal {
    pub sec: i64,
    pub usec: i64,
}

/// `struct stat`, of which only the mode and the identity are read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    pub dev: u64,
    pub ino: u64,
    pub nlink: u64,
    pub mode: u32,
    rest: [u8; 116],
}

impl Stat {
    pub const ZERO: Stat = Stat { dev: 0, ino: 0, nlink: 0, mode: 0, rest: [0; 116] };
}

const _: () = assert!(size_of::<Stat>() == 144 && size_of::<MsgHdr>() == 56 && size_of::<MMsgHdr>() == 64);

/// A system call with the kernel's own result: an error is a negative errno.
///
/// # Safety
/// As the system call says.
#[inline]
pub unsafe fn raw<const N: usize>(number: i64, args: [usize; N]) -> isize {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&args);
    // SAFETY: passed on.
    unsafe { syscall6(number, all[0], all[1], all[2], all[3], all[4], all[5]) }
}

/// The C result of a kernel result: an error sets `errno` and becomes -1.
#[inline]
pub fn result(value: isize) -> isize {
    if (-4095..0).contains(&value) { fail(-value as i32) as isize } else { value }
}
