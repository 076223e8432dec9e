//! Handlers of signals: whoever sent one, a handler comes after it.
//!
//! The kernel calls a function of ours, which calls the program's. Who sent the signal is not known, and another process may have: the
//! strand acquires from all.

use super::hidden;
use crate::sys::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

const SIGNALS: usize = 65;
/// The program's handlers, 0 for none.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];

type Handler = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void);

unsafe extern "C" fn comes(signal: c_int, info: *mut c_void, context: *mut c_void) {
    if super::on()
        && let Some(mut me) = super::super::thread::me()
    {
        hidden::acquire_all(&mut me);
    }
    let handler = HANDLERS[signal as usize % SIGNALS].load(Ordering::Relaxed);
    if handler > 1 {
        // SAFETY: the program's own handler; one without the last two arguments does not look at them.
        unsafe { core::mem::transmute::<usize, Handler>(handler)(signal, info, context) }
    }
}

/// What the kernel is told in place of the program's handler.
pub fn in_place_of(signal: c_int, handler: usize) -> usize {
    let valid = (1..SIGNALS as c_int).contains(&signal) && handler > 1 && handler != usize::MAX;
    if !super::on() || !valid {
        return handler;
    }
    HANDLERS[signal as usize].store(handler, Ordering::Relaxed);
    comes as *const () as usize
}

/// The program's handler of a signal, if it has one.
pub fn handler_of(signal: c_int) -> usize {
    HANDLERS[signal as usize % SIGNALS].load(Ordering::Relaxed)
}

/// What the program is told of the kernel's handler, which may stand for its own.
pub fn program_has(handler: usize, own: usize) -> usize {
    if handler == comes as *const () as usize { own } else { handler }
}
