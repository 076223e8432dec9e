//! The border to the kernel and to libc: raw system calls, constants, and libc's own versions of what we interpose.

#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod imp;
#[macro_use]
pub mod real;
pub mod types;

pub use imp::*;
pub use types::*;

#[link(name = "c")]
unsafe extern "C" {
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        object: *const c_void,
    ) -> c_int;
}

/// Has this called in every child that the program forks.
pub fn in_children(call: extern "C" fn()) {
    // SAFETY: a function that lives as long as the process.
    unsafe { __register_atfork(None, None, Some(call), core::ptr::null()) };
}
