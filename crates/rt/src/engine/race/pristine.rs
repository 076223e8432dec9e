//! Whether a word still has the value it had when the run began.
//!
//! Nothing unseen has written such a word (or it wrote the old value back), so that the first look at it orders nothing.

use super::super::memory;
use super::super::modules;

struct Copy {
    from: u64,
    size: u64,
    at: *const u8,
}

static mut COPIES: [Copy; MOST] = [const { Copy { from: 0, size: 0, at: core::ptr::null() } }; MOST];
static mut USED: usize = 0;
const MOST: usize = 16;
/// Larger data is not copied: reading it would cost more than what it tells.
const LARGEST: u64 = 4 << 20;

/// Copies the modules' variables. In the fork server, where runs begin.
pub fn keep() {
    // SAFETY: single kernel thread.
    unsafe { USED = 0 }
    for &(start, size) in modules::variables() {
        // SAFETY: single kernel thread; the modules' writable segments are mapped.
        unsafe {
            if USED == MOST || size == 0 || size > LARGEST {
                continue;
            }
            let at = memory::reserve(size as usize) as *mut u8;
            core::ptr::copy_nonoverlapping(start as *const u8, at, size as usize);
            COPIES[USED] = Copy { from: start, size, at };
            USED += 1;
        }
    }
}

/// Whether the word has the value it began with.
pub fn unchanged(addr: u64, size: u8, value: u64) -> bool {
    // SAFETY: single kernel thread; the copies are as long as they say.
    unsafe {
        let copies = &*(&raw const COPIES);
        for copy in &copies[..USED] {
            let offset = addr.wrapping_sub(copy.from);
            if offset < copy.size && offset + size as u64 <= copy.size {
                let at = copy.at.add(offset as usize);
                let old = match size {
                    1 => at.read() as u64,
                    2 => at.cast::<u16>().read_unaligned() as u64,
                    4 => at.cast::<u32>().read_unaligned() as u64,
                    _ => at.cast::<u64>().read_unaligned(),
                };
                return old == value;
            }
        }
    }
    false
}
