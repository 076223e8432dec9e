//! The program's heap: where blocks lie and what is known of each.
//!
//! Guaranteed: the same sequence of calls gives the same addresses; a freed block's memory is not handed out again
//! until [`QUARANTINE`] more bytes were freed; every block, live or freed, can be found from any address inside it.
//! Blocks of up to 64 KiB come from one region in order of allocation, whatever their size, so that a small program
//! touches few pages; larger ones come from a second region, whole pages each.
//!
//! The upper half of the small region is cut into slots, which are a strand's own: where they lie follows from who the strand
//! is, so what it gets does not depend on what others do meanwhile. Only memory that is handed out again, or large, does
//! ([`Given::in_order`]).
//!
//! A block is `[pad][header: 16 bytes][user bytes][slack]`. The [`Shadow`] says what of it may be used and where headers
//! are, so a wild pointer is told from a block without trusting memory. Behind every block there are at least 16 bytes
//! that are nobody's: the next header.

use super::map::{self, PAGE};
use super::shadow::Shadow;
use threadbare_rules::sizes;
use threadbare_strategy::rng::mix;

const ADDRESS: usize = 0x6000_0000_0000;
const SIZES: [usize; 5] = [64 << 30, 16 << 30, 4 << 30, 1 << 30, 256 << 20];

/// The bytes before a user pointer.
pub const HEADER: usize = 16;
/// The largest block, header included, of the small region.
const SMALL: usize = 64 << 10;
/// Bytes of freed small blocks kept from reuse.
pub const QUARANTINE: usize = 256 << 10;
/// Bytes of a strand's slot.
const SLOT: usize = 2 * SMALL;
/// Slots tried before a strand takes what everybody takes.
const TRIES: u64 = 16;
/// Freed large blocks of one class kept from reuse.
const LARGE_KEPT: u32 = 4;
/// Freed blocks from this size on give their pages back.
const DISCARD: usize = 512 << 10;
/// The widest alignment served.
const WIDEST: usize = 1 << 27;

// The tables fit in the last 1/16.
const _: () = {
    let mut index = 0;
    while index < SIZES.len() {
        let (heap, small) = (SIZES[index] / 16 * 15, SIZES[index] / 4);
        let table = (heap - small) / PAGE * size_of::<usize>();
        assert!(Shadow::bytes(heap, small) + PAGE + table <= SIZES[index] / 16);
        index += 1;
    }
};

const MAGIC: u64 = 0x7B;
const LIVE: u64 = 1;
const FREED: u64 = 2;

/// What a block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The pointer the program got.
    pub user: usize,
    /// The bytes it asked for.
    pub size: usize,
    /// Whether it has been freed.
    pub freed: bool,
    /// Where it was allocated.
    pub alloc_pc: u64,
    /// Where it was freed, or 0.
    pub free_pc: u64,
}

/// The memory that a strand takes its small blocks from.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Stands for the strand; 0: the memory is everybody's.
    owner: u64,
    next: usize,
    end: usize,
    /// Slots it has had.
    had: u64,
}

impl Slot {
    /// The memory that is handed out in order of asking.
    pub const EVERYBODYS: Slot = Slot::of(0);

    /// Memory of a strand's own, none as yet.
    pub const fn of(owner: u64) -> Slot {
        Slot { owner, next: 0, end: 0, had: 0 }
    }
}

/// A block that is handed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given {
    /// The pointer.
    pub user: usize,
    /// Its bytes are known to be zero.
    pub zero: bool,
    /// Where it lies depends on who else asked before.
    pub in_order: bool,
}

/// Why a pointer cannot be freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The block has been freed before.
    Twice(Block),
    /// The pointer is no block, but may lie in one.
    Wild(Option<Block>),
}

/// Header word 0: size (40 bits), class (8), state (8), magic (8). Word 1: pc (48), pad (16).
#[repr(C)]
struct Header {
    word: u64,
    place: u64,
}

impl Header {
    fn new(size: usize, class: usize, state: u64, pc: u64, pad: usize) -> Self {
        let word = size as u64 | (class as u64) << 40 | state << 48 | MAGIC << 56;
        Header { word, place: pc & 0xFFFF_FFFF_FFFF | (pad as u64) << 48 }
    }
    fn size(&self) -> usize {
        (self.word & 0xFF_FFFF_FFFF) as usize
    }
    fn class(&self) -> usize {
        (self.word >> 40 & 0xFF) as usize
    }
    fn state(&self) -> u64 {
        self.word >> 48 & 0xFF
    }
    fn pc(&self) -> u64 {
        self.place & 0xFFFF_FFFF_FFFF
    }
    fn pad(&self) -> usize {
        (self.place >> 48) as usize
    }
    fn set_state(&mut self, state: u64) {
        self.word = self.word & !(0xFF << 48) | state << 48;
    }
}

/// What a freed block's user bytes begin with.
#[repr(C)]
struct FreeLink {
    next: usize,
    free_pc: u64,
}

#[derive(Clone, Copy)]
struct List {
    head: usize,
    tail: usize,
    length: u32,
}

impl List {
    const EMPTY: List = List { head: 0, tail: 0, length: 0 };

    /// # Safety
    /// `user` is a freed block's pointer, in no list.
    unsafe fn push_back(&mut self, user: usize) {
        // SAFETY: freed blocks have at least 16 user bytes, which are ours.
        unsafe {
            (*(user as *mut FreeLink)).next = 0;
            if self.head == 0 {
                self.head = user;
            } else {
                (*(self.tail as *mut FreeLink)).next = user;
            }
        }
        self.tail = user;
        self.length += 1;
    }

    fn pop_front(&mut self) -> Option<usize> {
        if self.head == 0 {
            return None;
        }
        let user = self.head;
        // SAFETY: blocks in a list are freed and linked by their first word.
        self.head = unsafe { (*(user as *const FreeLink)).next };
        self.length -= 1;
        Some(user)
    }
}

/// The program's heap. Zero is its initial state.
pub struct Arena {
    base: usize,
    small_next: usize,
    slots: usize,
    small_end: usize,
    large_next: usize,
    large_end: usize,
    shadow: Shadow,
    /// User pointers of large blocks, in order of address.
    larges: usize,
    larges_len: usize,
    quarantine: List,
    quarantined: usize,
    free: [List; sizes::COUNT],
    /// Bytes the program has, and may have (0: no bound).
    live: usize,
    limit: usize,
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// An arena that reserves its memory when it is first needed.
    pub const fn new() -> Self {
        Arena {
            base: 0,
            small_next: 0,
            slots: 0,
            small_end: 0,
            large_next: 0,
            large_end: 0,
            shadow: Shadow::EMPTY,
            larges: 0,
            larges_len: 0,
            quarantine: List::EMPTY,
            quarantined: 0,
            free: [List::EMPTY; sizes::COUNT],
            live: 0,
            limit: 0,
        }
    }

    /// Whether an address lies in the arena.
    #[inline]
    pub fn contains(&self, addr: usize) -> bool {
        addr.wrapping_sub(self.base) < self.large_end - self.base
    }

    /// Where the shadow lies.
    pub fn shadow(&self) -> Shadow {
        self.shadow
    }

    /// Reserves the heap, if that has not been done.
    pub fn open(&mut self) -> bool {
        if self.base != 0 {
            return true;
        }
        let Some((base, length)) = map::reserve(ADDRESS, &SIZES) else { return false };
        // The last 1/16 holds the tables: the shadow, and a word for each page-sized large block.
        let tables = length / 16;
        let small = length / 4;
        let heap = length - tables;
        self.base = base;
        self.small_next = base;
        self.slots = base + small / 2;
        self.small_end = base + small;
        self.large_next = base + small;
        self.large_end = base + heap;
        let granules = self.large_end as *mut u8;
        self.shadow = Shadow { base, length: heap, small, granules, pages: granules.wrapping_add(small / 8) };
        self.larges = self.large_end + Shadow::bytes(heap, small).next_multiple_of(PAGE);
        true
    }

    /// A block of `size` bytes whose pointer is a multiple of `align` (a power of two, at least 16).
    pub fn allocate(&mut self, size: usize, align: usize, pc: u64, slot: &mut Slot) -> Option<Given> {
        if size >= 1 << 39 || align > WIDEST || !self.open() {
            return None;
        }
        let room = size.max(size_of::<FreeLink>()) + HEADER + (align - 16);
        let found = if room <= SMALL {
            self.allocate_small(size, room, align, pc, slot)
        } else {
            self.allocate_large(size, align, pc)
        };
        self.live += found.map_or(0, |_| size);
        found
    }

    /// Sets how many bytes the program may have at a time; 0 is no bound.
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// What the program has, and may have, if it cannot have so many bytes more.
    pub fn excess(&self, more: usize) -> Option<(usize, usize)> {
        (self.limit != 0 && self.live.saturating_add(more) > self.limit).then_some((self.live, self.limit))
    }

    fn allocate_small(
        &mut self,
        size: usize,
        room: usize,
        align: usize,
        pc: u64,
        slot: &mut Slot,
    ) -> Option<Given> {
        let (class, bytes) = sizes::of(room);
        let (start, zero, in_order) = match self.free[class].pop_front() {
            Some(user) => {
                // SAFETY: a block of the free list has its header before it.
                let pad = unsafe { (*header(user)).pad() };
                (user - HEADER - pad * 16, false, true)
            }
            None => {
                let own = if slot.owner != 0 { self.own(bytes, slot) } else { None };
                let in_order = own.is_none() && slot.owner != 0;
                let start = own.or_else(|| self.everybodys(bytes)).or_else(|| self.own(bytes, slot))?;
                (start, true, in_order)
            }
        };
        let user = (start + HEADER).next_multiple_of(align);
        let pad = (user - HEADER - start) / 16;
        // SAFETY: the block is ours, and `room` includes the header and the alignment's pad.
        unsafe { header(user).write(Header::new(size, class, LIVE, pc, pad)) };
        self.shadow.allocated(start, start + bytes, user, size);
        Some(Given { user, zero, in_order })
    }

    /// Memory that is handed out in order of asking.
    fn everybodys(&mut self, bytes: usize) -> Option<usize> {
        let start = self.small_next;
        if self.slots - start < bytes {
            return None;
        }
        self.small_next = start + bytes;
        Some(start)
    }

    /// Memory of the strand's own.
    fn own(&self, bytes: usize, slot: &mut Slot) -> Option<usize> {
        if slot.end - slot.next < bytes {
            let count = ((self.small_end - self.slots) / SLOT) as u64;
            let first = mix(slot.owner.wrapping_add(slot.had)) % count;
            // A slot in use has a header at its beginning.
            let at = |number: u64| self.slots + (number % count) as usize * SLOT;
            let free = (first..first + TRIES).map(at).find(|&at| self.shadow.state(at) == 0)?;
            *slot = Slot { next: free, end: free + SLOT, had: slot.had + 1, ..*slot };
        }
        let start = slot.next;
        slot.next += bytes;
        Some(start)
    }

    fn allocate_large(&mut self, size: usize, align: usize, pc: u64) -> Option<Given> {
        // Wide alignments begin a page or more after the start; the pad counts pages.
        let pad_room = if align > 16 { align.max(PAGE) } else { HEADER };
        let (class, bytes) = sizes::of((size + pad_room).next_multiple_of(PAGE));
        let bytes = bytes.next_multiple_of(PAGE);
        let exhausted = self.large_end - self.large_next < bytes;
        if align == 16 && (self.free[class].length > LARGE_KEPT || exhausted) {
            let user = self.free[class].pop_front()?;
            // SAFETY: a block of the free list: its header and first words are ours.
            unsafe {
                self.shadow.allocated_large(user, size, (*header(user)).size());
                header(user).write(Header::new(size, class, LIVE, pc, 0));
                (user as *mut FreeLink).write(FreeLink { next: 0, free_pc: 0 });
            }
            return Some(Given { user, zero: false, in_order: true });
        }
        if exhausted {
            return None;
        }
        let start = self.large_next;
        self.large_next += bytes;
        let user = if align > 16 { (start + PAGE).next_multiple_of(align) } else { start + HEADER };
        // A block with a wide alignment is alone in its class's last entry: it is never handed out again.
        let (class, pad) = if align > 16 { (sizes::COUNT - 1, (user - start) / PAGE) } else { (class, 0) };
        // SAFETY: the block is fresh; the table has a word for every page of the region.
        unsafe {
            header(user).write(Header::new(size, class, LIVE, pc, pad));
            *(self.larges as *mut usize).add(self.larges_len) = user;
        }
        self.larges_len += 1;
        self.shadow.allocated_large(user, size, 0);
        Some(Given { user, zero: true, in_order: true })
    }

    /// Frees a block.
    pub fn release(&mut self, user: usize, pc: u64) -> Result<Block, Refused> {
        let block = self.block(user)?;
        self.live -= block.size;
        // SAFETY: `block` found the header; the user bytes are ours from here on.
        unsafe {
            (*header(user)).set_state(FREED);
            let class = (*header(user)).class();
            (user as *mut FreeLink).write(FreeLink { next: 0, free_pc: pc });
            if self.is_large(user) {
                self.shadow.freed_large(user, block.size);
                if block.size >= DISCARD {
                    let from = (user + size_of::<FreeLink>()).next_multiple_of(PAGE);
                    let to = (user + block.size).next_multiple_of(PAGE);
                    map::discard(from, to - from);
                }
                if class < sizes::COUNT - 1 {
                    self.free[class].push_back(user);
                }
                return Ok(block);
            }
            self.shadow.freed(user, block.size);
            self.quarantine.push_back(user);
            self.quarantined += block.size + HEADER;
            while self.quarantined > QUARANTINE {
                let Some(old) = self.quarantine.pop_front() else { break };
                self.quarantined -= (*header(old)).size() + HEADER;
                self.free[(*header(old)).class()].push_back(old);
            }
        }
        Ok(block)
    }

    /// Changes a block's size in place, if its memory allows it.
    pub fn resize(&mut self, user: usize, size: usize, pc: u64) -> Result<bool, Refused> {
        let block = self.block(user)?;
        // SAFETY: `block` found the header.
        let old = unsafe { &mut *header(user) };
        let (class, pad) = (old.class(), old.pad());
        let fits = if pad != 0 {
            size <= block.size
        } else if self.is_large(user) {
            size + HEADER > SMALL && sizes::of((size + HEADER).next_multiple_of(PAGE)).0 == class
        } else {
            sizes::of(size.max(size_of::<FreeLink>()) + HEADER).0 == class
        };
        if fits {
            self.live = self.live - block.size + size;
            *old = Header::new(size, class, LIVE, pc, pad);
            if self.is_large(user) {
                self.shadow.allocated_large(user, size, block.size);
            } else {
                let start = user - HEADER - pad * 16;
                self.shadow.allocated(start, start + sizes::bytes(class), user, size);
            }
        }
        Ok(fits)
    }

    /// The live block that begins at `user`.
    pub fn block(&self, user: usize) -> Result<Block, Refused> {
        if user.is_multiple_of(16) && self.is_start(user) {
            // SAFETY: the tables say that a header is there.
            let block = unsafe { describe(user) };
            return if block.freed { Err(Refused::Twice(block)) } else { Ok(block) };
        }
        Err(Refused::Wild(self.find(user)))
    }

    /// The block, live or freed, in whose memory (header and slack included) an address lies.
    pub fn find(&self, addr: usize) -> Option<Block> {
        if self.base == 0 || !self.contains(addr) {
            return None;
        }
        if self.is_large(addr) {
            let larges = self.larges();
            let after = larges.partition_point(|&user| user - HEADER <= addr);
            // SAFETY: the table holds user pointers of large blocks.
            return after.checked_sub(1).map(|index| unsafe { describe(larges[index]) });
        }
        let user = self.shadow.start_before(addr, SMALL)? + HEADER;
        // SAFETY: the shadow says that a header is there.
        let (class, pad, block) = unsafe { ((*header(user)).class(), (*header(user)).pad(), describe(user)) };
        (addr < user - HEADER - pad * 16 + sizes::bytes(class)).then_some(block)
    }

    /// The last block before an address that was never handed out.
    pub fn last_before(&self, addr: usize) -> Option<Block> {
        if self.is_large(addr) || self.find(addr).is_some() {
            return None;
        }
        let everybodys = (self.small_next..self.slots).contains(&addr);
        let start = self.shadow.start_before(if everybodys { self.small_next - 1 } else { addr }, SMALL)?;
        // SAFETY: the shadow says that a header is there.
        Some(unsafe { describe(start + HEADER) })
    }

    fn larges(&self) -> &[usize] {
        // SAFETY: the table is ours and `larges_len` words of it are written.
        unsafe { core::slice::from_raw_parts(self.larges as *const usize, self.larges_len) }
    }

    fn is_large(&self, addr: usize) -> bool {
        addr >= self.small_end
    }

    fn is_start(&self, user: usize) -> bool {
        if self.is_large(user) {
            return self.larges().binary_search(&user).is_ok();
        }
        user >= self.base + HEADER && self.shadow.is_start(user - HEADER)
    }
}

fn header(user: usize) -> *mut Header {
    (user - HEADER) as *mut Header
}

/// # Safety
/// A header is before `user`.
unsafe fn describe(user: usize) -> Block {
    // SAFETY: the caller's promise; a freed block has its link in its first words.
    unsafe {
        let header = &*header(user);
        let freed = header.state() == FREED;
        let free_pc = if freed { (*(user as *const FreeLink)).free_pc } else { 0 };
        Block { user, size: header.size(), freed, alloc_pc: header.pc(), free_pc }
    }
}
