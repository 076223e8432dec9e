//! Says before `main` that the program has a check somewhere. A module of its own: it is linked where a check is.

use super::runtime;

/// Whoever checks refers to it.
#[unsafe(link_section = ".init_array")]
pub(crate) static ANNOUNCE: extern "C" fn() = announce;

extern "C" fn announce() {
    // SAFETY: the runtime's function takes nothing and gives nothing.
    unsafe {
        if let Some(has_check) = runtime::find::<unsafe extern "C" fn()>(c"threadbare_rt_has_check") {
            has_check();
        }
    }
}
