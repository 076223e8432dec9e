//! Memory functions the compiler's pass redirects to us: word by word (`parts`), or ranged accesses, then
//! libc's own function (not the one under its name, which is ours and would count them again).
//! Safe before init, in a signal, after fork.

use super::parts;
use super::plain::gated;
use crate::sys::{c_int, c_void};
use threadbare_abi::op::OpKind;

unsafe extern "C" fn tsan_memcpy(to: *mut c_void, from: *const c_void, n: usize, pc: u64) -> *mut c_void {
    if parts::copies(to as usize, from as usize, n, pc) {
        return to;
    }
    gated(OpKind::ReadRange, from as u64, n as u64, pc);
    gated(OpKind::WriteRange, to as u64, n as u64, pc);
    // SAFETY: the program's own call.
    unsafe { real!(memcpy: fn(*mut c_void, *const c_void, usize) -> *mut c_void)(to, from, n) }
}

unsafe extern "C" fn tsan_memmove(to: *mut c_void, from: *const c_void, n: usize, pc: u64) -> *mut c_void {
    if parts::copies(to as usize, from as usize, n, pc) {
        return to;
    }
    gated(OpKind::ReadRange, from as u64, n as u64, pc);
    gated(OpKind::WriteRange, to as u64, n as u64, pc);
    // SAFETY: the program's own call.
    unsafe { real!(memmove: fn(*mut c_void, *const c_void, usize) -> *mut c_void)(to, from, n) }
}

unsafe extern "C" fn tsan_memset(to: *mut c_void, byte: c_int, n: usize, pc: u64) -> *mut c_void {
    if parts::fills(to as usize, byte as u8, n, pc) {
        return to;
    }
    gated(OpKind::WriteRange, to as u64, n as u64, pc);
    // SAFETY: the program's own call.
    unsafe { real!(memset: fn(*mut c_void, c_int, usize) -> *mut c_void)(to, byte, n) }
}

interpose!(__tsan_memcpy, 3, tsan_memcpy);
interpose!(__tsan_memmove, 3, tsan_memmove);
interpose!(__tsan_memset, 3, tsan_memset);
