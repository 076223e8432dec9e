//! The registers that a plain access of the program was made with, for who tells the values of parameters and locals.

use threadbare_abi::local::REGISTERS;

/// The registers of the last plain access, by their DWARF numbers, as its stub found them.
pub static mut LAST: [u64; REGISTERS] = [0; REGISTERS];

/// The rest of a stub: keeps all registers but `rax`, which is kept already and has where it goes on.
#[unsafe(naked)]
pub unsafe extern "C" fn keep() {
    core::arch::naked_asm!(
        "mov [rip + {to} + 8], rdx",
        "mov [rip + {to} + 16], rcx",
        "mov [rip + {to} + 24], rbx",
        "mov [rip + {to} + 32], rsi",
        "mov [rip + {to} + 40], rdi",
        "mov [rip + {to} + 48], rbp",
        // What the stack pointer was before the call.
        "lea rsi, [rsp + 8]",
        "mov [rip + {to} + 56], rsi",
        "mov [rip + {to} + 64], r8",
        "mov [rip + {to} + 72], r9",
        "mov [rip + {to} + 80], r10",
        "mov [rip + {to} + 88], r11",
        "mov [rip + {to} + 96], r12",
        "mov [rip + {to} + 104], r13",
        "mov [rip + {to} + 112], r14",
        "mov [rip + {to} + 120], r15",
        "mov rsi, [rsp]",
        "jmp rax",
        to = sym LAST,
    )
}

/// How many registers a call keeps, the stack pointer aside.
pub const KEPT: usize = 6;
/// Their DWARF numbers.
pub const KEPT_NUMBERS: [u8; KEPT] = [3, 6, 12, 13, 14, 15];

/// `__tsan_func_exit` with what its function has in the registers that calls keep.
#[unsafe(naked)]
pub unsafe extern "C" fn leave_with_kept() {
    core::arch::naked_asm!(
        "mov rdi, rsp",
        "sub rsp, 56",
        "mov [rsp], rbx",
        "mov [rsp + 8], rbp",
        "mov [rsp + 16], r12",
        "mov [rsp + 24], r13",
        "mov [rsp + 32], r14",
        "mov [rsp + 40], r15",
        "mov rsi, rsp",
        "call {leave}",
        "add rsp, 56",
        "ret",
        leave = sym crate::engine::frames::leave_watched,
    )
}
