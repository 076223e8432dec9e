//! Loading libraries while strands run.
//!
//! The loader holds a lock of its own while constructors and destructors run: the strand is not preempted meanwhile.

mod runpath;

use super::hook;
use crate::effect::{Effect, effect, here, in_free_run};
use crate::engine::{self, ObjectId, modules};
use crate::sys::{c_char, c_int, c_long, c_void};

fn loading<T>(load: impl FnOnce() -> T) -> T {
    engine::pin();
    effect(Effect::After, ObjectId::LOADER, here());
    let loaded = load();
    effect(Effect::Before, ObjectId::LOADER, here());
    modules::refresh();
    engine::unpin();
    loaded
}

/// The same of a free run.
fn loading_free<T>(_arguments: &[usize], pc: u64, load: impl FnOnce() -> T) -> T {
    in_free_run(Effect::After, ObjectId::LOADER, pc);
    let loaded = load();
    in_free_run(Effect::Before, ObjectId::LOADER, pc);
    // What others have loaded meanwhile is there, too.
    in_free_run(Effect::After, ObjectId::LOADER, pc);
    loaded
}

hook! {
    /// Not safe in a signal; before init and after fork libc's.
    dlopen / 2 around loading_free => on_dlopen(path: *const c_char, flags: c_int; pc) -> *mut c_void {
        engine::event();
        // SAFETY: the program's own C string.
        let found = unsafe { runpath::find(path, pc) };
        let path = found.as_ref().map_or(path, |file| file.as_ptr().cast());
        // SAFETY: libc's own function with the program's arguments.
        loading(|| unsafe { real!(dlopen: fn(*const c_char, c_int) -> *mut c_void)(path, flags) })
    }
}

hook! {
    /// As `dlopen`.
    dlmopen / 3 around loading_free => on_dlmopen(space: c_long, path: *const c_char, flags: c_int; pc) -> *mut c_void {
        engine::event();
        engine::warn_once("dlmopen: a library in a namespace of its own is not controlled", pc);
        // SAFETY: libc's own function with the program's arguments.
        loading(|| unsafe { real!(dlmopen: fn(c_long, *const c_char, c_int) -> *mut c_void)(space, path, flags) })
    }
}

hook! {
    /// As `dlopen`.
    dlclose / 1 around loading_free => on_dlclose(library: *mut c_void; _pc) -> c_int {
        engine::event();
        // SAFETY: libc's own function with the program's argument.
        loading(|| unsafe { real!(dlclose: fn(*mut c_void) -> c_int)(library) })
    }
}
