//! Faults: choices of the environment's, see `threadbare-abi`'s `fault`.
//!
//! A model that comes to where something may happen for no reason asks [`happens`]. Mostly the answer is no, and nothing is
//! kept of it. Who answers:
//! - a schedule, where one is followed: yes where it says so;
//! - a planner, for spurious ones: each chance is a choice with two options, and the planner bounds how many are taken in a run;
//! - else chance. A run draws which groups may happen in it, how rarely, and gives each group one fault. Spurious ones may happen in one run of
//!   eight: one that ends a wait hides that nobody would have. What was asked for may happen in half of the runs. All that is drawn
//!   comes from numbers apart from the strategy's, so that a strategy's guarantee holds for the runs without faults as it is.

use super::live::live;
use super::sched::{ATTENTION, Phase, attention, engine, this};
use super::{coverage, follow, modules, record, segments, steps};
use crate::raw::Raw;
use core::sync::atomic::Ordering;
use threadbare_abi::event::{Segment, StopKind};
use threadbare_abi::fault::{Fault, Faults};
use threadbare_abi::layout::Plan;
use threadbare_abi::op::Op;
use threadbare_strategy::rng::{Rng, mix};
use threadbare_strategy::{Strategy, StrategyId};

const GROUPS: usize = Faults::GROUPS.len();

struct State {
    /// What the answer may be yes for.
    may: Faults,
    /// A planner answers.
    planned: bool,
    /// What may happen by the driver's word.
    wanted: Faults,
    /// What may still happen in this run by chance.
    left: Faults,
    /// One of so many chances of each group is taken.
    one_of: [u32; GROUPS],
    rng: Rng,
}

static mut STATE: State = State {
    may: Faults::NONE,
    planned: false,
    wanted: Faults::NONE,
    left: Faults::NONE,
    one_of: [1; GROUPS],
    rng: Rng::new(0),
};

fn state() -> Raw<State> {
    // SAFETY: single kernel thread; not used by signal handlers.
    unsafe { Raw::new(&raw mut STATE) }
}

/// A run begins.
pub fn begin(plan: &Plan) {
    const SALT: u64 = 0x6661_756c_7473;
    let s = &mut *state();
    let strategy = StrategyId::from_code(plan.strategy).unwrap_or(StrategyId::Random);
    s.planned = strategy.is_planner();
    s.wanted = Faults(plan.faults);
    s.rng = Rng::new(mix(plan.seed ^ SALT));
    // A strategy that is to bring about something certain is not disturbed.
    s.left =
        if strategy.row().certain || s.planned { Faults::NONE } else { draw_groups(&mut s.rng, s.wanted) };
    for (one_of, (_, group)) in s.one_of.iter_mut().zip(Faults::GROUPS) {
        // Few chances as a rule; among many the late ones are to have theirs, too.
        let many = s.rng.below(if group == Faults::SPURIOUS { 4 } else { 2 }) == 0;
        *one_of = 1 << s.rng.below(if many { 12 } else { 3 });
    }
    // A schedule may have any.
    s.may = if plan.follow != 0 { Faults::ALL } else { s.wanted };
}

/// The groups that may happen in a run: spurious ones in one of eight; of the others none in half of the runs, one in a quarter, any in
/// the rest.
fn draw_groups(rng: &mut Rng, wanted: Faults) -> Faults {
    let spurious = if rng.below(8) == 0 { Faults(wanted.0 & Faults::SPURIOUS.0) } else { Faults::NONE };
    let others = Faults(wanted.0 & !Faults::SPURIOUS.0);
    let count = others.0.count_ones();
    let drawn = match rng.below(4) {
        _ if count == 0 => Faults::NONE,
        0 | 1 => Faults::NONE,
        2 => {
            let nth = rng.below(count) as usize;
            let mut groups = Faults::GROUPS.iter().filter(|(_, group)| others.has(*group));
            groups.nth(nth).map_or(Faults::NONE, |(_, group)| *group)
        }
        _ if count == 1 => others,
        _ => Faults(others.0 & rng.below(1 << GROUPS)),
    };
    spurious.and(drawn)
}

/// After a fork by the program, in the child.
pub fn leave() {
    state().may = Faults::NONE;
}

/// Whether something of a group may happen in this run.
#[inline(always)]
pub fn may(group: Faults) -> bool {
    state().may.has(group)
}

/// Whether this happens to the running strand, now, at this call. Asked at every chance of a run in which it may: their count is
/// what a schedule names it by.
#[inline(always)]
pub fn happens(fault: Fault, pc: u64) -> bool {
    may(fault.group()) && asked(fault, pc)
}

#[cold]
#[inline(never)]
fn asked(fault: Fault, pc: u64) -> bool {
    let (mut e, mut s, mut this) = (engine(), state(), this());
    if e.phase != Phase::Running || this.pinned > 0 {
        return false;
    }
    let spurious = fault.group() == Faults::SPURIOUS;
    // Alone, nobody is waited for, and nobody changes anything.
    if spurious && e.strands.len() < 2 {
        return false;
    }
    let chance = this.faults[fault as usize];
    this.faults[fault as usize] += 1;
    let planned = s.planned && spurious && s.wanted.has(Faults::SPURIOUS);
    let happens = match follow::fault(fault, chance) {
        Some(says) => says,
        None if planned => e.strategy.choose(2) == 1,
        None => s.left.has(fault.group()) && drawn(&mut s, fault),
    };
    // A planner sees the chances that were not taken, too, whoever chose.
    if spurious && s.wanted.has(Faults::SPURIOUS) && ATTENTION.load(Ordering::Relaxed) & attention::STEPS != 0
    {
        steps::chose(fault.kind(), u64::from(happens), 2);
    }
    if happens {
        note(fault, chance, pc);
    }
    happens
}

fn drawn(s: &mut State, fault: Fault) -> bool {
    let group = fault.group();
    let at = Faults::GROUPS.iter().position(|(_, other)| *other == group).unwrap_or(0);
    let taken = s.rng.below(s.one_of[at]) == 0;
    if taken {
        s.left = Faults(s.left.0 & !group.0);
    }
    taken
}

fn note(fault: Fault, chance: u32, pc: u64) {
    live().choices += 1;
    coverage::chose(fault as u64 + 1);
    let this = this();
    segments::append(Segment {
        path: u64::from(chance),
        events: fault as u64,
        stop: modules::place(pc),
        kind: fault.kind() as u8,
        op: this.op.kind as u8,
        how: StopKind::Preempted as u8,
        strand: this.id.0,
        ..Segment::default()
    });
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        let op = Op { addr: fault as u64, ..this.op };
        record::push_choice(fault.kind(), this.id, op, u64::from(chance));
    }
}
