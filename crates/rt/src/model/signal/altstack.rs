//! `sigaltstack`: each strand's own is remembered; the kernel keeps ours. Safe before init and after fork.

use super::own;
use crate::engine;
use crate::model::single::Single;
use crate::sys::errno::{EINVAL, ENOMEM, EPERM};
use crate::sys::{c_int, fail};

const SS_ONSTACK: c_int = 1;
const SS_DISABLE: c_int = 2;
const SS_AUTODISARM: c_int = i32::MIN;
const MINSIGSTKSZ: usize = 2048;

/// `stack_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    base: usize,
    flags: c_int,
    size: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Stack { base: 0, flags: SS_DISABLE, size: 0 }
    }
}

impl Stack {
    /// Its highest address, if it is to be used by code that runs at `sp` now.
    pub fn top(&self, sp: usize) -> Option<usize> {
        (self.flags & SS_DISABLE == 0 && !self.holds(sp)).then_some(self.base + self.size)
    }

    fn holds(&self, sp: usize) -> bool {
        sp.wrapping_sub(self.base) <= self.size && self.size != 0
    }
}

/// The last one that was given up.
static LEFT: Single<Stack> = Single::new(Stack { base: 0, flags: SS_DISABLE, size: 0 });

/// Whether this is memory of the alternate stack that the running strand has just given up, and the strand is older than the run.
pub fn was_older_stack(address: usize, length: usize) -> bool {
    let left = LEFT.get();
    left.size != 0
        && engine::scout::is_older(engine::me())
        && address <= left.base
        && left.base + left.size <= address + length
}

interpose!(sigaltstack, 2, sigaltstack_hook);

unsafe extern "C" fn sigaltstack_hook(new: *const Stack, old: *mut Stack, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigaltstack: fn(*const Stack, *mut Stack) -> c_int)(new, old) };
    }
    // SAFETY: the caller's pointers.
    match unsafe { change(new, old) } {
        0 => 0,
        error => fail(error),
    }
}

/// `sigaltstack` under control; 0 or an errno.
///
/// # Safety
/// The pointers are null or as the call wants them.
pub unsafe fn change(new: *const Stack, old: *mut Stack) -> c_int {
    engine::event();
    let here = 0u8;
    let mine = &mut own(engine::me()).altstack;
    let on_it = mine.holds(&raw const here as usize);
    let before = Stack { flags: if on_it { SS_ONSTACK } else { mine.flags & SS_DISABLE }, ..*mine };
    if !new.is_null() {
        // SAFETY: the caller's pointer.
        let wish = unsafe { *new };
        if on_it {
            return EPERM;
        }
        if wish.flags & SS_DISABLE != 0 {
            *LEFT.get() = *mine;
            *mine = Stack::default();
        } else if wish.flags & !(SS_ONSTACK | SS_AUTODISARM) != 0 {
            return EINVAL;
        } else if wish.size < MINSIGSTKSZ {
            return ENOMEM;
        } else {
            *mine = Stack { flags: 0, ..wish };
        }
    }
    if !old.is_null() {
        // SAFETY: the caller's out pointer.
        unsafe { old.write(before) };
    }
    0
}
