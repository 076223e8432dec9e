//! Following a schedule.

use super::due::{self, now};
use super::live::live;
use super::sched::{self, ATTENTION, Phase, Stop, attention, engine};
use super::strand::State;
use super::wait::{ObjectClass, Wake};
use super::{idle, io, lenient, lists, modules, report, shared, stops, strand};
use core::sync::atomic::Ordering;
use threadbare_abi::event::{ChoiceKind, Segment, StopKind};
use threadbare_abi::fault::Fault;
use threadbare_abi::layout::{self, flags};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;

/// The schedule that is followed.
#[derive(Clone, Copy, Debug)]
pub struct Follow {
    /// Whether one is.
    pub active: bool,
    /// The segment the running strand is in.
    at: usize,
    /// The next choice that is no strand, before `at`.
    choice: usize,
    /// Segments in all.
    len: usize,
    /// Event count at which the running strand stops.
    stop_at: u64,
}

impl Follow {
    /// None is followed.
    pub const NONE: Follow = Follow { active: false, at: 0, choice: 0, len: 0, stop_at: u64::MAX };
}

/// A segment of the follow table.
pub fn segment(at: usize) -> Segment {
    match shared::area(layout::FOLLOW) {
        // SAFETY: the follow table has room for SEGMENTS_CAPACITY segments, and `at < len`.
        Some(base) => unsafe { base.add(at).read() },
        None => Segment::default(),
    }
}

fn is_strand(segment: &Segment) -> bool {
    segment.kind == ChoiceKind::Strand as u8 || segment.kind == ChoiceKind::Timeout as u8
}

/// Begins to follow the plan's schedule, if it has one.
pub fn begin() {
    if lenient::begin() {
        return;
    }
    let mut e = engine();
    let len = (e.plan.follow as usize).min(layout::SEGMENTS_CAPACITY);
    if len == 0 {
        return;
    }
    e.follow = Follow { active: true, at: 0, choice: 0, len, stop_at: u64::MAX };
    ATTENTION.fetch_or(attention::FOLLOW, Ordering::Relaxed);
    if let Some(first) = load(0) {
        if first.path != strand(e.current).path.0 {
            diverge(0, "the schedule does not begin with the main strand");
        }
    } else {
        stop();
    }
}

/// Finds the next strand segment from `from` on and makes it the running one.
fn load(from: usize) -> Option<Segment> {
    let mut e = engine();
    let mut at = from;
    while at < e.follow.len {
        let found = segment(at);
        if is_strand(&found) {
            e.follow.at = at;
            e.follow.choice = from;
            live().followed = at as u64 + 1;
            e.follow.stop_at = match StopKind::from_code(found.how) {
                Some(StopKind::Final) if e.plan.flags & flags::ENDS_IN_LIVELOCK != 0 => {
                    live().events + found.events
                }
                Some(StopKind::Ended | StopKind::Final) | None => u64::MAX,
                // It stops by itself, after the point it stands before; one event more is one too many.
                Some(StopKind::Blocked) => live().events + found.events + 1,
                Some(StopKind::Preempted) => live().events + found.events,
            };
            stops::set_schedule(e.follow.stop_at);
            return Some(found);
        }
        at += 1;
    }
    None
}

fn stop() {
    engine().follow.active = false;
    ATTENTION.fetch_and(!attention::FOLLOW, Ordering::Relaxed);
    stops::set_schedule(u64::MAX);
}

/// Who goes on by the schedule; `None` when it has ended and the strategy decides.
pub fn next(how: Stop) -> Option<(StrandId, bool)> {
    let e = engine();
    if lenient::is_on() {
        return lenient::next(how);
    }
    if !e.follow.active || e.phase != Phase::Running {
        return None;
    }
    let this = strand(e.current);
    if how == Stop::Preempted && live().events < e.follow.stop_at && this.state() == State::Ready {
        return Some((e.current, false));
    }
    let current = segment(e.follow.at);
    let livelock = e.plan.flags & flags::ENDS_IN_LIVELOCK != 0;
    if livelock && current.how == StopKind::Final as u8 && live().events >= e.follow.stop_at {
        idle::livelock();
    }
    check_stop(&current, how)?;
    if e.follow.choice < e.follow.at
        && is_stale(&segment(e.follow.choice))
        && e.plan.flags & flags::STRICT != 0
    {
        diverge(e.follow.at, "an atomic operation was to see an older store");
    }
    let Some(found) = load(e.follow.at + 1) else {
        stop();
        due::wake_due();
        if e.plan.flags & (flags::STRICT | flags::OTHER_BUILD) == flags::STRICT && e.can_count() != 0 {
            diverge(e.follow.at, "the schedule ends here, but a strand can go on");
        }
        return None;
    };
    resume(&found)
}

fn check_stop(current: &Segment, how: Stop) -> Option<()> {
    let e = engine();
    let this = strand(e.current);
    if current.how == StopKind::Final as u8 && e.follow.at + 1 >= e.follow.len {
        return Some(());
    }
    let done = live().events - e.segment_start;
    let reason = if current.how == StopKind::Ended as u8 && how != Stop::Ended {
        "the strand was to end"
    } else if how == Stop::Ended && current.how != StopKind::Ended as u8 {
        "the strand ended"
    } else if done != current.events {
        "the strand made another number of events before it stopped"
    } else if is_elsewhere(this.op.pc, &current.stop) {
        "the strand stopped at another place"
    } else {
        return Some(());
    };
    if e.plan.flags & flags::STRICT != 0 {
        diverge(e.follow.at, reason);
    }
    stop();
    None
}

/// Whether an instruction is not the one a segment stops at, as far as this build of the program can tell.
fn is_elsewhere(pc: u64, stop: &u64) -> bool {
    engine().plan.flags & flags::OTHER_BUILD == 0 && modules::place(pc) != *stop
}

/// Whether the schedule that is followed lets the running strand stop at this instruction next.
pub fn stops_at(pc: u64) -> bool {
    let e = engine();
    e.follow.active && modules::place(pc) == segment(e.follow.at).stop
}

/// Makes the strand of a segment able to go on: by its deadline, or when its file descriptor is ready.
fn resume(found: &Segment) -> Option<(StrandId, bool)> {
    let e = engine();
    let id = (0..e.strands.len() as u16).map(StrandId).find(|&id| strand(id).path.0 == found.path);
    let Some(id) = id else {
        return lost(found, "the strand that goes on next does not exist yet");
    };
    let by_timeout = found.kind == ChoiceKind::Timeout as u8;
    let other = strand(id);
    if other.state() == State::Blocked && other.wait.deadline <= now() {
        due::wake_due();
    }
    let mut other = strand(id);
    // The program's timers come first, where no deadline is what ends the wait.
    let mut rounds = 0;
    while !by_timeout
        && strand(id).state() == State::Blocked
        && strand(id).wait.key.class != ObjectClass::Memory
        && e.can_count() == 0
        && e.timer <= strand(id).wait.deadline
        && e.timer != u64::MAX
        && !io::is_ready(id)
        && rounds < 10_000
    {
        due::advance_to(e.timer);
        due::wake_due();
        crate::model::signal::route();
        rounds += 1;
    }
    match other.state() {
        State::Ready => Some((id, false)),
        State::Blocked if by_timeout && other.wait.deadline != u64::MAX => Some((id, true)),
        State::Blocked if other.wait.key.class == ObjectClass::Io && io::poll_for(id) => Some((id, false)),
        State::Blocked if other.wait.key.class == ObjectClass::Memory => {
            super::spin::forget(id);
            other.wait.outcome = Wake::Go;
            lists::set_ready(&mut other);
            Some((id, false))
        }
        State::Blocked if other.wait.deadline != u64::MAX => Some((id, true)),
        State::Blocked if e.timer != u64::MAX => {
            due::advance_to(e.timer);
            due::wake_due();
            crate::model::signal::route();
            match strand(id).state() {
                State::Ready => Some((id, false)),
                _ => lost(found, "the strand that goes on next still waits"),
            }
        }
        State::Blocked => lost(found, "the strand that goes on next still waits"),
        State::Ended => lost(found, "the strand that goes on next has ended"),
    }
}

fn lost(_found: &Segment, reason: &'static str) -> Option<(StrandId, bool)> {
    let e = engine();
    if e.plan.flags & flags::STRICT != 0 {
        diverge(e.follow.at, reason);
    }
    stop();
    None
}

/// The option the schedule takes for a choice that is no strand.
pub fn choice(kind: ChoiceKind, options: u32) -> Option<u32> {
    let mut e = engine();
    if lenient::is_on() && kind != ChoiceKind::Value {
        return Some(lenient::choice(kind, options));
    }
    if !e.follow.active {
        return None;
    }
    let at = e.follow.choice;
    if at < e.follow.len {
        let found = segment(at);
        if found.kind == kind as u8 && found.path < options as u64 {
            e.follow.choice += 1;
            return Some(found.path as u32);
        }
    }
    if e.plan.flags & flags::STRICT != 0 {
        diverge(e.follow.at, "a choice comes that the schedule does not have");
    }
    None
}

/// How many newer stores the atomic operation under way does not see, or comes before, by the schedule; `None` if none is followed. One
/// that the schedule does not speak of is plain.
pub fn stale() -> Option<u32> {
    let e = engine();
    if lenient::is_on() {
        return Some(lenient::stale());
    }
    if !e.follow.active {
        return None;
    }
    let at = e.follow.choice;
    let found = if at < e.follow.at { segment(at) } else { Segment::default() };
    let here = is_stale(&found) && found.events == live().events - e.segment_start;
    Some(if here { found.path as u32 } else { 0 })
}

/// The operation under way has so many options, and takes what the schedule says.
pub fn take_stale(option: u32, options: u32) -> u32 {
    let mut e = engine();
    if option > 0 && !lenient::is_on() {
        if option >= options && e.plan.flags & flags::STRICT != 0 {
            diverge(e.follow.at, "an atomic operation has fewer stores to choose from");
        }
        e.follow.choice += 1;
    }
    option.min(options - 1)
}

fn is_stale(segment: &Segment) -> bool {
    segment.kind == ChoiceKind::ReadsFrom as u8
}

/// What the schedule takes where the program asks for one of so many options, or with 0 for any value.
pub fn own(options: u64) -> Option<u64> {
    let mut e = engine();
    if lenient::is_on() {
        return Some(lenient::own(options));
    }
    if !e.follow.active {
        return None;
    }
    let at = e.follow.choice;
    if at < e.follow.len {
        let found = segment(at);
        if found.kind == ChoiceKind::Own as u8 && found.events == options {
            e.follow.choice += 1;
            return Some(found.path);
        }
    }
    if e.plan.flags & flags::STRICT != 0 {
        diverge(e.follow.at, "the program asks for a choice that the schedule does not have");
    }
    None
}

/// Whether the schedule has a fault here, of the running strand's chance with this number; `None` if none is followed.
pub fn fault(fault: Fault, chance: u32) -> Option<bool> {
    let mut e = engine();
    if lenient::is_on() {
        return Some(lenient::fault(fault, chance));
    }
    if !e.follow.active {
        return None;
    }
    let at = e.follow.choice;
    let here = at < e.follow.len && {
        let found = segment(at);
        Fault::of(&found) == Some(fault) && found.path == u64::from(chance)
    };
    e.follow.choice += usize::from(here);
    Some(here)
}

/// Whether the running strand waits for a descriptor here by the schedule; `None` if none is followed.
pub fn blocks_here() -> Option<bool> {
    let e = engine();
    if !e.follow.active || e.phase != Phase::Running {
        return None;
    }
    let current = segment(e.follow.at);
    let here = live().events - e.segment_start == current.events;
    // The last segment of a deadlock ends in a wait, too.
    let waits = current.how == StopKind::Blocked as u8 || current.how == StopKind::Final as u8;
    // A handler's call may come at the same count as the interrupted call's next wait: the place tells them apart.
    let there = !is_elsewhere(sched::this().op.pc, &current.stop);
    Some(here && there && waits && current.op == OpKind::IoWait as u8)
}

/// Whether a schedule is followed that has more to come.
pub fn goes_on() -> bool {
    let e = engine();
    if !e.follow.active || e.phase != Phase::Running {
        return false;
    }
    let current = segment(e.follow.at);
    current.how != StopKind::Final as u8 || live().events - e.segment_start < current.events
}

/// The run has come to its end: with a strict schedule it must be the schedule's end too.
pub fn check_end() {
    let e = engine();
    if !e.follow.active || e.plan.flags & flags::STRICT == 0 || e.phase != Phase::Running {
        return;
    }
    let current = segment(e.follow.at);
    let done = live().events - e.segment_start;
    if current.how != StopKind::Final as u8 {
        diverge(e.follow.at, "the run ended before its schedule");
    } else if done != current.events + before_end(&current) && e.plan.flags & flags::OTHER_BUILD == 0 {
        diverge(e.follow.at, "the last strand made another number of events");
    }
}

/// Events of the last segment that its schedule does not count: older ones know no event for the end of the process.
fn before_end(last: &Segment) -> u64 {
    let ends = strand(engine().current).op.kind == OpKind::End && last.op != OpKind::End as u8;
    (ends && last.events + 1 == live().events - engine().segment_start) as u64
}

fn diverge(at: usize, reason: &'static str) -> ! {
    let e = engine();
    let this = strand(e.current);
    let expected = segment(at);
    stop();
    report::divergence(at as u64, expected.stop, this.op.pc, reason);
    super::fail_run(
        VerdictKind::Divergence,
        0,
        this.op.addr,
        this.op.pc,
        format_args!(
            "segment {}: {reason} ({} of {} events made)",
            at + 1,
            live().events - e.segment_start,
            expected.events
        ),
    )
}
