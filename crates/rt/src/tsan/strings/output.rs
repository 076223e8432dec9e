//! What libc's streams read of the program's memory.

use super::ranged;
use crate::model::stdio;
use crate::sys::{c_char, c_int, c_void};

/// A string's bytes with the zero.
fn bytes(at: *const c_char) -> usize {
    // SAFETY: the caller's string.
    unsafe { real!(strlen: fn(*const c_char) -> usize)(at) + 1 }
}

ranged! {
    fwrite / 4 (from: *const c_void, size: usize, count: usize, file: *mut c_void; by) -> usize {
        stdio::used(file, by.pc());
        by.reads(from, size.saturating_mul(count))
    }
    fputs / 2 (text: *const c_char, file: *mut c_void; by) -> c_int {
        stdio::used(file, by.pc());
        by.reads(text, bytes(text))
    }
    puts / 1 (text: *const c_char; by) -> c_int {
        stdio::used(stdio::standard_output() as *const c_void, by.pc());
        by.reads(text, bytes(text))
    }
}
