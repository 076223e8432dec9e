//! Stubs for exported functions with six arguments or more, which know their caller.
//!
//! The argument registers are taken, so the return address goes on the stack. Cancelling a strand unwinds through
//! these frames, so they tell the unwinder where they are.

/// `interpose6!(name, target)`: like [`crate::interpose!`] for six integer arguments; `target` gets the caller's
/// return address as the seventh.
#[macro_export]
macro_rules! interpose6 {
    ($name:ident, $target:path) => {
        const _: () = {
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "push qword ptr [rsp]",
                    ".cfi_adjust_cfa_offset 8",
                    "call {target}",
                    "add rsp, 8",
                    ".cfi_adjust_cfa_offset -8",
                    "ret",
                    ".cfi_endproc",
                    target = sym $target
                )
            }
        };
    };
}

/// As [`interpose6!`], but the seventh argument is the address where the return address lies.
#[macro_export]
macro_rules! interpose6_slot {
    ($name:ident, $target:path) => {
        const _: () = {
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "push rsp",
                    ".cfi_adjust_cfa_offset 8",
                    "call {target}",
                    "add rsp, 8",
                    ".cfi_adjust_cfa_offset -8",
                    "ret",
                    ".cfi_endproc",
                    target = sym $target
                )
            }
        };
    };
}

/// `interpose7!(name, target)`: the same for seven integer arguments; the return address is the eighth.
#[macro_export]
macro_rules! interpose7 {
    ($name:ident, $target:path) => {
        const _: () = {
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "mov rax, [rsp]",
                    "mov r10, [rsp + 8]",
                    "sub rsp, 8",
                    ".cfi_adjust_cfa_offset 8",
                    "push rax",
                    ".cfi_adjust_cfa_offset 8",
                    "push r10",
                    ".cfi_adjust_cfa_offset 8",
                    "call {target}",
                    "add rsp, 24",
                    ".cfi_adjust_cfa_offset -24",
                    "ret",
                    ".cfi_endproc",
                    target = sym $target
                )
            }
        };
    };
}
