//! The shadow call stack of each strand.

use super::strand::Strand;
use crate::arch::registers::KEPT;
use threadbare_abi::strand::MAX_STRANDS;

/// One function on the shadow stack.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FrameEntry {
    /// The return address of the function, a place in its caller.
    pub pc: u64,
    /// The stack pointer at its entry, and [`FLAGS`].
    pub sp: usize,
    /// Where its hook was called: another place of the same frame if the function was put into its caller behind the compiler's pass.
    site: u64,
}

impl FrameEntry {
    /// Whether the two are one frame: of a function, and of one that was put into it behind the compiler's pass.
    #[inline(always)]
    fn is_one_with(&self, other: &FrameEntry) -> bool {
        self.sp | FLAGS == other.sp | FLAGS && self.pc == other.pc
    }
}

/// Set in the stack pointer of a new entry, which is even by itself, and taken away when the driver is told of it
/// ([`super::values`]). The hook comes with it, so entering a function costs nothing for that.
const UNTOLD: usize = 1;

/// Set likewise, and taken away when the driver is told that the memory of the function's frame is new ([`renewed`]).
const FRESH: usize = 2;

/// Set likewise, and taken away when somebody wants to know what the function gives back ([`watch`]).
pub const UNWATCHED: usize = 4;

/// What is no part of a stack pointer.
pub const FLAGS: usize = UNTOLD | FRESH | UNWATCHED;

/// The stack pointer of the entry that no frame is above. It is not [`UNWATCHED`]: so leaving a function tests for both at once.
const SENTINEL: usize = usize::MAX & !UNWATCHED;

/// Entries a strand may have; deeper calls are not recorded.
const DEPTH: usize = 1 << 15;
/// The first strands' stacks are smaller and lie close together, so that small programs touch few page tables.
const NEAR: usize = 8;
const NEAR_DEPTH: usize = 1 << 12;

/// Next free entry of the running strand; null when nothing is recorded.
pub static mut TOP: *mut FrameEntry = core::ptr::null_mut();
static mut LIMIT: *mut FrameEntry = core::ptr::null_mut();
static mut REGION: usize = 0;
static mut NEAR_REGION: usize = 0;

/// Reserves address space for all shadow stacks. Once, before the first strand.
pub fn init() {
    // SAFETY: called once at init on the only kernel thread.
    unsafe {
        NEAR_REGION = super::memory::reserve(NEAR * NEAR_DEPTH * size_of::<FrameEntry>());
        REGION = super::memory::reserve(MAX_STRANDS * DEPTH * size_of::<FrameEntry>());
    }
}

/// Where a strand's shadow stack begins.
#[inline]
fn start_of(index: usize) -> *mut FrameEntry {
    // SAFETY: both are set before the first strand; address arithmetic within what is reserved.
    unsafe {
        if index < NEAR {
            (NEAR_REGION as *mut FrameEntry).wrapping_add(index * NEAR_DEPTH)
        } else {
            (REGION as *mut FrameEntry).wrapping_add(index * DEPTH)
        }
    }
}

/// The first entry of a strand's shadow stack: a sentinel no frame is above.
pub fn base_of(index: usize) -> *mut FrameEntry {
    // SAFETY: REGION is reserved for MAX_STRANDS stacks.
    unsafe {
        if REGION == 0 {
            return core::ptr::null_mut();
        }
        let base = start_of(index);
        base.write(FrameEntry { pc: 0, sp: SENTINEL, site: 0 });
        base.add(1)
    }
}

/// Makes a strand's shadow stack the one that entries go to; returns the previous strand's next free entry.
#[inline]
pub fn switch_to(strand: &Strand) -> *mut FrameEntry {
    // SAFETY: single kernel thread.
    unsafe {
        let old = TOP;
        TOP = strand.frames;
        LIMIT = strand.frames_limit();
        old
    }
}

/// The highest entry a strand with this index may use.
#[inline]
pub fn limit_of(index: usize) -> *mut FrameEntry {
    let depth = if index < NEAR { NEAR_DEPTH } else { DEPTH };
    start_of(index).wrapping_add(depth - 1)
}

/// `__tsan_func_entry`; `sp` is the stack pointer, and [`FLAGS`].
pub unsafe extern "C" fn enter(pc: u64, sp: usize) {
    // SAFETY: TOP is null or points into the running strand's reserved stack, above its sentinel.
    unsafe {
        if TOP.is_null() {
            return crate::free::frames::enter(pc, sp & !FLAGS);
        }
        // The hook's own return address.
        let new = FrameEntry { pc, sp, site: ((sp & !FLAGS) as *const u64).read() };
        while (*TOP.sub(1)).sp <= sp {
            let last = TOP.sub(1);
            if (*last).is_one_with(&new) && (*last).site != new.site {
                // It was not left behind: each of the two will leave.
                break;
            }
            TOP = last;
        }
        if TOP < LIMIT {
            TOP.write(new);
            TOP = TOP.add(1);
        }
    }
}

/// `__tsan_func_exit` of a function that somebody watches, or of none; `sp` is where the hook's own return address lies, `kept` what the function has in the
/// registers that calls keep.
pub unsafe extern "C" fn leave_watched(sp: usize, kept: &[u64; KEPT]) {
    // SAFETY: TOP points into the running strand's reserved stack, above its sentinel, which is never popped.
    unsafe {
        let entry = TOP.sub(1);
        if (*entry).sp == SENTINEL {
            return;
        }
        TOP = entry;
        let depth = entry.offset_from(start_of(super::me().index()).add(1)).max(0) as u64 + 1;
        super::values::returns((sp as *const u64).read(), sp + 8, kept, depth);
    }
}

/// The innermost functions of the running strand that were told are watched from now on.
pub fn watch() {
    // SAFETY: entries between the sentinel and the top were written by `enter`; single kernel thread.
    unsafe {
        let mut entry = TOP;
        while !entry.is_null() {
            entry = entry.sub(1);
            if (*entry).sp & UNWATCHED == 0 {
                break;
            }
            (*entry).sp &= !UNWATCHED;
        }
    }
}

/// Whether a function whose return address lies at `sp` was called by the innermost function on the shadow stack: by code
/// that the compiler's pass has seen, and not by a library that this code has called. Entries below it were left behind.
#[inline]
pub fn is_innermost(sp: usize) -> bool {
    // SAFETY: TOP is null or above the running strand's sentinel, which no stack pointer is above.
    unsafe {
        if TOP.is_null() {
            return crate::free::frames::is_innermost(sp);
        }
        let mut entry = TOP.sub(1);
        while (*entry).sp < sp {
            entry = entry.sub(1);
        }
        (*entry).sp & !FLAGS == sp
    }
}

/// Where the innermost function goes on when what it has called comes back: the call lies where its hooks' calls do, also if it is of precompiled code that calls
/// others in turn.
pub fn call_site() -> Option<u64> {
    let here = crate::arch::stack_pointer();
    // SAFETY: as in `is_innermost`; the place lies on the running strand's stack, above where it is.
    unsafe {
        let mut entry = if TOP.is_null() { return None } else { TOP.sub(1) };
        while (*entry).sp < here {
            entry = entry.sub(1);
        }
        ((*entry).sp != SENTINEL).then(|| (((*entry).sp & !FLAGS) as *const u64).read())
    }
}

/// The same of the running strand with the stack pointer that it had when a signal met it; `None` if that is not on its stack.
pub fn call_site_above(strand: &Strand, sp: usize) -> Option<u64> {
    // SAFETY: the running strand's next free entry, and where it was.
    unsafe { site(strand, TOP, sp) }
}

/// The same of a strand that may have stopped.
pub fn call_site_of(strand: &Strand, running: bool) -> Option<u64> {
    if running {
        return call_site_above(strand, crate::arch::stack_pointer());
    }
    // SAFETY: the strand's next free entry, and where it has stopped.
    unsafe { site(strand, strand.frames, strand.sp) }
}

/// # Safety
/// `top` is null or a strand's next free entry, and `sp` the lowest place that it uses of its stack.
unsafe fn site(strand: &Strand, top: *mut FrameEntry, sp: usize) -> Option<u64> {
    let on_stack = |at: usize| at >= strand.stack.0 && at < strand.stack.1;
    // SAFETY: entries down to the sentinel were written by `enter`; what lies above `sp` on the stack is mapped.
    unsafe {
        let mut entry = if top.is_null() || !on_stack(sp) { return None } else { top.sub(1) };
        while (*entry).sp < sp {
            entry = entry.sub(1);
        }
        let calls = (*entry).sp & !FLAGS;
        on_stack(calls).then(|| (calls as *const u64).read())
    }
}

/// The innermost callers of the running strand; 0 behind the last one. One is there as often as functions were put into the one that it called.
pub fn innermost<const N: usize>() -> [u64; N] {
    let mut found = [0; N];
    // SAFETY: as in `walk`.
    unsafe {
        let mut entry = TOP;
        for pc in &mut found {
            if entry.is_null() || (*entry.sub(1)).sp == SENTINEL {
                break;
            }
            entry = entry.sub(1);
            *pc = (*entry).pc;
        }
    }
    found
}

/// Calls `visit` with the pc of each caller of the strand, innermost first.
pub fn walk(strand: &Strand, running: bool, mut visit: impl FnMut(u64)) {
    // SAFETY: entries between the sentinel and the top were written by `enter`.
    unsafe {
        let mut entry = if running { TOP } else { strand.frames };
        if entry.is_null() {
            return;
        }
        while (*entry.sub(1)).sp != SENTINEL {
            entry = entry.sub(1);
            if !(*entry.sub(1)).is_one_with(&*entry) {
                visit((*entry).pc);
            }
        }
    }
}

/// A function's frame on a strand's stack.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    /// Where the function goes on when what it has called comes back.
    pub pc: u64,
    /// The stack pointer before its call: DWARF's canonical frame address.
    pub frame: usize,
    /// Where its calls lie: just below the stack pointer that it has between them.
    pub calls: usize,
    /// Whether the driver was not told of the function yet: it began after the strand's last access.
    pub untold: bool,
}

/// Frames that are larger are not looked for.
const LARGEST_FRAME: usize = 1 << 16;

/// The entry of the function whose frame an address of the strand's stack is in, or may be.
///
/// # Safety
/// The strand has entries, and has not ended.
unsafe fn entry_below(strand: &Strand, running: bool, addr: usize) -> Option<*mut FrameEntry> {
    let here = if running { crate::arch::stack_pointer() } else { strand.sp };
    // SAFETY: entries between the sentinel and the top were written by `enter`.
    unsafe {
        let top = if running { TOP } else { strand.frames };
        if top.is_null() {
            return None;
        }
        let mut entry = start_of(strand.id.index()).add(1);
        while entry < top && ((*entry).sp & !FLAGS) > addr {
            entry = entry.add(1);
        }
        (entry < top && (*entry).sp & !FLAGS >= here).then_some(entry)
    }
}

/// Where the calls of that function lie, and where it was called: it is the same function as long as both are.
pub fn activation(strand: &Strand, running: bool, addr: usize) -> Option<(usize, u64)> {
    // SAFETY: the entry was written by `enter`.
    unsafe {
        let entry = entry_below(strand, running, addr)?;
        Some(((*entry).sp & !FLAGS, (*entry).pc))
    }
}

/// The frame of the strand that an address of its stack is in.
///
/// Its end is where the return address lies that the function itself gave to its hook. A frame in which that number lies at a second place
/// might end at either, so it is not told.
pub fn holding(strand: &Strand, running: bool, addr: usize) -> Option<Holder> {
    // SAFETY: entries between the sentinel and the top were written by `enter`; what lies above a live frame's calls and
    // below the stack's upper end is mapped.
    unsafe {
        let entry = entry_below(strand, running, addr)?;
        let calls = (*entry).sp & !FLAGS;
        let outer = (*entry.sub(1)).sp;
        let end = outer.saturating_add(8).min(strand.stack.1).min(calls + LARGEST_FRAME);
        let words = (calls + 8..end & !7).step_by(8);
        let mut ends = words.filter(|&at| (at as *const u64).read() == (*entry).pc);
        let last = ends.next().filter(|&last| last > addr)?;
        let single = ends.next().is_none();
        let untold = (*entry).sp & UNTOLD != 0;
        single.then(|| Holder { pc: (calls as *const u64).read(), frame: last + 8, calls, untold })
    }
}

/// Calls `visit` with the pc of each function of the strand that was not visited so before, and its depth, outermost first.
/// Gives the depth of the innermost.
pub fn untold(strand: &Strand, running: bool, mut visit: impl FnMut(u64, u64)) -> u64 {
    // SAFETY: entries between the sentinel and the top were written by `enter`; single kernel thread.
    unsafe {
        let top = if running { TOP } else { strand.frames };
        if top.is_null() {
            return 0;
        }
        let base = start_of(strand.id.index()).add(1);
        let mut entry = top;
        while entry > base && (*entry.sub(1)).sp & UNTOLD != 0 {
            entry = entry.sub(1);
        }
        while entry < top {
            visit((*entry).pc, entry.offset_from(base) as u64 + 1);
            (*entry).sp &= !UNTOLD;
            entry = entry.add(1);
        }
        top.offset_from(base).max(0) as u64
    }
}

/// The memory of the strand's stack that came into use since this was last asked: what was there before is gone with functions that have returned.
///
/// It ends where the return address of the outermost new function lies, which is where its caller's calls lie, or, if code that nobody tells of
/// is in between, the lowest place that has that number.
pub fn renewed(strand: &Strand, running: bool) -> Option<(usize, usize)> {
    // SAFETY: entries between the sentinel and the top were written by `enter`; what lies above a live frame's calls and
    // below the stack's upper end is mapped; single kernel thread.
    unsafe {
        let top = if running { TOP } else { strand.frames };
        let base = start_of(strand.id.index()).add(1);
        if top.is_null() || top <= base || (*top.sub(1)).sp & FRESH == 0 {
            return None;
        }
        let mut entry = top;
        while entry > base && (*entry.sub(1)).sp & FRESH != 0 {
            entry = entry.sub(1);
            (*entry).sp &= !FRESH;
        }
        let (calls, pc) = ((*entry).sp & !FLAGS, (*entry).pc);
        let outer = (*entry.sub(1)).sp & !FLAGS;
        let on_stack = |at: usize| at >= strand.stack.0 && at.saturating_add(8) <= strand.stack.1;
        if !on_stack(calls) {
            return None;
        }
        let is_end = |at: usize| (at as *const u64).read() == pc;
        if on_stack(outer) && is_end(outer) {
            return Some((strand.stack.0, outer));
        }
        let end = outer.min(strand.stack.1).min(calls + LARGEST_FRAME);
        let last = (calls + 8..end & !7).step_by(8).find(|&at| is_end(at));
        Some((strand.stack.0, last.unwrap_or(calls)))
    }
}
