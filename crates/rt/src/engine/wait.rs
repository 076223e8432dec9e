//! Waiting and waking.
//!
//! Two kinds of wait serve all models. An *acquire* waits until a condition holds and is itself the point of the
//! operation; whoever makes the condition true calls [`notify`], whoever makes it false again calls [`retract`], so
//! the set of enabled strands is exact. A *sleep* waits until it is woken by name ([`wake_one`], [`wake_all`]).

use super::sched::{self, Stop, engine, reschedule};
use super::segments;
use super::strand::{State, Strand};
use super::{addressable, coverage, crowds, deadlock, due, lists, me, rounds, spin, steps, strand};
use alloc::vec::Vec;
use threadbare_abi::event::ChoiceKind;
pub use threadbare_abi::object::{ObjectClass, ObjectId};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// The condition holds, or somebody woke it.
    Go,
    /// The deadline came.
    TimedOut,
    /// A signal handler ran on the strand.
    Interrupted,
}

/// Whether a condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// It does.
    Yes,
    /// It does not, because of this strand (or `NONE`).
    No(StrandId),
}

/// A strand's wait.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// On what.
    pub key: ObjectId,
    /// Virtual time at which it ends; `u64::MAX`: never.
    pub deadline: u64,
    /// Events of the run when it has lasted for so long that it may end by its deadline.
    pub patience: u64,
    /// Futex bit set.
    pub mask: u32,
    /// An acquire (notified) or a sleep (woken).
    pub acquire: bool,
    /// Who keeps it waiting.
    pub holder: StrandId,
    /// Order of arrival.
    pub arrived: u64,
    /// Why it ended.
    pub outcome: Wake,
}

impl Wait {
    /// No wait.
    pub const NONE: Wait = Wait {
        key: ObjectId::NEVER,
        deadline: u64::MAX,
        patience: u64::MAX,
        mask: 0,
        acquire: false,
        holder: StrandId::NONE,
        arrived: 0,
        outcome: Wake::Go,
    };

    /// Whether its deadline may come while others can go on.
    pub fn may_end_early(&self) -> bool {
        self.deadline != u64::MAX && !engine().in_order
    }
}

/// Waits until `ready` says yes; see the module's text. Returns `Go` only when the strand was chosen and `ready` is
/// `Yes` at that moment.
pub fn acquire(op: Op, key: ObjectId, deadline: Option<u64>, ready: &mut dyn FnMut() -> Ready) -> Wake {
    addressable::check_object(op);
    sched::publish(op);
    sched::attend_before(op);
    if sched::this().spin.is_alone() {
        spin::comes_to_wait();
    }
    let polite = rounds::comes(&op);
    if polite {
        rounds::set_polite(true);
    }
    let mut chosen = false;
    loop {
        match ready() {
            Ready::Yes if chosen => break,
            Ready::Yes => {
                // The strand stays in its wait's terms while it is enabled, so that `retract` finds it.
                let deadline = deadline.unwrap_or(u64::MAX);
                let patience = due::patience(deadline);
                let mut this = strand(me());
                this.wait = Wait { key, deadline, patience, acquire: true, ..Wait::NONE };
                let loner = !lists::stand(&mut this) as usize;
                engine().loners += loner;
                reschedule(Stop::Preempted);
                engine().loners -= loner;
                if polite {
                    rounds::set_polite(false);
                }
                match core::mem::replace(&mut strand(me()).wait, Wait::NONE).outcome {
                    Wake::Go => chosen = true,
                    ended => return ended,
                }
            }
            Ready::No(holder) => {
                if polite {
                    rounds::set_polite(false);
                }
                if deadline.is_some_and(|d| d <= due::now()) {
                    strand(me()).wait = Wait::NONE;
                    return Wake::TimedOut;
                }
                match block(key, deadline, u32::MAX, true, holder) {
                    Wake::Go => chosen = true,
                    ended => return ended,
                }
            }
        }
    }
    strand(me()).wait = Wait::NONE;
    addressable::check_taken(op);
    sched::progress_but_for(op.kind);
    Wake::Go
}

/// Sleeps until woken, the deadline or a signal. Make the point first.
pub fn sleep_on(op: Op, key: ObjectId, deadline: Option<u64>, mask: u32) -> Wake {
    strand(me()).op = op;
    let outcome = block(key, deadline, mask, false, StrandId::NONE);
    sched::progress();
    outcome
}

/// The running strand waits from now on, and others go on.
fn block(key: ObjectId, deadline: Option<u64>, mask: u32, acquire: bool, holder: StrandId) -> Wake {
    if sched::attend_signals() || crate::model::cancel::wanted(strand(me()).op.kind) {
        return Wake::Interrupted;
    }
    deadlock::look_again();
    let mut e = engine();
    e.arrivals += 1;
    let mut this = strand(e.current);
    this.wait = Wait {
        key,
        deadline: deadline.unwrap_or(u64::MAX),
        patience: deadline.map_or(u64::MAX, due::patience),
        mask,
        acquire,
        holder,
        arrived: e.arrivals,
        outcome: Wake::Go,
    };
    if acquire && holder != StrandId::NONE {
        coverage::blocked(key);
    }
    lists::set_waiting(&mut this);
    let loner = (acquire && this.crowd == crowds::NONE) as usize;
    match deadline {
        None => deadlock::waits(&this),
        Some(_) => steps::touches(OpKind::Sleep, 0, 0),
    }
    e.loners += loner;
    reschedule(Stop::Blocked);
    engine().loners -= loner;
    let outcome = core::mem::replace(&mut strand(me()).wait, Wait::NONE).outcome;
    if outcome == Wake::Interrupted {
        sched::attend_signals();
    }
    if outcome != Wake::Go && key.class != ObjectClass::Sleep {
        coverage::chose(outcome as u64);
    }
    outcome
}

/// A signal has come for a strand: its wait, if it has one, ends.
pub fn interrupt(id: StrandId) {
    let mut other = strand(id);
    if other.state() != State::Blocked {
        return;
    }
    if other.wait.key.class == ObjectClass::Memory {
        // It spins: the handler runs at its next point.
        super::spin::forget(id);
    } else {
        other.wait.outcome = Wake::Interrupted;
    }
    lists::set_ready(&mut other);
}

/// The condition of those who wait to acquire `key` may hold now: they are enabled.
pub fn notify(key: ObjectId) {
    let e = engine();
    if e.blocked == 0 {
        return;
    }
    if e.blocked > e.waiters.len() {
        crowds::notify(key);
    }
    if e.acquirers == 0 {
        return;
    }
    for id in lists::waiting(|other| other.wait.acquire && other.wait.key == key) {
        let mut other = strand(id);
        other.wait.outcome = Wake::Go;
        lists::set_ready(&mut other);
    }
}

/// The condition of those who wait to acquire `key` does not hold any more: they are disabled.
pub fn retract(key: ObjectId) {
    retract_from(key, |_| true);
}

/// The same for some of them, by what each stands before.
pub fn retract_from(key: ObjectId, loses: impl Fn(OpKind) -> bool) {
    let e = engine();
    if e.crowds.open != 0 {
        crowds::retract(key, &loses);
    }
    if e.enabled.len() < 2 || e.loners == 0 {
        return;
    }
    let mut at = 0;
    while at < e.enabled.len() {
        let id = e.enabled[at];
        let mut other = strand(id);
        // One whose wait ended by a signal or its deadline goes on whatever the condition says.
        let waits = other.wait.acquire && other.wait.key == key && other.wait.outcome == Wake::Go;
        if id != e.current && waits && loses(other.op.kind) {
            other.wait.holder = e.current;
            lists::set_blocked(&mut other);
        } else {
            at += 1;
        }
    }
}

/// Strands asleep on `key` whose mask meets `mask`, in order of arrival.
fn sleepers(key: ObjectId, mask: u32) -> Vec<StrandId> {
    let sleeps = |other: &Strand| !other.wait.acquire && other.wait.key == key && other.wait.mask & mask != 0;
    let e = engine();
    let mut found = if e.waiters.len() > e.acquirers { lists::waiting(sleeps) } else { Vec::new() };
    let single = found.len();
    if e.blocked > e.waiters.len() {
        let crowd = crowds::sleepers(key);
        found.extend(crowd.iter().flat_map(|crowd| crowd.iter().copied()).filter(|&id| sleeps(&strand(id))));
    }
    if single != 0 {
        found.sort_unstable_by_key(|&id| strand(id).wait.arrived);
    }
    found
}

/// Wakes one sleeper of `key`; which one is a choice.
pub fn wake_one(key: ObjectId, mask: u32) -> Option<StrandId> {
    if engine().blocked == 0 {
        return None;
    }
    let e = engine();
    let crowded = mask == u32::MAX && e.waiters.len() == e.acquirers;
    // A crowd is in order already, and every one of it can be woken.
    let (listed, crowd) =
        if crowded { (Vec::new(), crowds::sleepers(key)) } else { (sleepers(key, mask), None) };
    let count = crowd.map_or(listed.len(), |crowd| crowd.len());
    let nth = match count {
        0 => return None,
        1 => 0,
        n => segments::choose(ChoiceKind::Wake, n as u32) as usize,
    };
    let id = crowd.map_or_else(|| listed[nth], |crowd| crowd[nth]);
    coverage::woke(&mut strand(id));
    lists::set_ready(&mut strand(id));
    Some(id)
}

/// Wakes all sleepers of `key`.
pub fn wake_all(key: ObjectId, mask: u32) -> usize {
    if engine().blocked == 0 {
        return 0;
    }
    let found = sleepers(key, mask);
    for &id in &found {
        coverage::woke(&mut strand(id));
        lists::set_ready(&mut strand(id));
    }
    found.len()
}

/// Lets up to `limit` sleepers of `from` sleep on `to` instead, in order of arrival.
pub fn requeue(from: ObjectId, to: ObjectId, limit: usize) -> usize {
    let mut found = sleepers(from, u32::MAX);
    found.truncate(limit);
    for &id in &found {
        let mut other = strand(id);
        match other.crowd {
            crowds::NONE => other.wait.key = to,
            _ => crowds::moves(&mut other, to),
        }
        other.op.addr = to.addr;
    }
    found.len()
}

/// How many strands wait on `key`.
pub fn waiting(key: ObjectId) -> usize {
    engine().waiters.iter().filter(|&&id| strand(id).wait.key == key).count() + crowds::waiting(key)
}
