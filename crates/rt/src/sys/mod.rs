//! The border to the kernel and to libc: raw system calls, constants, and libc's own versions of what we interpose.

#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod imp;
#[macro_use]
pub mod real;
pub mod types;

pub use imp::*;
pub use types::*;
