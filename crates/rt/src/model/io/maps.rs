//! `/proc/self/maps` without the runtime's own mappings.
//!
//! A process whose runs are undone has more of them than one that makes a single run. Whoever reads the list, as std does for a backtrace, would make
//! other events in a replay than in the run. So the program gets a copy, in memory, of the lines that are not ours.

use alloc::vec::Vec;

use crate::engine;
use crate::model::kernel::{O_ACCMODE, O_PATH, O_RDONLY, nr, raw};
use crate::sys::c_int;

const PATH: &core::ffi::CStr = c"/proc/self/maps";
const O_CLOEXEC: c_int = 0o2000000;
const MFD_CLOEXEC: usize = 1;
/// How much is read at once, and at the most.
const PART: usize = 1 << 16;
const MOST: usize = 16 << 20;

/// Whether a path, opened in this way, is the list.
pub fn is_list(path: &core::ffi::CStr, flags: c_int) -> bool {
    flags & (O_ACCMODE | O_PATH) == O_RDONLY && path == PATH
}

/// A descriptor of the copy; `None` if there can be none.
pub fn open(flags: c_int) -> Option<c_int> {
    let text = read()?;
    let ours = |line: &[u8]| {
        let digits = line.iter().take_while(|&&byte| byte != b'-');
        let start = digits
            .fold(0usize, |value, &digit| value << 4 | (digit as char).to_digit(16).unwrap_or(0) as usize);
        engine::is_own_mapping(start) || line.windows(17).any(|part| part == b"/memfd:threadbare")
    };
    let kept: Vec<u8> =
        text.split_inclusive(|&byte| byte == b'\n').filter(|line| !ours(line)).flatten().copied().collect();
    let cloexec = if flags & O_CLOEXEC != 0 { MFD_CLOEXEC } else { 0 };
    // SAFETY: a C string; a new descriptor, which gets what the vector has.
    unsafe {
        let fd = raw(nr::MEMFD_CREATE, [c"maps".as_ptr() as usize, cloexec]);
        if fd < 0 {
            return None;
        }
        let mut written = 0;
        while written < kept.len() {
            let more = raw(nr::WRITE, [fd as usize, kept.as_ptr() as usize + written, kept.len() - written]);
            if more <= 0 {
                raw(nr::CLOSE, [fd as usize]);
                return None;
            }
            written += more as usize;
        }
        raw(nr::LSEEK, [fd as usize, 0, 0]);
        Some(fd as c_int)
    }
}

fn read() -> Option<Vec<u8>> {
    let mut text: Vec<u8> = Vec::new();
    // SAFETY: a C string.
    let fd = unsafe { raw(nr::OPEN, [PATH.as_ptr() as usize, O_CLOEXEC as usize, 0]) };
    if fd < 0 {
        return None;
    }
    let whole = loop {
        let filled = text.len();
        text.resize(filled + PART, 0);
        // SAFETY: there is room for so many.
        let got = unsafe { raw(nr::READ, [fd as usize, text.as_mut_ptr() as usize + filled, PART]) };
        text.truncate(filled + got.max(0) as usize);
        match got {
            ..0 => break false,
            0 => break true,
            _ if text.len() > MOST => break false,
            _ => {}
        }
    };
    // SAFETY: the descriptor just made, which nobody else knows.
    unsafe { raw(nr::CLOSE, [fd as usize]) };
    whole.then_some(text)
}
