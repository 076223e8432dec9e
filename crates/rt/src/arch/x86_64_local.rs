//! What a strand has in registers and on its stack where it comes to a hook.
//!
//! A call leaves a program only the registers that the callee keeps, so those and the stack above the return address are all that a function
//! knows besides memory. The hook's stub keeps them while somebody wants to know.

use threadbare_strategy::rng::mix;

/// Whether somebody wants to know.
pub static mut WANTED: u8 = 0;
/// The registers at the last hook: rbx, rbp, r12 to r15, rsp.
pub static mut KEPT: [u64; 7] = [0; 7];

/// Words of the stack that count.
const WORDS: usize = 256;

/// `interpose_local!(name, register, target)`: an exported stub as by [`crate::interpose!`], which keeps the program's registers.
#[macro_export]
macro_rules! interpose_local {
    ($name:ident, 2, $target:path) => { $crate::interpose_local!(@ $name, "rdx", $target); };
    ($name:ident, 3, $target:path) => { $crate::interpose_local!(@ $name, "rcx", $target); };
    ($name:ident, 5, $target:path) => { $crate::interpose_local!(@ $name, "r9", $target); };
    (@ $name:ident, $reg:literal, $target:path) => {
        const _: () = {
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    concat!("mov ", $reg, ", [rsp]"),
                    "cmp byte ptr [rip + {wanted}], 0",
                    "je {target}",
                    "mov [rip + {kept}], rbx",
                    "mov [rip + {kept} + 8], rbp",
                    "mov [rip + {kept} + 16], r12",
                    "mov [rip + {kept} + 24], r13",
                    "mov [rip + {kept} + 32], r14",
                    "mov [rip + {kept} + 40], r15",
                    "mov [rip + {kept} + 48], rsp",
                    "jmp {target}",
                    wanted = sym $crate::arch::local::WANTED,
                    kept = sym $crate::arch::local::KEPT,
                    target = sym $target,
                )
            }
        };
    };
}

/// From now on, or no more.
pub fn want(wanted: bool) {
    // SAFETY: single kernel thread.
    unsafe { WANTED = wanted as u8 }
}

/// Stands for what the running strand, whose stack ends at `top`, had at its last hook; `known` has the last word on what is in a word of it.
pub fn state(top: usize, known: impl Fn(usize, u64) -> u64) -> u64 {
    // SAFETY: single kernel thread; the words between a stack pointer and the top of its stack are mapped.
    unsafe {
        let kept = (&raw const KEPT).read();
        let sp = kept[6] as usize;
        let state = kept.iter().fold(0, |state, &word| mix(state ^ word));
        if sp == 0 || sp >= top {
            return state;
        }
        let words = ((top - sp) / 8).min(WORDS);
        (1..words).fold(state, |state, at| {
            let place = (sp as *const u64).add(at);
            mix(state ^ known(place as usize, place.read_volatile()))
        })
    }
}
