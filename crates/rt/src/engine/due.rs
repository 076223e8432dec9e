//! Virtual time: it passes with events and by jumps, and deadlines come due.

use super::lists::{set_gate, set_ready};
use super::live::live;
use super::sched::{ATTENTION, attention, engine};
use super::strand::{State, Strand};
use super::wait::{Wait, Wake};
use super::{deadlock, ending, frames, record, report, stops, strand};
use core::sync::atomic::Ordering;
use threadbare_abi::event::EventKind;
use threadbare_abi::object::ObjectClass;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::report::RecordTag;
use threadbare_abi::time::{events_at, patience_of, time_of};

/// Virtual time since the run began.
#[inline]
pub fn now() -> u64 {
    time_of(live().events) + engine().time_offset
}

/// Virtual time passes.
pub fn advance(ns: u64) {
    let mut e = engine();
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
    come(0);
}

/// Nobody can go on before this deadline: time moves on to it.
pub fn wake_at(deadline: u64) {
    advance_to(deadline);
    come(deadline);
}

/// Ends the waits that are over, those up to this deadline among them.
fn come(upto: u64) {
    let events = live().events;
    // Who has waited for so long has waited until its deadline.
    let e = engine();
    let over = e.timed.iter().map(|&id| strand(id)).filter(|other| ends_at(&other.wait) <= events);
    let over = over.map(|other| other.wait.deadline).max().unwrap_or(0);
    if over > 0 {
        advance_to(over);
    }
    let mut e = engine();
    let at = now();
    live().time_ns = at;
    if e.timer.min(e.overdue) <= at {
        (e.timer, e.overdue) = (u64::MAX, u64::MAX);
        crate::model::time::fire_due();
    }
    let upto = if engine().in_order { upto.max(over) } else { at };
    let mut index = 0;
    let mut earliest = event_at(engine().timer);
    while index < engine().timed.len() {
        let mut other = strand(engine().timed[index]);
        if other.wait.deadline <= upto {
            other.wait.outcome = Wake::TimedOut;
            set_ready(&mut other);
        } else {
            earliest = earliest.min(ends_at(&other.wait));
            index += 1;
        }
    }
    ending::look();
    deadlock::look_again();
    engine().due_events = earliest.min(ending::until()).min(deadlock::until());
    set_alarm();
    set_gate();
}

/// The event count at which a wait that begins now ends at the latest, though others can go on.
pub fn patience(deadline: u64) -> u64 {
    live().events.saturating_add(patience_of(deadline.saturating_sub(now())))
}

/// The event count at which a wait ends by its deadline while others can go on. Deadlines that keep their order come when
/// nobody can; only who sleeps for nothing but time may be what the others work for, and a wait that many of them outlast.
fn ends_at(wait: &Wait) -> u64 {
    match (engine().in_order, wait.key.class) {
        (false, _) => event_at(wait.deadline).min(wait.patience),
        (true, ObjectClass::Sleep) => wait.patience,
        (true, _) => event_at(wait.deadline).max(wait.patience),
    }
}

/// The program has armed a timer for this virtual time.
pub fn timer_armed(deadline: u64) {
    let mut e = engine();
    e.timer = e.timer.min(deadline);
    e.due_events = 0;
    set_alarm();
    set_gate();
}

/// The time of a timer that would end the process has come, and others can go on.
pub fn timer_overdue(deadline: u64) {
    let mut e = engine();
    e.overdue = e.overdue.min(deadline);
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
    if other.wait.deadline > now() {
        tell_early(other);
    }
    advance_to(other.wait.deadline);
    if other.state() == State::Blocked {
        other.wait.outcome = Wake::TimedOut;
        set_ready(other);
    }
}

/// Early ends of waits that a run tells of at the most.
const TOLD: u32 = 16;

/// The wait of a strand is about to end by its deadline: whoever could go on instead is told with it.
fn tell_early(waiting: &Strand) {
    let mut e = engine();
    let Some(&other) = e.can().iter().find(|&&id| id != waiting.id) else { return };
    if e.early < TOLD {
        e.early += 1;
        let Op { pc, kind, .. } = waiting.op;
        let values = [pc, kind as u64, u64::from(other.0)];
        // A wait inside precompiled code: where the program's own code has called it.
        let site = frames::call_site_of(waiting, waiting.id == e.current).unwrap_or(0);
        report::add(RecordTag::Early, waiting.id.0, values, format_args!("{site:x}"));
    }
}
