//! Address space for arenas: reserved at a fixed place, paid for page by page.

use crate::sys::{nr, syscall3, syscall6};

const PROT_READ_WRITE: usize = 3;
const MAP_PRIVATE: usize = 0x02;
const MAP_ANONYMOUS: usize = 0x20;
const MAP_NORESERVE: usize = 0x4000;
const MAP_FIXED_NOREPLACE: usize = 0x10_0000;
const MADV_DONTNEED: usize = 4;

/// The distance between the places tried.
const STRIDE: usize = 0x40_0000_0000;

/// The size of a page.
pub const PAGE: usize = 4096;

/// Reserves zeroed memory at `address` or, when that place is taken, at one of the next; as many bytes as the limits
/// of the process allow, trying `sizes` in order. Returns base and length.
pub fn reserve(address: usize, sizes: &[usize]) -> Option<(usize, usize)> {
    for &length in sizes {
        for attempt in 0..8 {
            let wish = address + attempt * STRIDE;
            if let Some(base) = try_map(wish, length, MAP_FIXED_NOREPLACE) {
                // Kernels before 4.17 take the address for a hint.
                if base == wish {
                    return Some((base, length));
                }
                // SAFETY: just mapped, and nobody knows of it.
                unsafe { syscall3(nr::MUNMAP, base, length, 0) };
            }
        }
    }
    sizes.iter().find_map(|&length| try_map(0, length, 0).map(|base| (base, length)))
}

fn try_map(wish: usize, length: usize, flags: usize) -> Option<usize> {
    let flags = flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: a new mapping that replaces none.
    let base = unsafe { syscall6(nr::MMAP, wish, length, PROT_READ_WRITE, flags, usize::MAX, 0) };
    (base > 0).then_some(base as usize)
}

/// Gives whole pages back; they read as zero afterwards.
///
/// # Safety
/// Nobody needs what is in `start..start + length`, which lies in a mapping of [`reserve`].
pub unsafe fn discard(start: usize, length: usize) {
    crate::engine::snapshot::dropped(start, length);
    // SAFETY: passed on.
    unsafe { syscall3(nr::MADVISE, start, length, MADV_DONTNEED) };
}
