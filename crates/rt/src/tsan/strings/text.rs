//! Functions on C strings: the accesses are exactly the bytes that the standard lets the function look at.

use super::{Caller, ranged};
use crate::sys::{c_char, c_int};

type Out = *mut c_char;
type In = *const c_char;

/// A string's bytes without the zero.
fn length(at: In) -> usize {
    // SAFETY: the caller's string.
    unsafe { real!(strlen: fn(In) -> usize)(at) }
}

/// A string's bytes with the zero, or `most` if it has not ended by then.
fn bytes(at: In, most: usize) -> usize {
    // SAFETY: the caller's string, or at least `most` bytes.
    let length = unsafe { real!(strnlen: fn(In, usize) -> usize)(at, most) };
    if length < most { length + 1 } else { most }
}

fn lower(byte: c_char) -> u8 {
    (byte as u8).to_ascii_lowercase()
}

/// Bytes of two strings up to and with the first difference or the zero, `most` if there is neither.
fn compared(a: In, b: In, most: usize, same: impl Fn(c_char, c_char) -> bool) -> usize {
    let mut at = 0;
    // SAFETY: the caller's strings, as far as they are compared.
    unsafe {
        while at < most && same(*a.add(at), *b.add(at)) && *a.add(at) != 0 {
            at += 1;
        }
    }
    (at + 1).min(most)
}

fn compares(a: In, b: In, most: usize, same: impl Fn(c_char, c_char) -> bool, by: Caller) {
    let looked = compared(a, b, most, same);
    by.reads(a, looked);
    by.reads(b, looked);
}

fn copies(to: Out, from: In, by: Caller) {
    let n = length(from) + 1;
    by.reads(from, n);
    by.writes(to, n);
}

/// `strncpy` fills the rest with zeros.
fn copies_most(to: Out, from: In, most: usize, by: Caller) {
    by.reads(from, bytes(from, most));
    by.writes(to, most);
}

fn appends(to: Out, from: In, most: usize, by: Caller) {
    let (old, looked) = (length(to), bytes(from, most));
    // A string that was cut off gets a zero.
    // SAFETY: the last byte looked at.
    let ended = looked > 0 && unsafe { *from.add(looked - 1) } == 0;
    by.reads(to, old + 1);
    by.reads(from, looked);
    by.writes(to.wrapping_add(old), if ended { looked } else { looked + 1 });
}

/// A search in a string found something, or came to its end.
fn searches(at: In, found: In, length_found: usize, by: Caller) {
    let looked = if found.is_null() { length(at) + 1 } else { found as usize - at as usize + length_found };
    by.reads(at, looked);
}

ranged! {
    strlen / 1 (at: In; by) -> usize { by.reads(at, length(at) + 1) }
    strnlen / 2 (at: In, most: usize; by) -> usize { by.reads(at, bytes(at, most)) }
    strcpy / 2 (to: Out, from: In; by) -> Out { copies(to, from, by) }
    stpcpy / 2 (to: Out, from: In; by) -> Out { copies(to, from, by) }
    __stpcpy / 2 (to: Out, from: In; by) -> Out { copies(to, from, by) }
    strncpy / 3 (to: Out, from: In, most: usize; by) -> Out { copies_most(to, from, most, by) }
    stpncpy / 3 (to: Out, from: In, most: usize; by) -> Out { copies_most(to, from, most, by) }
    strcat / 2 (to: Out, from: In; by) -> Out { appends(to, from, usize::MAX, by) }
    strncat / 3 (to: Out, from: In, most: usize; by) -> Out { appends(to, from, most, by) }
    __strcpy_chk / 3 (to: Out, from: In, room: usize; by) -> Out {
        if length(from) < room { copies(to, from, by) }
    }
    __stpcpy_chk / 3 (to: Out, from: In, room: usize; by) -> Out {
        if length(from) < room { copies(to, from, by) }
    }
    __strncpy_chk / 4 (to: Out, from: In, most: usize, room: usize; by) -> Out {
        if most <= room { copies_most(to, from, most, by) }
    }
    __stpncpy_chk / 4 (to: Out, from: In, most: usize, room: usize; by) -> Out {
        if most <= room { copies_most(to, from, most, by) }
    }
    __strcat_chk / 3 (to: Out, from: In, room: usize; by) -> Out {
        if length(to) + length(from) < room { appends(to, from, usize::MAX, by) }
    }
    __strncat_chk / 4 (to: Out, from: In, most: usize, room: usize; by) -> Out {
        if length(to) + bytes(from, most) < room { appends(to, from, most, by) }
    }
    strcmp / 2 (a: In, b: In; by) -> c_int { compares(a, b, usize::MAX, |x, y| x == y, by) }
    strncmp / 3 (a: In, b: In, most: usize; by) -> c_int { compares(a, b, most, |x, y| x == y, by) }
    strcasecmp / 2 (a: In, b: In; by) -> c_int { compares(a, b, usize::MAX, |x, y| lower(x) == lower(y), by) }
    strncasecmp / 3 (a: In, b: In, most: usize; by) -> c_int {
        compares(a, b, most, |x, y| lower(x) == lower(y), by)
    }
    strchr / 2 (at: In, byte: c_int; by) -> Out {
        // SAFETY: the caller's string.
        searches(at, unsafe { real!(strchr: fn(In, c_int) -> In)(at, byte) }, 1, by)
    }
    index / 2 (at: In, byte: c_int; by) -> Out {
        // SAFETY: the caller's string.
        searches(at, unsafe { real!(strchr: fn(In, c_int) -> In)(at, byte) }, 1, by)
    }
    strchrnul / 2 (at: In, byte: c_int; by) -> Out {
        // SAFETY: the caller's string.
        searches(at, unsafe { real!(strchrnul: fn(In, c_int) -> In)(at, byte) }, 1, by)
    }
    strrchr / 2 (at: In, byte: c_int; by) -> Out { by.reads(at, length(at) + 1) }
    rindex / 2 (at: In, byte: c_int; by) -> Out { by.reads(at, length(at) + 1) }
    strstr / 2 (at: In, what: In; by) -> Out {
        by.reads(what, length(what) + 1);
        // SAFETY: the caller's strings.
        searches(at, unsafe { real!(strstr: fn(In, In) -> In)(at, what) }, length(what), by)
    }
    strcasestr / 2 (at: In, what: In; by) -> Out {
        by.reads(what, length(what) + 1);
        // SAFETY: the caller's strings.
        searches(at, unsafe { real!(strcasestr: fn(In, In) -> In)(at, what) }, length(what), by)
    }
    strspn / 2 (at: In, set: In; by) -> usize {
        by.reads(set, length(set) + 1);
        // SAFETY: the caller's strings.
        by.reads(at, unsafe { real!(strspn: fn(In, In) -> usize)(at, set) } + 1)
    }
    strcspn / 2 (at: In, set: In; by) -> usize {
        by.reads(set, length(set) + 1);
        // SAFETY: the caller's strings.
        by.reads(at, unsafe { real!(strcspn: fn(In, In) -> usize)(at, set) } + 1)
    }
    strpbrk / 2 (at: In, set: In; by) -> Out {
        by.reads(set, length(set) + 1);
        // SAFETY: the caller's strings.
        by.reads(at, unsafe { real!(strcspn: fn(In, In) -> usize)(at, set) } + 1)
    }
    strdup / 1 (from: In; by) -> Out { by.reads(from, length(from) + 1) }
    __strdup / 1 (from: In; by) -> Out { by.reads(from, length(from) + 1) }
    strndup / 2 (from: In, most: usize; by) -> Out { by.reads(from, bytes(from, most)) }
    __strndup / 2 (from: In, most: usize; by) -> Out { by.reads(from, bytes(from, most)) }
}
