//! Function entry and exit: the shadow call stack.
//!
//! Each entry keeps the stack pointer it was made at, so entries left behind by `longjmp`, exceptions and forced
//! unwinding are dropped at the next entry: a live caller's frame is always above a callee's.
//! Safe before init (nothing is recorded), in a signal (single kernel thread), after fork.

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
    core::arch::naked_asm!("lea rsi, [rsp + 3]", "jmp {}", sym frames::enter)
}

/// `__tsan_func_exit()`.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn __tsan_func_exit() {
    core::arch::naked_asm!("mov rdi, rsp", "jmp {}", sym frames::leave)
}
