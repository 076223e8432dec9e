//! The runtime's functions, if it is there: they are looked up by name, so that nothing has to be linked, and before `main`, so that looking
//! is no step of a strand and orders nothing.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulong, c_void};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

struct Functions {
    choose: Option<unsafe extern "C" fn(c_ulong) -> c_ulong>,
    any: Option<unsafe extern "C" fn(c_uint) -> c_ulong>,
    abandon: Option<unsafe extern "C" fn()>,
    reached: Option<unsafe extern "C" fn(*const c_char)>,
    atomic: Option<unsafe extern "C" fn(c_int)>,
    check: Option<unsafe extern "C" fn(*const c_char) -> c_int>,
    check_over: Option<unsafe extern "C" fn()>,
}

static mut FUNCTIONS: Functions = Functions {
    choose: None,
    any: None,
    abandon: None,
    reached: None,
    atomic: None,
    check: None,
    check_over: None,
};

#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_UP: extern "C" fn() = look_up;

/// The runtime's function of this name.
///
/// # Safety
/// `T` is a pointer to a function, of the type that the runtime's has.
pub(crate) unsafe fn find<T>(name: &CStr) -> Option<T> {
    // SAFETY: asks for a name in the default order; the handle is `RTLD_DEFAULT`.
    let found = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    // SAFETY: as the caller says.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

extern "C" fn look_up() {
    // SAFETY: the loader runs this before `main`, on the only thread.
    unsafe {
        FUNCTIONS = Functions {
            choose: find(c"threadbare_rt_choose"),
            any: find(c"threadbare_rt_any"),
            abandon: find(c"threadbare_rt_abandon"),
            reached: find(c"threadbare_rt_reached"),
            atomic: find(c"threadbare_rt_atomic"),
            check: find(c"threadbare_rt_check"),
            check_over: find(c"threadbare_rt_check_over"),
        }
    }
}

fn functions() -> &'static Functions {
    let functions = &raw const FUNCTIONS;
    // SAFETY: nobody writes it once `main` has begun.
    unsafe { &*functions }
}

pub(crate) fn choose(options: u64) -> u64 {
    // SAFETY: takes and gives a number.
    functions().choose.map_or(0, |choose| unsafe { choose(options) })
}

pub(crate) fn any(bits: u32) -> u64 {
    // SAFETY: takes and gives a number.
    functions().any.map_or(0, |any| unsafe { any(bits) })
}

pub(crate) fn abandon() {
    if let Some(abandon) = functions().abandon {
        // SAFETY: takes nothing; does not come back under control.
        unsafe { abandon() }
    }
}

pub(crate) fn reached(label: &str) {
    if let (Some(reached), Ok(label)) = (functions().reached, CString::new(label)) {
        // SAFETY: a C string, which is read and not kept.
        unsafe { reached(label.as_ptr()) }
    }
}

/// Comes to a check with these options; whether the run begins here.
pub(crate) fn check(options: &CStr) -> bool {
    // SAFETY: a C string, which is read and not kept.
    functions().check.is_some_and(|check| unsafe { check(options.as_ptr()) } != 0)
}

/// The run that began at a check is over.
pub(crate) fn check_over() {
    if let Some(over) = functions().check_over {
        // SAFETY: takes nothing; does not come back under control.
        unsafe { over() }
    }
}

/// While it lives, no other strand goes on.
pub(crate) struct Atomic;

impl Atomic {
    pub(crate) fn begin() -> Atomic {
        set_atomic(1);
        Atomic
    }
}

impl Drop for Atomic {
    fn drop(&mut self) {
        set_atomic(0);
    }
}

fn set_atomic(begins: c_int) {
    if let Some(atomic) = functions().atomic {
        // SAFETY: takes a number.
        unsafe { atomic(begins) }
    }
}
