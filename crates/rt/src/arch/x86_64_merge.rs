//! Whether code of the program's loads what it stores to (`threadbare_rules::code::merge`).

use threadbare_rules::code::merge;

/// Whether the code at `at` loads a place and then stores to it, before any call or jump.
///
/// # Safety
/// Code of the program's, which goes on behind `at` for as long as instructions do.
pub unsafe fn loads_what_it_stores(at: u64) -> bool {
    // SAFETY: the caller's promise: what is asked for lies in instructions that are known, or begins the next one.
    merge::loads_what_it_stores(at, |at| unsafe { (at as *const u8).read() })
}
