//! Choices that the program asks for: one of some options, or any value. They are part of the schedule; planners try every option.

use super::live::live;
use super::sched::{ATTENTION, Phase, attention, engine, this};
use super::{coverage, follow, record, report, segments, steps};
use crate::raw::Raw;
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
    /// What choices come from, as the plan has it.
    choices: u64,
    /// Where choices are an input: those of each strand, by its path, so that they are the same in every order.
    streams: Vec<(u64, Rng)>,
    /// The labels that were reached.
    reached: Vec<CString>,
}

static mut STATE: State =
    State { planned: false, rng: Rng::new(0), choices: 0, streams: Vec::new(), reached: Vec::new() };

fn state() -> Raw<State> {
    // SAFETY: single kernel thread; not used by signal handlers.
    unsafe { Raw::new(&raw mut STATE) }
}

/// A run begins.
pub fn begin(plan: &Plan) {
    const SALT: u64 = 0x6f77_6e63_686f;
    let mut s = state();
    s.planned = StrategyId::from_code(plan.strategy).is_some_and(StrategyId::is_planner);
    s.rng = Rng::new(mix(plan.seed ^ SALT));
    s.choices = plan.choices;
    s.streams.clear();
    s.reached.clear();
}

/// Every choice is the first option.
const FIRST: u64 = 1;

/// What the strand's choices come from, where they are an input.
fn stream(s: &mut State) -> &mut Rng {
    let path = this().path.0;
    let at = s.streams.iter().position(|(other, _)| *other == path).unwrap_or_else(|| {
        s.streams.push((path, Rng::new(mix(s.choices ^ mix(path)))));
        s.streams.len() - 1
    });
    &mut s.streams[at].1
}

/// Small values, and all others.
fn any(rng: &mut Rng) -> u64 {
    rng.next() >> rng.below(64)
}

/// One of so many options.
pub fn choose(options: u32, pc: u64) -> u32 {
    let (mut e, mut s) = (engine(), state());
    if e.phase != Phase::Running {
        return 0;
    }
    let taken = match follow::own(u64::from(options)) {
        Some(option) => option as u32,
        None if s.choices == FIRST => 0,
        None if s.choices != 0 => stream(&mut s).below(options),
        None if s.planned => e.strategy.choose(options),
        None => s.rng.below(options),
    };
    note(u64::from(taken), u64::from(options), pc);
    taken
}

/// Any value.
pub fn draw(pc: u64) -> u64 {
    let mut s = state();
    if engine().phase != Phase::Running {
        return 0;
    }
    let value = match follow::own(0) {
        Some(value) => value,
        None if s.choices == FIRST => 0,
        None if s.choices != 0 => any(stream(&mut s)),
        None if s.planned => 0,
        None => any(&mut s.rng),
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
    if attention & attention::STEPS != 0 {
        steps::chose(ChoiceKind::Own, taken, options);
    }
}

/// The program has come to a place it has a name for; told once a run.
pub fn reached(label: &CStr, pc: u64) {
    let mut s = state();
    if engine().phase != Phase::Running || s.reached.iter().any(|other| other.as_c_str() == label) {
        return;
    }
    s.reached.push(label.to_owned());
    let text = label.to_str().unwrap_or("?");
    report::add(RecordTag::Reached, super::me().0, [pc, 0, 0], format_args!("{text}"));
}
