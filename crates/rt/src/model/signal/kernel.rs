//! What the kernel is told about signals, and what it tells.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{FAULTS, Set, UNBLOCKABLE, bit};
use crate::engine::{self, ATTENTION, attention};
use crate::model::kernel::{nr, raw};
use crate::model::single::Single;
use crate::sys::{c_int, c_void};

pub const SA_NOCLDSTOP: u64 = 0x1;
pub const SA_NOCLDWAIT: u64 = 0x2;
pub const SA_SIGINFO: u64 = 0x4;
pub const SA_ONSTACK: u64 = 0x0800_0000;
pub const SA_RESTART: u64 = 0x1000_0000;
pub const SA_NODEFER: u64 = 0x4000_0000;
pub const SA_RESETHAND: u64 = 0x8000_0000;
const SA_RESTORER: u64 = 0x0400_0000;

const SIG_BLOCK: usize = 0;
const SIG_SETMASK: usize = 2;

/// `siginfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SigInfo {
    pub signal: c_int,
    pub error: c_int,
    pub code: c_int,
    pub pad: c_int,
    /// Sender's process and user; the address of a fault; a timer's number and overrun.
    pub first: [u32; 2],
    /// The value sent with it.
    pub value: u64,
    pub rest: [u64; 12],
}

impl SigInfo {
    pub const ZERO: SigInfo =
        SigInfo { signal: 0, error: 0, code: 0, pad: 0, first: [0; 2], value: 0, rest: [0; 12] };

    /// The process that sent it, where a process did.
    pub fn sender(&self) -> c_int {
        self.first[0] as c_int
    }

    /// The address of a fault.
    pub fn address(&self) -> u64 {
        self.first[0] as u64 | (self.first[1] as u64) << 32
    }
}

const _: () = assert!(size_of::<SigInfo>() == 128);

/// The kernel's `struct sigaction`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Native {
    pub handler: usize,
    pub flags: u64,
    pub restorer: usize,
    pub mask: Set,
}

/// Returns from a signal handler to what it interrupted.
#[unsafe(naked)]
pub unsafe extern "C" fn restorer() {
    core::arch::naked_asm!("mov eax, 15", "syscall", "ud2")
}

/// The kernel's action for a signal.
pub fn native(signal: c_int) -> Native {
    let mut old = Native::default();
    // SAFETY: asks, and writes our own struct.
    unsafe { raw(nr::RT_SIGACTION, [signal as usize, 0, &raw mut old as usize, 8]) };
    old
}

/// The signals whose actions in the kernel are others than before `main`: a run that is put back begins with what they were then.
static CHANGED: AtomicU64 = AtomicU64::new(0);

/// The kernel's actions are as they are to be.
pub fn forget_changes() {
    CHANGED.store(0, Ordering::Relaxed);
}

/// The signals for which the run has set the kernel's action.
pub fn changed() -> Set {
    CHANGED.load(Ordering::Relaxed)
}

/// Sets the kernel's action for a signal.
pub fn set_native(signal: c_int, mut action: Native) {
    CHANGED.fetch_or(bit(signal), Ordering::Relaxed);
    if action.handler > 1 {
        action.flags |= SA_RESTORER;
        action.restorer = restorer as *const () as usize;
    }
    // SAFETY: handlers of ours, or the default ones.
    unsafe { raw(nr::RT_SIGACTION, [signal as usize, &raw const action as usize, 0, 8]) };
}

/// Signals the kernel has told of since [`take_arrived`].
static ARRIVED: AtomicU64 = AtomicU64::new(0);
/// Signals for which [`note`] is installed.
static CAUGHT: Single<Set> = Single::new(0);

/// Whether the kernel calls us for a signal.
pub fn is_caught(signal: c_int) -> bool {
    *CAUGHT.get() & bit(signal) != 0
}
static INFO: Single<[SigInfo; 64]> = Single::new([SigInfo::ZERO; 64]);

/// Lets the kernel tell of a signal instead of acting on it. `flags` may hold those of `SIGCHLD`.
pub fn catch(signal: c_int, flags: u64) {
    if (FAULTS | UNBLOCKABLE) & bit(signal) != 0 {
        return;
    }
    *CAUGHT.get() |= bit(signal);
    let flags = flags & (SA_NOCLDSTOP | SA_NOCLDWAIT) | SA_SIGINFO | SA_ONSTACK;
    let handler = note as *const () as usize;
    set_native(signal, Native { handler, flags, restorer: 0, mask: !0 });
}

/// As [`catch`], for the signals of a set that are not caught yet.
pub fn catch_all(set: Set) {
    let mut missing = set & !*CAUGHT.get() & !FAULTS & !UNBLOCKABLE;
    while missing != 0 {
        catch(missing.trailing_zeros() as c_int + 1, 0);
        missing &= missing - 1;
    }
}

/// Lets the kernel act on a signal by itself: default (0) or ignore (1).
pub fn release(signal: c_int, handler: usize, flags: u64) {
    *CAUGHT.get() &= !bit(signal);
    set_native(
        signal,
        Native { handler, flags: flags & (SA_NOCLDSTOP | SA_NOCLDWAIT), restorer: 0, mask: 0 },
    );
}

/// The kernel's handler: async-signal-safe, all signals masked, on our own stack.
unsafe extern "C" fn note(signal: c_int, info: *const SigInfo, _context: *const c_void) {
    // SAFETY: the kernel's info; nobody reads the entry before the bit below is set.
    unsafe { INFO.get()[signal as usize - 1] = *info };
    ARRIVED.fetch_or(bit(signal), Ordering::Release);
    ATTENTION.fetch_or(attention::SIGNAL, Ordering::Relaxed);
    if signal != super::SIGCHLD {
        // A child's end is handled where the program waits or makes a point, which replays can find again.
        engine::stops::ring();
    }
}

/// One signal the kernel told of.
pub fn take_arrived() -> Option<SigInfo> {
    let all = ARRIVED.load(Ordering::Acquire);
    if all == 0 {
        return None;
    }
    let info = INFO.get()[all.trailing_zeros() as usize];
    ARRIVED.fetch_and(!(all & all.wrapping_neg()), Ordering::AcqRel);
    Some(info)
}

/// Blocks signals in the kernel, for descriptors that report them.
pub fn block_native(set: Set) {
    // SAFETY: an eight-byte set.
    unsafe { raw(nr::RT_SIGPROCMASK, [SIG_BLOCK, &raw const set as usize, 0, 8]) };
}

/// Runs `work` with the strand's own mask in the kernel, for what a new program inherits.
pub fn with_mask<R>(work: impl FnOnce() -> R) -> R {
    let mask = super::own(engine::me()).mask;
    if mask == 0 {
        return work();
    }
    let mut old: Set = 0;
    // SAFETY: eight-byte sets.
    unsafe { raw(nr::RT_SIGPROCMASK, [SIG_SETMASK, &raw const mask as usize, &raw mut old as usize, 8]) };
    let result = work();
    // SAFETY: as above.
    unsafe { raw(nr::RT_SIGPROCMASK, [SIG_SETMASK, &raw const old as usize, 0, 8]) };
    result
}
