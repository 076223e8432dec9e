//! Starting other programs. Safe before init and after fork.

use super::{started, wait4};
use crate::engine;
use crate::model::kernel::error::EINTR;
use crate::model::signal;
use crate::sys::{c_char, c_int, c_void, pid_t};

unsafe extern "C" {
    static environ: *const *const c_char;
}

type Spawn = unsafe extern "C" fn(
    *mut pid_t,
    *const c_char,
    *const c_void,
    *const c_void,
    *const *const c_char,
    *const *const c_char,
) -> c_int;

/// What a shell that cannot be started would have exited with.
const NOT_FOUND: c_int = 127 << 8;

interpose6!(posix_spawn, posix_spawn_hook);
interpose6!(posix_spawnp, posix_spawnp_hook);
interpose!(system, 1, system_hook);

unsafe fn spawn(
    call: Spawn,
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    let mut child: pid_t = 0;
    // SAFETY: the caller's request; the new program inherits the strand's mask.
    let error = unsafe { signal::with_mask(|| call(&mut child, path, actions, attributes, argv, envp)) };
    if error == 0 {
        if !pid.is_null() {
            // SAFETY: the caller's out pointer.
            unsafe { *pid = child };
        }
        if engine::controlled() {
            started(child);
        }
    }
    error
}

unsafe extern "C" fn posix_spawn_hook(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    argv: *const *const c_char,
    envp: *const *const c_char,
    _pc: u64,
) -> c_int {
    let call: Spawn = real!(
        posix_spawn: fn(*mut pid_t, *const c_char, *const c_void, *const c_void, *const *const c_char, *const *const c_char) -> c_int
    );
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(pid, path, actions, attributes, argv, envp) };
    }
    engine::event();
    // SAFETY: as above.
    unsafe { spawn(call, pid, path, actions, attributes, argv, envp) }
}

unsafe extern "C" fn posix_spawnp_hook(
    pid: *mut pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    argv: *const *const c_char,
    envp: *const *const c_char,
    _pc: u64,
) -> c_int {
    let call: Spawn = real!(
        posix_spawnp: fn(*mut pid_t, *const c_char, *const c_void, *const c_void, *const *const c_char, *const *const c_char) -> c_int
    );
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(pid, file, actions, attributes, argv, envp) };
    }
    engine::event();
    // SAFETY: as above.
    unsafe { spawn(call, pid, file, actions, attributes, argv, envp) }
}

/// Other strands go on while the shell runs.
unsafe extern "C" fn system_hook(command: *const c_char, pc: u64) -> c_int {
    if !engine::controlled() || command.is_null() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(system: fn(*const c_char) -> c_int)(command) };
    }
    let argv = [c"sh".as_ptr(), c"-c".as_ptr(), command, core::ptr::null()];
    let mut pid: pid_t = 0;
    let none = core::ptr::null();
    // SAFETY: a shell with the caller's command.
    let error =
        unsafe { posix_spawn_hook(&mut pid, c"/bin/sh".as_ptr(), none, none, argv.as_ptr(), environ, pc) };
    if error != 0 {
        return NOT_FOUND;
    }
    let mut status = 0;
    loop {
        let got = wait4(pid, &mut status, 0, core::ptr::null_mut(), pc);
        if got != -(EINTR as isize) {
            return if got < 0 { crate::sys::fail(-got as c_int) } else { status };
        }
    }
}
