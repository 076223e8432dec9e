//! The guards of C++'s function-local statics, in free runs.
//!
//! The compiler's code looks at a guard itself, which is seen; then libstdc++ may find, out of sight, that another strand has just finished.
//! Under control nobody comes in between. In a free run whoever is told that there is nothing to be done comes after whoever did it.
//! Safe before init, in a signal and after fork, as libstdc++'s own.

use crate::effect::{Effect, in_free_run};
use crate::engine::{ObjectClass, ObjectId};
use crate::sys::c_int;

fn key(guard: *mut u64) -> ObjectId {
    ObjectId::new(ObjectClass::Once, guard as u64)
}

unsafe extern "C" fn acquire(guard: *mut u64, pc: u64) -> c_int {
    // SAFETY: libstdc++'s own function with the guard the program gave.
    let mine = unsafe { real!(__cxa_guard_acquire: fn(*mut u64) -> c_int)(guard) };
    if mine == 0 {
        in_free_run(Effect::After, key(guard), pc);
    }
    mine
}

unsafe extern "C" fn release(guard: *mut u64, pc: u64) {
    in_free_run(Effect::Before, key(guard), pc);
    // SAFETY: as above.
    unsafe { real!(__cxa_guard_release: fn(*mut u64))(guard) }
}

interpose!(__cxa_guard_acquire, 1, acquire);
interpose!(__cxa_guard_release, 1, release);
