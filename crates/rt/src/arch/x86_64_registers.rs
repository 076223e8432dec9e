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
