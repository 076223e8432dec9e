//! Function entry and exit: the shadow call stack.
//!
//! Each entry keeps the stack pointer it was made at, so entries left behind by `longjmp`, exceptions and forced
//! unwinding are dropped at the next entry: a live caller's frame is always above a callee's.
//! Safe before init (nothing is recorded), in a signal (single kernel thread), after fork.

use crate::arch::registers;
use crate::engine::frames;

/// `__tsan_init`: called by every instrumented object's constructor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_init() {
    crate::engine::mark_instrumented();
}

/// `__tsan_func_entry(return address of the function)`.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn __tsan_func_entry() {
    core::arch::naked_asm!("lea rsi, [rsp + {flags}]", "jmp {enter}", flags = const frames::FLAGS, enter = sym frames::enter)
}

/// `__tsan_func_exit()`.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn __tsan_func_exit() {
    core::arch::naked_asm!(
        "mov rax, [rip + {top}]",
        "test rax, rax",
        "jz 2f",
        "test byte ptr [rax - {entry} + {sp}], {unwatched}",
        "jz 3f",
        "sub qword ptr [rip + {top}], {entry}",
        "ret",
        "2: mov rdi, rsp",
        "jmp {free}",
        // What the function gives back is worked out from what calls keep.
        "3: jmp {kept}",
        top = sym frames::TOP,
        entry = const size_of::<frames::FrameEntry>(),
        sp = const core::mem::offset_of!(frames::FrameEntry, sp),
        unwatched = const frames::UNWATCHED,
        free = sym crate::free::frames::leave,
        kept = sym registers::leave_with_kept,
    )
}
