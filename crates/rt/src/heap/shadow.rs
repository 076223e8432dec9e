//! What of the heap may be used: a byte for every 8 bytes of the small region, and one for every page of the large one.
//!
//! Zero is memory that was never handed out, so untouched shadow is right as it is. The first 8 bytes of a block's
//! header have a mark of their own, so the shadow also tells where blocks begin.

use super::arena::HEADER;
use super::map::PAGE;

/// All 8 bytes, or all of the page, are the program's. Smaller numbers: only that many of the 8 bytes.
pub const WHOLE: u8 = 8;
/// Headers, alignment and slack around blocks.
pub const RED: u8 = 0xFA;
/// The beginning of a header.
pub const MARK: u8 = 0xFB;
/// Freed.
pub const FREED: u8 = 0xFD;
/// The first page of a large block: all of it behind the header.
const FIRST: u8 = 0xF1;
/// The last page of a large block: some of it.
const LAST: u8 = 0xF2;

const WHOLES: u64 = 0x0808_0808_0808_0808;

/// Where the shadow lies. Zero is an empty heap's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Shadow {
    /// Where the heap begins.
    pub base: usize,
    /// Bytes of the heap.
    pub length: usize,
    /// Bytes of the small region, at the beginning.
    pub small: usize,
    /// The bytes for the small region.
    pub granules: *mut u8,
    /// The bytes for the large region.
    pub pages: *mut u8,
}

impl Shadow {
    /// Of a heap that has not been reserved.
    pub const EMPTY: Shadow = Shadow {
        base: 0,
        length: 0,
        small: 0,
        granules: core::ptr::null_mut(),
        pages: core::ptr::null_mut(),
    };

    /// Bytes of shadow for a heap of this shape.
    pub const fn bytes(length: usize, small: usize) -> usize {
        small / 8 + (length - small) / PAGE
    }

    #[inline(always)]
    fn granule(&self, at: usize) -> *mut u8 {
        // SAFETY: `at` is an offset in the small region, which has a byte for every 8 bytes.
        unsafe { self.granules.add(at / 8) }
    }

    #[inline(always)]
    fn page(&self, at: usize) -> *mut u8 {
        // SAFETY: `at` is an offset in the large region, which has a byte for every page.
        unsafe { self.pages.add((at - self.small) / PAGE) }
    }

    /// Whether all of an access of up to 16 bytes, at an offset in the heap, may be made. An answer of no is no proof:
    /// ask [`Shadow::first_unusable`].
    #[inline(always)]
    pub fn usable(&self, at: usize, size: usize) -> bool {
        // SAFETY: offsets below `length`; the shadow goes on behind either part.
        unsafe {
            if at < self.small {
                *self.granule(at) == WHOLE && ((at & 7) + size <= 8 || *self.granule(at + size - 1) == WHOLE)
            } else {
                match *self.page(at) {
                    WHOLE => at % PAGE + size <= PAGE,
                    FIRST => at % PAGE >= HEADER && at % PAGE + size <= PAGE,
                    _ => false,
                }
            }
        }
    }

    /// The offset of the first byte of a range that may not be used.
    pub fn first_unusable(&self, at: usize, size: usize) -> Option<usize> {
        let end = at.saturating_add(size).min(self.length);
        if at < self.small { self.first_in_small(at, end) } else { self.first_in_large(at, end) }
    }

    fn first_in_small(&self, mut at: usize, end: usize) -> Option<usize> {
        while at < end {
            // SAFETY: inside the small region, or the tables behind its shadow.
            let byte = unsafe {
                let granule = self.granule(at);
                if at.is_multiple_of(8) && end - at >= 64 && granule.cast::<u64>().read_unaligned() == WHOLES
                {
                    at += 64;
                    continue;
                }
                *granule
            };
            if byte != WHOLE {
                let usable = if byte < WHOLE { byte as usize } else { 0 };
                let bad = at.max(at / 8 * 8 + usable);
                if bad < end.min(at / 8 * 8 + 8) {
                    return Some(bad);
                }
            }
            at = at / 8 * 8 + 8;
        }
        None
    }

    fn first_in_large(&self, mut at: usize, end: usize) -> Option<usize> {
        while at < end {
            let next = (at / PAGE + 1) * PAGE;
            // SAFETY: inside the large region; a last page's block is known by its table.
            let good = match unsafe { *self.page(at) } {
                WHOLE => true,
                FIRST => at % PAGE >= HEADER,
                LAST => {
                    let stop = super::find(self.base + at).map_or(0, |block| block.user + block.size);
                    let stop = stop.saturating_sub(self.base);
                    if end.min(next) > stop {
                        return Some(at.max(stop));
                    }
                    true
                }
                _ => false,
            };
            if !good {
                return Some(at);
            }
            at = next;
        }
        None
    }

    /// What is known of an address in the heap: one of the constants above.
    pub fn state(&self, addr: usize) -> u8 {
        let at = addr - self.base;
        // SAFETY: the caller's address lies in the heap.
        unsafe { if at < self.small { *self.granule(at) } else { *self.page(at) } }
    }

    fn fill(&self, from: usize, to: usize, value: u8) {
        if from < to {
            // SAFETY: the range is a block's, in the small region.
            unsafe { self.granule(from).write_bytes(value, (to - from) / 8) }
        }
    }

    /// A block of the small region lies in `start..end`, and `size` bytes of it at `user` are the program's.
    pub fn allocated(&self, start: usize, end: usize, user: usize, size: usize) {
        let (start, end, user) = (start - self.base, end - self.base, user - self.base);
        self.fill(start, user - HEADER, RED);
        // SAFETY: the block's header is 16 bytes in front of `user`.
        unsafe { self.granule(user - HEADER).cast::<u16>().write_unaligned((RED as u16) << 8 | MARK as u16) };
        let whole = user + size / 8 * 8;
        self.fill(user, whole, WHOLE);
        self.fill(whole, end, RED);
        if !size.is_multiple_of(8) {
            // SAFETY: the rounded size is within the block.
            unsafe { *self.granule(whole) = (size % 8) as u8 };
        }
    }

    /// A block of the small region has been freed.
    pub fn freed(&self, user: usize, size: usize) {
        let user = user - self.base;
        self.fill(user, user + size.next_multiple_of(8), FREED);
    }

    /// A block of the large region is the program's: `size` bytes at `user`, which is 16 bytes or a multiple of a page
    /// behind a page's beginning. It had `old` bytes before, or none.
    pub fn allocated_large(&self, user: usize, size: usize, old: usize) {
        let (user, end) = (user - self.base, user - self.base + size);
        let old_end = user + old;
        let mut at = user;
        // SAFETY: the pages of the block, and the one its header is in.
        unsafe {
            if user.is_multiple_of(PAGE) {
                *self.page(user - HEADER) = RED;
            } else {
                *self.page(user) = FIRST;
                at = (user / PAGE + 1) * PAGE;
            }
            while at < end {
                *self.page(at) = if at + PAGE <= end { WHOLE } else { LAST };
                at += PAGE;
            }
            while at < old_end {
                *self.page(at) = RED;
                at += PAGE;
            }
        }
    }

    /// A block of the large region has been freed.
    pub fn freed_large(&self, user: usize, size: usize) {
        let user = user - self.base;
        let (first, last) = (user / PAGE * PAGE, user + size.max(1) - 1);
        // SAFETY: the pages of the block.
        unsafe { self.page(first).write_bytes(FREED, (last - first) / PAGE + 1) };
    }

    /// Whether a header of the small region is there.
    pub fn is_start(&self, header: usize) -> bool {
        // SAFETY: the caller's address lies in the small region.
        unsafe { *self.granule(header - self.base) == MARK }
    }

    /// The last header at or before an address of the small region, looking at most `most` bytes back.
    pub fn start_before(&self, addr: usize, most: usize) -> Option<usize> {
        let last = (addr - self.base) / 8;
        let first = last.saturating_sub(most / 8);
        // SAFETY: offsets in the small region.
        let found = (first..=last).rev().find(|&index| unsafe { *self.granules.add(index) } == MARK)?;
        Some(self.base + found * 8)
    }
}
