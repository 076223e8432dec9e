//! What each step of a run did, for a planner in the driver; see `threadbare-abi`'s `step`.
//!
//! A step's record is written when its strand is chosen; what happens in it is added behind it, so the last step is
//! always the running strand's. Nothing is told before the second strand exists: all that is ordered before it.

use super::live::live;
use super::sched::{ATTENTION, EngineView, Phase, attention, engine};
use super::strand::{State, Strand};
use super::wait::{ObjectClass, Wake};
use super::{frames, learn, local, modules, shared, strand};
use crate::raw::Raw;
use core::sync::atomic::Ordering;
use threadbare_abi::event::ChoiceKind;
use threadbare_abi::layout::flags::{CALLERS as CALLERS_WANTED, FUNCTIONS};
use threadbare_abi::layout::{STEPS, STEPS_CAPACITY};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::step::{DEPTH_SHIFT, Doubt, FENCES, Step, StepKind, flags};
use threadbare_abi::strand::StrandId;
use threadbare_strategy::View;
use threadbare_strategy::rng::mix;

/// Who could not have acquired an object before a step: those who want it alone, and those who want it with others.
pub use threadbare_abi::step::flags::{SHUT as EXCLUSIVE, SHUT_SHARED as SHARED};

/// Whether steps are told.
#[inline(always)]
pub fn is_on() -> bool {
    ATTENTION.load(Ordering::Relaxed) & attention::STEPS != 0
}

fn push(step: Step) {
    let mut counters = live();
    let at = counters.steps as usize;
    if at < STEPS_CAPACITY
        && let Some(base) = shared::area(STEPS)
    {
        // SAFETY: the table has room for STEPS_CAPACITY records; the driver reads it after the run.
        unsafe { base.add(at).write(step) }
        counters.steps += 1;
    } else {
        counters.steps_lost += 1;
    }
}

/// The newest record.
fn newest() -> Option<Step> {
    let at = (live().steps as usize).checked_sub(1)?;
    let base = shared::area(STEPS)?;
    // SAFETY: written before; one kernel thread.
    Some(unsafe { base.add(at).read() })
}

/// The record of the step under way, if there is one.
fn last() -> Option<Raw<Step>> {
    let mut at = live().steps as usize;
    let base = shared::area(STEPS)?;
    while at > 0 {
        at -= 1;
        // SAFETY: written before; one kernel thread.
        let step = unsafe { Raw::new(base.add(at)) };
        if step.kind == StepKind::Step as u8 {
            return Some(step);
        }
    }
    None
}

fn of(kind: StepKind, id: StrandId, op: Op) -> Step {
    Step {
        pc: op.pc,
        addr: op.addr,
        strand: id.0,
        op: op.kind as u8,
        kind: kind as u8,
        size: op.size,
        ..Step::default()
    }
}

/// What is in memory where an operation looks; 0 for others.
fn value_at(kind: u8, addr: u64, size: u32) -> u64 {
    const PAGE: u64 = 4096;
    let Some(kind) = OpKind::from_code(kind) else { return 0 };
    let looks = kind.is_atomic_access() || matches!(kind, OpKind::Read | OpKind::Write | OpKind::ReadWrite);
    match kind.deciding_word(size) {
        Some((at, size)) if addr >= PAGE => super::spin::load(addr + at, size as u8),
        None if looks && size <= 8 && addr >= PAGE => super::spin::load(addr, size as u8),
        _ => 0,
    }
}

/// Callers that a statement is told apart by.
const CALLERS: usize = 3;

/// Stands for the strand's innermost callers.
pub fn context(this: &Strand) -> u64 {
    let callers = callers(this).into_iter().filter(|&caller| caller != 0);
    callers.fold(0, |found, caller| mix(found ^ modules::program_place(caller)))
}

/// The innermost callers; 0 where there are none.
fn callers(this: &Strand) -> [u64; CALLERS] {
    let (mut found, mut count) = ([0; CALLERS], 0);
    frames::walk(this, this.id == super::me(), |caller| {
        if count < CALLERS {
            found[count] = caller;
            count += 1;
        }
    });
    found
}

/// Contexts that were told, by their low bits; one that another has driven out is told again.
static mut TOLD: [u64; 256] = [0; 256];

/// Tells which callers a context stands for, if somebody wants to know.
fn tell_callers(this: &Strand, context: u64) {
    // SAFETY: single kernel thread.
    let told = unsafe { &mut (*(&raw mut TOLD))[context as usize % 256] };
    if engine().plan.flags & CALLERS_WANTED != 0 && *told != context {
        *told = context;
        let [addr, before, after] = callers(this);
        let op = Op::new(OpKind::Start, addr, 0);
        push(Step { before, after, context, ..of(StepKind::Callers, this.id, op) });
    }
}

/// The running strand has come to a point. What it has while it goes on alone in a loop is not asked for.
#[cold]
#[inline(never)]
pub fn comes_to_point() {
    let mut this = super::sched::this();
    if !this.spin.is_alone() {
        local::note(&mut this);
    }
}

/// Tells the functions that the strand has come into since its last step, if somebody wants to know; how many it is in, for the step's flags.
fn tell_functions(this: &Strand) -> u32 {
    if engine().plan.flags & FUNCTIONS == 0 {
        return 0;
    }
    let depth = frames::untold(this, this.id == super::me(), |pc, depth| {
        push(of(StepKind::Entered, this.id, Op::new(OpKind::Start, depth, pc)));
    });
    (depth as u32).min(u32::MAX >> DEPTH_SHIFT) << DEPTH_SHIFT
}

/// Tells which memory of a stack is new since the last access to that stack, if somebody wants to know: `op` is the next one.
fn tell_new_memory(op: Op) {
    let is_access = op.kind.is_plain_access() || op.kind.is_atomic_access();
    if engine().plan.flags & CALLERS_WANTED == 0 || !is_access {
        return;
    }
    let addr = op.addr as usize;
    let me = super::me();
    let others = (0..super::strand_count()).map(|index| StrandId(index as u16));
    let mut all = core::iter::once(me).chain(others).map(strand);
    let owner = all.find(|it| !it.ended && it.stack.0 <= addr && addr < it.stack.1);
    if let Some(owner) = owner
        && let Some((first, end)) = frames::renewed(&owner, owner.id == me)
    {
        let memory = Op::new(OpKind::Start, first as u64, 0);
        push(Step { after: end as u64, ..of(StepKind::Renewed, owner.id, memory) });
    }
}

/// The strand makes the operation it stands before.
#[cold]
#[inline(never)]
pub fn executed(id: StrandId, by_timeout: bool, pinned: bool) {
    let mut e = engine();
    if e.strands.len() < 2 || e.phase != Phase::Running {
        return;
    }
    if let Some(mut before) = last() {
        before.after = value_at(before.op, before.addr, before.size);
    }
    let this = strand(id);
    let mut enabled = 0u64;
    for other in e.can().iter().filter(|other| other.index() < u64::BITS as usize) {
        enabled |= 1 << other.index();
    }
    let timed = EngineView.timed().first().map_or(0, |id| id.0 as u32 + 1);
    let context = context(&this);
    tell_callers(&this, context);
    let depth = tell_functions(&this);
    tell_new_memory(this.op);
    let mut step = Step {
        enabled,
        timed,
        context,
        local: this.local,
        before: value_at(this.op.kind as u8, this.op.addr, this.op.size),
        flags: crate::model::taken::shut(this.op) | depth,
        ..of(StepKind::Step, id, this.op)
    };
    if pinned {
        step.flags |= flags::PINNED;
    }
    let waited = this.wait.key.class != ObjectClass::Never && this.wait.key.class != ObjectClass::Memory;
    if by_timeout || waited && this.wait.outcome == Wake::TimedOut {
        step.flags |= flags::TIMEOUT;
    }
    if waited && !this.wait.acquire {
        step.flags |= flags::RESUMED;
    }
    if waited && this.wait.may_end_early() {
        step.flags |= flags::TIMED;
    }
    push(step);
    local::makes(id, this.op);
}

/// The step under way concerns this object, too; `shut` tells for whom it could not have been acquired before.
pub fn touches(kind: OpKind, addr: u64, shut: u32) {
    if !is_on() {
        return;
    }
    match last() {
        // What is taken and given back in one step was free before.
        Some(step) if step.addr == addr && kind == OpKind::Once && step.op == kind as u8 => {}
        Some(mut step) if step.addr == addr && addr != 0 => step.flags |= shut,
        Some(_) => push(Step { flags: shut, ..of(StepKind::Touch, super::me(), Op::new(kind, addr, 0)) }),
        None => {}
    }
}

/// The step under way makes another access, too.
pub fn accesses(op: Op) {
    if is_on() && live().steps != 0 {
        tell_new_memory(op);
        push(of(StepKind::Touch, super::me(), op));
    }
}

/// The step under way has a place in the order of sequentially consistent operations. A loop that goes on alone makes many in one step.
pub fn in_total(kind: OpKind) {
    let op = Op { size: 8, ..Op::new(kind, FENCES, 0) };
    if is_on() && live().steps != 0 && !touched(&op) {
        push(of(StepKind::Touch, super::me(), op));
    }
}

/// Whether the step under way has told of this access.
fn touched(op: &Op) -> bool {
    let Some(base) = shared::area(STEPS) else { return false };
    let told = (0..live().steps as usize).rev().map(|at| {
        // SAFETY: written before; one kernel thread.
        unsafe { base.add(at).read() }
    });
    let mut touches = told.take_while(|record| record.kind != StepKind::Step as u8);
    touches.any(|it| it.kind == StepKind::Touch as u8 && it.addr == op.addr && it.op == op.kind as u8)
}

/// The step under way created this strand: others may have created some since it was published.
pub fn created(id: StrandId) {
    if is_on()
        && let Some(mut step) = last().filter(|step| step.op == OpKind::Create as u8)
    {
        step.addr = id.0 as u64;
    }
}

/// The step under way changes a value for another, if it finds it.
#[inline(always)]
pub fn wants(expected: u64, new: u64) {
    if is_on() {
        wants_slow(expected, new);
    }
}

#[cold]
#[inline(never)]
fn wants_slow(expected: u64, new: u64) {
    // A loop that goes on alone makes many exchanges in one step; the first is the step's.
    if newest().is_some_and(|record| record.kind == StepKind::Wants as u8) {
        return;
    }
    if let Some(step) =
        last().filter(|step| step.op == OpKind::AtomicCas as u8 && step.strand == super::me().0)
    {
        let op = Op { size: step.size, ..Op::new(OpKind::AtomicCas, step.addr, step.pc) };
        push(Step { before: expected, after: new, ..of(StepKind::Wants, super::me(), op) });
    }
}

/// The step under way does not wait, although operations of its kind do.
pub fn comes() {
    if is_on()
        && let Some(mut step) = last()
    {
        step.flags |= flags::COMES;
    }
}

/// The step under way has touched this word out of sight: precompiled code makes a system call for it.
pub fn touched_unseen(addr: usize) {
    if is_on() && last().is_some_and(|step| step.addr != addr as u64) {
        let op = Op { size: 4, ..Op::new(OpKind::AtomicRmw, addr as u64, 0) };
        push(of(StepKind::Touch, super::me(), op));
    }
}

/// The step under way looked at this word out of sight, right after its own operation. That is as good as one operation
/// where it is the same word, or where the step only went on after a wait.
pub fn blind(addr: usize) {
    if is_on()
        && let Some(step) = last()
        && step.addr != addr as u64
        && !matches!(OpKind::from_code(step.op), Some(OpKind::FutexWait | OpKind::FutexWake))
    {
        let pc = step.pc;
        doubt(Doubt::Unseen, pc);
    }
}

/// The last doubts that were told: a loop has one, not one a round.
static mut DOUBTS: [(u8, u64); 16] = [(u8::MAX, 0); 16];

/// The running strand does something here that a planner cannot follow.
#[cold]
pub fn doubt(why: Doubt, pc: u64) {
    // Alone, only what is chosen makes a difference.
    if !is_on() || engine().strands.len() < 2 && why != Doubt::Values {
        return;
    }
    // SAFETY: single kernel thread.
    let told = unsafe { &mut *(&raw mut DOUBTS) };
    if !told.contains(&(why as u8, pc)) {
        told.rotate_right(1);
        told[0] = (why as u8, pc);
        let op = Op::new(OpKind::Start, 0, pc);
        push(Step { op: why as u8, ..of(StepKind::Doubt, super::me(), op) });
    }
}

/// The strand can go on from now on.
#[cold]
pub fn woke(id: StrandId) {
    let wait = &strand(id).wait;
    // A deadline is nobody's doing.
    if live().steps == 0 || wait.outcome == Wake::TimedOut {
        return;
    }
    let mut step = of(StepKind::Wake, super::me(), Op::new(OpKind::Start, id.0 as u64, 0));
    if wait.may_end_early() {
        step.flags |= flags::TIMED;
    }
    if !wait.acquire {
        step.flags |= flags::ASLEEP;
    }
    push(step);
}

/// A choice that is no strand was made.
#[cold]
pub fn chose(kind: ChoiceKind, taken: u64, options: u64) {
    push(Step {
        op: kind as u8,
        addr: taken,
        before: options,
        ..of(StepKind::Choice, super::me(), Op::new(OpKind::Start, 0, 0))
    });
}

/// The step under way is an atomic load that sees the store with so many newer ones, and this value, or a store that comes before them.
#[inline]
pub fn sees(option: u64, options: u64, back: u64, value: u64) {
    if is_on() && live().steps != 0 {
        push(Step {
            op: ChoiceKind::ReadsFrom as u8,
            addr: option,
            before: options,
            after: value,
            enabled: back,
            ..of(StepKind::Choice, super::me(), Op::new(OpKind::Start, 0, 0))
        });
    }
}

/// The running strand waits in a loop: one of the places it loads again and again. `ends`: it may end by itself.
pub fn spins(op: Op, value: u64, context: u64, ends: bool) {
    if is_on() {
        let flags = if ends { flags::ENDS } else { 0 };
        push(Step { before: value, context, flags, ..of(StepKind::Spin, super::me(), op) });
    }
}

/// Stands for the running strand's innermost callers, if anybody wants to know.
pub fn context_here() -> u64 {
    if is_on() { context(&super::sched::this()) } else { 0 }
}

/// The run is about to end by what the running strand stands before: its last step.
pub fn ends_run() {
    if is_on() {
        executed(super::me(), false, false);
    }
}

/// The run has come to its end: who exists, and what each was about to do.
pub fn finish() {
    if !is_on() {
        return;
    }
    if let Some(mut step) = last() {
        step.after = value_at(step.op, step.addr, step.size);
    }
    if learn::is_bounded() {
        doubt(Doubt::Full, 0);
    }
    if learn::is_off() {
        doubt(Doubt::Plain, 0);
    }
    if learn::stacks_shared() && super::start::stacks_unsure() {
        doubt(Doubt::Stack, 0);
    }
    if let Some(pc) = crate::model::time::measured() {
        doubt(Doubt::Clock, pc);
    }
    let e = engine();
    for index in 0..e.strands.len() {
        let this = strand(StrandId(index as u16));
        let mut born = of(StepKind::Born, this.id, Op::new(OpKind::Start, this.path.0, 0));
        born.before = this.parent.0 as u64;
        push(born);
        // Who ran last stands before nothing, unless it waits.
        if this.state() == State::Ended || this.id == e.current && this.state() != State::Blocked {
            continue;
        }
        let value = value_at(this.op.kind as u8, this.op.addr, this.op.size);
        let mut pending = Step {
            context: context(&this),
            local: this.local,
            before: value,
            after: value,
            ..of(StepKind::Pending, this.id, this.op)
        };
        if this.state() == State::Blocked && this.wait.key.class != ObjectClass::Memory {
            pending.flags |= flags::BLOCKED;
            if !this.wait.acquire {
                pending.flags |= flags::ASLEEP;
            }
            if this.wait.may_end_early() {
                pending.flags |= flags::TIMED;
            }
        }
        push(pending);
    }
}
