//! Destructors of C++ and Rust thread-locals.
//!
//! libc's own list is used where libc lets us run it (`__call_tls_dtors`): it lives in the strand's thread-local
//! storage, keeps libraries loaded, and `exit` runs the rest of it. Where it does not, the strand has a list here.

use crate::engine;
use crate::sys::real::Entry;
use crate::sys::{c_int, c_void};
use alloc::vec::Vec;

type Destructor = unsafe extern "C" fn(*mut c_void);

/// Destructors registered by a strand, oldest first.
#[derive(Default)]
pub struct PerStrand {
    list: Vec<(Destructor, usize)>,
}

/// libc's function that runs the list of whoever calls it.
fn libc_runs() -> Option<unsafe extern "C" fn()> {
    #[used]
    #[unsafe(link_section = "threadbare_real")]
    static ENTRY: Entry = Entry::new("__call_tls_dtors\0", "GLIBC_PRIVATE\0");
    // SAFETY: the symbol takes and returns nothing.
    ENTRY.get_if_any().map(|found| unsafe { core::mem::transmute::<usize, unsafe extern "C" fn()>(found) })
}

/// Runs the destructors of the strand that ends, the newest first, those registered meanwhile included.
pub fn run_destructors() {
    while let Some((destructor, object)) = engine::strand(engine::me()).model.tls.list.pop() {
        // SAFETY: the program registered it with this argument.
        unsafe { destructor(object as *mut c_void) };
    }
    if let Some(run) = libc_runs() {
        // SAFETY: libc's own function for the thread whose thread pointer is set, the strand's.
        unsafe { run() };
    }
}

/// `__cxa_thread_atexit_impl`. Safe before init (libc's), after fork.
pub unsafe extern "C" fn on_register(
    destructor: Destructor,
    object: *mut c_void,
    library: *mut c_void,
    _pc: u64,
) -> c_int {
    if engine::controlled() {
        engine::event();
        if libc_runs().is_none() {
            engine::strand(engine::me()).model.tls.list.push((destructor, object as usize));
            return 0;
        }
    }
    // SAFETY: libc's own function with the arguments the program gave.
    unsafe {
        crate::real!(__cxa_thread_atexit_impl: fn(Destructor, *mut c_void, *mut c_void) -> c_int)(
            destructor, object, library,
        )
    }
}

crate::interpose!(__cxa_thread_atexit_impl, 3, on_register);
