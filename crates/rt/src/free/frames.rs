//! Call stacks of free strands.
//!
//! As under control (`engine::frames`), an entry keeps the stack pointer it was made at, so that what `longjmp` and
//! exceptions leave behind is dropped at the next entry.

use super::thread::{self, Thread};
use super::{cover, record};
use crate::engine::memory;
use crate::raw::Raw;
use crate::sys::{nr, syscall3};

/// A function on the stack.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// A place in the caller.
    pub caller: u64,
    /// The stack pointer at its entry.
    pub sp: usize,
    /// A place in the function itself, near its beginning, and what is known of this call of it in the highest bits.
    pub function: u64,
}

/// The call has made an event.
const TOUCHED: u64 = 1 << 63;
/// The call was interrupted.
const CUT: u64 = 1 << 62;
/// The function's number with one more, where it is known, lies above its pc.
const NUMBER_SHIFT: u32 = 48;
const NUMBER: u64 = 0x1FFF << NUMBER_SHIFT;
/// The pc's part.
pub const PC: u64 = (1 << NUMBER_SHIFT) - 1;

impl Entry {
    /// The function's number, where it is known.
    #[inline(always)]
    pub fn number(&self) -> Option<u16> {
        ((self.function & NUMBER) >> NUMBER_SHIFT).checked_sub(1).map(|number| number as u16)
    }

    /// Keeps the function's number.
    pub fn set_number(&mut self, number: u16) {
        self.function = self.function & !NUMBER | (number as u64 + 1) << NUMBER_SHIFT & NUMBER;
    }

    /// The call was interrupted.
    pub fn cut(&mut self) {
        self.function |= CUT;
    }

    /// Whether it was.
    #[inline(always)]
    pub fn is_cut(&self) -> bool {
        self.function & CUT != 0
    }
}

/// Functions a strand may be in; deeper calls are not noted.
const DEPTH: usize = 1 << 14;
const BYTES: usize = DEPTH * size_of::<Entry>();

/// A strand's call stack.
#[derive(Debug)]
#[repr(C)]
pub struct Stack {
    base: *mut Entry,
    /// The next free entry; null before the stack is opened and after it is closed.
    top: *mut Entry,
    limit: *mut Entry,
}

impl Stack {
    /// Gives it memory.
    pub fn open(&mut self) {
        let base = memory::reserve_apart(BYTES) as *mut Entry;
        // SAFETY: fresh memory; the first entry is a sentinel that no frame is above.
        unsafe {
            base.write(Entry { caller: 0, sp: usize::MAX, function: 0 });
            self.base = base;
            self.top = base.add(1);
            self.limit = base.add(DEPTH);
        }
    }

    /// The strand has ended.
    pub fn close(&mut self) {
        let base = core::mem::replace(&mut self.base, core::ptr::null_mut());
        self.top = core::ptr::null_mut();
        if !base.is_null() {
            // SAFETY: our own mapping; nobody uses it any more but readers of a running verdict, which check `base`.
            unsafe { syscall3(nr::MUNMAP, base as usize, BYTES, 0) };
        }
    }

    /// Functions on the stack.
    pub fn depth(&self) -> usize {
        if self.top.is_null() { 0 } else { (self.top as usize - self.base as usize) / size_of::<Entry>() - 1 }
    }

    /// The `n`-th function from the outside, from 0.
    pub fn entry(&self, n: usize) -> Option<Raw<Entry>> {
        // SAFETY: entries below the top were written; the sentinel is number 0.
        (n < self.depth()).then(|| unsafe { Raw::new(self.base.add(n + 1)) })
    }

    /// The innermost call makes an event; true if it has made one before.
    #[inline]
    pub fn touch(&mut self) -> bool {
        // SAFETY: the entry below the top is a call or the sentinel, which counts as one.
        unsafe {
            if self.top.is_null() {
                return true;
            }
            let entry = self.top.sub(1);
            let before = (*entry).function;
            (*entry).function = before | TOUCHED;
            before & TOUCHED != 0
        }
    }

    /// The same for a caller so many calls further out.
    pub fn touch_caller(&mut self, level: usize) -> bool {
        let entry = self.depth().checked_sub(level + 1).and_then(|n| self.entry(n));
        entry.is_none_or(|mut entry| {
            let before = entry.function;
            entry.function |= TOUCHED;
            before & TOUCHED != 0
        })
    }

    /// The innermost call and the function that made it, if there is one.
    #[inline(always)]
    pub fn innermost_two(&self) -> Option<(Raw<Entry>, u64)> {
        // SAFETY: the top is null or above the sentinel, which lies below the first call.
        unsafe {
            if self.top.is_null() || (*self.top.sub(1)).sp == usize::MAX {
                return None;
            }
            Some((Raw::new(self.top.sub(1)), (*self.top.sub(2)).function & PC))
        }
    }

    /// Calls `visit` with a place in each caller, innermost first.
    pub fn walk(&self, mut visit: impl FnMut(u64)) {
        for n in (0..self.depth()).rev() {
            let Some(entry) = self.entry(n) else { continue };
            let outer = n.checked_sub(1).and_then(|n| self.entry(n));
            // One frame is told once, however many functions were put into it.
            if outer.is_none_or(|outer| (outer.sp, outer.caller) != (entry.sp, entry.caller)) {
                visit(entry.caller);
            }
        }
    }
}

/// `__tsan_func_entry` in a free run: `sp` is where the hook's own return address lies.
#[inline]
pub unsafe fn enter(caller: u64, sp: usize) {
    let Some(mut me) = thread::me() else { return };
    record::give_back(&mut me);
    // SAFETY: the top is null or above the sentinel, which no stack pointer is above; `sp` is the stub's stack pointer.
    unsafe {
        if me.stack.top.is_null() {
            return;
        }
        let function = *(sp as *const u64);
        while (*me.stack.top.sub(1)).sp <= sp {
            let last = &*me.stack.top.sub(1);
            if last.sp == sp && last.caller == caller && last.function & PC != function {
                // It was put into the other one behind the compiler's pass: each of the two will leave.
                break;
            }
            me.stack.top = me.stack.top.sub(1);
        }
        if cover::on() {
            cover::enters(&mut me, function);
        }
        let stack = &mut me.stack;
        if stack.top < stack.limit {
            stack.top.write(Entry { caller, sp, function });
            stack.top = stack.top.add(1);
        }
    }
}

/// `__tsan_func_exit` in a free run: `sp` is where the hook's own return address lies.
#[inline]
pub unsafe extern "C" fn leave(sp: usize) {
    let Some(mut me) = thread::me() else { return };
    record::give_back(&mut me);
    // SAFETY: the top is null or above the sentinel.
    if !me.stack.top.is_null() && unsafe { (*me.stack.top.sub(1)).sp } != sp {
        // SAFETY: as the caller says.
        unsafe { drop_left_behind(&mut me.stack, sp) };
    }
    if cover::on() {
        cover::leaves(&mut me);
    }
    leave_of(&mut me);
}

/// Whether a function whose return address lies at `sp` was called by the innermost function on the strand's stack: see `engine::frames`.
#[inline]
pub fn is_innermost(sp: usize) -> bool {
    let Some(me) = thread::me() else { return false };
    if me.stack.top.is_null() {
        return false;
    }
    // SAFETY: the top is above the sentinel, which no stack pointer is above.
    unsafe {
        let mut entry = me.stack.top.sub(1);
        while (*entry).sp < sp {
            entry = entry.sub(1);
        }
        (*entry).sp == sp
    }
}

/// Calls that are looked at to find the one that ends.
const LOOKS: usize = 64;

/// Drops calls above the one that ends: a jump has left them behind. The one that ends has its hook's return address at the
/// same place as at its entry; or, where the compiler jumps to the hook at its very end, its own return address there.
#[cold]
#[inline(never)]
unsafe fn drop_left_behind(stack: &mut Stack, sp: usize) {
    // SAFETY: `sp` is the stub's stack pointer; entries down to the sentinel, which has the highest stack pointer, are there.
    unsafe {
        let word = *(sp as *const u64);
        let mut entry = stack.top.sub(1);
        for _ in 0..LOOKS {
            if (*entry).sp == sp || (*entry).sp < sp && (*entry).caller == word {
                stack.top = entry.add(1);
                return;
            }
            if (*entry).sp > sp {
                return;
            }
            entry = entry.sub(1);
        }
    }
}

#[inline]
fn leave_of(me: &mut Thread) {
    let stack = &mut me.stack;
    // SAFETY: as above; the sentinel stays.
    unsafe {
        if !stack.top.is_null() && (*stack.top.sub(1)).sp != usize::MAX {
            stack.top = stack.top.sub(1);
        }
    }
}
