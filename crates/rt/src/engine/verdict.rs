//! The end of a run: verdicts, warnings, what is told to the driver.

use super::live::live;
use super::sched::{Phase, Stop, engine};
use super::segments::close_segment;
use super::{
    controlled, debug, follow, frames, guidance, leaks, learn, modules, record, report, snapshot, steps,
    strand,
};
use crate::sys::{Text, nr, syscall3, syscall6};
use core::fmt::{self, Write};
use threadbare_abi::layout::flags;
use threadbare_abi::report::RecordTag;
use threadbare_abi::verdict::VerdictKind;

/// The exit code of a run that the runtime ended by a verdict.
const VERDICT_EXIT: usize = 66;
/// The exit code of a run that the runtime could not go on with.
const INTERNAL_EXIT: usize = 67;

const SIGSTOP: usize = 19;
const SIGXCPU: i32 = 24;
const SIGABRT: i32 = 6;
const SIGSEGV: i32 = 11;
const SIGBUS: i32 = 7;

fn exit_group(code: usize) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { syscall3(nr::EXIT_GROUP, code, 0, 0) };
    }
}

/// Writes to the program's standard error, for what the driver cannot tell.
fn say(text: &str) {
    // SAFETY: writes our own bytes.
    unsafe { syscall3(nr::WRITE, 2, text.as_ptr() as usize, text.len()) };
}

/// Notes the verdict and its message; the first one of a run stays.
pub fn note_verdict(kind: VerdictKind, code: i32, addr: u64, pc: u64, message: fmt::Arguments) {
    let mut counters = live();
    if counters.verdict != VerdictKind::None as u32 {
        return;
    }
    let e = engine();
    counters.verdict = kind as u32;
    counters.verdict_code = code;
    counters.verdict_addr = addr;
    counters.verdict_pc = pc;
    counters.verdict_strand = e.current.0 as u32;
    report::add(RecordTag::Message, e.current.0, [kind as u64, addr, pc], message);
    report::strands(true);
    if kind != VerdictKind::Divergence {
        stop_for_debugger();
    }
}

/// Stops the process until a debugger lets it go on, if one is waiting.
pub fn stop_for_debugger() {
    const PR_SET_PTRACER: usize = 0x5961_6d61;
    if engine().plan.flags & flags::STOP_ON_FAILURE == 0 {
        return;
    }
    debug::publish();
    // SAFETY: lets any process trace this one, then stops it.
    unsafe {
        syscall3(nr::PRCTL, PR_SET_PTRACER, usize::MAX, 0);
        syscall3(nr::KILL, syscall3(nr::GETPID, 0, 0, 0) as usize, SIGSTOP, 0);
    }
}

/// The program ends with this code, and runs no handlers.
pub fn ends_now(code: i32) {
    leaks::process_ends(code);
}

/// The program is about to end with this code.
pub fn exits(code: i32) {
    leaks::process_ends(code);
    if code != 0 && engine().phase == Phase::Running {
        report::strands(true);
        stop_for_debugger();
    }
}

/// Gives the verdict and ends the run.
pub fn fail_run(kind: VerdictKind, code: i32, addr: u64, pc: u64, message: fmt::Arguments) -> ! {
    note_verdict(kind, code, addr, pc, message);
    if kind != VerdictKind::Divergence && kind != VerdictKind::Internal {
        follow::check_end();
    }
    end_run();
    // The driver has given up on a run whose time is over.
    if kind != VerdictKind::Timeout {
        snapshot::run_ended(VERDICT_EXIT as i32);
    }
    exit_group(VERDICT_EXIT)
}

/// Ends the run here as one that passed: nobody asks what it would have come to.
pub fn abandon() -> ! {
    leaks::stop();
    end_run();
    snapshot::run_ended(0);
    exit_group(0)
}

/// The run has come to its end: the last segment and the lists are told. Later calls do nothing.
pub fn end_run() {
    if !controlled() {
        return;
    }
    let mut e = engine();
    if e.phase != Phase::Running {
        return;
    }
    if live().verdict == VerdictKind::None as u32 {
        follow::check_end();
        if !leaks::tell() {
            report::strands(false);
        }
    }
    let endless = [VerdictKind::Livelock as u32, VerdictKind::Timeout as u32];
    if !endless.contains(&live().verdict) {
        super::spin::finish();
    }
    close_segment(Stop::Final);
    guidance::finish();
    steps::finish();
    report::modules();
    e.phase = Phase::Over;
    let mut counters = live();
    counters.time_ns = super::now();
    counters.ended = 1;
    record::flush();
}

/// The program got a fatal signal: tells it and dies of it.
pub fn crashed(signal: i32, addr: u64, pc: u64, stack_overflow: bool) -> ! {
    crashed_with(signal, addr, pc, None, stack_overflow)
}

/// The same, with the stack pointer that the strand had where the signal met it.
pub fn crashed_with(signal: i32, addr: u64, pc: u64, sp: Option<usize>, stack_overflow: bool) -> ! {
    const SIG_UNBLOCK: usize = 1;
    // The runtime may look at what the program is about to access: the fault is the program's then, and at the same
    // place whoever came first.
    let op = strand(engine().current).op;
    let own = modules::place(crashed as *const () as u64) >> 48;
    let announced =
        if op.kind.is_plain_access() && op.addr == addr { Some(op.pc) } else { learn::accessing(addr) };
    let pc = match announced {
        Some(announced) if signal == SIGSEGV || signal == SIGBUS => announced,
        _ if modules::place(pc) >> 48 == own => op.pc,
        _ => pc,
    };
    // In precompiled code (an abort, most of all) the strand is where the program's own code has called it.
    let site = sp.and_then(|sp| frames::call_site_above(&strand(engine().current), sp));
    if let Some(site) = site.filter(|&site| modules::place(site) >> 48 != modules::place(pc) >> 48) {
        strand(engine().current).op.pc = site;
    }
    if signal == SIGXCPU {
        // The driver's word that the run's time is over; it tells that better itself.
        fail_run(VerdictKind::Timeout, 0, addr, pc, format_args!(""));
    }
    if stack_overflow {
        note_verdict(VerdictKind::Crash, signal, addr, pc, format_args!("stack overflow"));
    } else {
        let name = SignalName(signal);
        match signal {
            // An abort has no address; if it is of an exception that nobody caught, that began elsewhere.
            6 => note_verdict(
                VerdictKind::Crash,
                signal,
                crate::model::throw::last(engine().current),
                pc,
                format_args!("{name}: the program aborted"),
            ),
            // What the processor raises is about an address; what somebody sent is not.
            4 | 5 | SIGBUS | 8 | SIGSEGV => note_verdict(
                VerdictKind::Crash,
                signal,
                addr,
                pc,
                format_args!("{name} at address {addr:#x}"),
            ),
            _ => note_verdict(VerdictKind::Crash, signal, addr, pc, format_args!("{name}")),
        }
    }
    end_run();
    if signal == SIGABRT {
        // The program has sent it to itself: its memory is as good as after any other verdict.
        snapshot::run_killed(signal);
    }
    let default = [0usize; 4];
    let mask = 1u64 << (signal - 1);
    // SAFETY: the default action of a fatal signal, then the signal itself; the mask is 8 bytes.
    unsafe {
        syscall6(nr::RT_SIGACTION, signal as usize, &raw const default as usize, 0, 8, 0, 0);
        syscall6(nr::RT_SIGPROCMASK, SIG_UNBLOCK, &raw const mask as usize, 0, 8, 0, 0);
        let pid = syscall3(nr::GETPID, 0, 0, 0) as usize;
        syscall3(nr::TGKILL, pid, syscall3(nr::GETTID, 0, 0, 0) as usize, signal as usize);
    }
    exit_group(128 + signal as usize)
}

/// The name of a signal.
#[derive(Clone, Copy, Debug)]
pub struct SignalName(pub i32);

impl fmt::Display for SignalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // The first two are libc's own.
            34..=64 => write!(f, "SIGRTMIN+{}", self.0 - 34),
            signal => match usual_name(signal) {
                "" => write!(f, "signal {signal}"),
                name => f.write_str(name),
            },
        }
    }
}

fn usual_name(signal: i32) -> &'static str {
    match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        16 => "SIGSTKFLT",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        26 => "SIGVTALRM",
        27 => "SIGPROF",
        29 => "SIGIO",
        30 => "SIGPWR",
        31 => "SIGSYS",
        _ => "",
    }
}

/// The runtime cannot go on. Safe at any time.
pub fn fatal(message: &str) -> ! {
    fatal_about(message, "")
}

/// The same, with what it is about.
pub fn fatal_about(message: &str, what: &str) -> ! {
    say("threadbare: ");
    say(message);
    say(what);
    say("\n");
    if controlled() && engine().phase == Phase::Running {
        note_verdict(VerdictKind::Internal, 0, 0, 0, format_args!("{message}{what}"));
        end_run();
    }
    exit_group(INTERNAL_EXIT)
}

const WARNINGS: usize = 64;
static mut WARNED: [&str; WARNINGS] = [""; WARNINGS];

/// Tells the user something once a run, with the place it came from.
pub fn warn_once(what: &'static str, pc: u64) {
    if !controlled() {
        return;
    }
    // SAFETY: single kernel thread.
    let warned = unsafe { &mut *(&raw mut WARNED) };
    for slot in warned.iter_mut() {
        if *slot == what {
            return;
        }
        if slot.is_empty() {
            *slot = what;
            report::add(RecordTag::Warning, super::me().0, [pc, 0, 0], format_args!("{what}"));
            return;
        }
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let mut room = [0; 256];
    let mut text = Text::new(&mut room);
    let _ = match info.location() {
        Some(at) => writeln!(text, "threadbare: the runtime failed at {}:{}", at.file(), at.line()),
        None => writeln!(text, "threadbare: the runtime failed"),
    };
    let used = text.used();
    say(core::str::from_utf8(&room[..used]).unwrap_or_default());
    if controlled() && engine().phase == Phase::Running {
        note_verdict(VerdictKind::Internal, 0, 0, 0, format_args!("{info}"));
        end_run();
    }
    exit_group(INTERNAL_EXIT)
}

/// `__assert_fail(expression, file, line, function)`: notes the verdict, then libc prints and aborts.
unsafe extern "C" fn assert_fail(
    expression: *const core::ffi::c_char,
    file: *const core::ffi::c_char,
    line: u32,
    function: *const core::ffi::c_char,
    pc: u64,
) -> ! {
    if controlled() && engine().phase == Phase::Running {
        // SAFETY: libc's contract: C strings.
        let (expression, file) =
            unsafe { (core::ffi::CStr::from_ptr(expression), core::ffi::CStr::from_ptr(file)) };
        strand(super::me()).op.pc = pc;
        note_verdict(
            VerdictKind::Assertion,
            6,
            0,
            pc,
            format_args!("assertion `{}' at {}:{line}", Lossy(expression), Lossy(file)),
        );
    }
    if crate::free::on() {
        // SAFETY: libc's contract: C strings.
        let (expression, file) =
            unsafe { (core::ffi::CStr::from_ptr(expression), core::ffi::CStr::from_ptr(file)) };
        crate::free::tell::assertion(
            pc,
            format_args!("assertion `{}' at {}:{line}", Lossy(expression), Lossy(file)),
        );
    }
    type Text = *const core::ffi::c_char;
    // SAFETY: libc's own function of this prototype.
    unsafe { real!(__assert_fail: fn(Text, Text, u32, Text) -> !)(expression, file, line, function) }
}

struct Lossy<'a>(&'a core::ffi::CStr);

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.to_bytes().utf8_chunks().try_for_each(|chunk| f.write_str(chunk.valid()))
    }
}

interpose!(__assert_fail, 4, assert_fail);
