//! The memory file shared with the driver.

use crate::sys::{nr, syscall3, syscall6};
use threadbare_abi::layout::{self, Header};

static mut BASE: usize = 0;

/// A place in the shared file; `None` when there is no driver.
#[inline(always)]
pub fn area(offset: usize) -> Option<usize> {
    // SAFETY: written once at init.
    let base = unsafe { BASE };
    if base == 0 { None } else { Some(base + offset) }
}

const PROT_RW: usize = 3;
const MAP_SHARED: usize = 1;
const MAP_FIXED: usize = 0x10;

/// Maps the file, and its page of counters over `live_page`; the descriptor is closed. False if it is not ours.
pub fn attach(fd: i32, live_page: usize) -> bool {
    // SAFETY: a new mapping of a descriptor the driver gave us; the fixed one replaces a page made for that.
    unsafe {
        let at = syscall6(nr::MMAP, 0, layout::FILE_SIZE, PROT_RW, MAP_SHARED, fd as usize, 0);
        if at < 0 {
            return false;
        }
        let header = &*(at as *const Header);
        if header.magic != layout::MAGIC || header.version != layout::VERSION {
            return false;
        }
        let page = syscall6(
            nr::MMAP,
            live_page,
            4096,
            PROT_RW,
            MAP_SHARED | MAP_FIXED,
            fd as usize,
            layout::LIVE_OFFSET,
        );
        if page < 0 {
            return false;
        }
        BASE = at as usize;
        syscall3(nr::CLOSE, fd as usize, 0, 0);
    }
    true
}

/// From now on there is no driver.
pub fn detach() {
    // SAFETY: single kernel thread.
    unsafe { BASE = 0 }
}
