//! Points and switches: who goes on.

use super::crowds::Crowds;
use super::due::{expire, now, wake_due};
use super::follow::{self, Follow};
use super::io::IoWait;
use super::lists::{disable, leave_crowd, set_gate};
use super::live::live;
use super::segments::close_segment;
use super::strand::{State, Strand};
use super::wait::{ObjectClass, Wake};
use super::{
    addressable, coverage, frames, idle, lineage, loops, race, reads, record, rounds, spin, steps, stores,
    strand, unseen, values, watch,
};
use crate::arch;
use crate::raw::Raw;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};
use threadbare_abi::event::{ChoiceKind, EventKind, StopKind};
use threadbare_abi::layout::Plan;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;
use threadbare_strategy::{Any, Pick, Strategy, StrategyId, View};

pub use threadbare_abi::event::StopKind as Stop;

/// Reasons to leave the fast path at a point; a bit set.
pub static ATTENTION: AtomicU32 = AtomicU32::new(0);

/// Bits of [`ATTENTION`].
pub mod attention {
    /// A signal has come.
    pub const SIGNAL: u32 = 1;
    /// A schedule is followed.
    pub const FOLLOW: u32 = 2;
    /// Events are streamed.
    pub const RECORD: u32 = 4;
    /// A strand spins.
    pub const SPIN: u32 = 8;
    /// A file descriptor may have become ready.
    pub const IO: u32 = 16;
    /// The run may make only so many points.
    pub const LIMIT: u32 = 32;
    /// A strand is to be cancelled at any point.
    pub const CANCEL: u32 = 64;
    /// The driver wants stacks.
    pub const WATCH: u32 = 128;
    /// Reads-from pairs are told.
    pub const READS: u32 = 256;
    /// Steps are told.
    pub const STEPS: u32 = 512;
    /// What accesses find and leave is told.
    pub const VALUES: u32 = 1024;
    /// Parts of the code are made atomic.
    pub const PART: u32 = 2048;
    /// Memory that is left is looked for.
    pub const LEAKS: u32 = 4096;
    /// What is done is told, for a trace.
    pub const EFFECTS: u32 = 8192;
    /// Bits that matter elsewhere than before a decision.
    pub const LATER: u32 = RECORD | LIMIT | CANCEL | WATCH | READS | STEPS | VALUES | PART | LEAKS | EFFECTS;
}

/// Where the run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Before `main`: no choices are made.
    Before,
    /// The run.
    Running,
    /// The verdict is given or the end is told.
    Over,
}

/// The state of the scheduler. One kernel thread uses it; no reference to it is kept across a switch.
pub struct Engine {
    /// Who runs.
    pub current: StrandId,
    /// All strands of the run, by index.
    pub strands: Vec<*mut Strand>,
    /// Strands that can go on, but for those in crowds.
    pub enabled: Vec<StrandId>,
    /// Strands that wait, or can go on, together.
    pub crowds: Crowds,
    /// Waiting strands with a deadline.
    pub timed: Vec<StrandId>,
    /// The one of them whose deadline comes first; made when a strategy asks.
    pub first_timed: Option<StrandId>,
    /// Waiting strands.
    pub blocked: usize,
    /// The same, in no order: what concerns them must not cost as much as there are strands.
    pub waiters: Vec<StrandId>,
    /// How many of these wait to acquire something.
    pub acquirers: usize,
    /// Strands in no crowd that stand before what others may take, or wait for it.
    pub loners: usize,
    /// Strands that have not ended.
    pub live: usize,
    /// Waits begun, for the order of arrival.
    pub arrivals: u64,
    /// Virtual time that passed other than by events.
    pub time_offset: u64,
    /// Deadlines come only when nobody can go on.
    pub in_order: bool,
    /// Waits that ended by their deadline while others could go on, as far as they are told.
    pub early: u32,
    /// A timer that would end the process waits until nobody can go on since then.
    pub overdue: u64,
    /// The event count at which some deadline may be due.
    pub due_events: u64,
    /// Spinning strands.
    pub spinners: Vec<StrandId>,
    /// Strands that wait for file descriptors.
    pub io: Vec<IoWait>,
    /// Input or output was made since time last jumped.
    pub io_recent: bool,
    /// Some strand gives way.
    pub yielding: bool,
    /// Strands give way, and sleep, for nobody's good: see [`loops::is_hasty`].
    pub hasty: bool,
    /// Where the run stands.
    pub phase: Phase,
    /// The schedule that is followed.
    pub follow: Follow,
    /// The order of a free run is followed, spins and all.
    pub recorded: bool,
    /// Who decides.
    pub strategy: Any,
    /// The strategy is told of points without a choice.
    pub tells_alone: bool,
    /// What the driver wants.
    pub plan: Plan,
    /// Event count at which the running strand began its segment.
    pub segment_start: u64,
    /// How the running segment began.
    pub segment_kind: ChoiceKind,
    /// Virtual time of the program's next timer, `u64::MAX` if none.
    pub timer: u64,
}

impl Engine {
    /// How many strands can go on.
    #[inline(always)]
    pub fn can_count(&self) -> usize {
        self.enabled.len() + self.crowds.open
    }

    /// Strands that can go on.
    #[inline(always)]
    pub fn can(&mut self) -> &[StrandId] {
        if self.crowds.open == 0 { &self.enabled } else { self.crowds.flat(&self.enabled) }
    }
}

static mut ENGINE: Option<Engine> = None;

/// The scheduler's state.
#[inline(always)]
pub fn engine() -> Raw<Engine> {
    // SAFETY: `init` ran before any hook gets here; one kernel thread.
    unsafe { Raw::new((*(&raw mut ENGINE)).as_mut().unwrap_unchecked()) }
}

static mut CURRENT: *mut Strand = core::ptr::null_mut();

/// The strand that runs, without looking it up.
#[inline(always)]
pub fn this() -> Raw<Strand> {
    // SAFETY: set when the main strand is made and at every switch; one kernel thread.
    unsafe { Raw::new(CURRENT) }
}

/// If no strand runs yet, this one does.
pub fn first(new: *mut Strand) {
    // SAFETY: single kernel thread.
    unsafe {
        if CURRENT.is_null() {
            CURRENT = new;
        }
    }
}

/// Makes the state. Once, before the first strand.
pub fn init() {
    let engine = Engine {
        current: StrandId::MAIN,
        strands: Vec::with_capacity(64),
        enabled: Vec::with_capacity(64),
        crowds: Crowds::new(),
        timed: Vec::with_capacity(64),
        first_timed: None,
        blocked: 0,
        waiters: Vec::new(),
        acquirers: 0,
        loners: 0,
        live: 0,
        arrivals: 0,
        time_offset: 0,
        in_order: false,
        early: 0,
        overdue: u64::MAX,
        due_events: u64::MAX,
        spinners: Vec::with_capacity(16),
        io: Vec::new(),
        io_recent: false,
        yielding: false,
        hasty: false,
        phase: Phase::Before,
        follow: Follow::NONE,
        recorded: false,
        strategy: Any::new(StrategyId::Random),
        tells_alone: false,
        // SAFETY: integers only; zero is valid.
        plan: unsafe { core::mem::zeroed() },
        segment_start: 0,
        segment_kind: ChoiceKind::Strand,
        timer: u64::MAX,
    };
    // SAFETY: called once, on the only kernel thread.
    unsafe { ENGINE = Some(engine) }
}

pub(super) struct EngineView;

impl View for EngineView {
    #[inline]
    fn enabled(&self) -> &[StrandId] {
        let list: *const [StrandId] = engine().can();
        // SAFETY: a strategy looks at the list and is done with it before anyone becomes ready or blocked.
        unsafe { &*list }
    }
    #[inline]
    fn enabled_count(&self) -> usize {
        engine().can_count()
    }
    #[inline]
    fn enabled_nth(&self, nth: usize) -> StrandId {
        let e = engine();
        match e.enabled.get(nth) {
            Some(&id) => id,
            None => e.crowds.nth(nth - e.enabled.len()),
        }
    }
    #[inline]
    fn current(&self) -> StrandId {
        engine().current
    }
    #[inline]
    fn current_enabled(&self) -> bool {
        strand(engine().current).state() == State::Ready
    }
    #[inline]
    fn op(&self, id: StrandId) -> Op {
        strand(id).op
    }
    #[inline]
    fn any_yields(&self) -> bool {
        engine().yielding
    }
    #[inline]
    fn yields(&self, id: StrandId) -> bool {
        strand(id).yields
    }
    #[inline]
    fn timed(&self) -> &[StrandId] {
        let mut e = engine();
        if e.timed.is_empty() || e.in_order {
            return &[];
        }
        e.first_timed = e.timed.iter().copied().min_by_key(|&id| (strand(id).wait.deadline, id));
        // SAFETY: as in `enabled`; another call finds the same strand.
        unsafe { e.look() }.first_timed.as_slice()
    }
    fn last_writer(&self, addr: u64) -> u64 {
        reads::last_writer(addr)
    }
    fn value(&self, addr: u64, size: u8) -> u64 {
        spin::load(addr, size)
    }
    fn context(&self, id: StrandId) -> u64 {
        steps::context(&strand(id))
    }
    fn local(&self, id: StrandId) -> u64 {
        strand(id).local
    }
    fn may_see_older(&self, id: StrandId, addr: u64, size: u8) -> bool {
        stores::may_see_older(id, addr, size)
    }
}

/// Counts an event and says what the running strand is about to do.
#[inline(always)]
pub fn publish(op: Op) {
    let mut counters = live();
    counters.events += 1;
    counters.points += 1;
    let mut this = this();
    let id = this.id;
    let word = op.pc ^ op.addr.rotate_left(20) ^ ((id.0 as u64) << 40) ^ ((op.kind as u64) << 56);
    counters.trace_hash = (counters.trace_hash.rotate_left(7) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // Field by field: a copy of the whole would wait for the stores that made it.
    let to = &mut this.op;
    to.kind = op.kind;
    to.order = op.order;
    to.size = op.size;
    to.addr = op.addr;
    to.pc = op.pc;
    const SELDOM: u32 = attention::RECORD | attention::LIMIT | attention::PART | attention::WATCH;
    if ATTENTION.load(Ordering::Relaxed) & SELDOM != 0 {
        published_slow(id);
    }
}

/// Callers that a trace is told of: enough to come out of a library.
const CALLERS: u32 = 8;

#[cold]
fn published_slow(id: StrandId) {
    let op = strand(id).op;
    if values::is_on() {
        values::settle();
    }
    if ATTENTION.load(Ordering::Relaxed) & attention::PART != 0 {
        super::part::comes();
        crate::model::before::comes();
    }
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        use threadbare_abi::layout::Record;
        if [Record::Points as u32, Record::Effects as u32].contains(&engine().plan.record) {
            let mut left = CALLERS;
            let mut caller = |pc| {
                if left > 0 {
                    left -= 1;
                    record::push(EventKind::Caller, id, Op::new(OpKind::Start, 0, pc), 0);
                }
            };
            let (this, running) = (strand(id), id == engine().current);
            unseen::called_at(&this, running).into_iter().for_each(&mut caller);
            frames::walk(&this, running, caller);
            super::holders::tell(&op);
        }
        record::push(EventKind::Point, id, op, live().events);
    }
    if watch::is_on() {
        watch::comes(op.pc);
    }
    let limit = engine().plan.max_points;
    if limit != 0 && live().points > limit && engine().phase == Phase::Running {
        super::fail_run(
            threadbare_abi::verdict::VerdictKind::Livelock,
            threadbare_abi::verdict::BY_POINTS,
            op.addr,
            op.pc,
            format_args!("the run made more than {limit} points"),
        );
    }
}

/// Runs signal handlers that are due. They make points of their own; the strand stands before `op` again after them. Then waits, if `op` is to come after
/// another place.
pub fn attend_before(op: Op) {
    let attention = ATTENTION.load(Ordering::Relaxed);
    if attention & (attention::SIGNAL | attention::PART) != 0 {
        attend_before_slow(op, attention);
    }
}

#[cold]
fn attend_before_slow(op: Op, attention: u32) {
    if attention & attention::SIGNAL != 0 {
        attend_signals();
        strand(engine().current).op = op;
    }
    if attention & attention::PART != 0 {
        crate::model::before::wait(op);
    }
}

#[cold]
fn attend_at_point() {
    let op = this().op;
    if attend_signals() {
        // What a handler did came in between: the operation comes after it, as an event of its own.
        publish(op);
    } else {
        this().op = op;
    }
}

/// A point: the running strand is about to do `op`; returns when it goes on.
#[inline(always)]
pub fn point(op: Op) {
    addressable::check_object(op);
    publish(op);
    let e = engine();
    let attention = ATTENTION.load(Ordering::Relaxed);
    if e.live < 2 && attention == 0 && live().events < e.due_events {
        return;
    }
    let switches = live().switches;
    if attention & (attention::PART | attention::STEPS | attention::SIGNAL) != 0 {
        arrived_slow(op, attention);
    }
    if this().spin.due {
        spin::wait();
    } else {
        reschedule(Stop::Preempted);
    }
    if ATTENTION.load(Ordering::Relaxed) & (attention::CANCEL | attention::WATCH | attention::VALUES) != 0 {
        chosen_slow();
    }
    const AGAIN: u32 = attention::SIGNAL | attention::STEPS | attention::FOLLOW;
    if live().switches != switches || attention & AGAIN != 0 {
        addressable::check_again(op);
    }
}

/// What is seldom to be done when a strand has come to a point.
#[cold]
#[inline(never)]
fn arrived_slow(op: Op, attention: u32) {
    if attention & attention::PART != 0 {
        crate::model::before::wait(op);
    }
    if attention & attention::STEPS != 0 {
        steps::comes_to_point();
    }
    if attention & attention::SIGNAL != 0 {
        attend_at_point();
    }
}

/// What is seldom to be done when a strand goes on from its point.
#[cold]
#[inline(never)]
fn chosen_slow() {
    if ATTENTION.load(Ordering::Relaxed) & attention::CANCEL != 0 {
        crate::model::cancel::check_asynchronous();
    }
    if watch::is_on() {
        watch::happens(this().op.pc);
    }
    if values::is_on() {
        values::made();
    }
}

/// A point at which the strand gives way to others.
pub fn yield_point(pc: u64) {
    let yields = engine().can_count() > 1 && !(engine().hasty && spends_haste());
    this().yields = yields;
    engine().yielding = yields;
    point(Op::new(OpKind::Yield, 0, pc));
    this().yields = false;
    engine().yielding = false;
}

/// The running strand did something that others can see: it does not spin.
#[inline(always)]
pub fn progress() {
    this().spin.clear();
    rounds::changes();
}

/// The same after an operation, unless all it does is to take a lock.
#[inline(always)]
pub fn progress_but_for(kind: OpKind) {
    this().spin.clear();
    if !rounds::takes(kind) {
        rounds::changes();
    }
}

/// A point before a lock that may be taken: the strand gives way if it has done so in vain for long.
#[inline(always)]
pub fn point_before_lock(op: Op) {
    let polite = rounds::comes_to(&op);
    if polite {
        rounds::set_polite(true);
    }
    point(op);
    if polite {
        rounds::set_polite(false);
    }
}

/// Runs the program's signal handlers that are due on the running strand; true if one ran.
pub fn attend_signals() -> bool {
    if ATTENTION.fetch_and(!attention::SIGNAL, Ordering::Relaxed) & attention::SIGNAL != 0 {
        crate::model::signal::route();
    }
    crate::model::signal::deliver()
}

/// Chooses who goes on, and goes on with it. Returns when the calling strand goes on again.
#[inline(always)]
pub fn reschedule(how: Stop) {
    let (next, by_timeout) = decide(how);
    let mut e = engine();
    if e.crowds.open != 0 {
        leave_crowd(next);
    }
    if !by_timeout && next == e.current && how == Stop::Preempted {
        return;
    }
    if by_timeout {
        expire(&mut strand(next));
    }
    if by_timeout && e.timer <= now() {
        wake_due();
    }
    let by_timeout = by_timeout || strand(next).wait.outcome == Wake::TimedOut;
    if next != e.current {
        go(next, by_timeout, how);
    } else if how == Stop::Blocked {
        // It waited and goes on itself: a schedule must say so, and how.
        close_segment(how);
        e.segment_kind = kind_of(by_timeout);
    }
}

fn kind_of(by_timeout: bool) -> ChoiceKind {
    if by_timeout { ChoiceKind::Timeout } else { ChoiceKind::Strand }
}

#[inline(always)]
fn decide(how: Stop) -> (StrandId, bool) {
    loop {
        if live().events >= engine().due_events {
            wake_due();
        }
        let bits = ATTENTION.load(Ordering::Relaxed);
        if bits & !attention::LATER != 0
            && let Some(decided) = attend(bits, how)
        {
            return decided;
        }
        let mut e = engine();
        if e.can_count() == 0 {
            idle::wait_for_something();
            continue;
        }
        let this = this();
        if this.pinned > 0 && this.state() == State::Ready || e.phase != Phase::Running {
            let gives_way = this.yields && e.phase == Phase::Before && this.pinned == 0;
            let id = match this.state() {
                State::Ready if gives_way => next_after(&this),
                State::Ready => e.current,
                _ => e.can()[0],
            };
            if bits & attention::STEPS != 0 {
                steps::executed(id, false, true);
            }
            return (id, false);
        }
        if e.can_count() + e.timed.len() == 1 {
            let only = e.can()[0];
            if e.tells_alone {
                alone(only, bits);
            }
            return (only, false);
        }
        live().choices += 1;
        let (id, by_timeout) = match e.strategy.pick(&EngineView) {
            Pick::Run(id) => (id, false),
            Pick::Timeout(id) => (id, true),
        };
        if bits & (attention::READS | attention::STEPS) != 0 {
            executed(id, by_timeout, bits);
        }
        return (id, by_timeout);
    }
}

/// Who comes after this strand in the list of those that can go on.
fn next_after(this: &Strand) -> StrandId {
    let e = engine();
    e.enabled[(this.enabled_at as usize + 1) % e.enabled.len()]
}

/// The only strand that can goes on; the strategy wants to know.
#[inline(never)]
fn alone(only: StrandId, bits: u32) {
    engine().strategy.alone(only, &EngineView);
    executed(only, false, bits);
}

/// The strand makes the operation it stands before; somebody wants to know.
#[inline(never)]
fn executed(id: StrandId, by_timeout: bool, bits: u32) {
    if bits & attention::READS != 0 {
        reads::executed(id);
    }
    if bits & attention::STEPS != 0 {
        steps::executed(id, by_timeout, false);
    }
}

/// What asks for attention before a decision; a schedule that is followed decides here.
#[cold]
#[inline(never)]
fn attend(bits: u32, how: Stop) -> Option<(StrandId, bool)> {
    if bits & attention::SIGNAL != 0 {
        ATTENTION.fetch_and(!attention::SIGNAL, Ordering::Relaxed);
        crate::model::signal::route();
    }
    if bits & attention::IO != 0 {
        ATTENTION.fetch_and(!attention::IO, Ordering::Relaxed);
        super::io::poll_now();
    }
    if !engine().spinners.is_empty() {
        spin::check();
    }
    if bits & attention::FOLLOW == 0 {
        return goes_on(bits);
    }
    let decided = follow::next(how);
    if let Some((id, by_timeout)) = decided {
        executed(id, by_timeout, bits);
    }
    decided
}

/// The running strand, if nobody else is to be asked: it goes on alone in a loop, or does not sleep. What it does to
/// learn of a loop is no step: there may be too many, and planners begin anew then.
fn goes_on(bits: u32) -> Option<(StrandId, bool)> {
    let this = this();
    let asleep = this.state() == State::Blocked && this.wait.key.class == ObjectClass::Sleep;
    let goes_on = match engine().phase {
        Phase::Running if asleep => engine().hasty && EngineView.timed() == [this.id] && spends_haste(),
        Phase::Running => this.spin.is_alone() && this.state() == State::Ready,
        _ => false,
    };
    if goes_on {
        let told = if this.spin.learns() { attention::READS } else { attention::READS | attention::STEPS };
        executed(this.id, asleep, bits & told);
    }
    goes_on.then_some((this.id, asleep))
}

/// Whether the running strand may be hasty once more.
#[cold]
fn spends_haste() -> bool {
    let haste = &mut this().haste;
    *haste += 1;
    *haste <= loops::HASTE
}

/// The running strand has ended: it is out of every list, and others go on.
pub fn end_current() -> ! {
    let mut e = engine();
    let mut this = strand(e.current);
    disable(&mut this);
    addressable::strand_ended(&this);
    this.alone = State::Ended;
    this.ended = true;
    e.live -= 1;
    set_gate();
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        values::settle();
        record::push(EventKind::Ended, this.id, this.op, 0);
    }
    reschedule(Stop::Ended);
    super::fatal("an ended strand was chosen")
}

/// Goes on with another strand.
#[inline(always)]
fn go(next: StrandId, by_timeout: bool, how: StopKind) {
    let mut e = engine();
    close_segment(how);
    e.segment_kind = kind_of(by_timeout);
    let mut counters = live();
    counters.switches += 1;
    counters.current = next.0 as u32;
    let mut old = this();
    let mut new = strand(next);
    if e.yielding {
        old.yields = false;
        e.yielding = false;
    }
    if ATTENTION.load(Ordering::Relaxed) & attention::RECORD != 0 {
        values::settle();
        let op = Op { addr: by_timeout as u64, ..new.op };
        record::push(EventKind::Switch, next, op, counters.events);
    }
    coverage::switches(&mut old, &mut new, how);
    e.current = next;
    // SAFETY: single kernel thread.
    unsafe { CURRENT = &raw mut *new }
    race::again::lapses();
    lineage::goes_on(&new);
    old.frames = frames::switch_to(&new);
    // SAFETY: `new.sp` was saved by a switch or laid out by `first_frame`; its stack and thread pointer live as long
    // as the run.
    unsafe { arch::tb_switch(&raw mut old.sp, new.sp, new.fs) }
}
