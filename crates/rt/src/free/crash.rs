//! Fatal signals of a free run, the driver's word that its time is over, and the user's that noise is to start or stop.
//!
//! The handlers are in place before `main`. A program that installs its own replaces them, and its crash is then seen from
//! outside only.

use super::tell::{self, Verdict};
use super::{noise, thread};
use crate::engine::verdict::SignalName;
use crate::sys::{c_int, c_void, nr, syscall3, syscall6};
use threadbare_abi::verdict::VerdictKind;

const SA_SIGINFO: usize = 4;
const SA_RESTART: usize = 0x1000_0000;
const SA_ONSTACK: usize = 0x0800_0000;
const SIGXCPU: c_int = 24;
const SIGABRT: c_int = 6;
/// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGSYS.
const CAUGHT: [c_int; 8] = [4, 5, SIGABRT, 7, 8, 11, SIGXCPU, 31];
/// Where the kernel's frame has the instruction pointer.
const RIP: usize = 168;

/// glibc's `struct sigaction`.
#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

fn install(signal: c_int, handler: usize, flags: usize) {
    let action = Action { handler, mask: [0; 16], flags: flags as c_int, restorer: 0 };
    // SAFETY: libc's own function; the handler lives as long as the process.
    unsafe {
        crate::real!(sigaction: fn(c_int, *const Action, *mut c_void) -> c_int)(
            signal,
            &action,
            core::ptr::null_mut(),
        )
    };
}

/// Installs the handlers, where the program has none (one of its constructors may have).
pub fn begin(signal: c_int) {
    for number in CAUGHT {
        let mut old = Action { handler: 0, mask: [0; 16], flags: 0, restorer: 0 };
        // SAFETY: libc writes the action it has.
        unsafe {
            crate::real!(sigaction: fn(c_int, *const c_void, *mut Action) -> c_int)(
                number,
                core::ptr::null(),
                &mut old,
            )
        };
        if old.handler == 0 {
            install(number, caught as *const () as usize, SA_SIGINFO | SA_ONSTACK);
        }
    }
    if signal > 0 {
        install(signal, toggled as *const () as usize, SA_SIGINFO | SA_RESTART | SA_ONSTACK);
    }
}

unsafe extern "C" fn toggled(_signal: c_int, _info: *mut c_void, _context: *mut c_void) {
    noise::toggle();
}

unsafe extern "C" fn caught(signal: c_int, info: *mut c_void, context: *mut c_void) {
    // SAFETY: the kernel's frame and information.
    let (pc, code, addr) = unsafe {
        (
            ((context as usize + RIP) as *const u64).read(),
            ((info as usize + 8) as *const c_int).read(),
            ((info as usize + 16) as *const u64).read(),
        )
    };
    let addr = if code > 0 { addr } else { 0 };
    let strand = thread::me().map_or(u16::MAX, |me| me.index);
    if signal == SIGXCPU {
        let verdict = Verdict { kind: VerdictKind::Timeout, code: 0, addr: 0, pc: 0, strand, cycle: &[] };
        tell::note(verdict, format_args!(""));
        tell::end();
    }
    let name = SignalName(signal);
    let verdict = Verdict { kind: VerdictKind::Crash, code: signal, addr, pc, strand, cycle: &[] };
    if signal == SIGABRT {
        tell::note(verdict, format_args!("{name}: the program aborted"));
    } else {
        tell::note(verdict, format_args!("{name} at address {addr:#x}"));
    }
    tell::ends();
    die(signal);
}

/// Dies of the signal, as the program would have.
fn die(signal: c_int) {
    const SIG_UNBLOCK: usize = 1;
    let default = [0usize; 4];
    let mask = 1u64 << (signal - 1);
    // SAFETY: the default action of a fatal signal, then the signal itself; the mask is 8 bytes.
    unsafe {
        syscall6(nr::RT_SIGACTION, signal as usize, &raw const default as usize, 0, 8, 0, 0);
        syscall6(nr::RT_SIGPROCMASK, SIG_UNBLOCK, &raw const mask as usize, 0, 8, 0, 0);
        let pid = syscall3(nr::GETPID, 0, 0, 0) as usize;
        syscall3(nr::TGKILL, pid, syscall3(nr::GETTID, 0, 0, 0) as usize, signal as usize);
    }
}
