//! Which strands there are, which of them can go on, and which wait.

use super::live::live;
use super::sched::{ATTENTION, Phase, attention, engine};
use super::strand::{State, Strand};
use super::{coverage, crowds, learn, lenient, race, reads, record, sched, steps, strand};
use crate::model::single::Single;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use threadbare_abi::event::EventKind;
use threadbare_abi::strand::StrandId;
use threadbare_strategy::{Born, Strategy};

/// The last strand with each of libc's handles.
static HANDLES: Single<BTreeMap<usize, StrandId>> = Single::new(BTreeMap::new());

/// The last strand with a handle.
pub fn by_handle(pthread: usize) -> Option<StrandId> {
    HANDLES.get().get(&pthread).copied()
}

/// The waiting strands of which something holds, by index.
pub fn waiting(holds: impl Fn(&Strand) -> bool) -> Vec<StrandId> {
    let mut found: Vec<StrandId> =
        engine().waiters.iter().copied().filter(|&id| holds(&strand(id))).collect();
    found.sort_unstable();
    found
}

/// The strand can go on.
pub fn set_ready(other: &mut Strand) {
    if other.state() != State::Blocked {
        return;
    }
    let mut e = engine();
    if other.crowd != crowds::NONE {
        crowds::leave(other);
    }
    if ATTENTION.load(Ordering::Relaxed) & attention::STEPS != 0 {
        steps::woke(other.id);
    }
    other.alone = State::Ready;
    e.blocked -= 1;
    if other.waits_at != u32::MAX {
        e.acquirers -= other.wait.acquire as usize;
        remove(&mut e.waiters, other.waits_at as usize, |moved, at| moved.waits_at = at);
        other.waits_at = u32::MAX;
    }
    enable(other);
    untimed(other);
}

/// The strand's wait has no deadline any more.
fn untimed(other: &mut Strand) {
    if other.timed_at != u32::MAX {
        remove(&mut engine().timed, other.timed_at as usize, |moved, at| moved.timed_at = at);
        other.timed_at = u32::MAX;
    }
}

/// The strand is libtest's, which waits for the test: what it does when that takes long says nothing of the test.
pub fn waits_for_test(other: &mut Strand) {
    other.waits_for_test = true;
    if other.state() == State::Blocked {
        other.wait.deadline = u64::MAX;
        untimed(other);
    }
}

/// The strand waits.
pub fn set_blocked(other: &mut Strand) {
    if other.state() == State::Ready {
        block(other, false);
    }
}

/// The strand waits, with others for the same if there are many.
pub fn set_waiting(other: &mut Strand) {
    if other.state() == State::Ready {
        let crowded = crowds::waits(other);
        block(other, crowded);
    }
}

fn block(other: &mut Strand, crowded: bool) {
    let mut e = engine();
    disable(other);
    other.alone = State::Blocked;
    e.blocked += 1;
    if !crowded {
        other.waits_at = e.waiters.len() as u32;
        e.waiters.push(other.id);
        e.acquirers += other.wait.acquire as usize;
    }
    if other.waits_for_test {
        other.wait.deadline = u64::MAX;
    }
    if other.wait.deadline != u64::MAX {
        other.timed_at = e.timed.len() as u32;
        e.timed.push(other.id);
        e.due_events = 0;
    }
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        record::push(EventKind::Blocked, other.id, other.op, 0);
    }
}

fn enable(other: &mut Strand) {
    let mut e = engine();
    other.enabled_at = e.enabled.len() as u32;
    e.enabled.push(other.id);
    e.crowds.stale = true;
}

/// The strand that goes on next is in a crowd of those that can: it can by itself.
#[cold]
#[inline(never)]
pub fn leave_crowd(next: StrandId) {
    let mut next = strand(next);
    if next.crowd != crowds::NONE && next.state() == State::Ready {
        crowds::leave(&mut next);
        next.alone = State::Ready;
        enable(&mut next);
    }
}

/// The running strand stands before what others may take meanwhile. If there are many, it is in a crowd until it is chosen.
pub fn stand(this: &mut Strand) -> bool {
    let crowded = crowds::stands(this);
    if crowded {
        disable(this);
    }
    crowded
}

/// A new strand can go on.
pub fn add(new: *mut Strand) {
    let mut e = engine();
    // SAFETY: `new` was just made and is never freed during the run.
    let other = unsafe { &mut *new };
    e.strands.push(new);
    HANDLES.get().insert(other.pthread, other.id);
    sched::first(new);
    enable(other);
    e.live += 1;
    live().strands = e.strands.len() as u64;
    set_gate();
    if e.phase == Phase::Running {
        tell_created(other.id);
    }
}

/// Tells the strategy of a strand.
pub fn tell_created(id: StrandId) {
    let other = strand(id);
    let born = Born { strand: id, parent: other.parent, path: other.path };
    engine().strategy.created(born);
    if ATTENTION.load(Ordering::Relaxed) & attention::READS != 0 {
        reads::created(born);
    }
}

/// Plain accesses matter from the second strand on, or when a timer may interrupt the only one.
pub fn set_gate() {
    let e = engine();
    let several = e.phase == Phase::Running && e.strands.len() > 1;
    learn::set_gate(several || e.phase == Phase::Running && e.timer != u64::MAX);
    race::set_on(several);
    coverage::set_on(several);
}

pub fn disable(other: &mut Strand) {
    if other.enabled_at != u32::MAX {
        remove(&mut engine().enabled, other.enabled_at as usize, |moved, at| moved.enabled_at = at);
        other.enabled_at = u32::MAX;
        engine().crowds.stale = true;
    }
}

fn remove(list: &mut Vec<StrandId>, at: usize, moved: impl Fn(&mut Strand, u32)) {
    list.swap_remove(at);
    if let Some(&other) = list.get(at) {
        moved(&mut strand(other), at as u32);
    }
}

/// After a fork by the program, in the child: the other strands are not there any more.
pub fn keep_only_current() {
    let mut e = engine();
    for index in 0..e.strands.len() {
        let id = StrandId(index as u16);
        if id != e.current {
            let mut other = strand(id);
            other.alone = State::Ended;
            other.crowd = crowds::NONE;
            other.ended = true;
        }
    }
    e.enabled.clear();
    let current = e.current;
    e.enabled.push(current);
    strand(e.current).enabled_at = 0;
    e.timed.clear();
    e.spinners.clear();
    e.io.clear();
    e.blocked = 0;
    e.waiters.clear();
    (e.acquirers, e.loners) = (0, 0);
    e.crowds.forget();
    e.live = 1;
    e.follow.active = false;
    lenient::leave();
    e.phase = Phase::Over;
}
