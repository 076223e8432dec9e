//! Address space of the runtime's own.

use crate::sys::{nr, syscall6};

const PROT_RW: usize = 3;
const MAP_PRIVATE: usize = 2;
const MAP_ANONYMOUS: usize = 0x20;
const MAP_NORESERVE: usize = 0x4000;

/// What is smaller lies with the runtime's other data: a region of its own would cost every run page tables of its own.
const FAR: usize = 1 << 20;

/// Zeroed address space that costs memory only where it is touched; ends the run if there is none.
pub fn reserve(size: usize) -> usize {
    if size <= FAR
        && let Some(at) = crate::heap::own::Own::pages(size)
    {
        return at;
    }
    reserve_apart(size)
}

/// The same, as a mapping of its own that can be given back.
pub fn reserve_apart(size: usize) -> usize {
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let at = unsafe {
        syscall6(nr::MMAP, 0, size, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, usize::MAX, 0)
    };
    if at < 0 {
        super::fatal("no address space left for the runtime");
    }
    at as usize
}
