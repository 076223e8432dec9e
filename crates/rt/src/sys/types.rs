//! C types and constants of Linux with glibc that the runtime needs.

#![allow(missing_docs, non_camel_case_types)]

pub use core::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

pub type pthread_t = usize;
pub type pid_t = i32;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct timespec {
    pub tv_sec: i64,
    pub tv_nsec: i64,
}

pub mod errno {
    pub const EPERM: i32 = 1;
    pub const ESRCH: i32 = 3;
    pub const EINTR: i32 = 4;
    pub const EAGAIN: i32 = 11;
    pub const ENOMEM: i32 = 12;
    pub const EACCES: i32 = 13;
    pub const EFAULT: i32 = 14;
    pub const EBUSY: i32 = 16;
    pub const EINVAL: i32 = 22;
    pub const EDEADLK: i32 = 35;
    pub const ENOSYS: i32 = 38;
    pub const EOVERFLOW: i32 = 75;
    pub const ENOTSUP: i32 = 95;
    pub const ETIMEDOUT: i32 = 110;
    pub const EINPROGRESS: i32 = 115;
    pub const EOWNERDEAD: i32 = 130;
    pub const ENOTRECOVERABLE: i32 = 131;
}

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
}

/// Sets the strand's `errno` and returns -1.
pub fn fail(error: i32) -> c_int {
    set_errno(error);
    -1
}

/// Sets the strand's `errno`.
pub fn set_errno(error: i32) {
    // SAFETY: libc gives a pointer to the errno of the thread whose FS base is set, which is the strand's.
    unsafe { *__errno_location() = error }
}

/// The strand's `errno`.
pub fn get_errno() -> i32 {
    // SAFETY: as above.
    unsafe { *__errno_location() }
}

/// Text written into memory of fixed size; what does not fit is left out.
pub struct Text<'a> {
    to: &'a mut [u8],
    used: usize,
}

impl<'a> Text<'a> {
    /// Writes to `to`.
    pub fn new(to: &'a mut [u8]) -> Self {
        Text { to, used: 0 }
    }

    /// Bytes written.
    pub fn used(&self) -> usize {
        self.used
    }
}

impl core::fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let n = text.len().min(self.to.len() - self.used);
        self.to[self.used..self.used + n].copy_from_slice(&text.as_bytes()[..n]);
        self.used += n;
        Ok(())
    }
}
