//! Whether there is a driver, and what it gave us. Callable at any time, from the first instruction on.

use super::live::LIVE;
use super::strand::Strand;
use super::{frames, given, lists, sched, server, shared};
use crate::arch;
use crate::sys::{c_char, nr, syscall3, syscall6};
use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use threadbare_abi::protocol::ENV;
use threadbare_abi::strand::{StrandId, StrandPath};

const UNKNOWN: u8 = 0;
const BARE: u8 = 1;
const STARTING: u8 = 2;
const CONTROLLED: u8 = 3;
const FREE: u8 = 4;

static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
static INSTRUMENTED: AtomicU8 = AtomicU8::new(0);
static RESET: AtomicBool = AtomicBool::new(false);
static STACKS_UNSURE: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// Whether strands are under control; if not, hooks pass on to libc.
#[inline(always)]
pub fn controlled() -> bool {
    match MODE.load(Ordering::Relaxed) {
        CONTROLLED => true,
        UNKNOWN => look(),
        _ => false,
    }
}

/// Whether this process is controlled, or about to be.
#[inline(always)]
pub fn driven() -> bool {
    match MODE.load(Ordering::Relaxed) {
        UNKNOWN => look(),
        mode => mode == STARTING || mode == CONTROLLED,
    }
}

/// Whether Threadbare started this process and lets its threads run free.
#[inline]
pub fn free() -> bool {
    MODE.load(Ordering::Relaxed) == FREE
}

/// From now on this process is nobody's: a child that a free program forked.
pub fn leave_free() {
    MODE.store(BARE, Ordering::Relaxed);
}

/// Whether accesses to memory of stacks may be out of sight.
pub fn stacks_unsure() -> bool {
    STACKS_UNSURE.load(Ordering::Relaxed)
}

/// Whether the next run may begin in the process of the last one.
pub fn may_reset() -> bool {
    RESET.load(Ordering::Relaxed)
}

/// Says so.
pub fn set_reset(may: bool) {
    RESET.store(may, Ordering::Relaxed);
}

/// Instrumented code is there.
pub fn mark_instrumented() {
    INSTRUMENTED.store(1, Ordering::Relaxed);
}

/// Whether instrumented code has announced itself.
pub fn is_instrumented() -> bool {
    INSTRUMENTED.load(Ordering::Relaxed) != 0
}

#[cold]
fn look() -> bool {
    // SAFETY: libc's environment; read and edited before any other thread exists.
    unsafe {
        let list = environ;
        if list.is_null() {
            // libc is not ready: nobody else's code runs yet, so nothing can be missed.
            return false;
        }
        let Some(value) = find(list, ENV.as_bytes()) else {
            MODE.store(BARE, Ordering::Relaxed);
            return false;
        };
        let free = number_after(value, b"free=") == Some(1);
        // A free program keeps libc's heap from its first allocation on.
        MODE.store(if free { FREE } else { STARTING }, Ordering::Relaxed);
        let (Some(shm), Some(ctl)) = (number_after(value, b"shm="), number_after(value, b"ctl=")) else {
            super::fatal("the variable THREADBARE_RT is malformed");
        };
        if number_after(value, b"bind=") == Some(1) {
            remove_variable(list, b"LD_BIND_NOW");
        }
        STACKS_UNSURE.store(number_after(value, b"stacks=") == Some(0), Ordering::Relaxed);
        RESET.store(number_after(value, b"reset=") == Some(1), Ordering::Relaxed);
        read_cpus(value);
        let given = number_after(value, b"given=").map(|argc| (argc as usize, text_after(value, b"names=")));
        attach(shm, ctl);
        if !free {
            init();
        }
        remove_variable(list, ENV.as_bytes());
        remove_preload(list);
        if let Some((argc, names)) = given {
            given::make_room(list, argc, names);
        }
        if free {
            return false;
        }
    }
    MODE.store(CONTROLLED, Ordering::Relaxed);
    true
}

fn attach(shm: i32, ctl: i32) {
    const F_DUPFD_CLOEXEC: usize = 1030;
    if !shared::attach(shm, &raw const LIVE as usize) {
        super::fatal("the shared memory is not of this version of Threadbare");
    }
    // Out of the way of the program's own descriptors.
    // SAFETY: moves our own descriptor.
    unsafe {
        let high = syscall3(nr::FCNTL, ctl as usize, F_DUPFD_CLOEXEC, 900);
        if high >= 0 {
            syscall3(nr::CLOSE, ctl as usize, 0, 0);
            server::set_control(high as i32);
        } else {
            server::set_control(ctl);
        }
    }
}

fn init() {
    arch::detect();
    frames::init();
    sched::init();
    let mut main = Strand::new(StrandId::MAIN, StrandId::NONE, 0, StrandPath::MAIN, 0);
    main.fs = arch::thread_pointer();
    main.pthread = main.fs;
    main.stack = main_stack();
    let main = Box::into_raw(Box::new(main));
    lists::add(main);
    // SAFETY: just made.
    frames::switch_to(unsafe { &*main });
}

/// The main stack grows down from the environment, as far as the limit lets it.
fn main_stack() -> (usize, usize) {
    const RLIMIT_STACK: usize = 3;
    let mut limit = [0u64; 2];
    // SAFETY: writes two words; `environ` is set.
    unsafe {
        syscall6(nr::PRLIMIT64, 0, RLIMIT_STACK, 0, &raw mut limit as usize, 0, 0);
        let high = environ as usize;
        let size = if limit[0] > 1 << 40 { 1 << 33 } else { limit[0] as usize };
        (high.saturating_sub(size), high)
    }
}

/// The value of a variable.
///
/// # Safety
/// `list` is a null-terminated list of C strings.
pub unsafe fn find(list: *mut *mut c_char, name: &[u8]) -> Option<*mut c_char> {
    // SAFETY: as the caller says.
    unsafe {
        let mut entry = list;
        while !(*entry).is_null() {
            let text = core::ffi::CStr::from_ptr(*entry).to_bytes();
            if text.len() > name.len() && text[name.len()] == b'=' && &text[..name.len()] == name {
                return Some((*entry).add(name.len() + 1));
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Takes a variable out of the list.
///
/// # Safety
/// As for [`find`].
unsafe fn remove_variable(list: *mut *mut c_char, name: &[u8]) {
    // SAFETY: as the caller says.
    unsafe {
        let Some(value) = find(list, name) else { return };
        let target = value.sub(name.len() + 1);
        let mut entry = list;
        while *entry != target {
            entry = entry.add(1);
        }
        while !(*entry).is_null() {
            *entry = *entry.add(1);
            entry = entry.add(1);
        }
    }
}

/// Takes our library out of `LD_PRELOAD`, and the variable out if nothing else is in it.
///
/// # Safety
/// As for [`find`].
unsafe fn remove_preload(list: *mut *mut c_char) {
    const NAME: &[u8] = b"LD_PRELOAD";
    // SAFETY: as the caller says; the text only gets shorter.
    unsafe {
        let Some(value) = find(list, NAME) else { return };
        let text = core::ffi::CStr::from_ptr(value).to_bytes();
        let first = text.iter().position(|&b| b == b':' || b == b' ').unwrap_or(text.len());
        let ours = text[..first].windows(19).any(|w| w == b"libthreadbare_rt.so");
        if !ours {
            return;
        }
        if first == text.len() {
            remove_variable(list, NAME);
        } else {
            let rest = text.len() - first - 1;
            core::ptr::copy(value.add(first + 1), value, rest + 1);
        }
    }
}

/// The processors the program may use, as the driver found them: it has bound this process to one of them.
static mut CPUS: ([u8; 128], usize) = ([0; 128], 0);

/// The processors the program may use, lowest byte first; empty if the driver has bound nothing.
pub fn cpus() -> &'static [u8] {
    // SAFETY: written once, before any strand exists.
    unsafe {
        let cpus = &*(&raw const CPUS);
        &cpus.0[..cpus.1]
    }
}

/// # Safety
/// `text` is a C string.
unsafe fn read_cpus(text: *const c_char) {
    // SAFETY: as the caller says; written once, before any strand exists.
    unsafe {
        let text = core::ffi::CStr::from_ptr(text).to_bytes();
        let cpus = &mut *(&raw mut CPUS);
        let Some(at) = text.windows(5).position(|w| w == b"cpus=") else { return };
        for pair in text[at + 5..].chunks_exact(2) {
            let digit = |byte: u8| (byte as char).to_digit(16);
            let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else { return };
            if cpus.1 == cpus.0.len() {
                return;
            }
            cpus.0[cpus.1] = (high * 16 + low) as u8;
            cpus.1 += 1;
        }
    }
}

/// What comes after `key` in a C string, up to its end.
///
/// # Safety
/// `text` is a C string that stays.
unsafe fn text_after(text: *const c_char, key: &[u8]) -> &'static [u8] {
    // SAFETY: as the caller says.
    let text = unsafe { core::ffi::CStr::from_ptr(text) }.to_bytes();
    let at = text.windows(key.len()).position(|w| w == key);
    at.map_or(&[], |at| &text[at + key.len()..])
}

/// The number after `key` in a C string.
///
/// # Safety
/// `text` is a C string.
unsafe fn number_after(text: *const c_char, key: &[u8]) -> Option<i32> {
    // SAFETY: as the caller says.
    let text = unsafe { core::ffi::CStr::from_ptr(text) }.to_bytes();
    let at = text.windows(key.len()).position(|w| w == key)? + key.len();
    let mut value = 0i32;
    let mut digits = 0;
    for &byte in &text[at..] {
        if !byte.is_ascii_digit() {
            break;
        }
        value = value.checked_mul(10)?.checked_add((byte - b'0') as i32)?;
        digits += 1;
    }
    (digits > 0).then_some(value)
}
