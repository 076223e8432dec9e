//! Each strand's mask. Safe before init and after fork; a handler may call these.

use super::{Set, UNBLOCKABLE, bit, kernel, own, prune, queue, valid};
use crate::engine;
use crate::sys::errno::EINVAL;
use crate::sys::{c_int, fail};

pub const BLOCK: c_int = 0;
pub const UNBLOCK: c_int = 1;
pub const SETMASK: c_int = 2;

interpose!(pthread_sigmask, 3, pthread_sigmask_hook);
interpose!(sigprocmask, 3, sigprocmask_hook);
interpose!(sigpending, 1, sigpending_hook);
interpose!(sigblock, 1, sigblock_hook);
interpose!(sigsetmask, 1, sigsetmask_hook);
interpose!(sighold, 1, sighold_hook);
interpose!(sigrelse, 1, sigrelse_hook);

/// Sets the running strand's mask and tells the old one. Signals that are pending stay so.
pub fn swap(mask: Set) -> Set {
    prune();
    let mask = mask & !UNBLOCKABLE;
    let old = core::mem::replace(&mut own(engine::me()).mask, mask);
    if mask & !old != 0 {
        kernel::catch_all(mask & !old);
    }
    old
}

/// Changes the running strand's mask and runs what is no longer blocked; tells the old mask, or `None` if `how` is
/// not known.
pub fn change(how: c_int, set: Set) -> Option<Set> {
    prune();
    let mask = own(engine::me()).mask;
    let new = match how {
        BLOCK => mask | set,
        UNBLOCK => mask & !set,
        SETMASK => set,
        _ => return None,
    };
    let old = swap(new);
    if old & !new != 0 {
        queue::route();
        queue::deliver();
    }
    Some(old)
}

/// The two calls that differ in how they tell an error; 0 or an errno.
///
/// # Safety
/// The pointers are null or as `sigprocmask` wants them.
pub unsafe fn sigmask(how: c_int, new: *const Set, old: *mut Set) -> c_int {
    engine::event();
    prune();
    let before = own(engine::me()).mask;
    if !new.is_null() {
        // SAFETY: the caller's pointer to a set, of which the first word is used.
        if change(how, unsafe { *new }).is_none() {
            return EINVAL;
        }
    }
    if !old.is_null() {
        // SAFETY: the caller's out pointer to a `sigset_t` of 128 bytes, of which glibc writes eight.
        unsafe { *old = before };
    }
    0
}

unsafe extern "C" fn pthread_sigmask_hook(how: c_int, new: *const Set, old: *mut Set, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(pthread_sigmask: fn(c_int, *const Set, *mut Set) -> c_int)(how, new, old) };
    }
    // SAFETY: the caller's pointers.
    unsafe { sigmask(how, new, old) }
}

unsafe extern "C" fn sigprocmask_hook(how: c_int, new: *const Set, old: *mut Set, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigprocmask: fn(c_int, *const Set, *mut Set) -> c_int)(how, new, old) };
    }
    // SAFETY: the caller's pointers.
    match unsafe { sigmask(how, new, old) } {
        0 => 0,
        error => fail(error),
    }
}

unsafe extern "C" fn sigpending_hook(out: *mut Set, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigpending: fn(*mut Set) -> c_int)(out) };
    }
    engine::event();
    // SAFETY: the caller's out pointer.
    unsafe { *out = queue::pending() };
    0
}

unsafe extern "C" fn sigblock_hook(set: c_int, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigblock: fn(c_int) -> c_int)(set) };
    }
    engine::event();
    change(BLOCK, set as u32 as Set).unwrap_or(0) as c_int
}

unsafe extern "C" fn sigsetmask_hook(set: c_int, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigsetmask: fn(c_int) -> c_int)(set) };
    }
    engine::event();
    change(SETMASK, set as u32 as Set).unwrap_or(0) as c_int
}

fn hold(signal: c_int, how: c_int) -> c_int {
    engine::event();
    if !valid(signal) {
        return fail(EINVAL);
    }
    change(how, bit(signal));
    0
}

unsafe extern "C" fn sighold_hook(signal: c_int, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sighold: fn(c_int) -> c_int)(signal) };
    }
    hold(signal, BLOCK)
}

unsafe extern "C" fn sigrelse_hook(signal: c_int, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigrelse: fn(c_int) -> c_int)(signal) };
    }
    hold(signal, UNBLOCK)
}
