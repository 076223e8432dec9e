//! Following a plan loosely.
//!
//! Shrinking asks what happens when a schedule is changed a little, so its plan need not fit the run that comes of it. A
//! plan is a list of stretches: a strand, and how many events of its own it has made since its beginning when the stretch
//! is over. A stretch ends sooner when its strand must wait or has ended. One whose strand cannot go on when its turn
//! comes, or has come as far already, is left out. Behind the last one, whoever runs goes on for as long as it can, and then
//! the next strand that can: nobody is preempted who does not give way.
//!
//! Choices that are no strand are those the plan has for the strand that makes them, in order; then the first option.
//!
//! What could have been chosen is noted for the driver ([`threadbare_abi::decision`]): it makes the next plans from that.

use super::follow::segment;
use super::live::live;
use super::sched::{ATTENTION, EngineView, Phase, Stop, attention, engine};
use super::strand::{State, Strand};
use super::{guidance, shared, stops, strand};
use crate::raw::Raw;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use threadbare_abi::decision::{Decision, bits};
use threadbare_abi::event::{ChoiceKind, Segment, StopKind};
use threadbare_abi::fault::Fault;
use threadbare_abi::layout::{self, flags};
use threadbare_abi::object::ObjectClass;
use threadbare_abi::strand::StrandId;
use threadbare_strategy::View;

struct Lenient {
    on: bool,
    /// The stretch that the running strand is in.
    at: usize,
    len: usize,
    /// Choices that strands have made, by path and kind.
    chosen: Vec<(u64, u8, u32)>,
    /// Event count of the last decision that was noted, and how the strand had stopped.
    noted: (u64, u8),
    /// Events that strands, by path, spared in a loop.
    spared: Vec<(u64, u64)>,
}

static mut LENIENT: Lenient =
    Lenient { on: false, at: 0, len: 0, chosen: Vec::new(), noted: (u64::MAX, 0), spared: Vec::new() };

fn plan() -> Raw<Lenient> {
    // SAFETY: single kernel thread; not used by signal handlers.
    unsafe { Raw::new(&raw mut LENIENT) }
}

/// Whether a plan is followed loosely.
pub fn is_on() -> bool {
    plan().on
}

/// Begins to follow the plan's stretches, if that is wanted.
pub fn begin() -> bool {
    let e = engine();
    let wanted = e.plan.flags & flags::LENIENT != 0 && shared::area(layout::FOLLOW).is_some();
    let len = (e.plan.follow as usize).min(layout::SEGMENTS_CAPACITY);
    *plan() =
        Lenient { on: wanted, at: 0, len, chosen: Vec::new(), noted: (u64::MAX, 0), spared: Vec::new() };
    if wanted {
        ATTENTION.fetch_or(attention::FOLLOW, Ordering::Relaxed);
        if len > 0 {
            enter(0);
        }
    }
    wanted
}

/// After a fork by the program, in the child.
pub fn leave() {
    plan().on = false;
}

fn is_stretch(found: &Segment) -> bool {
    found.kind == ChoiceKind::Strand as u8 || found.kind == ChoiceKind::Timeout as u8
}

/// Events a strand has made since its beginning.
fn made(id: StrandId) -> u64 {
    let e = engine();
    let lately = if id == e.current { live().events - e.segment_start } else { 0 };
    strand(id).own + lately
}

fn with_path(path: u64) -> Option<StrandId> {
    (0..engine().strands.len() as u16).map(StrandId).find(|&id| strand(id).path.0 == path)
}

/// Events that a loop must have had alone: the first run that comes to one tries whether it ends by itself.
const TRIED: u64 = 1 << 12;

/// The count of its own events at which the strand's stretch is over.
fn target(found: &Segment) -> u64 {
    let of = |&(path, _): &(u64, u64)| path == found.path;
    let spared = plan().spared.iter().copied().find(of).map_or(0, |(_, spared)| spared);
    found.events.saturating_sub(spared)
}

/// A strand waits in a loop that it went on in for long when the plan's run was made, since nobody knew the loop: what it does
/// behind it comes so much sooner.
fn spares(this: &Strand) {
    let mut l = plan();
    let waits = this.state() == State::Blocked && this.wait.key.class == ObjectClass::Memory;
    if !waits || l.at >= l.len {
        return;
    }
    let (found, path) = (segment(l.at), this.path.0);
    let left = target(&found).saturating_sub(made(this.id));
    if found.path != path || !is_stretch(&found) || left < TRIED {
        return;
    }
    match l.spared.iter().position(|it| it.0 == path) {
        Some(at) => l.spared[at].1 += left,
        None => l.spared.push((path, left)),
    }
}

/// A stretch begins: the strand must come to a point where it ends, whatever it does there.
fn enter(at: usize) {
    plan().at = at;
    let found = segment(at);
    let stops = found.how == StopKind::Preempted as u8 && is_stretch(&found);
    let left = target(&found).saturating_sub(with_path(found.path).map_or(0, made));
    stops::set_schedule(if stops { live().events.saturating_add(left) } else { u64::MAX });
}

/// Who goes on.
pub fn next(how: Stop) -> Option<(StrandId, bool)> {
    let e = engine();
    if e.phase != Phase::Running {
        return None;
    }
    note(how);
    let this = strand(e.current);
    spares(&this);
    let ready = this.state() == State::Ready && how == Stop::Preempted;
    if ready && this.pinned > 0 {
        return Some((e.current, false));
    }
    let mut l = plan();
    if l.at < l.len {
        let found = segment(l.at);
        let far = made(e.current) >= target(&found);
        // One that was to wait and did not goes on; there is no reason to stop it.
        let goes_on = !far || found.how != StopKind::Preempted as u8 && !this.yields;
        if ready && found.path == this.path.0 && goes_on {
            return Some((e.current, false));
        }
        for at in l.at + 1..l.len {
            if let Some(next) = able(&segment(at)) {
                enter(at);
                return Some(next);
            }
        }
        if e.can_count() == 0 {
            return None;
        }
        l.at = l.len;
        stops::set_schedule(u64::MAX);
    }
    rest(ready)
}

/// The strand of a stretch, if it can go on and has not come as far yet.
fn able(found: &Segment) -> Option<(StrandId, bool)> {
    if !is_stretch(found) {
        return None;
    }
    let id = with_path(found.path)?;
    let other = strand(id);
    if found.how == StopKind::Preempted as u8 && made(id) >= target(found) {
        return None;
    }
    match other.state() {
        State::Ready => Some((id, false)),
        State::Blocked if found.kind == ChoiceKind::Timeout as u8 && other.wait.deadline != u64::MAX => {
            Some((id, true))
        }
        _ => None,
    }
}

/// Who goes on behind the last stretch: the running strand, or the next one by number.
fn rest(ready: bool) -> Option<(StrandId, bool)> {
    let e = engine();
    let this = strand(e.current);
    if ready && !this.yields {
        return Some((e.current, false));
    }
    let count = e.strands.len() as u16;
    let after = (1..=count).map(|step| StrandId((e.current.0 + step) % count));
    let mut others = after.filter(|&id| strand(id).state() == State::Ready);
    others.next().map(|id| (id, false))
}

/// The option the plan takes for a choice that is no strand.
pub fn choice(kind: ChoiceKind, options: u32) -> u32 {
    taken(kind).map_or(0, |found| (found.path as u32).min(options - 1))
}

/// The same for a choice of the program's own; with 0 for any value.
pub fn own(options: u64) -> u64 {
    let path = taken(ChoiceKind::Own).map_or(0, |found| found.path);
    if options == 0 { path } else { path.min(options - 1) }
}

/// What the plan has for the running strand's next choice of a kind.
fn taken(kind: ChoiceKind) -> Option<Segment> {
    let (mut l, path) = (plan(), strand(engine().current).path.0);
    let of = |(other, code, _): &(u64, u8, u32)| *other == path && *code == kind as u8;
    let at = match l.chosen.iter().position(of) {
        Some(at) => at,
        None => {
            l.chosen.push((path, kind as u8, 0));
            l.chosen.len() - 1
        }
    };
    let before = l.chosen[at].2 as usize;
    l.chosen[at].2 += 1;
    let of_it = |found: &Segment| !is_stretch(found) && found.kind == kind as u8 && found.stop == path;
    (0..l.len).map(segment).filter(of_it).nth(before)
}

/// Whether the plan has a fault of the running strand's chance with this number.
pub fn fault(fault: Fault, chance: u32) -> bool {
    let path = strand(engine().current).path.0;
    let is = |found: Segment| {
        Fault::of(&found) == Some(fault) && found.stop == path && found.path == u64::from(chance)
    };
    (0..plan().len).map(segment).any(is)
}

/// How many newer stores the atomic operation under way does not see, or comes before, by the plan.
pub fn stale() -> u32 {
    let (l, id) = (plan(), engine().current);
    let (path, made) = (strand(id).path.0, made(id));
    let here = |found: &Segment| {
        found.kind == ChoiceKind::ReadsFrom as u8 && found.stop == path && found.events == made
    };
    (0..l.len).map(segment).find(here).map_or(0, |found| found.path as u32)
}

/// Notes a decision, once however often it is asked for.
fn note(how: Stop) {
    let mut e = engine();
    let mut l = plan();
    let now = (live().events, how as u8);
    if core::mem::replace(&mut l.noted, now) == now {
        return;
    }
    let this = strand(e.current);
    let mut told = 0;
    if this.state() == State::Ready {
        told |= bits::READY;
    }
    if this.yields {
        told |= bits::YIELDS;
    }
    if this.pinned > 0 {
        told |= bits::PINNED;
    }
    let mut enabled = 0u64;
    for &id in e.can() {
        match 1u64.checked_shl(u32::from(id.0)) {
            Some(bit) => enabled |= bit,
            None => told |= bits::MORE,
        }
    }
    let timed = EngineView.timed().first().copied();
    guidance::note(
        &Decision {
            strand: this.id,
            op: this.op.kind,
            how,
            told,
            timed: timed.unwrap_or(StrandId::NONE),
            size: this.op.size,
            own: made(this.id),
            enabled,
            addr: this.op.addr,
            event: live().events,
        }
        .encode(),
    );
}
