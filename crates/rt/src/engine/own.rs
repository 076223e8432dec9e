//! Choices that the program asks for: one of some options, or any value. They are part of the schedule; planners try every option.

use super::live::live;
use super::sched::{ATTENTION, Phase, attention, engine, this};
use super::{coverage, follow, record, report, segments, steps};
use alloc::borrow::ToOwned;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::Ordering;
use threadbare_abi::event::{ChoiceKind, Segment};
use threadbare_abi::layout::Plan;
use threadbare_abi::op::Op;
use threadbare_abi::report::RecordTag;
use threadbare_abi::step::Doubt;
use threadbare_strategy::rng::{Rng, mix};
use threadbare_strategy::{Strategy, StrategyId};

struct State {
    /// A planner chooses.
    planned: bool,
    rng: Rng,
    /// The labels that were reached.
    reached: Vec<CString>,
}

static mut STATE: State = State { planned: false, rng: Rng::new(0), reached: Vec::new() };

fn state() -> &'static mut State {
    let at = &raw mut STATE;
    // SAFETY: single kernel thread; not used by signal handlers.
    unsafe { &mut *at }
}

/// A run begins.
pub fn begin(plan: &Plan) {
    const SALT: u64 = 0x6f77_6e63_686f;
    let s = state();
    s.planned = StrategyId::from_code(plan.strategy).is_some_and(StrategyId::is_planner);
    s.rng = Rng::new(mix(plan.seed ^ SALT));
    s.reached.clear();
}

/// One of so many options.
pub fn choose(options: u32, pc: u64) -> u32 {
    let (e, s) = (engine(), state());
    if e.phase != Phase::Running {
        return 0;
    }
    let taken = match follow::own(u64::from(options)) {
        Some(option) => option as u32,
        None if s.planned => e.strategy.choose(options),
        None => s.rng.below(options),
    };
    note(u64::from(taken), u64::from(options), pc);
    taken
}

/// Any value.
pub fn draw(pc: u64) -> u64 {
    let s = state();
    if engine().phase != Phase::Running {
        return 0;
    }
    let value = match follow::own(0) {
        Some(value) => value,
        None if s.planned => 0,
        // Small values, and all others.
        None => s.rng.next() >> s.rng.below(64),
    };
    steps::doubt(Doubt::Values, pc);
    note(value, 0, pc);
    value
}

fn note(taken: u64, options: u64, pc: u64) {
    live().choices += 1;
    coverage::chose_own(taken);
    let this = this();
    segments::append(Segment {
        path: taken,
        events: options,
        kind: ChoiceKind::Own as u8,
        strand: this.id.0,
        ..Segment::default()
    });
    let attention = ATTENTION.load(Ordering::Relaxed);
    if attention & attention::RECORD != 0 {
        let op = Op { addr: taken, pc, ..this.op };
        record::push_choice(ChoiceKind::Own, this.id, op, options);
    }
    if attention & attention::STEPS != 0 && options != 0 {
        steps::chose(ChoiceKind::Own, taken, options);
    }
}

/// The program has come to a place it has a name for; told once a run.
pub fn reached(label: &CStr, pc: u64) {
    let s = state();
    if engine().phase != Phase::Running || s.reached.iter().any(|other| other.as_c_str() == label) {
        return;
    }
    s.reached.push(label.to_owned());
    let text = label.to_str().unwrap_or("?");
    report::add(RecordTag::Reached, super::me().0, [pc, 0, 0], format_args!("{text}"));
}
