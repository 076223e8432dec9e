//! Where the cells lie: four words for each 8 bytes, at an address that follows from theirs.
//!
//! Addresses are folded to 40 bits (`rules::cells`), and the cells of all of them are reserved at once; memory is used where
//! cells are written. Beside them is a word for each 64 bytes: the objects of synchronisation there (`objects`).
//!
//! In front of every heap block libc keeps 8 bytes of its own, which no program touches: the cells of these tell what block it is.

use super::objects::{self, Object};
use crate::engine::{memory, modules};
use crate::sys::{c_int, c_void, nr, syscall3, syscall6};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use threadbare_rules::cells::{CELLS, FOLDED_BITS, has_cells};

/// Where the cells begin. The hooks read it.
pub static mut BASE: usize = 0;
static mut LINES: usize = 0;

/// Bytes of cells for each byte.
pub const SCALE: u32 = 2;
const SIZE: usize = 1 << (FOLDED_BITS + SCALE);
const FOLD: usize = (1 << FOLDED_BITS) - 1;
const LINE_SHIFT: u32 = 6;
const LINES_SIZE: usize = 8 << (FOLDED_BITS - LINE_SHIFT);
/// Far from what the program maps.
const ADDRESSES: [usize; 3] = [0x1000_0000_0000, 0x2000_0000_0000, 0x3000_0000_0000];

const _: () = assert!(CELLS * 8 == 8 << SCALE);

fn map(at: usize, size: usize) -> isize {
    const PROT_RW: usize = 3;
    // Private, anonymous, no reserve, and nothing that is there.
    const FLAGS: usize = 2 | 0x20 | 0x4000 | 0x10_0000;
    // SAFETY: a new anonymous mapping where none is.
    unsafe { syscall6(nr::MMAP, at, size, PROT_RW, FLAGS, usize::MAX, 0) }
}

/// Reserves all cells; false if there is no room for them.
pub fn reserve() -> bool {
    let found = ADDRESSES.iter().find(|&&at| map(at, SIZE) == at as isize);
    let Some(&base) = found else { return false };
    // SAFETY: before the second strand.
    unsafe {
        (BASE, LINES) = (base, memory::reserve_apart(LINES_SIZE));
    }
    true
}

/// The cells of the 8 bytes at an address.
#[inline(always)]
pub fn cells(addr: u64) -> &'static [AtomicU64; CELLS] {
    // SAFETY: all folded addresses have theirs in what is reserved.
    unsafe { &*((BASE + ((addr as usize & FOLD & !7) << SCALE)) as *const [AtomicU64; CELLS]) }
}

/// The first object of the 64 bytes at an address.
#[inline(always)]
pub fn line(addr: u64) -> &'static AtomicPtr<Object> {
    // SAFETY: as above.
    unsafe { &*((LINES + ((addr as usize & FOLD) >> LINE_SHIFT << 3)) as *const AtomicPtr<Object>) }
}

/// What is larger is given back to the kernel, and not overwritten.
const LARGE: usize = 1 << 18;
const PAGE: usize = 4096;

fn discard(from: usize, to: usize) {
    const MADV_DONTNEED: usize = 4;
    if from < to {
        // SAFETY: whole pages of our own reservation, which are zero from then on.
        unsafe { syscall3(nr::MADVISE, from, to - from, MADV_DONTNEED) };
    }
}

/// Nothing is known of these bytes any more.
pub fn forget(addr: u64, size: u64) {
    if size == 0 || !has_cells(addr) || !has_cells(addr + size - 1) {
        return;
    }
    forget_objects(addr, addr + size);
    let (first, last) = (cells(addr).as_ptr() as usize, cells(addr + size - 1).as_ptr() as usize);
    let end = last + CELLS * 8;
    if end - first >= LARGE {
        let (inner, outer) = (first.next_multiple_of(PAGE), end & !(PAGE - 1));
        discard(inner, outer);
        clear(first, inner);
        clear(outer, end);
    } else {
        clear(first, end);
    }
}

/// The words of objects of a large range are given back, too; the objects themselves are lost then.
fn forget_objects(from: u64, to: u64) {
    const LINES_OF_PAGE: u64 = (PAGE as u64 / 8) << LINE_SHIFT;
    let (inner, outer) = (from.next_multiple_of(LINES_OF_PAGE), to & !(LINES_OF_PAGE - 1));
    if to - from < LARGE as u64 || inner >= outer {
        return objects::forget(from, to - from);
    }
    let place = |addr: u64| core::ptr::from_ref(line(addr)) as usize;
    let start = place(inner);
    discard(start, start + ((outer - inner) >> LINE_SHIFT << 3) as usize);
    objects::forget(from, inner - from);
    objects::forget(outer, to - outer);
}

fn clear(from: usize, to: usize) {
    let mut at = from;
    while at < to {
        // SAFETY: cells lie there.
        unsafe { (*(at as *const AtomicU64)).store(0, Ordering::Relaxed) };
        at += 8;
    }
}

/// Nothing is known of any memory.
pub fn forget_all() {
    // SAFETY: set before the second strand.
    let base = unsafe { BASE };
    discard(base, base + SIZE);
}

/// Nothing is known of the running thread's stack, its thread-local storage included.
pub fn forget_own_stack() {
    #[repr(C, align(16))]
    struct Attributes([u8; 64]);
    let mut attributes = Attributes([0; 64]);
    let (mut start, mut size) = (0usize, 0usize);
    let thread = crate::arch::thread_pointer();
    let to = (&raw mut attributes).cast::<c_void>();
    // SAFETY: libc's own functions; a `pthread_attr_t` has 56 bytes.
    unsafe {
        if real!(pthread_getattr_np: fn(usize, *mut c_void) -> c_int)(thread, to) != 0 {
            return;
        }
        real!(pthread_attr_getstack: fn(*const c_void, *mut usize, *mut usize) -> c_int)(
            to, &mut start, &mut size,
        );
        real!(pthread_attr_destroy: fn(*mut c_void) -> c_int)(to);
    }
    if start != 0 && size != 0 {
        forget(start as u64, size as u64);
    }
}

/// A heap block, as its cells tell.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub user: u64,
    pub size: u64,
    /// Where it was freed, 0 if it is not.
    pub freed_at: u64,
}

/// Behind the size, so that a cell of a block has no bytes.
const SIZE_SHIFT: u32 = 8;
/// Words, and pages, that are searched for the beginning of a block. Large ones begin right behind the beginning of a page.
const WORDS: u64 = 1 << 16;
const PAGES: u64 = 1 << 14;
const LARGE_FROM: u64 = 16;

/// A block is allocated.
pub fn allocated(user: u64, size: u64) {
    forget(user, size.max(1));
    if user != 0 && has_cells(user) {
        let [first, second, ..] = cells(user - 8);
        first.store((size + 1) << SIZE_SHIFT, Ordering::Relaxed);
        second.store(0, Ordering::Relaxed);
    }
}

/// A block that begins here; `None` for one that was allocated before.
pub fn block_at(user: u64) -> Option<Block> {
    if user == 0 || !has_cells(user) {
        return None;
    }
    let [first, second, ..] = cells(user - 8);
    let word = first.load(Ordering::Relaxed);
    let is_block = word != 0 && word & ((1 << SIZE_SHIFT) - 1) == 0;
    let size = (word >> SIZE_SHIFT).wrapping_sub(1);
    is_block.then(|| Block { user, size, freed_at: second.load(Ordering::Relaxed) })
}

/// A block is freed.
pub fn freed(user: u64, pc: u64) {
    if has_cells(user) {
        cells(user - 8)[1].store(pc, Ordering::Relaxed);
    }
}

/// The block in which an address lies.
pub fn find(addr: u64) -> Option<Block> {
    if modules::variables().iter().any(|&(start, size)| addr.wrapping_sub(start) < size) {
        return None;
    }
    let page = addr & !(PAGE as u64 - 1);
    let words = (0..WORDS).map(|step| (addr & !7).wrapping_sub(step * 8));
    let pages = (0..PAGES).map(|step| page.wrapping_sub(step * PAGE as u64) + LARGE_FROM);
    let holds = |block: &Block| addr.wrapping_sub(block.user) < block.size;
    let near = words.map_while(|user| has_cells(user.wrapping_sub(8)).then_some(user)).find_map(block_at);
    near.filter(holds).or_else(|| {
        pages
            .map_while(|user| has_cells(user.wrapping_sub(8)).then_some(user))
            .filter_map(block_at)
            .find(holds)
    })
}
