//! The run's schedule as it is made: segments of strands, and choices that are no strand.

use super::live::live;
use super::sched::{ATTENTION, Phase, attention, engine, this};
use super::strand::State;
use super::wait::ObjectClass;
use super::{coverage, follow, record, steps, strand};
use core::sync::atomic::Ordering;
use threadbare_abi::event::{ChoiceKind, Segment, StopKind};
use threadbare_abi::layout;
use threadbare_abi::op::Op;
use threadbare_strategy::Strategy;

/// Ends the running strand's segment at the operation it stands before.
#[inline(always)]
pub fn close_segment(how: StopKind) {
    let mut e = engine();
    if e.phase == Phase::Before {
        return;
    }
    let mut this = this();
    let counters = live();
    let segment = Segment {
        path: this.path.0,
        events: counters.events - e.segment_start,
        stop: super::modules::place(this.op.pc),
        kind: e.segment_kind as u8,
        op: this.op.kind as u8,
        how: how as u8,
        spins: (how == StopKind::Preempted
            && this.state() == State::Blocked
            && this.wait.key.class == ObjectClass::Memory) as u8,
        strand: this.id.0,
        ..Segment::default()
    };
    this.own += segment.events;
    e.segment_start = counters.events;
    append(segment);
}

/// Adds to the schedule.
pub fn append(segment: Segment) {
    let mut counters = live();
    let at = counters.segments as usize;
    if at < layout::SEGMENTS_CAPACITY
        && let Some(base) = super::shared::area(layout::TAKEN)
    {
        // SAFETY: the taken table has room for SEGMENTS_CAPACITY segments.
        unsafe { base.add(at).write(segment) }
        counters.segments += 1;
    } else {
        counters.segments_lost += 1;
    }
}

/// A fact from outside the program: recorded, and what the schedule says when one is followed.
pub fn outside(found: bool) -> bool {
    let e = engine();
    if e.phase != Phase::Running {
        return found;
    }
    let taken = match follow::choice(ChoiceKind::Value, 2) {
        Some(option) => option == 1,
        None => found,
    };
    coverage::chose(taken as u64);
    let this = strand(e.current);
    append(Segment {
        path: taken as u64,
        events: 2,
        kind: ChoiceKind::Value as u8,
        strand: this.id.0,
        ..Segment::default()
    });
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        let op = Op { addr: taken as u64, ..this.op };
        record::push_choice(ChoiceKind::Value, this.id, op, 2);
    }
    taken
}

/// One of `options` for a choice that is no strand; recorded.
pub fn choose(kind: ChoiceKind, options: u32) -> u32 {
    let mut e = engine();
    if options < 2 || e.phase != Phase::Running {
        return 0;
    }
    live().choices += 1;
    let taken = match follow::choice(kind, options) {
        Some(option) => option,
        None => e.strategy.choose(options),
    };
    if kind != ChoiceKind::Wake {
        coverage::chose(taken as u64);
    }
    let this = strand(e.current);
    append(Segment {
        path: taken as u64,
        events: options as u64,
        kind: kind as u8,
        strand: this.id.0,
        ..Segment::default()
    });
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        let op = Op { addr: taken as u64, ..this.op };
        record::push_choice(kind, this.id, op, options as u64);
    }
    if ATTENTION.load(Ordering::Relaxed) & attention::STEPS != 0 {
        steps::chose(kind, taken as u64, options as u64);
    }
    taken
}

/// The running strand's load sees an older store, or its store comes before newer ones: so many. Recorded.
pub fn stale(back: u32) {
    let (e, this) = (engine(), this());
    live().choices += 1;
    append(Segment {
        path: back as u64,
        events: live().events - e.segment_start,
        kind: ChoiceKind::ReadsFrom as u8,
        strand: this.id.0,
        ..Segment::default()
    });
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        let op = Op { addr: back as u64, ..this.op };
        record::push_choice(ChoiceKind::ReadsFrom, this.id, op, 0);
    }
}
