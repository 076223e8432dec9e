//! Dates in libc's own buffers: each call writes to memory that all strands may look at.
//!
//! The call is a step on the buffer's state (`state.rs`) and a write of its bytes by the caller, so that a strand that
//! still reads the date of an earlier call is seen to do so. Where the buffer lies is known from the first call on.
//!
//! Safe before init and after fork, where libc's own calls serve.

use crate::engine;
use crate::model::single::Single;
use crate::model::state::{of, uses};
use crate::sys::{c_char, c_void};
use crate::tsan::strings::Caller;
use threadbare_abi::op::{OpKind, state};

/// Bytes of a `struct tm`, and of a date as text.
const FIELDS: usize = 56;
const TEXT: usize = 26;

static FIELDS_AT: Single<usize> = Single::new(0);
static TEXT_AT: Single<usize> = Single::new(0);

/// Makes the call, which writes `bytes` to the buffer.
fn fills<T>(
    at: &'static Single<usize>,
    bytes: usize,
    slot: *const u64,
    call: impl FnOnce() -> *mut T,
) -> *mut T {
    if !engine::controlled() {
        return call();
    }
    // SAFETY: the stub passes its stack pointer.
    uses(OpKind::StateWrite, of(state::CALENDAR), unsafe { *slot });
    let known = *at.get();
    if known != 0 {
        Caller::at(slot).writes(known as *const u8, bytes);
    }
    let found = call();
    if known == 0 && !found.is_null() {
        *at.get() = found as usize;
        Caller::at(slot).writes(found as *const u8, bytes);
    }
    found
}

unsafe extern "C" fn on_gmtime(time: *const i64, slot: *const u64) -> *mut c_void {
    // SAFETY: the caller's request, unchanged.
    fills(&FIELDS_AT, FIELDS, slot, || unsafe { real!(gmtime: fn(*const i64) -> *mut c_void)(time) })
}

unsafe extern "C" fn on_localtime(time: *const i64, slot: *const u64) -> *mut c_void {
    // SAFETY: the caller's request, unchanged.
    fills(&FIELDS_AT, FIELDS, slot, || unsafe { real!(localtime: fn(*const i64) -> *mut c_void)(time) })
}

unsafe extern "C" fn on_asctime(fields: *const c_void, slot: *const u64) -> *mut c_char {
    // SAFETY: the caller's request, unchanged.
    fills(&TEXT_AT, TEXT, slot, || unsafe { real!(asctime: fn(*const c_void) -> *mut c_char)(fields) })
}

unsafe extern "C" fn on_ctime(time: *const i64, slot: *const u64) -> *mut c_char {
    // SAFETY: the caller's request, unchanged.
    fills(&TEXT_AT, TEXT, slot, || unsafe { real!(ctime: fn(*const i64) -> *mut c_char)(time) })
}

interpose_slot!(gmtime, 1, on_gmtime);
interpose_slot!(localtime, 1, on_localtime);
interpose_slot!(asctime, 1, on_asctime);
interpose_slot!(ctime, 1, on_ctime);
