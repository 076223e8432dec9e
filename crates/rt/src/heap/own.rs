//! The runtime's own allocator, apart from the program's heap.
//!
//! `alloc` inside the runtime must neither call the interposed `malloc` nor change the addresses the program gets, so
//! it has an arena of its own: a bump pointer and one free list a size class, at a fixed address. Blocks lie close
//! together, because every page touched is copied once a run.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

use super::lock::SpinLock;
use super::map;
use threadbare_rules::sizes;

/// Right behind the program's arena: every region far from the others costs each run page tables of its own.
const ADDRESS: usize = 0x6010_0000_0000;
const SIZES: [usize; 4] = [16 << 30, 4 << 30, 1 << 30, 128 << 20];

/// The global allocator of the runtime.
pub struct Own;

impl Own {
    /// Whole pages of zeroed memory that nobody has touched, close to what else the runtime uses; for good.
    pub fn pages(size: usize) -> Option<usize> {
        let _held = ARENA.lock.hold();
        // SAFETY: the lock is held.
        unsafe { (*ARENA.state.get()).fresh(size.next_multiple_of(map::PAGE), map::PAGE) }
    }
}

struct State {
    next: usize,
    end: usize,
    free: [usize; sizes::COUNT],
}

struct Arena {
    lock: SpinLock,
    state: UnsafeCell<State>,
}

// SAFETY: `state` is only touched under `lock`.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena {
    lock: SpinLock::new(),
    state: UnsafeCell::new(State { next: 0, end: 0, free: [0; sizes::COUNT] }),
};

impl State {
    fn take(&mut self, size: usize, align: usize) -> *mut u8 {
        let (index, size) = sizes::of(size);
        let mut link = &raw mut self.free[index];
        // A few blocks are looked at, because only wide alignments can refuse one.
        for _ in 0..8 {
            // SAFETY: the list head is ours, and each free block's first word is the link to the next.
            let block = unsafe { *link };
            if block == 0 {
                break;
            }
            if block.is_multiple_of(align) {
                // SAFETY: `block` is free and at least 16 bytes long.
                unsafe { *link = *(block as *const usize) };
                return block as *mut u8;
            }
            link = block as *mut usize;
        }
        self.fresh(size, align).map_or(null_mut(), |start| start as *mut u8)
    }

    /// Memory that nobody has touched.
    fn fresh(&mut self, size: usize, align: usize) -> Option<usize> {
        if self.next == 0 {
            let (base, length) = map::reserve(ADDRESS, &SIZES)?;
            self.next = base;
            self.end = base + length;
        }
        let start = self.next.next_multiple_of(align);
        let after = start.checked_add(size).filter(|&after| after <= self.end)?;
        self.next = after;
        Some(start)
    }
}

// SAFETY: blocks come from a private mapping, do not overlap, and have the size and alignment asked for.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _held = ARENA.lock.hold();
        // SAFETY: the lock is held.
        unsafe { (*ARENA.state.get()).take(layout.size().max(sizes::SMALLEST), layout.align().max(16)) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (index, _) = sizes::of(layout.size().max(sizes::SMALLEST));
        let _held = ARENA.lock.hold();
        // SAFETY: the lock is held; the block is the caller's no more and at least 16 bytes long.
        unsafe {
            let state = ARENA.state.get();
            *block.cast::<usize>() = (*state).free[index];
            (*state).free[index] = block as usize;
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let old = sizes::of(layout.size().max(sizes::SMALLEST));
        if sizes::of(size.max(sizes::SMALLEST)) == old {
            return block;
        }
        // SAFETY: the caller's layout with another size; both blocks hold the bytes copied.
        unsafe {
            let other = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !other.is_null() {
                core::ptr::copy_nonoverlapping(block, other, layout.size().min(size));
                self.dealloc(block, layout);
            }
            other
        }
    }
}
