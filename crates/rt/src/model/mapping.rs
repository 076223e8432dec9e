//! Mapped memory: what is mapped anew has no past. Safe before init, in a signal handler and after fork.

use super::state::{of, uses, uses_seen};
use super::{hook, signal};
use crate::effect::{Effect, effect, in_free_run};
use crate::engine::{self, ObjectId};
use crate::sys::{c_int, c_void};
use threadbare_abi::op::{OpKind, state};

const FAILED: usize = usize::MAX;

/// `mmap(address, length, protection, flags, descriptor, offset)`.
unsafe extern "C" fn on_mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: i64,
    slot: *const u64,
) -> *mut c_void {
    uses_seen(of(state::MAPPINGS), slot);
    let call = crate::real!(mmap: fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void);
    // SAFETY: libc's own function with the arguments the program gave.
    let at = unsafe { call(address, length, protection, flags, descriptor, offset) };
    if at as usize != FAILED && engine::controlled() {
        effect(Effect::Fresh(length as u64), ObjectId::memory(at as u64), 0);
    } else if at as usize != FAILED {
        in_free_run(Effect::Fresh(length as u64), ObjectId::memory(at as u64), 0);
    }
    at
}

/// `munmap(address, length)`. What an older strand than the run has as its alternate stack stays: the next run begins with it.
unsafe extern "C" fn on_munmap(address: usize, length: usize, slot: *const u64) -> c_int {
    uses_seen(of(state::MAPPINGS), slot);
    if engine::controlled() && signal::was_older_stack(address, length) {
        return 0;
    }
    // SAFETY: libc's own function with the arguments the program gave.
    unsafe { crate::real!(munmap: fn(usize, usize) -> c_int)(address, length) }
}

crate::interpose_slot!(munmap, 2, on_munmap);
crate::interpose6_slot!(mmap, on_mmap);
crate::interpose6_slot!(mmap64, on_mmap);

hook! {
    /// The fifth argument is passed on even when the program gave none.
    mremap / 5 => on_mremap(old: *mut c_void, from: usize, to: usize, flags: c_int, new: *mut c_void; pc) -> *mut c_void {
        uses(OpKind::StateWrite, of(state::MAPPINGS), pc);
        let call = crate::real!(mremap: fn(*mut c_void, usize, usize, c_int, *mut c_void) -> *mut c_void);
        // SAFETY: libc's own function with the arguments the program gave.
        let at = unsafe { call(old, from, to, flags, new) };
        if at as usize != FAILED {
            effect(Effect::Fresh(to as u64), ObjectId::memory(at as u64), 0);
        }
        at
    }
}
