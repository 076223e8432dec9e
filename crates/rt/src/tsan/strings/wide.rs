//! The same for wide characters.

use super::{Caller, ranged};
use crate::sys::c_int;

type Out = *mut c_int;
type In = *const c_int;

const WIDTH: usize = size_of::<c_int>();

fn length(at: In) -> usize {
    // SAFETY: the caller's string.
    unsafe { real!(wcslen: fn(In) -> usize)(at) }
}

/// A string's characters with the zero, or `most` if it has not ended by then.
fn characters(at: In, most: usize) -> usize {
    // SAFETY: the caller's string, or at least `most` characters.
    let length = unsafe { real!(wcsnlen: fn(In, usize) -> usize)(at, most) };
    if length < most { length + 1 } else { most }
}

fn reads_all(at: In, count: usize, by: Caller) {
    by.reads(at, count.saturating_mul(WIDTH));
}

fn writes_all(at: Out, count: usize, by: Caller) {
    by.writes(at, count.saturating_mul(WIDTH));
}

fn copies(to: Out, from: In, count: usize, by: Caller) {
    reads_all(from, count, by);
    writes_all(to, count, by);
}

fn copies_most(to: Out, from: In, most: usize, by: Caller) {
    reads_all(from, characters(from, most), by);
    writes_all(to, most, by);
}

fn appends(to: Out, from: In, most: usize, by: Caller) {
    let (old, looked) = (length(to), characters(from, most));
    // SAFETY: the last character looked at.
    let ended = looked > 0 && unsafe { *from.add(looked - 1) } == 0;
    reads_all(to, old + 1, by);
    reads_all(from, looked, by);
    writes_all(to.wrapping_add(old), if ended { looked } else { looked + 1 }, by);
}

fn compares(a: In, b: In, most: usize, by: Caller) {
    let mut at = 0;
    // SAFETY: the caller's strings, as far as they are compared.
    unsafe {
        while at < most && *a.add(at) == *b.add(at) && *a.add(at) != 0 {
            at += 1;
        }
    }
    let looked = (at + 1).min(most);
    reads_all(a, looked, by);
    reads_all(b, looked, by);
}

fn searches(at: In, found: In, otherwise: usize, by: Caller) {
    let looked = if found.is_null() { otherwise } else { (found as usize - at as usize) / WIDTH + 1 };
    reads_all(at, looked, by);
}

ranged! {
    wmemcpy / 3 (to: Out, from: In, n: usize; by) -> Out { copies(to, from, n, by) }
    wmemmove / 3 (to: Out, from: In, n: usize; by) -> Out { copies(to, from, n, by) }
    wmempcpy / 3 (to: Out, from: In, n: usize; by) -> Out { copies(to, from, n, by) }
    wmemset / 3 (to: Out, value: c_int, n: usize; by) -> Out { writes_all(to, n, by) }
    wmemcmp / 3 (a: In, b: In, n: usize; by) -> c_int {
        reads_all(a, n, by);
        reads_all(b, n, by);
    }
    wmemchr / 3 (at: In, value: c_int, n: usize; by) -> Out {
        // SAFETY: the caller's memory, as libc's own function looks at it.
        searches(at, unsafe { real!(wmemchr: fn(In, c_int, usize) -> In)(at, value, n) }, n, by)
    }
    wcslen / 1 (at: In; by) -> usize { reads_all(at, length(at) + 1, by) }
    wcsnlen / 2 (at: In, most: usize; by) -> usize { reads_all(at, characters(at, most), by) }
    wcscpy / 2 (to: Out, from: In; by) -> Out { copies(to, from, length(from) + 1, by) }
    wcpcpy / 2 (to: Out, from: In; by) -> Out { copies(to, from, length(from) + 1, by) }
    wcsncpy / 3 (to: Out, from: In, most: usize; by) -> Out { copies_most(to, from, most, by) }
    wcpncpy / 3 (to: Out, from: In, most: usize; by) -> Out { copies_most(to, from, most, by) }
    wcscat / 2 (to: Out, from: In; by) -> Out { appends(to, from, usize::MAX, by) }
    wcsncat / 3 (to: Out, from: In, most: usize; by) -> Out { appends(to, from, most, by) }
    wcscmp / 2 (a: In, b: In; by) -> c_int { compares(a, b, usize::MAX, by) }
    wcsncmp / 3 (a: In, b: In, most: usize; by) -> c_int { compares(a, b, most, by) }
    wcschr / 2 (at: In, value: c_int; by) -> Out {
        // SAFETY: the caller's string.
        searches(at, unsafe { real!(wcschr: fn(In, c_int) -> In)(at, value) }, length(at) + 1, by)
    }
    wcsrchr / 2 (at: In, value: c_int; by) -> Out { reads_all(at, length(at) + 1, by) }
    wcsdup / 1 (from: In; by) -> Out { reads_all(from, length(from) + 1, by) }
}
