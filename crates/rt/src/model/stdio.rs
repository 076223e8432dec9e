//! Standard streams: their locks, and reading from ones that may block.
//!
//! libc takes a stream's lock inside its own calls too. A strand that were preempted while it holds one could not be
//! waited for by another inside `printf`, so it is not preempted meanwhile.
//!
//! libc reads a stream's descriptor by itself, and would block there with all strands. So a read from a pipe, a socket
//! or a terminal is done character by character, and before libc would fill its buffer the strand waits until there is
//! something to read. Formatted reading (`scanf`) is left to libc.
//!
//! Safe before init and after fork, where libc's own calls serve.

use crate::engine;
use crate::model::kernel::{S_IFBLK, S_IFDIR, S_IFREG};
use crate::model::{io, state};
use crate::sys::errno::{EINVAL, ENOMEM};
use crate::sys::{c_char, c_int, c_void, fail};
use crate::tsan::strings::Caller;
use threadbare_abi::op::OpKind;

const EOF: c_int = -1;
/// The first size of a line's buffer.
const LINE: usize = 120;

/// The beginning of glibc's `FILE`, a layout that its own macros rely on.
#[repr(C)]
pub struct File {
    flags: c_int,
    read_next: *const u8,
    read_end: *const u8,
}

#[link(name = "c")]
unsafe extern "C" {
    static stdin: *mut File;
    static stdout: *mut File;
    static stderr: *mut File;
}

/// A stream is read or written: its place and its buffer change.
pub fn used(file: *const c_void, pc: u64) {
    state::uses(OpKind::StateWrite, state::of(file as u64), pc);
}

/// The address of `stdin`.
pub fn standard_input() -> u64 {
    // SAFETY: libc's variable.
    unsafe { stdin as u64 }
}

/// The address of `stdout`.
pub fn standard_output() -> u64 {
    // SAFETY: libc's variable.
    unsafe { stdout as u64 }
}

/// The address of `stderr`.
pub fn standard_error() -> u64 {
    // SAFETY: libc's variable.
    unsafe { stderr as u64 }
}

interpose!(flockfile, 1, flockfile_hook);
interpose!(ftrylockfile, 1, ftrylockfile_hook);
interpose!(funlockfile, 1, funlockfile_hook);
interpose!(fgetc, 1, fgetc_hook);
interpose!(getc, 1, fgetc_hook);
interpose!(_IO_getc, 1, fgetc_hook);
interpose!(getchar, 0, getchar_hook);
interpose_slot!(fgets, 3, fgets_hook);
interpose_slot!(fread, 4, fread_hook);
interpose!(getline, 3, getline_hook);
interpose!(getdelim, 4, getdelim_hook);
interpose!(__getdelim, 4, getdelim_hook);

unsafe extern "C" fn flockfile_hook(file: *mut File, _pc: u64) {
    if engine::controlled() {
        engine::event();
        engine::pin();
    }
    // SAFETY: the caller's stream; nobody else holds it, as holders are not preempted.
    unsafe { real!(flockfile: fn(*mut File))(file) }
}

unsafe extern "C" fn ftrylockfile_hook(file: *mut File, _pc: u64) -> c_int {
    // SAFETY: the caller's stream.
    let failed = unsafe { real!(ftrylockfile: fn(*mut File) -> c_int)(file) };
    if engine::controlled() {
        engine::event();
        if failed == 0 {
            engine::pin();
        }
    }
    failed
}

unsafe extern "C" fn funlockfile_hook(file: *mut File, _pc: u64) {
    // SAFETY: the caller's stream.
    unsafe { real!(funlockfile: fn(*mut File))(file) };
    if engine::controlled() {
        engine::event();
        engine::unpin();
    }
}

/// The descriptor of a stream whose reads may block; `None` if they cannot, or nobody else could go on.
fn blocking(file: *mut File) -> Option<c_int> {
    if !engine::controlled() || file.is_null() {
        return None;
    }
    // SAFETY: the caller's stream.
    let fd = unsafe { real!(fileno_unlocked: fn(*mut File) -> c_int)(file) };
    (fd >= 0 && !matches!(io::file_type(fd), S_IFREG | S_IFBLK | S_IFDIR)).then_some(fd)
}

/// One character, waited for without libc.
///
/// # Safety
/// `file` is an open stream with this descriptor.
unsafe fn next(file: *mut File, fd: c_int, pc: u64) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if (*file).read_next >= (*file).read_end && io::wait_readable(fd, pc).is_err() {
            return EOF;
        }
        real!(getc_unlocked: fn(*mut File) -> c_int)(file)
    }
}

unsafe extern "C" fn fgetc_hook(file: *mut File, pc: u64) -> c_int {
    used(file.cast(), pc);
    // SAFETY: the caller's stream.
    unsafe {
        match blocking(file) {
            Some(fd) => next(file, fd, pc),
            None => real!(fgetc: fn(*mut File) -> c_int)(file),
        }
    }
}

unsafe extern "C" fn getchar_hook(pc: u64) -> c_int {
    // SAFETY: libc's stream.
    unsafe { fgetc_hook(stdin, pc) }
}

unsafe extern "C" fn fgets_hook(
    buffer: *mut c_char,
    room: c_int,
    file: *mut File,
    slot: *const u64,
) -> *mut c_char {
    // SAFETY: the stub's stack pointer and the caller's arguments; a line that was read ends in a zero.
    unsafe {
        let line = read_line(buffer, room, file, *slot);
        if engine::controlled() && !line.is_null() {
            let length = real!(strlen: fn(*const c_char) -> usize)(line);
            Caller::at(slot).writes(line, length + 1);
        }
        line
    }
}

/// # Safety
/// As for `fgets`.
unsafe fn read_line(buffer: *mut c_char, room: c_int, file: *mut File, pc: u64) -> *mut c_char {
    used(file.cast(), pc);
    let Some(fd) = blocking(file).filter(|_| room > 1) else {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(fgets: fn(*mut c_char, c_int, *mut File) -> *mut c_char)(buffer, room, file) };
    };
    let mut length = 0;
    // SAFETY: the caller's buffer has `room` bytes.
    unsafe {
        while length + 1 < room as usize {
            let byte = next(file, fd, pc);
            if byte == EOF {
                break;
            }
            *buffer.add(length) = byte as c_char;
            length += 1;
            if byte == b'\n' as c_int {
                break;
            }
        }
        if length == 0 {
            return core::ptr::null_mut();
        }
        *buffer.add(length) = 0;
    }
    buffer
}

unsafe extern "C" fn fread_hook(
    buffer: *mut c_void,
    size: usize,
    count: usize,
    file: *mut File,
    slot: *const u64,
) -> usize {
    // SAFETY: the stub's stack pointer and the caller's arguments.
    let got = unsafe { read_items(buffer, size, count, file, *slot) };
    if engine::controlled() {
        Caller::at(slot).writes(buffer, got.saturating_mul(size));
    }
    got
}

/// # Safety
/// As for `fread`.
unsafe fn read_items(buffer: *mut c_void, size: usize, count: usize, file: *mut File, pc: u64) -> usize {
    used(file.cast(), pc);
    let total = size.saturating_mul(count);
    let Some(fd) = blocking(file).filter(|_| total > 0) else {
        let call = real!(fread: fn(*mut c_void, usize, usize, *mut File) -> usize);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(buffer, size, count, file) };
    };
    let mut done = 0;
    while done < total {
        // SAFETY: the caller's stream and buffer.
        unsafe {
            let byte = next(file, fd, pc);
            if byte == EOF {
                break;
            }
            *buffer.cast::<u8>().add(done) = byte as u8;
        }
        done += 1;
    }
    done / size
}

unsafe extern "C" fn getdelim_hook(
    line: *mut *mut c_char,
    room: *mut usize,
    delimiter: c_int,
    file: *mut File,
    pc: u64,
) -> isize {
    used(file.cast(), pc);
    let Some(fd) = blocking(file) else {
        let call = real!(getdelim: fn(*mut *mut c_char, *mut usize, c_int, *mut File) -> isize);
        // SAFETY: the caller's request, unchanged.
        return unsafe { call(line, room, delimiter, file) };
    };
    if line.is_null() || room.is_null() {
        return fail(EINVAL) as isize;
    }
    let mut length = 0;
    // SAFETY: the caller's buffer is null or came from malloc and has `*room` bytes.
    unsafe {
        loop {
            let byte = next(file, fd, pc);
            if byte == EOF {
                break;
            }
            if (*line).is_null() || length + 2 > *room {
                let wish = (*room * 2).max(LINE);
                let other = crate::heap::reallocate((*line).cast(), wish, pc).cast::<c_char>();
                if other.is_null() {
                    return fail(ENOMEM) as isize;
                }
                (*line, *room) = (other, wish);
            }
            *(*line).add(length) = byte as c_char;
            length += 1;
            if byte == delimiter {
                break;
            }
        }
        if length == 0 {
            return -1;
        }
        *(*line).add(length) = 0;
    }
    length as isize
}

unsafe extern "C" fn getline_hook(
    line: *mut *mut c_char,
    room: *mut usize,
    file: *mut File,
    pc: u64,
) -> isize {
    // SAFETY: the same call for lines.
    unsafe { getdelim_hook(line, room, b'\n' as c_int, file, pc) }
}
