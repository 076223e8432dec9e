//! Where the running strand makes a point although what it does next is none.
//!
//! A schedule stops a strand at any event. A timer of the program fires at its own event, and a signal is handled soon,
//! even in a loop that makes no points. A strand that makes none for a long time makes one then, so that others, and
//! sleepers whose time has come, can go on: a loop may wait for memory that nobody else has touched yet.

use super::live::live;
use super::{learn, spin};
use crate::raw::Raw;
use core::sync::atomic::{AtomicBool, Ordering};

/// Events without a point after which one is made.
const QUANTUM: u64 = 10_000;
/// Events before that in which it is looked at what the strand does meanwhile, if it may be spinning.
const CLOSELY: u64 = 256;

/// The event count at which the access path must look closer; read by every plain access.
pub static mut STOP_AT: u64 = u64::MAX;

struct Stops {
    schedule: u64,
    alarm: u64,
    /// [`CLOSELY`] before the quantum's end.
    closely: u64,
    quantum: u64,
    /// Points when the quantum began.
    points: u64,
}

static mut STOPS: Stops =
    Stops { schedule: u64::MAX, alarm: u64::MAX, closely: u64::MAX, quantum: u64::MAX, points: 0 };
static RUNG: AtomicBool = AtomicBool::new(false);

fn stops() -> Raw<Stops> {
    // SAFETY: single kernel thread; not used by signal handlers.
    unsafe { Raw::new(&raw mut STOPS) }
}

fn refresh() {
    let s = stops();
    let next =
        if RUNG.load(Ordering::Relaxed) { 0 } else { s.schedule.min(s.alarm).min(s.closely).min(s.quantum) };
    // SAFETY: single kernel thread.
    unsafe { STOP_AT = next }
}

/// A run begins.
pub fn begin() {
    *stops() = Stops {
        schedule: u64::MAX,
        alarm: u64::MAX,
        closely: live().events + QUANTUM - CLOSELY,
        quantum: live().events + QUANTUM,
        points: live().points,
    };
    refresh();
}

/// A schedule stops the running strand at this event count.
pub fn set_schedule(at: u64) {
    stops().schedule = at;
    refresh();
}

/// A timer of the program fires at this event count.
pub fn set_alarm(at: u64) {
    stops().alarm = at;
    refresh();
}

/// A signal waits to be handled: the next event is a point. Safe in a signal handler.
pub fn ring() {
    RUNG.store(true, Ordering::Relaxed);
    learn::set_gate(true);
    // SAFETY: a word that is only compared.
    unsafe { STOP_AT = 0 }
}

/// Whether event number `at` must be a point.
#[cold]
#[inline(never)]
pub fn must_stop(at: u64) -> bool {
    let rung = RUNG.swap(false, Ordering::Relaxed);
    let mut s = stops();
    let mut stop = rung || at >= s.schedule || at >= s.alarm;
    if at >= s.closely {
        s.closely = u64::MAX;
        if live().points == s.points {
            spin::looks_closely();
        }
    }
    if at >= s.quantum {
        stop |= live().points == s.points;
        s.quantum = at + QUANTUM;
        s.closely = s.quantum - CLOSELY;
        s.points = live().points + stop as u64;
    }
    refresh();
    stop
}
