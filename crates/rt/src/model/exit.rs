//! The end of the process, from any strand.
//!
//! `exit` runs its handlers on the strand that called it; other strands go on at the points the handlers make, and once
//! more before the end itself (`engine/ending.rs`). libc holds no lock then: it gives its own back while it calls a handler. A
//! second strand that calls `exit` meanwhile waits until the process is gone, as newer glibc and POSIX say.

use super::single::Single;
use super::tls;
use crate::effect::{Effect, effect};
use crate::engine::{self, ObjectId, Ready, Wake};
use crate::free;
use crate::sys::{c_int, c_void};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// Stands for the end that strands ask for.
const ASKED: u64 = 8;

/// The strand inside `exit`.
static EXITING: Single<StrandId> = Single::new(StrandId::NONE);

/// The program's destructors are done; libc flushes its streams and ends the process.
extern "C" fn over() {
    engine::ending::comes(0);
    engine::end_run();
    if free::on() {
        free::tell::ends();
    }
}

/// libc runs this after the destructors of everything that was linked against us.
#[used]
#[unsafe(link_section = ".fini_array")]
static FINI: extern "C" fn() = over;

unsafe extern "C" fn over_quickly(_argument: *mut c_void) {
    engine::ending::comes(0);
    engine::end_run();
}

/// Asks libc to tell when `quick_exit` is through with the handlers of the program.
pub fn watch() {
    type Handler = unsafe extern "C" fn(*mut c_void);
    // SAFETY: libc keeps the handler; it takes no argument and belongs to no library that can go away.
    unsafe {
        crate::real!(__cxa_at_quick_exit: fn(Handler, *mut c_void) -> c_int)(
            over_quickly,
            core::ptr::null_mut(),
        );
    }
}

/// In a forked child nobody else is inside `exit`.
pub fn after_fork_child() {
    if *EXITING.get() != engine::me() {
        *EXITING.get() = StrandId::NONE;
    }
}

/// Ends the process with libc's `exit` at once, on this strand.
pub fn process(code: c_int) -> ! {
    if engine::controlled() {
        engine::exits(code);
        *EXITING.get() = engine::me();
        tls::run_destructors();
    } else if free::on() {
        free::tell::exits(code);
    }
    // SAFETY: libc's own function.
    unsafe { crate::real!(exit: fn(c_int) -> !)(code) }
}

/// A strand comes to ask for the end of the process.
fn asks(pc: u64) -> Op {
    let op = Op::new(OpKind::Quit, ASKED, pc);
    engine::point(op);
    effect(Effect::Change, ObjectId::ENDING, pc);
    op
}

/// `exit(code)` by a strand under control.
pub fn request(code: c_int, pc: u64) -> ! {
    if engine::controlled() {
        let op = asks(pc);
        let other = *EXITING.get();
        while other != StrandId::NONE && other != engine::me() {
            let never = ObjectId::NEVER;
            if !matches!(engine::acquire(op, never, None, &mut || Ready::No(other)), Wake::Interrupted) {
                break;
            }
        }
    }
    process(code)
}

/// `exit`. Safe before init and after fork (libc's); not in a signal handler.
pub unsafe extern "C" fn on_exit(code: c_int, pc: u64) -> ! {
    request(code, pc)
}

/// `_exit` and `_Exit`. Safe everywhere.
pub unsafe extern "C" fn on_exit_now(code: c_int, pc: u64) -> ! {
    if engine::controlled() {
        engine::ends_now(code);
        if !engine::ending::comes(pc) {
            asks(pc);
        }
        engine::end_run();
    } else if free::on() {
        free::tell::exits(code);
    }
    // SAFETY: libc's own function.
    unsafe { crate::real!(_exit: fn(c_int) -> !)(code) }
}

/// `quick_exit`. As `exit`.
pub unsafe extern "C" fn on_quick_exit(code: c_int, pc: u64) -> ! {
    if engine::controlled() {
        asks(pc);
    }
    // SAFETY: libc's own function.
    unsafe { crate::real!(quick_exit: fn(c_int) -> !)(code) }
}

crate::interpose!(exit, 1, on_exit);
crate::interpose!(_exit, 1, on_exit_now);
crate::interpose!(_Exit, 1, on_exit_now);
crate::interpose!(quick_exit, 1, on_quick_exit);
