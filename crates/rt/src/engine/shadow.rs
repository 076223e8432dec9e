//! What is known of every 8 bytes of the program's memory that strands have touched: one [`Cell`].

use super::{memory, recorded, touched};
use crate::sys::{nr, syscall3};
use threadbare_rules::plain::Marks;

const LEAF_BITS: u32 = 21;
const LEAF_CELLS: usize = 1 << (LEAF_BITS - 3);
const LEAVES: usize = 4096;
/// Slots of the table while there are few leaves: one page.
const FEW_SLOTS: usize = 256;
/// Shadow bytes from which on they are given back to the kernel instead of being overwritten.
const DISCARD: usize = 256 << 10;

/// The shadow of 8 bytes.
#[repr(C)]
pub struct Cell {
    /// Who touched them: see `touched`.
    pub touch: u64,
    /// Plain accesses, for `race`.
    pub marks: Marks,
}

#[derive(Clone, Copy)]
struct Leaf {
    key: u64,
    cells: *mut Cell,
}

/// Leaves by key, open addressing, at most half full.
static mut TABLE: (*mut Leaf, usize) = (core::ptr::null_mut(), 0);
/// Leaves that were lately used, each at its place.
const NEAR: usize = 16;
static mut LATELY: [Leaf; NEAR] = [Leaf { key: 0, cells: core::ptr::null_mut() }; NEAR];
static mut POOL: usize = 0;
static mut POOL_LEFT: usize = 0;

/// Reserves shadow memory in the fork server, so that the children need no system call for it.
pub fn init() {
    // SAFETY: once, single kernel thread.
    unsafe {
        TABLE = (memory::reserve(FEW_SLOTS * size_of::<Leaf>()) as *mut Leaf, FEW_SLOTS);
        POOL = memory::reserve(LEAVES * LEAF_CELLS * size_of::<Cell>());
        POOL_LEFT = LEAVES;
    }
}

/// The cell of an address.
#[inline(always)]
pub fn cell(addr: u64) -> *mut Cell {
    near(addr).unwrap_or_else(|| far(addr))
}

/// The same if its leaf was used lately.
#[inline(always)]
pub fn near(addr: u64) -> Option<*mut Cell> {
    let key = (addr >> LEAF_BITS) + 1;
    // SAFETY: single kernel thread; a leaf has LEAF_CELLS cells.
    unsafe {
        let leaf = &raw const LATELY[key as usize % NEAR];
        let cells = (*leaf).cells;
        ((*leaf).key == key).then(|| cells.add((addr >> 3) as usize & (LEAF_CELLS - 1)))
    }
}

#[inline(never)]
fn far(addr: u64) -> *mut Cell {
    let key = (addr >> LEAF_BITS) + 1;
    let leaf = find_leaf(key);
    // SAFETY: as above.
    unsafe {
        LATELY[key as usize % NEAR] = leaf;
        leaf.cells.add((addr >> 3) as usize & (LEAF_CELLS - 1))
    }
}

#[inline(never)]
fn find_leaf(key: u64) -> Leaf {
    // SAFETY: single kernel thread; indices are below the table's size.
    unsafe {
        let at = leaf_slot(key);
        if (*at).key == key {
            return *at;
        }
        if POOL_LEFT <= 1 {
            // A run that touches 8 GiB of shared memory has no shadow for the rest: the last leaf is everybody's.
            FULL = true;
            return Leaf { key, cells: POOL as *mut Cell };
        }
        let made = Leaf { key, cells: POOL as *mut Cell };
        POOL += LEAF_CELLS * size_of::<Cell>();
        POOL_LEFT -= 1;
        at.write(made);
        if (LEAVES - POOL_LEFT) * 2 >= TABLE.1 {
            grow_table();
        }
        made
    }
}

static mut FULL: bool = false;

/// Whether cells may belong to several addresses: they say nothing about races then.
#[inline]
pub fn is_full() -> bool {
    // SAFETY: single kernel thread.
    unsafe { FULL }
}

/// The slot of a key, or the free one where it belongs.
unsafe fn leaf_slot(key: u64) -> *mut Leaf {
    // SAFETY: the table has a free slot, and its size is a power of two.
    unsafe {
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize & (TABLE.1 - 1);
        while (*TABLE.0.add(at)).key != key && (*TABLE.0.add(at)).key != 0 {
            at = (at + 1) & (TABLE.1 - 1);
        }
        TABLE.0.add(at)
    }
}

#[cold]
fn grow_table() {
    // SAFETY: the new table is twice as large and empty; the old one is left behind, there are few.
    unsafe {
        let (old, slots) = TABLE;
        TABLE = (memory::reserve(2 * slots * size_of::<Leaf>()) as *mut Leaf, 2 * slots);
        for index in 0..slots {
            let leaf = *old.add(index);
            if leaf.key != 0 {
                leaf_slot(leaf.key).write(leaf);
            }
        }
    }
}

/// Calls `visit` with the cells of a range that there are; those of memory that nobody has touched are left out.
pub fn each(addr: u64, size: u64, mut visit: impl FnMut(&mut Cell)) {
    // SAFETY: single kernel thread; a leaf has LEAF_CELLS cells, and no reference outlives a call.
    unsafe {
        if TABLE.0.is_null() || FULL || size == 0 {
            return;
        }
        let end = addr.saturating_add(size);
        let mut at = addr & !7;
        while at < end {
            let key = (at >> LEAF_BITS) + 1;
            let stop = end.min(key << LEAF_BITS);
            let leaf = *leaf_slot(key);
            if leaf.key == key {
                let first = (at >> 3) as usize & (LEAF_CELLS - 1);
                for index in 0..((stop - at) as usize).div_ceil(8) {
                    visit(&mut *leaf.cells.add(first + index));
                }
            }
            at = stop;
        }
    }
}

/// Nothing is known of this memory any more: it was allocated or mapped, or is another strand's stack now.
pub fn forget(addr: u64, size: u64) {
    if recorded::is_on() {
        recorded::forgotten(addr, size);
    }
    // SAFETY: single kernel thread; the table is there once `init` ran.
    unsafe {
        if TABLE.0.is_null() || FULL || size == 0 {
            return;
        }
        let end = addr.saturating_add(size);
        let mut at = addr & !7;
        while at < end {
            let key = (at >> LEAF_BITS) + 1;
            let stop = end.min(key << LEAF_BITS);
            let leaf = *leaf_slot(key);
            if leaf.key == key {
                let first = (at >> 3) as usize & (LEAF_CELLS - 1);
                let count = ((stop - at) as usize).div_ceil(8);
                clear(leaf.cells.add(first), count);
            }
            at = stop;
        }
    }
}

unsafe fn clear(cells: *mut Cell, count: usize) {
    const PAGE: usize = 4096;
    const MADV_DONTNEED: usize = 4;
    let (start, end) = (cells as usize, cells as usize + count * size_of::<Cell>());
    // SAFETY: the caller's cells, which nobody refers to; whole pages of private anonymous memory become zero.
    unsafe {
        if end - start < DISCARD {
            touched::forget(core::slice::from_raw_parts(cells, count));
            core::ptr::write_bytes(cells, 0, count);
            return;
        }
        let (low, high) = (start.next_multiple_of(PAGE), end & !(PAGE - 1));
        core::ptr::write_bytes(start as *mut u8, 0, low - start);
        core::ptr::write_bytes(high as *mut u8, 0, end - high);
        super::snapshot::dropped(low, high - low);
        syscall3(nr::MADVISE, low, high - low, MADV_DONTNEED);
    }
}
