//! Verdicts of free runs, and what every strand was doing.

use super::thread::{self, Thread};
use super::watchdog;
use crate::engine::live::live;
use crate::engine::{modules, report};
use crate::heap::lock::SpinLock;
use crate::sys::{Text, nr, syscall3, timespec};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use threadbare_abi::op::OpKind;
use threadbare_abi::report::{RecordTag, StrandState};
use threadbare_abi::verdict::VerdictKind;

/// The exit code of a run that the runtime ended by a verdict.
const VERDICT_EXIT: usize = 66;
/// Strands and frames that are told.
const STRANDS: usize = 256;
const FRAMES: usize = 64;
const NAME: usize = 16;

/// Held by whoever adds to the report.
pub static REPORT: SpinLock = SpinLock::new();

static GIVEN: AtomicBool = AtomicBool::new(false);
/// The strand that gives it, and whether it has.
static GIVER: AtomicU32 = AtomicU32::new(u32::MAX);
static DONE: AtomicBool = AtomicBool::new(false);

/// What a verdict is about.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    pub kind: VerdictKind,
    /// The signal, or 0.
    pub code: i32,
    pub addr: u64,
    pub pc: u64,
    /// The strand, or `u16::MAX`.
    pub strand: u16,
    /// The strands of a cycle of waits.
    pub cycle: &'a [u16],
}

/// Notes the verdict of the run; the first one stays. False if there was one. Safe in a signal handler.
pub fn note(verdict: Verdict, message: fmt::Arguments) -> bool {
    if GIVEN.swap(true, Ordering::AcqRel) {
        // Whoever gives it must not be cut short by the end of another strand.
        for _ in 0..1000 {
            if DONE.load(Ordering::Acquire) || GIVER.load(Ordering::Relaxed) == verdict.strand as u32 {
                break;
            }
            let time = timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            // SAFETY: the struct outlives the call.
            unsafe { syscall3(nr::NANOSLEEP, &raw const time as usize, 0, 0) };
        }
        return false;
    }
    GIVER.store(verdict.strand as u32, Ordering::Relaxed);
    let _held = REPORT.hold();
    let mut counters = live();
    counters.verdict_code = verdict.code;
    counters.verdict_addr = verdict.addr;
    counters.verdict_pc = verdict.pc;
    counters.verdict_strand = verdict.strand as u32;
    report::add(RecordTag::Message, verdict.strand, [verdict.kind as u64, verdict.addr, verdict.pc], message);
    strands(verdict.strand, verdict.cycle);
    count();
    counters.verdict = verdict.kind as u32;
    DONE.store(true, Ordering::Release);
    true
}

/// The program is about to end with this code. Safe in a signal handler.
pub fn exits(code: i32) {
    let strand = thread::me().map_or(u16::MAX, |me| me.index);
    live().current = strand as u32;
    if (code != 0 || live().races > 0) && !GIVEN.swap(true, Ordering::AcqRel) {
        let _held = REPORT.hold();
        strands(strand, &[]);
        DONE.store(true, Ordering::Release);
    }
    ends();
}

/// The run comes to its end.
pub fn ends() {
    if live().races > 0 && !GIVEN.swap(true, Ordering::AcqRel) {
        // Races name their strands.
        let _held = REPORT.hold();
        strands(u16::MAX, &[]);
        DONE.store(true, Ordering::Release);
    }
    count();
    live().ended = 1;
}

/// Adds up what the strands counted.
fn count() {
    let mut counters = live();
    let events = || thread::all().map(|thread| thread.events.load(Ordering::Relaxed));
    let sum = events().sum();
    counters.points = sum;
    counters.events = sum;
    // How many choices the noise maker has in one strand.
    counters.choices = events().max().unwrap_or(0);
}

/// Ends the process after a verdict.
pub fn end() -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { syscall3(nr::EXIT_GROUP, VERDICT_EXIT, 0, 0) };
    }
}

fn strands(running: u16, cycle: &[u16]) {
    modules_loaded_since();
    for this in thread::all() {
        let ended = this.ended.load(Ordering::Acquire);
        let waits = this.wait.seq.load(Ordering::Acquire) & 1 == 1;
        let state = match (ended, waits) {
            (true, _) => StrandState::Ended,
            _ if this.index == running && cycle.is_empty() => StrandState::Running,
            (_, true) => StrandState::Blocked,
            _ => StrandState::Ready,
        };
        let mut room = [0; NAME];
        let values = [this.parent as u64, this.ordinal as u64, state as u64];
        report::add(RecordTag::Strand, this.index, values, format_args!("{}", name(this, &mut room)));
        if ended || this.index as usize >= STRANDS {
            continue;
        }
        if waits {
            pending(this, cycle);
        }
        for held in this.held.known() {
            let values = [held.addr as u64, held.pc, 0];
            report::add(RecordTag::Held, this.index, values, format_args!("{:x}", held.pc));
        }
        let mut told = 0;
        this.stack.walk(|pc| {
            if told < FRAMES {
                report::add(RecordTag::Frame, this.index, [pc, 0, 0], format_args!(""));
                told += 1;
            }
        });
    }
}

/// Modules are told by the server; what `dlopen` brought since is not looked up here, where libc's locks may be held.
fn modules_loaded_since() {
    for module in modules::untold() {
        let values = [module.base, module.end - module.base, 0];
        report::add(RecordTag::Module, u16::MAX, values, format_args!(""));
    }
}

fn pending(this: &Thread, cycle: &[u16]) {
    let wait = &this.wait;
    let op = wait.op.load(Ordering::Relaxed) as u8;
    let mut addr = wait.addr.load(Ordering::Relaxed);
    let told = cycle.contains(&this.index) as u64;
    let holder = watchdog::blocker(this);
    if OpKind::from_code(op) == Some(OpKind::Join) {
        addr = holder.unwrap_or(u16::MAX) as usize;
    }
    let values = [op as u64, addr as u64, wait.pc.load(Ordering::Relaxed)];
    report::add(RecordTag::Pending, this.index, values, format_args!(""));
    if let Some(holder) = holder {
        report::add(RecordTag::Holder, this.index, [holder as u64, told, 0], format_args!(""));
    }
}

/// The name the program gave the strand, if it gave one.
fn name<'a>(this: &Thread, room: &'a mut [u8; NAME]) -> &'a str {
    if this.index == 0 {
        return "";
    }
    let mut own = [0; NAME];
    let mine = comm(this.tid.load(Ordering::Relaxed), room);
    let main = thread::at(0).map_or(0, |main| comm(main.tid.load(Ordering::Relaxed), &mut own));
    if room[..mine] == own[..main] {
        return "";
    }
    core::str::from_utf8(&room[..mine]).unwrap_or("")
}

fn comm(tid: u32, to: &mut [u8; NAME]) -> usize {
    let mut path = [0u8; 64];
    let mut text = Text::new(&mut path);
    let _ = write!(text, "/proc/self/task/{tid}/comm\0");
    read(&path, to).saturating_sub(1)
}

/// Reads a small file; its path ends in a zero byte. Bytes read.
pub fn read(path: &[u8], to: &mut [u8]) -> usize {
    // SAFETY: a C string; writes no more than there is room for.
    unsafe {
        let fd = syscall3(nr::OPEN, path.as_ptr() as usize, 0, 0);
        if fd < 0 {
            return 0;
        }
        let got = syscall3(nr::READ, fd as usize, to.as_mut_ptr() as usize, to.len());
        syscall3(nr::CLOSE, fd as usize, 0, 0);
        got.max(0) as usize
    }
}

/// `__assert_fail` in a free run; libc prints and aborts afterwards.
pub fn assertion(pc: u64, message: fmt::Arguments) {
    let strand = thread::me().map_or(u16::MAX, |me| me.index);
    note(Verdict { kind: VerdictKind::Assertion, code: 6, addr: 0, pc, strand, cycle: &[] }, message);
}
