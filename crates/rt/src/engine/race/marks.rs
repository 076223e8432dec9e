//! Marks: accesses as cells remember them.
//!
//! A mark is an event (40 bits), a strand (16) and the bytes of the cell that were touched (8). Most cells need two: the
//! last write and the last read. Where that is not enough (strands that read at the same time, neighbours in one cell)
//! a cell has a chain of nodes with as many marks as it takes.

use super::super::memory;

const EVENT_SHIFT: u32 = 24;
const STRAND_SHIFT: u32 = 8;
const STRAND_MASK: u64 = 0xFFFF;
/// In the strand's place: the cell's marks are in a chain.
const CHAINED: u64 = 0xFFFF;

/// Makes a mark.
#[inline(always)]
pub fn mark(event: u64, strand: u16, bytes: u8) -> u64 {
    event << EVENT_SHIFT | (strand as u64) << STRAND_SHIFT | bytes as u64
}

/// The event of a mark.
#[inline(always)]
pub fn event(mark: u64) -> u64 {
    mark >> EVENT_SHIFT
}

/// The strand of a mark.
#[inline(always)]
pub fn strand(mark: u64) -> usize {
    (mark >> STRAND_SHIFT & STRAND_MASK) as usize
}

/// The bytes of a mark, one bit each.
#[inline(always)]
pub fn bytes(mark: u64) -> u8 {
    mark as u8
}

/// A mark with its instruction.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Entry {
    /// The mark.
    pub mark: u64,
    /// Low half of the pc.
    pub pc: u32,
    /// 1 for a write.
    pub write: u32,
}

const ENTRIES: usize = 3;
/// Nodes there are for all chains; a power of two.
pub const NODES: usize = 1 << 20;

#[repr(C)]
struct Node {
    entries: [Entry; ENTRIES],
    used: u32,
    /// Index of the next node, 0 if none.
    next: u32,
    pad: u64,
}

static mut NODE: *mut Node = core::ptr::null_mut();
/// Nodes handed out so far; node 0 is none.
static mut USED: u32 = 1;
static mut FREE: u32 = 0;

/// Reserves room for chains. Once, in the fork server.
pub fn init() {
    // SAFETY: once, single kernel thread.
    unsafe { NODE = memory::reserve(NODES * size_of::<Node>()) as *mut Node }
}

fn node(index: u32) -> &'static mut Node {
    // SAFETY: indices come from `take`; single kernel thread, and no reference outlives a call.
    unsafe { &mut *NODE.add(index as usize) }
}

/// A free node; `None` when there are too many.
fn take() -> Option<u32> {
    // SAFETY: single kernel thread.
    unsafe {
        if FREE != 0 {
            let index = FREE;
            FREE = node(index).next;
            (node(index).used, node(index).next) = (0, 0);
            return Some(index);
        }
        if USED as usize >= NODES {
            return None;
        }
        USED += 1;
        Some(USED - 1)
    }
}

/// The chain a cell's `read` stands for, if it does.
#[inline(always)]
pub fn chain_of(read: u64) -> Option<Chain> {
    (read >> STRAND_SHIFT & STRAND_MASK == CHAINED).then_some(Chain((read >> EVENT_SHIFT) as u32))
}

/// A chain of nodes.
#[derive(Clone, Copy)]
pub struct Chain(u32);

impl Chain {
    /// A chain without marks.
    pub fn new() -> Option<Chain> {
        take().map(Chain)
    }

    /// What stands for it in a cell.
    pub fn as_read(self) -> u64 {
        (self.0 as u64) << EVENT_SHIFT | CHAINED << STRAND_SHIFT
    }

    /// The chain of this number.
    pub fn numbered(number: u32) -> Chain {
        Chain(number)
    }

    /// What [`Chain::numbered`] knows it by.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Whether there is such a mark; who asks may change it.
    #[inline(always)]
    pub fn any_mut(self, mut is: impl FnMut(&mut Entry) -> bool) -> bool {
        let mut index = self.0;
        while index != 0 {
            let this = node(index);
            if this.entries[..this.used as usize].iter_mut().any(&mut is) {
                return true;
            }
            index = this.next;
        }
        false
    }

    /// Calls `visit` with every mark, which may change it.
    pub fn each_mut(self, mut visit: impl FnMut(&mut Entry)) {
        let mut index = self.0;
        while index != 0 {
            let this = node(index);
            for entry in &mut this.entries[..this.used as usize] {
                visit(entry);
            }
            index = this.next;
        }
    }

    /// Calls `visit` with every mark.
    pub fn each(self, mut visit: impl FnMut(&Entry)) {
        let mut index = self.0;
        while index != 0 {
            let this = node(index);
            for entry in &this.entries[..this.used as usize] {
                visit(entry);
            }
            index = this.next;
        }
    }

    /// Keeps the marks that `keep` wants; returns how many.
    pub fn retain(self, keep: impl Fn(&Entry) -> bool) -> u32 {
        let mut index = self.0;
        let mut kept = 0;
        while index != 0 {
            let this = node(index);
            let mut at = 0;
            while at < this.used as usize {
                if keep(&this.entries[at]) {
                    at += 1;
                } else {
                    this.used -= 1;
                    this.entries[at] = this.entries[this.used as usize];
                }
            }
            kept += this.used;
            index = this.next;
        }
        kept
    }

    /// Adds a mark; when there is no room at all it is left out, and that is false.
    pub fn push(self, entry: Entry) -> bool {
        let mut index = self.0;
        loop {
            let this = node(index);
            if (this.used as usize) < ENTRIES {
                this.entries[this.used as usize] = entry;
                this.used += 1;
                return true;
            }
            if this.next == 0 {
                match take() {
                    Some(next) => this.next = next,
                    None => return false,
                }
            }
            index = this.next;
        }
    }

    /// Gives the nodes back.
    pub fn free(self) {
        let mut last = self.0;
        while node(last).next != 0 {
            last = node(last).next;
        }
        // SAFETY: single kernel thread.
        unsafe {
            node(last).next = FREE;
            FREE = self.0;
        }
    }
}
