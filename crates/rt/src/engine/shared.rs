//! The memory file shared with the driver.

use crate::engine::snapshot;
use crate::sys::{nr, syscall3, syscall6};
use threadbare_abi::layout::{self, Area, HEADER};

static mut BASE: usize = 0;
/// Where the part from [`layout::BATCH`] on is.
static mut BATCHES: usize = 0;

/// Far from where the kernel puts what the program maps: how large that part is does not show in the program's addresses.
const FAR: usize = 0x0fff_0000_0000;
/// The end of what lies far away: this, and the keeper's memory.
const FAR_END: usize = 0x2000_0000_0000;

/// Whether a mapping that begins here is none of the program's.
pub fn is_own_mapping(start: usize) -> bool {
    const { assert!(FAR < snapshot::FAR && snapshot::FAR < FAR_END) };
    (FAR..FAR_END).contains(&start)
}

/// A table of the shared file; `None` when there is no driver.
#[inline(always)]
pub fn area<T>(area: Area<T>) -> Option<*mut T> {
    // SAFETY: written once at init.
    let (base, batches) = unsafe { (BASE, BATCHES) };
    match (base, area.offset().checked_sub(layout::BATCH.offset())) {
        (0, _) => None,
        (_, None) => Some((base + area.offset()) as *mut T),
        (_, Some(offset)) => Some((batches + offset) as *mut T),
    }
}

const PROT_RW: usize = 3;
const MAP_SHARED: usize = 1;
const MAP_FIXED: usize = 0x10;

/// Maps the file, and its page of counters over `live_page`; the descriptor is closed. False if it is not ours.
pub fn attach(fd: i32, live_page: usize) -> bool {
    // SAFETY: a new mapping of a descriptor the driver gave us; the fixed one replaces a page made for that.
    unsafe {
        let map = |at: usize, offset: usize, end: usize| {
            syscall6(nr::MMAP, at, end - offset, PROT_RW, MAP_SHARED, fd as usize, offset)
        };
        let (at, batches) =
            (map(0, 0, layout::BATCH.offset()), map(FAR, layout::BATCH.offset(), layout::FILE_SIZE));
        if at < 0 || batches < 0 {
            return false;
        }
        let header = (at as usize + HEADER.offset()) as *const layout::Header;
        let header = &*header;
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
            layout::LIVE.offset(),
        );
        if page < 0 {
            return false;
        }
        (BASE, BATCHES) = (at as usize, batches as usize);
        syscall3(nr::CLOSE, fd as usize, 0, 0);
    }
    true
}

/// Maps another file in place of the one that is mapped; the descriptor is closed. False where that is not possible.
pub fn attach_another(fd: i32, live_page: usize) -> bool {
    // SAFETY: mappings of our own are replaced by ones of the same size.
    unsafe {
        let parts = [
            (BASE, 0, layout::BATCH.offset()),
            (BATCHES, layout::BATCH.offset(), layout::FILE_SIZE - layout::BATCH.offset()),
            (live_page, layout::LIVE.offset(), 4096),
        ];
        let done = parts.into_iter().all(|(at, offset, size)| {
            syscall6(nr::MMAP, at, size, PROT_RW, MAP_SHARED | MAP_FIXED, fd as usize, offset) == at as isize
        });
        syscall3(nr::CLOSE, fd as usize, 0, 0);
        done
    }
}

/// From now on there is no driver.
pub fn detach() {
    // SAFETY: single kernel thread.
    unsafe { BASE = 0 }
}
