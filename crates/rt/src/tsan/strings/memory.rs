//! Functions on bytes: copies, fills, comparisons, searches.

use super::{Caller, ranged};
use crate::sys::{c_int, c_void};

type Out = *mut c_void;
type In = *const c_void;

/// Bytes up to and with the first that is `byte`, `most` if there is none.
fn up_to(byte: c_int, at: In, most: usize) -> usize {
    // SAFETY: the caller's memory, as far as libc's own function looks at it.
    let found = unsafe { real!(memchr: fn(In, c_int, usize) -> In)(at, byte, most) };
    if found.is_null() { most } else { found as usize - at as usize + 1 }
}

fn copies(to: Out, from: In, n: usize, by: Caller) {
    by.reads(from, n);
    by.writes(to, n);
}

ranged! {
    memcpy / 3 (to: Out, from: In, n: usize; by) -> Out {
        if by.copies(to, from, n) {
            return to;
        }
        copies(to, from, n, by)
    }
    memmove / 3 (to: Out, from: In, n: usize; by) -> Out {
        if by.copies(to, from, n) {
            return to;
        }
        copies(to, from, n, by)
    }
    mempcpy / 3 (to: Out, from: In, n: usize; by) -> Out {
        if by.copies(to, from, n) {
            return to.wrapping_byte_add(n);
        }
        copies(to, from, n, by)
    }
    __mempcpy / 3 (to: Out, from: In, n: usize; by) -> Out {
        if by.copies(to, from, n) {
            return to.wrapping_byte_add(n);
        }
        copies(to, from, n, by)
    }
    bcopy / 3 (from: In, to: Out, n: usize; by) -> () {
        if by.copies(to, from, n) {
            return;
        }
        copies(to, from, n, by)
    }
    __memcpy_chk / 4 (to: Out, from: In, n: usize, room: usize; by) -> Out {
        if n <= room {
            if by.copies(to, from, n) {
                return to;
            }
            copies(to, from, n, by)
        }
    }
    __memmove_chk / 4 (to: Out, from: In, n: usize, room: usize; by) -> Out {
        if n <= room {
            if by.copies(to, from, n) {
                return to;
            }
            copies(to, from, n, by)
        }
    }
    __mempcpy_chk / 4 (to: Out, from: In, n: usize, room: usize; by) -> Out {
        if n <= room { copies(to, from, n, by) }
    }
    memccpy / 4 (to: Out, from: In, byte: c_int, n: usize; by) -> Out { copies(to, from, up_to(byte, from, n), by) }
    memset / 3 (to: Out, byte: c_int, n: usize; by) -> Out {
        if by.fills(to, byte, n) {
            return to;
        }
        by.writes(to, n)
    }
    __memset_chk / 4 (to: Out, byte: c_int, n: usize, room: usize; by) -> Out {
        if n <= room {
            if by.fills(to, byte, n) {
                return to;
            }
            by.writes(to, n)
        }
    }
    bzero / 2 (to: Out, n: usize; by) -> () {
        if by.fills(to, 0, n) {
            return;
        }
        by.writes(to, n)
    }
    explicit_bzero / 2 (to: Out, n: usize; by) -> () { by.writes(to, n) }
    __explicit_bzero_chk / 3 (to: Out, n: usize, room: usize; by) -> () {
        if n <= room { by.writes(to, n) }
    }
    memcmp / 3 (a: In, b: In, n: usize; by) -> c_int {
        by.reads(a, n);
        by.reads(b, n);
    }
    bcmp / 3 (a: In, b: In, n: usize; by) -> c_int {
        by.reads(a, n);
        by.reads(b, n);
    }
    memchr / 3 (at: In, byte: c_int, n: usize; by) -> Out { by.reads(at, up_to(byte, at, n)) }
    rawmemchr / 2 (at: In, byte: c_int; by) -> Out { by.reads(at, up_to(byte, at, usize::MAX - at as usize)) }
    memrchr / 3 (at: In, byte: c_int, n: usize; by) -> Out {
        // SAFETY: the caller's memory, as libc's own function looks at it.
        let found = unsafe { real!(memrchr: fn(In, c_int, usize) -> In)(at, byte, n) };
        let from = if found.is_null() { at } else { found };
        by.reads(from, at as usize + n - from as usize)
    }
    memmem / 4 (at: In, n: usize, what: In, length: usize; by) -> Out {
        // SAFETY: the caller's memory, as libc's own function looks at it.
        let found = unsafe { real!(memmem: fn(In, usize, In, usize) -> In)(at, n, what, length) };
        by.reads(what, length);
        by.reads(at, if found.is_null() { n } else { found as usize - at as usize + length })
    }
}
