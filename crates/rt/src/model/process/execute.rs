//! Becoming another program. Safe before init and after fork.

use crate::engine;
use crate::model::signal;
use crate::sys::{c_char, c_int};

type Strings = *const *const c_char;

interpose!(execve, 3, execve_hook);
interpose!(execv, 2, execv_hook);
interpose!(execvp, 2, execvp_hook);
interpose!(execvpe, 3, execvpe_hook);
interpose!(fexecve, 3, fexecve_hook);
interpose!(execveat, 5, execveat_hook);

/// Exports a variadic function as a call of `before`, which tells where libc's own version is, and a jump there.
macro_rules! before {
    ($name:ident, $before:path) => {
        /// Exported; see the module.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                "mov rdi, [rsp + 56]",
                "call {before}",
                "mov r11, rax",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                before = sym $before
            )
        }
    };
}

before!(execl, before_execl);
before!(execle, before_execle);
before!(execlp, before_execlp);

unsafe extern "C" fn before_execl(pc: u64) -> usize {
    about_to_execute(pc);
    real!(execl: fn()) as usize
}

unsafe extern "C" fn before_execle(pc: u64) -> usize {
    about_to_execute(pc);
    real!(execle: fn()) as usize
}

unsafe extern "C" fn before_execlp(pc: u64) -> usize {
    about_to_execute(pc);
    real!(execlp: fn()) as usize
}

/// The run ends here; if the program cannot be executed, what follows takes no part in it.
pub fn about_to_execute(pc: u64) {
    if engine::controlled() {
        if !engine::ending::comes(pc) {
            engine::event();
        }
        engine::warn_once("exec: the program that is executed is not controlled", pc);
        engine::end_run();
    }
}

/// A new program inherits the mask.
fn inheriting(pc: u64, execute: impl FnOnce() -> c_int) -> c_int {
    about_to_execute(pc);
    if engine::controlled() { signal::with_mask(execute) } else { execute() }
}

unsafe extern "C" fn execve_hook(path: *const c_char, argv: Strings, envp: Strings, pc: u64) -> c_int {
    // SAFETY: the caller's request, unchanged.
    inheriting(pc, || unsafe {
        real!(execve: fn(*const c_char, Strings, Strings) -> c_int)(path, argv, envp)
    })
}

unsafe extern "C" fn execv_hook(path: *const c_char, argv: Strings, pc: u64) -> c_int {
    // SAFETY: the caller's request, unchanged.
    inheriting(pc, || unsafe { real!(execv: fn(*const c_char, Strings) -> c_int)(path, argv) })
}

unsafe extern "C" fn execvp_hook(file: *const c_char, argv: Strings, pc: u64) -> c_int {
    // SAFETY: the caller's request, unchanged.
    inheriting(pc, || unsafe { real!(execvp: fn(*const c_char, Strings) -> c_int)(file, argv) })
}

unsafe extern "C" fn execvpe_hook(file: *const c_char, argv: Strings, envp: Strings, pc: u64) -> c_int {
    // SAFETY: the caller's request, unchanged.
    inheriting(pc, || unsafe {
        real!(execvpe: fn(*const c_char, Strings, Strings) -> c_int)(file, argv, envp)
    })
}

unsafe extern "C" fn fexecve_hook(fd: c_int, argv: Strings, envp: Strings, pc: u64) -> c_int {
    // SAFETY: the caller's request, unchanged.
    inheriting(pc, || unsafe { real!(fexecve: fn(c_int, Strings, Strings) -> c_int)(fd, argv, envp) })
}

unsafe extern "C" fn execveat_hook(
    dir: c_int,
    path: *const c_char,
    argv: Strings,
    envp: Strings,
    flags: c_int,
    pc: u64,
) -> c_int {
    let call = real!(execveat: fn(c_int, *const c_char, Strings, Strings, c_int) -> c_int);
    // SAFETY: the caller's request, unchanged.
    inheriting(pc, || unsafe { call(dir, path, argv, envp, flags) })
}
