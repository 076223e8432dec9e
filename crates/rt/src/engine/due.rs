//! Virtual time: it passes with events and by jumps, and deadlines come due.

use super::lists::{set_gate, set_ready};
use super::live::live;
use super::sched::{ATTENTION, attention, engine};
use super::strand::{State, Strand};
use super::wait::Wake;
use super::{deadlock, ending, record, stops, strand};
use core::sync::atomic::Ordering;
use threadbare_abi::event::EventKind;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::time::{events_at, time_of};

/// Virtual time since the run began.
#[inline]
pub fn now() -> u64 {
    time_of(live().events) + engine().time_offset
}

/// Virtual time passes.
pub fn advance(ns: u64) {
    let e = engine();
    e.time_offset += ns;
    e.due_events = 0;
    set_alarm();
}

/// The count of events begins anew, and time goes on.
pub fn begin_anew() {
    let passed = time_of(live().events);
    live().events = 0;
    advance(passed);
}

/// Time moves on to `deadline`, if it is not there yet.
pub fn advance_to(deadline: u64) {
    let at = now();
    if deadline > at {
        advance(deadline - at);
        live().time_ns = deadline;
        if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
            record::push(EventKind::Time, engine().current, Op::new(OpKind::Clock, 0, 0), deadline);
        }
    }
    engine().due_events = 0;
}

/// Enables the waiting strands whose deadline has come, and fires the program's timers.
#[cold]
#[inline(never)]
pub fn wake_due() {
    let e = engine();
    let at = now();
    live().time_ns = at;
    if e.timer <= at {
        e.timer = u64::MAX;
        crate::model::time::fire_due();
    }
    let mut index = 0;
    let mut earliest = engine().timer;
    while index < engine().timed.len() {
        let other = strand(engine().timed[index]);
        if other.wait.deadline <= at {
            other.wait.outcome = Wake::TimedOut;
            set_ready(other);
        } else {
            earliest = earliest.min(other.wait.deadline);
            index += 1;
        }
    }
    ending::look();
    deadlock::look_again();
    set_due(earliest);
}

fn set_due(deadline: u64) {
    engine().due_events = event_at(deadline).min(ending::until()).min(deadlock::until());
    set_alarm();
    set_gate();
}

/// The program has armed a timer for this virtual time.
pub fn timer_armed(deadline: u64) {
    let e = engine();
    e.timer = e.timer.min(deadline);
    e.due_events = 0;
    set_alarm();
    set_gate();
}

/// The event at which the program's next timer fires is a point, whatever it is.
fn set_alarm() {
    let e = engine();
    stops::set_alarm(event_at(e.timer));
}

/// The event count at which virtual time comes to `time`, if nothing else makes it pass.
fn event_at(time: u64) -> u64 {
    if time == u64::MAX { u64::MAX } else { events_at(time.saturating_sub(engine().time_offset)) }
}

/// The wait of a strand ends by its deadline.
#[cold]
#[inline(never)]
pub fn expire(other: &mut Strand) {
    advance_to(other.wait.deadline);
    if other.state == State::Blocked {
        other.wait.outcome = Wake::TimedOut;
        set_ready(other);
    }
}
