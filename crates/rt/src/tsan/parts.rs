//! Copies and fills, word by word, as machines make them.
//!
//! Each word is an access of its own, made right behind its point: others can come in between, and see or leave half of
//! it. That does not depend on whether it is a point: events are the same in every run. What is long is one access and libc's own
//! function.
//! Safe before init, in a signal, after fork.

use super::plain::gated;
use crate::engine::{self, learn};
use threadbare_abi::op::OpKind;

/// Bytes, at the most, that are taken apart.
const MOST: usize = 64;
const WORD: usize = 8;

/// Whether a copy or fill of so many bytes is taken apart.
#[inline]
fn has_parts(n: usize) -> bool {
    // SAFETY: a byte that only the single kernel thread writes.
    n > 0 && n <= MOST && unsafe { learn::GATE } != 0 && engine::controlled()
}

/// The bytes from `at` to the next border of a word, or to the end.
fn part(at: usize, end: usize) -> usize {
    ((at & !(WORD - 1)) + WORD).min(end) - at
}

fn announce(single: OpKind, ranged: OpKind, at: usize, bytes: usize, pc: u64) {
    let kind = if bytes.is_power_of_two() { single } else { ranged };
    gated(kind, at as u64, bytes as u64, pc);
}

/// Copies; false if that is left to libc: nothing has been done then.
#[inline]
pub fn copies(to: usize, from: usize, n: usize, pc: u64) -> bool {
    if !has_parts(n) || n > WORD && to.abs_diff(from) < n {
        return false;
    }
    let end = to + n;
    let mut at = to;
    while at < end {
        let bytes = part(at, end);
        let source = from + (at - to);
        let mut word = [0u8; WORD];
        announce(OpKind::Read, OpKind::ReadRange, source, bytes, pc);
        // SAFETY: the caller's memory, which it wants copied.
        unsafe { move_bytes(word.as_mut_ptr(), source as *const u8, bytes) };
        announce(OpKind::Write, OpKind::WriteRange, at, bytes, pc);
        // SAFETY: as above.
        unsafe { move_bytes(at as *mut u8, word.as_ptr(), bytes) };
        at += bytes;
    }
    true
}

/// Fills; false if that is left to libc: nothing has been done then.
#[inline]
pub fn fills(to: usize, byte: u8, n: usize, pc: u64) -> bool {
    if !has_parts(n) {
        return false;
    }
    let word = [byte; WORD];
    let end = to + n;
    let mut at = to;
    while at < end {
        let bytes = part(at, end);
        announce(OpKind::Write, OpKind::WriteRange, at, bytes, pc);
        // SAFETY: the caller's memory, which it wants filled.
        unsafe { move_bytes(at as *mut u8, word.as_ptr(), bytes) };
        at += bytes;
    }
    true
}

/// Moves at most a word, without a call that would come back to us.
unsafe fn move_bytes(to: *mut u8, from: *const u8, bytes: usize) {
    for at in 0..bytes {
        // SAFETY: as the caller says.
        unsafe { to.add(at).write_volatile(from.add(at).read_volatile()) }
    }
}
