//! Exported functions that know their caller.
//!
//! Stable Rust has no return-address intrinsic, so every exported hook is a naked stub that puts the return address
//! into the argument register after the last argument and jumps to the Rust function behind it.

/// `interpose!(name, N, target)` exports `name`, a C function with N integer arguments, as a jump to `target`, an
/// `extern "C"` function with the same N arguments and the caller's return address (`u64`) after them. N is 0 to 5.
#[macro_export]
macro_rules! interpose {
    ($name:ident, 0, $target:path) => { $crate::interpose!(@ $name, "rdi", $target); };
    ($name:ident, 1, $target:path) => { $crate::interpose!(@ $name, "rsi", $target); };
    ($name:ident, 2, $target:path) => { $crate::interpose!(@ $name, "rdx", $target); };
    ($name:ident, 3, $target:path) => { $crate::interpose!(@ $name, "rcx", $target); };
    ($name:ident, 4, $target:path) => { $crate::interpose!(@ $name, "r8", $target); };
    ($name:ident, 5, $target:path) => { $crate::interpose!(@ $name, "r9", $target); };
    (@ $name:ident, $reg:literal, $target:path) => { $crate::interpose!(@@ $name, $reg, "[rsp]", $target); };
    (@@ $name:ident, $reg:literal, $from:literal, $target:path) => {
        // A scope of its own: the exported name does not clash with a Rust function of the same name.
        const _: () = {
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(concat!("mov ", $reg, ", ", $from), "jmp {target}", target = sym $target)
            }
        };
    };
}

/// As [`interpose!`], but the last argument is the address where the return address lies (`*const u64`): it also tells
/// who the caller is, see `tsan::strings`.
#[macro_export]
macro_rules! interpose_slot {
    ($name:ident, 1, $target:path) => { $crate::interpose!(@@ $name, "rsi", "rsp", $target); };
    ($name:ident, 2, $target:path) => { $crate::interpose!(@@ $name, "rdx", "rsp", $target); };
    ($name:ident, 3, $target:path) => { $crate::interpose!(@@ $name, "rcx", "rsp", $target); };
    ($name:ident, 4, $target:path) => { $crate::interpose!(@@ $name, "r8", "rsp", $target); };
    ($name:ident, 5, $target:path) => { $crate::interpose!(@@ $name, "r9", "rsp", $target); };
}
