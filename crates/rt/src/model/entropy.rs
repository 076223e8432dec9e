//! Random numbers from outside the program, the same in every run of a campaign.
//!
//! `rand` and `random` are libc's own deterministic generators. Instructions of the processor (`rdrand`) cannot be
//! seen; libstdc++'s `random_device`, which uses them, is served here by its symbol.

use crate::engine::{self, ObjectId};
use crate::model::io::maps;
use crate::model::kernel::{error::*, result};
use crate::model::single::Single;
use crate::model::state::uses;
use crate::sys::{c_char, c_int, c_uint, c_void, fail};
use threadbare_abi::op::OpKind;

/// What `getentropy` gives at once at the most.
const ENTROPY_LIMIT: usize = 256;
/// Descriptors that can be marked.
const DESCRIPTORS: usize = 1024;
const GRND_ALL: c_uint = 7;
/// Random bytes a stream opened on the device holds.
const STREAM: usize = 1 << 20;

interpose!(getrandom, 3, getrandom_hook);
interpose!(getentropy, 2, getentropy_hook);
interpose!(arc4random, 0, arc4random_hook);
interpose!(arc4random_buf, 2, arc4random_buf_hook);
interpose!(arc4random_uniform, 1, arc4random_uniform_hook);
interpose!(_ZNSt13random_device9_M_getvalEv, 1, random_device_hook);
interpose!(fopen, 2, fopen_hook);
interpose!(fopen64, 2, fopen_hook);

/// Descriptors of `/dev/random` and `/dev/urandom`.
static MARKED: Single<[u64; DESCRIPTORS / 64]> = Single::new([0; DESCRIPTORS / 64]);

/// Remembers whether a descriptor is one of the random devices.
pub fn mark(fd: c_int, random: bool) {
    if let Some(word) = MARKED.get().get_mut(fd as usize / 64) {
        *word = *word & !(1 << (fd % 64)) | (random as u64) << (fd % 64);
    }
}

/// Whether reads of a descriptor are served from here.
pub fn serves(fd: c_int) -> bool {
    fd >= 0 && MARKED.get().get(fd as usize / 64).is_some_and(|word| word >> (fd % 64) & 1 == 1)
}

/// Fills a buffer; the number of bytes.
pub fn serve(buffer: *mut c_void, count: usize) -> isize {
    engine::event();
    if count > 0 {
        // SAFETY: the caller's buffer.
        fill(unsafe { core::slice::from_raw_parts_mut(buffer.cast(), count) });
    }
    count as isize
}

fn fill(buffer: &mut [u8]) {
    let mut rng = engine::entropy();
    for part in buffer.chunks_mut(8) {
        part.copy_from_slice(&rng.next().to_le_bytes()[..part.len()]);
    }
}

/// `getrandom` under control; the kernel's result.
pub fn getrandom(buffer: *mut c_void, count: usize, flags: c_uint) -> isize {
    if flags & !GRND_ALL != 0 {
        return -(EINVAL as isize);
    }
    serve(buffer, count)
}

/// Safe before init and after fork; a handler may call it.
unsafe extern "C" fn getrandom_hook(buffer: *mut c_void, count: usize, flags: c_uint, _pc: u64) -> isize {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(getrandom: fn(*mut c_void, usize, c_uint) -> isize)(buffer, count, flags) };
    }
    result(getrandom(buffer, count, flags))
}

/// Safe before init and after fork; a handler may call it.
unsafe extern "C" fn getentropy_hook(buffer: *mut c_void, count: usize, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(getentropy: fn(*mut c_void, usize) -> c_int)(buffer, count) };
    }
    if count > ENTROPY_LIMIT {
        return fail(EIO);
    }
    serve(buffer, count);
    0
}

/// Safe before init and after fork; a handler may call it.
unsafe extern "C" fn arc4random_hook(_pc: u64) -> u32 {
    if !engine::controlled() {
        // SAFETY: no arguments.
        return unsafe { real!(arc4random: fn() -> u32)() };
    }
    engine::event();
    engine::entropy().next() as u32
}

/// Safe before init and after fork; a handler may call it.
unsafe extern "C" fn arc4random_buf_hook(buffer: *mut c_void, count: usize, _pc: u64) {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(arc4random_buf: fn(*mut c_void, usize))(buffer, count) };
    }
    serve(buffer, count);
}

/// Safe before init and after fork; a handler may call it.
unsafe extern "C" fn arc4random_uniform_hook(bound: u32, _pc: u64) -> u32 {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(arc4random_uniform: fn(u32) -> u32)(bound) };
    }
    engine::event();
    if bound < 2 { 0 } else { engine::entropy().below(bound) }
}

/// `std::random_device::_M_getval()`. Safe before init and after fork.
unsafe extern "C" fn random_device_hook(device: *mut c_void, _pc: u64) -> u32 {
    if !engine::controlled() {
        // SAFETY: libstdc++'s own, with the object it was called for.
        return unsafe { real!(_ZNSt13random_device9_M_getvalEv: fn(*mut c_void) -> u32)(device) };
    }
    engine::event();
    engine::entropy().next() as u32
}

/// A stream on a random device, or on the list of mappings, reads what was made for it. Safe before init and after fork.
unsafe extern "C" fn fopen_hook(path: *const c_char, mode: *const c_char, pc: u64) -> *mut c_void {
    uses(OpKind::Io, ObjectId::DESCRIPTORS, pc);
    let plain = || {
        // SAFETY: the caller's request, unchanged.
        unsafe { real!(fopen64: fn(*const c_char, *const c_char) -> *mut c_void)(path, mode) }
    };
    if !engine::controlled() || path.is_null() || mode.is_null() {
        return plain();
    }
    // SAFETY: the caller's path and mode.
    let (name, reads) = unsafe { (core::ffi::CStr::from_ptr(path), *mode == b'r' as c_char) };
    if reads
        && maps::is_list(name, 0)
        && let Some(fd) = maps::open(0)
    {
        // SAFETY: a descriptor just made, and the caller's mode.
        return unsafe { real!(fdopen: fn(c_int, *const c_char) -> *mut c_void)(fd, mode) };
    }
    if !matches!(name.to_bytes(), b"/dev/urandom" | b"/dev/random") {
        return plain();
    }
    let mut bytes = alloc::vec![0u8; STREAM];
    fill(&mut bytes);
    let leaked = bytes.leak();
    let open = real!(fmemopen: fn(*mut c_void, usize, *const c_char) -> *mut c_void);
    // SAFETY: the memory lives as long as the process.
    unsafe { open(leaked.as_mut_ptr().cast(), leaked.len(), c"r".as_ptr()) }
}
