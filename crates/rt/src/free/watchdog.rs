//! Deadlocks of free runs.
//!
//! A kernel thread of our own, unknown to libc, looks now and then at what every strand waits for. Two things are a
//! deadlock: a cycle of strands that each wait for what the next one holds or is (a lock, its end), and that no strand can go
//! on, all of them waiting without a deadline for each other. Slow work is neither. Before it is told, the kernel is asked
//! whether all these strands really sleep, and they must not have moved since the look before: one that was woken and has not
//! run yet does not sleep.
//!
//! That all strands wait is no deadlock where somebody else may wake them: a handler of a signal, a thread that libc made for
//! itself, another process that shares the futex.

use super::tell::{self, Verdict, read};
use super::thread::{self, Thread};
use crate::engine::memory;
use crate::sys::{Text, nr, syscall3, timespec};
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, Ordering};
use threadbare_abi::op::OpKind;
use threadbare_abi::verdict::VerdictKind;

const STACK: usize = 64 << 10;
/// Between two looks.
const PERIOD_NS: i64 = 10_000_000;
/// Signals whose handlers wake nobody: faults, libc's own two, and the one by which the driver ends a run.
const HARMLESS: u64 = 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 23 | 1 << 30 | 3 << 31;
/// The longest cycle that is told.
const CYCLE: usize = 64;

static STARTED: AtomicBool = AtomicBool::new(false);

/// Starts the watchdog, once a run: before the second strand.
pub fn start() {
    if STARTED.swap(true, Ordering::AcqRel) {
        return;
    }
    let stack = memory::reserve(STACK) + STACK;
    // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM.
    const FLAGS: usize = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;
    // All signals are for the program's own threads.
    let (all, mut before) = (!0u64, 0u64);
    // SAFETY: a thread on a stack of its own that never returns and uses no thread-local storage; the mask of this thread
    // is put back.
    unsafe {
        mask(2, &all, &mut before);
        core::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "call {watch}",
            "ud2",
            "2:",
            watch = sym watch,
            inlateout("rax") nr::CLONE as isize => _,
            in("rdi") FLAGS,
            in("rsi") stack,
            in("rdx") 0,
            in("r10") 0,
            in("r8") 0,
            out("rcx") _,
            out("r11") _,
        );
        mask(2, &before, core::ptr::null_mut());
    }
}

unsafe fn mask(how: usize, set: &u64, old: *mut u64) {
    // SAFETY: both are 8 bytes, or null.
    unsafe { crate::sys::syscall6(nr::RT_SIGPROCMASK, how, &raw const *set as usize, old as usize, 8, 0, 0) };
}

extern "C" fn watch() -> ! {
    let mut last = Look { sum: 0, suspicious: false };
    loop {
        let time = timespec { tv_sec: 0, tv_nsec: PERIOD_NS };
        // SAFETY: the struct outlives the call.
        unsafe { syscall3(nr::NANOSLEEP, &raw const time as usize, 0, 0) };
        let seen = look();
        if seen.suspicious && seen.sum == last.sum && last.suspicious {
            judge();
        }
        last = seen;
    }
}

struct Look {
    /// Changes when any waiting strand moves.
    sum: u64,
    /// All wait, or some wait in a cycle.
    suspicious: bool,
}

fn waits(this: &Thread) -> bool {
    this.wait.seq.load(Ordering::Acquire) & 1 == 1 && !this.ended.load(Ordering::Acquire)
}

fn waits_for_ever(this: &Thread) -> bool {
    waits(this) && !this.wait.open.load(Ordering::Relaxed)
}

fn look() -> Look {
    let mut sum = 0u64;
    let mut all = true;
    let mut cycle = false;
    let mut room = [0; CYCLE];
    for this in thread::all() {
        if this.ended.load(Ordering::Acquire) {
            continue;
        }
        if !waits_for_ever(this) {
            all = false;
            continue;
        }
        let seq = this.wait.seq.load(Ordering::Acquire);
        sum = sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(seq << 16 | this.index as u64);
        cycle = cycle || find_cycle(this, &mut room) > 0;
    }
    Look { sum, suspicious: all || cycle }
}

/// The strand without whose doing this one cannot go on, if it is known.
pub fn blocker(this: &Thread) -> Option<u16> {
    let addr = this.wait.addr.load(Ordering::Relaxed);
    let op = OpKind::from_code(this.wait.op.load(Ordering::Relaxed) as u8)?;
    match op {
        OpKind::Join => thread::all()
            .filter(|other| other.pthread.load(Ordering::Relaxed) == addr)
            .last()
            .map(|other| other.index),
        op if op.takes_lock() => holder(addr, |shared| !shared || !op.is_shared()),
        _ => None,
    }
}

fn holder(addr: usize, counts: impl Fn(bool) -> bool) -> Option<u16> {
    thread::all()
        .find(|other| other.held.known().any(|held| held.addr == addr && counts(held.shared)))
        .map(|other| other.index)
}

/// The strands of the cycle that begins with this one; how many, 0 if there is none.
fn find_cycle(from: &Thread, cycle: &mut [u16; CYCLE]) -> usize {
    let mut at = from;
    for (length, place) in cycle.iter_mut().enumerate() {
        *place = at.index;
        let Some(next) = blocker(at).and_then(|index| thread::at(index as usize)) else { return 0 };
        if next.index == from.index {
            return length + 1;
        }
        if !waits_for_ever(next) {
            return 0;
        }
        at = next;
    }
    0
}

/// Nothing has moved between two looks: gives the verdict if the kernel agrees.
fn judge() {
    let mut cycle = [0; CYCLE];
    for this in thread::all().filter(|this| waits_for_ever(this)) {
        let length = find_cycle(this, &mut cycle);
        if length > 0 && cycle[..length].iter().all(|&index| spins(index) || sleeps(index)) {
            let still = find_cycle(this, &mut cycle);
            if still == length {
                deadlock(&mut cycle[..length]);
            }
        }
    }
    let alive = || thread::all().filter(|this| !this.ended.load(Ordering::Acquire));
    let count = alive().count();
    if count > 0
        && alive().all(waits_for_ever)
        && alive().all(|this| sleeps(this.index))
        && nobody_else(count)
        && alive().all(waits_for_ever)
    {
        total(count);
    }
}

/// Whether the strand waits for a spin lock, and so never sleeps. Those of a cycle that have not moved between two looks are stuck all the
/// same: each has what another waits for, and gives it back before it is told to have none.
fn spins(index: u16) -> bool {
    thread::at(index as usize)
        .is_some_and(|this| this.wait.op.load(Ordering::Relaxed) == OpKind::SpinLock as u32)
}

/// Whether the kernel says that the strand sleeps.
pub fn sleeps(index: u16) -> bool {
    let Some(this) = thread::at(index as usize) else { return false };
    let mut path = [0u8; 64];
    let _ = write!(Text::new(&mut path), "/proc/self/task/{}/stat\0", this.tid.load(Ordering::Relaxed));
    let mut stat = [0u8; 128];
    let got = read(&path, &mut stat);
    let Some(at) = stat[..got].iter().rposition(|&byte| byte == b')') else { return false };
    stat.get(at + 2) == Some(&b'S')
}

/// Whether the process has no other thread and no handler that could wake somebody.
fn nobody_else(alive: usize) -> bool {
    let mut text = [0u8; 2048];
    let got = read(b"/proc/self/status\0", &mut text);
    let status = core::str::from_utf8(&text[..got]).unwrap_or("");
    let field = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    };
    let threads = field("Threads").and_then(|text| text.parse::<usize>().ok()).unwrap_or(usize::MAX);
    let caught = field("SigCgt").and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(u64::MAX);
    let signal = super::noise::wanted().signal;
    let own = if signal > 0 { 1 << (signal - 1) } else { 0 };
    // The main strand's kernel thread stays until the process ends.
    let main = thread::at(0).is_some_and(|main| main.ended.load(Ordering::Acquire)) as usize;
    threads == alive + main + 1 && caught & !(HARMLESS | own) == 0
}

fn deadlock(cycle: &mut [u16]) -> ! {
    // Wherever it was found, it is told from the strand that was created first.
    let first = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
    cycle.rotate_left(first);
    let ops = || cycle.iter().filter_map(|&index| thread::at(index as usize)).map(|this| &this.wait.op);
    let joins = ops().all(|op| op.load(Ordering::Relaxed) == OpKind::Join as u32);
    let locks = ops().all(|op| op.load(Ordering::Relaxed) != OpKind::Join as u32);
    let count = cycle.len();
    match count {
        1 if locks => give(cycle[0], cycle, format_args!("a strand waits for the lock it holds itself")),
        1 => give(cycle[0], cycle, format_args!("a strand waits for itself")),
        _ if locks => give(cycle[0], cycle, format_args!("lock cycle of {count} strands")),
        _ if joins => give(cycle[0], cycle, format_args!("join cycle of {count} strands")),
        _ => give(cycle[0], cycle, format_args!("cycle of {count} strands")),
    }
}

fn total(waiting: usize) -> ! {
    let first = thread::all().find(|this| waits(this)).map_or(0, |this| this.index);
    if waiting == 1 {
        give(first, &[], format_args!("the only strand left waits for ever"));
    }
    give(first, &[], format_args!("all {waiting} strands wait"))
}

fn give(strand: u16, cycle: &[u16], message: core::fmt::Arguments) -> ! {
    let wait = thread::at(strand as usize).map(|this| &this.wait);
    let verdict = Verdict {
        kind: VerdictKind::Deadlock,
        code: 0,
        addr: wait.map_or(0, |wait| wait.addr.load(Ordering::Relaxed) as u64),
        pc: wait.map_or(0, |wait| wait.pc.load(Ordering::Relaxed)),
        strand,
        cycle,
    };
    if tell::note(verdict, message) {
        tell::end();
    }
    loop {
        // Another verdict is being given, and ends the process.
        let time = timespec { tv_sec: 1, tv_nsec: 0 };
        // SAFETY: the struct outlives the call.
        unsafe { syscall3(nr::NANOSLEEP, &raw const time as usize, 0, 0) };
    }
}
