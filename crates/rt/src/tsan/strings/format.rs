//! Formatting into memory. How much is written is known afterwards; that there is any memory is asked before.
//!
//! A stub of a function with variable arguments makes a `va_list` of them, as the System V ABI lays it out, and calls
//! libc's function that takes one.

use super::{Caller, entry, pass_slot, stub};
use crate::sys::{c_char, c_int};

type Out = *mut c_char;
type In = *const c_char;

/// A `va_list`'s address; what is in it is libc's.
type List = *mut VaList;

#[repr(C)]
struct VaList {
    general: u32,
    floating: u32,
    overflow: usize,
    saved: usize,
}

/// Formats by `format`, into at most `room` bytes.
fn formats(to: Out, room: usize, slot: *const u64, format: impl FnOnce() -> c_int) -> c_int {
    let by = Caller::at(slot);
    by.needs(to, room.min(1));
    let result = format();
    if result >= 0 {
        by.writes(to, (result as usize).saturating_add(1).min(room));
    }
    result
}

entry!(VSPRINTF, vsprintf);
entry!(VSNPRINTF, vsnprintf);
entry!(VSPRINTF_CHK, __vsprintf_chk);
entry!(VSNPRINTF_CHK, __vsnprintf_chk);
entry!(SPRINTF, sprintf);
entry!(SNPRINTF, snprintf);
entry!(SPRINTF_CHK, __sprintf_chk);
entry!(SNPRINTF_CHK, __snprintf_chk);

unsafe extern "C" fn on_vsprintf(to: Out, format: In, list: List, slot: *const u64) -> c_int {
    formats(to, usize::MAX, slot, || {
        // SAFETY: libc's own function with the caller's arguments.
        unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn(Out, In, List) -> c_int>(VSPRINTF.get())(
                to, format, list,
            )
        }
    })
}

unsafe extern "C" fn on_vsnprintf(to: Out, room: usize, format: In, list: List, slot: *const u64) -> c_int {
    formats(to, room, slot, || {
        // SAFETY: libc's own function with the caller's arguments.
        unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn(Out, usize, In, List) -> c_int>(
                VSNPRINTF.get(),
            )(to, room, format, list)
        }
    })
}

unsafe extern "C" fn on_vsprintf_chk(
    to: Out,
    flag: c_int,
    room: usize,
    format: In,
    list: List,
    slot: *const u64,
) -> c_int {
    formats(to, room, slot, || {
        type Real = unsafe extern "C" fn(Out, c_int, usize, In, List) -> c_int;
        // SAFETY: libc's own function with the caller's arguments.
        unsafe { core::mem::transmute::<usize, Real>(VSPRINTF_CHK.get())(to, flag, room, format, list) }
    })
}

unsafe extern "C" fn on_vsnprintf_chk(
    to: Out,
    most: usize,
    flag: c_int,
    room: usize,
    format: In,
    list: List,
    slot: *const u64,
) -> c_int {
    formats(to, most, slot, || {
        type Real = unsafe extern "C" fn(Out, usize, c_int, usize, In, List) -> c_int;
        // SAFETY: libc's own function with the caller's arguments.
        unsafe {
            core::mem::transmute::<usize, Real>(VSNPRINTF_CHK.get())(to, most, flag, room, format, list)
        }
    })
}

stub!(vsprintf, [pass_slot!(3), "jmp {hook}"], on_vsprintf, VSPRINTF);
stub!(vsnprintf, [pass_slot!(4), "jmp {hook}"], on_vsnprintf, VSNPRINTF);
stub!(__vsprintf_chk, [pass_slot!(5), "jmp {hook}"], on_vsprintf_chk, VSPRINTF_CHK);
// The seventh argument is on the stack.
stub!(
    __vsnprintf_chk,
    ["mov r11, rsp", "push r11", "call {hook}", "add rsp, 8", "ret"],
    on_vsnprintf_chk,
    VSNPRINTF_CHK
);

/// What a stub with variable arguments has saved: the first six, and eight of floating point.
#[repr(C)]
struct Saved {
    general: [usize; 6],
    floating: [u128; 8],
    list: VaList,
}

const SAVED: usize = size_of::<Saved>() + 8;

/// The `va_list` behind `fixed` named arguments, in the frame the stub has made below `slot`.
fn list_of(saved: &mut Saved, fixed: usize, slot: *const u64) -> List {
    saved.list = VaList {
        general: fixed as u32 * 8,
        floating: 48,
        overflow: slot as usize + 8,
        saved: &raw const *saved as usize,
    };
    &raw mut saved.list
}

unsafe extern "C" fn on_sprintf(saved: &mut Saved, slot: *const u64) -> c_int {
    let [to, format, ..] = saved.general;
    let list = list_of(saved, 2, slot);
    // SAFETY: the caller's arguments.
    unsafe { on_vsprintf(to as Out, format as In, list, slot) }
}

unsafe extern "C" fn on_snprintf(saved: &mut Saved, slot: *const u64) -> c_int {
    let [to, room, format, ..] = saved.general;
    let list = list_of(saved, 3, slot);
    // SAFETY: the caller's arguments.
    unsafe { on_vsnprintf(to as Out, room, format as In, list, slot) }
}

unsafe extern "C" fn on_sprintf_chk(saved: &mut Saved, slot: *const u64) -> c_int {
    let [to, flag, room, format, ..] = saved.general;
    let list = list_of(saved, 4, slot);
    // SAFETY: the caller's arguments.
    unsafe { on_vsprintf_chk(to as Out, flag as c_int, room, format as In, list, slot) }
}

unsafe extern "C" fn on_snprintf_chk(saved: &mut Saved, slot: *const u64) -> c_int {
    let [to, most, flag, room, format, _] = saved.general;
    let list = list_of(saved, 5, slot);
    // SAFETY: the caller's arguments.
    unsafe { on_vsnprintf_chk(to as Out, most, flag as c_int, room, format as In, list, slot) }
}

macro_rules! variadic {
    ($($name:ident $hook:ident $entry:ident;)*) => {$(
        stub!(
            $name,
            [
                "mov r11, rsp",
                "sub rsp, 208",
                "mov [rsp], rdi",
                "mov [rsp + 8], rsi",
                "mov [rsp + 16], rdx",
                "mov [rsp + 24], rcx",
                "mov [rsp + 32], r8",
                "mov [rsp + 40], r9",
                "movups [rsp + 48], xmm0",
                "movups [rsp + 64], xmm1",
                "movups [rsp + 80], xmm2",
                "movups [rsp + 96], xmm3",
                "movups [rsp + 112], xmm4",
                "movups [rsp + 128], xmm5",
                "movups [rsp + 144], xmm6",
                "movups [rsp + 160], xmm7",
                "mov rdi, rsp",
                "mov rsi, r11",
                "sub rsp, 8",
                "call {hook}",
                "add rsp, 216",
                "ret"
            ],
            $hook,
            $entry
        );
    )*};
}

const _: () = assert!(SAVED == 216 && core::mem::offset_of!(Saved, floating) == 48);

variadic! {
    sprintf on_sprintf SPRINTF;
    snprintf on_snprintf SNPRINTF;
    __sprintf_chk on_sprintf_chk SPRINTF_CHK;
    __snprintf_chk on_snprintf_chk SNPRINTF_CHK;
}
