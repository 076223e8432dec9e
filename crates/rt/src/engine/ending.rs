//! The end of the process: a step that depends on every step that another strand may still make.
//!
//! What others have not done when the process ends is never done. So a strand stands before the end as before any other
//! operation, and others can go on; how far each has come is part of the run's class. Where every other strand has been
//! joined, or has ended before the last one did, there is nothing left to come before the end, and it is no event.
//!
//! A process that does not wait for its strands tends to end before they have done much. So in three of four runs of a strategy
//! that decides as it goes the end comes last: the strand is held back until the others have come as far as they
//! can, or for [`LONGEST`] events and [`JUMPS`] deadlines if they go on for ever.

use super::live::live;
use super::sched::{self, Stop, engine, reschedule};
use super::wait::{ObjectId, Wait};
use super::{coverage, lenient, lists, me, strand};
use crate::model::single::Single;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;
use threadbare_strategy::StrategyId;
use threadbare_strategy::rng::mix;

/// Events that the others get, at the most.
const LONGEST: u64 = 1 << 14;
/// Deadlines that time jumps to for them, at the most.
const JUMPS: u32 = 64;
/// Makes the draw another one than the strategy's.
const SALT: u64 = 0x0E4D_0F7E_0E4D_0F7E;

struct Held {
    strand: StrandId,
    /// The event count at which it goes on in any case.
    until: u64,
    jumps: u32,
}

static HELD: Single<Held> = Single::new(Held { strand: StrandId::NONE, until: u64::MAX, jumps: 0 });

/// Every strand has ended, one after the other, and with this one the process does.
static BY_ITSELF: Single<bool> = Single::new(false);

/// The running strand is the last one and ends.
pub fn comes_by_itself() {
    *BY_ITSELF.get() = true;
}

/// The running strand ends the process: returns when it is to be done. False if that was no event.
pub fn comes(pc: u64) -> bool {
    let running = super::controlled() && engine().phase == sched::Phase::Running;
    if !running || *BY_ITSELF.get() || !crate::model::thread::any_unjoined() {
        return false;
    }
    let op = Op::new(OpKind::End, 0, pc);
    if is_last() {
        hold(op);
    } else {
        sched::point(op);
    }
    coverage::process_ends();
    true
}

/// Whether others go first in this run, as far as they can.
fn is_last() -> bool {
    let e = engine();
    let may = StrategyId::from_code(e.plan.strategy).is_some_and(|id| id.row().ends_last);
    let decides = may && !e.follow.active && !lenient::is_on();
    decides && mix(e.plan.seed ^ SALT) & 3 != 0 && strand(e.current).pinned == 0
}

fn hold(op: Op) {
    let mut e = engine();
    if e.can_count() + e.timed.len() < 2 {
        // There is nobody to wait for.
        sched::point(op);
    } else {
        sched::publish(op);
        let mut this = strand(e.current);
        this.wait = Wait { key: ObjectId::NEVER, acquire: true, ..Wait::NONE };
        let until = live().events + LONGEST;
        *HELD.get() = Held { strand: e.current, until, jumps: JUMPS };
        e.due_events = e.due_events.min(until);
        lists::set_blocked(&mut this);
        // For a schedule it is a preemption.
        reschedule(Stop::Preempted);
        *HELD.get() = Held { strand: StrandId::NONE, until: u64::MAX, jumps: 0 };
        strand(me()).wait = Wait::NONE;
    }
}

/// The event count at which a strand that is held back goes on.
pub fn until() -> u64 {
    HELD.get().until
}

/// Whether this strand is held back.
pub fn is_held(id: StrandId) -> bool {
    HELD.get().strand == id
}

/// Nobody else can go on before time jumps to `deadline` (`u64::MAX`: never). True if the strand that is held back goes on now.
pub fn goes_on(deadline: u64) -> bool {
    let mut held = HELD.get();
    if held.strand == StrandId::NONE {
        return false;
    }
    // The program's own alarm is not waited for.
    if deadline < engine().timer && held.jumps > 0 {
        held.jumps -= 1;
        return false;
    }
    release();
    true
}

/// Some strands have gone on for long.
pub fn look() {
    if live().events >= HELD.get().until {
        release();
    }
}

fn release() {
    let mut held = HELD.get();
    let id = core::mem::replace(&mut held.strand, StrandId::NONE);
    held.until = u64::MAX;
    if id != StrandId::NONE {
        lists::set_ready(&mut strand(id));
    }
}
