//! Which plain accesses are points.
//!
//! A plain access is a point where its instruction has been seen touching bytes that another strand touches, too, one of
//! them writing, and nothing but choices orders the two: what creations and joins order (`lineage`) is so in every run. That is learnt: the shadow keeps who touched what while several strands were alive (`touched`), and of each
//! conflicting pair of a run both instructions are learnt in it. An instruction learnt in a run is a point from then on, in this
//! run and (through the driver) in later ones.
//!
//! A run that has learnt nothing is therefore at the fixpoint: each conflicting pair of it is a pair of points. A planner that has
//! made a run of each class, none of which learnt anything, has missed no pair: take an order of accesses that shows
//! the first pair it does not know. (Pairs that creations and joins order are ordered so in all of these.) What comes before the second of the two has no unknown pair, so some run has the same
//! accesses in an order that makes no difference; in it the strand comes to the second one, too, and the pair is learnt there.
//! So planners begin anew after a run with news, and where a table was full they do not claim to be complete ([`is_bounded`]).

use super::copies::Access;
use super::live::live;
use super::race;
use super::sched::{self, Phase, engine, point};
use super::stops::{STOP_AT, must_stop};
use super::{
    addressable, copies, coverage, follow, loops, memory, modules, record, shared, spin, steps, strand,
    touched,
};
use crate::arch::merge;
use threadbare_abi::fact::Fact;
use threadbare_abi::layout::{self, PointMode};
use threadbare_abi::op::{Op, OpKind, Order};
use threadbare_abi::step::Doubt;
use threadbare_abi::strand::StrandId;

/// 0 while no plain access can matter: bare run, before `main`, only one strand alive.
pub static mut GATE: u8 = 0;

/// What [`GATE`] is while plain accesses are looked at.
const OPEN: u8 = 1;
/// The same in runs in which there is more to it than whether they are shared.
pub const WATCHED: u8 = 3;

/// Whether plain accesses are looked at.
pub fn set_gate(open: bool) {
    // SAFETY: single kernel thread.
    unsafe {
        let before = GATE;
        GATE = match open {
            true if MODE != PointMode::Shared || TELLS_ALL || TELLS_VALUES => WATCHED,
            true => OPEN,
            false => 0,
        };
        if GATE != before {
            race::again::lapses_for_all();
        }
    }
}

const HOT_SLOTS: usize = 1 << 16;
/// Above this many, everything is a point: the table would get slow.
const HOT_MOST: usize = HOT_SLOTS / 2;

/// Low halves of the known facts, open addressing; a clash makes one more point, the same in every run.
static mut HOT: *mut u32 = core::ptr::null_mut();
static mut HOT_COUNT: usize = 0;
static mut BOUNDED: bool = false;
/// Whether writes are put off anywhere.
static mut COPIES: bool = false;
/// Whether precompiled code looks at memory behind any known instruction.
static mut UNSEEN: bool = false;
static mut KNOWN_LOADED: usize = 0;
static mut MODE: PointMode = PointMode::Shared;
/// Accesses that are no points are told the driver.
static mut TELLS_ALL: bool = false;
/// Values are told: registers are kept at each access.
static mut TELLS_VALUES: bool = false;

#[inline(always)]
fn slot(pc: u64) -> usize {
    (((pc as u32).wrapping_mul(0x9E37_79B1)) >> 16) as usize & (HOT_SLOTS - 1)
}

/// What stands at an instruction's slot: 0 if it is no point; its low half if it is one; else that must be looked for.
#[inline(always)]
pub(super) fn first_known(pc: u64) -> u32 {
    // SAFETY: the index is masked; single kernel thread.
    unsafe { *HOT.add(slot(pc)) }
}

#[inline(always)]
fn is_hot(pc: u64) -> bool {
    let found = first_known(pc);
    found == pc as u32 || found != 0 && is_farther(pc)
}

/// Whether it stands behind others that came to its slot before.
#[inline(never)]
fn is_farther(pc: u64) -> bool {
    let key = pc as u32;
    let mut at = slot(pc);
    // SAFETY: indices are masked; single kernel thread.
    unsafe {
        while *HOT.add(at) != key && *HOT.add(at) != 0 {
            at = (at + 1) & (HOT_SLOTS - 1);
        }
        *HOT.add(at) == key
    }
}

/// Keeps a fact; true if it was not known.
fn insert(fact: u64) -> bool {
    // SAFETY: single kernel thread.
    unsafe {
        match Fact::decode(fact) {
            Some(Fact::PutOff(_)) => COPIES = true,
            Some(Fact::LooksBehind(_)) => UNSEEN = true,
            Some(Fact::Loop(_)) => loops::knows_some(),
            _ => {}
        }
    }
    if is_hot(fact) {
        return false;
    }
    // SAFETY: as above.
    unsafe {
        if HOT_COUNT >= HOT_MOST {
            BOUNDED = true;
            if MODE == PointMode::Shared {
                MODE = PointMode::All;
                set_gate(GATE != 0);
            }
            return false;
        }
        let mut at = slot(fact);
        while *HOT.add(at) != 0 {
            at = (at + 1) & (HOT_SLOTS - 1);
        }
        *HOT.add(at) = fact as u32;
        HOT_COUNT += 1;
    }
    race::again::lapses_for_all();
    true
}

/// Takes over what the driver knows (in the fork server, so that every child has it).
pub fn load_known(count: u64) {
    let Some(base) = shared::area(layout::KNOWN) else { return };
    let count = (count as usize).min(layout::FACTS_CAPACITY);
    // SAFETY: the known table holds FACTS_CAPACITY words; single kernel thread.
    unsafe {
        while KNOWN_LOADED < count {
            insert(base.add(KNOWN_LOADED).read());
            KNOWN_LOADED += 1;
        }
    }
}

/// Sets what a point is, for this run.
pub fn begin(mode: PointMode) {
    // SAFETY: single kernel thread.
    unsafe {
        MODE = mode;
        TELLS_ALL = engine().plan.record == layout::Record::Everything as u32;
        TELLS_VALUES = engine().plan.record == layout::Record::Values as u32;
    }
}

/// Whether the driver, or this run, knows this.
pub fn is_known(fact: Fact) -> bool {
    is_hot(fact.encode())
}

/// This instruction is a point from now on, in this run and in later ones.
pub fn learn(pc: u64) {
    learn_fact(Fact::Point(pc));
}

/// This is known from now on, in this run and in later ones.
pub fn learn_fact(fact: Fact) {
    let fact = fact.encode();
    if !insert(fact) {
        return;
    }
    let mut counters = live();
    let at = counters.learnt as usize;
    if at < layout::FACTS_CAPACITY
        && let Some(base) = shared::area(layout::LEARNT)
    {
        // SAFETY: the learnt table holds FACTS_CAPACITY words.
        unsafe { base.add(at).write(fact) }
        counters.learnt += 1;
    }
}

/// The same by the low half of the pc.
#[cold]
pub fn learn_low(pc: u32) {
    learn(modules::whole_pc(pc));
}

/// Reserves memory in the fork server, so that the children need no system call for it.
pub fn init() {
    // SAFETY: once, single kernel thread.
    unsafe {
        HOT = memory::reserve(HOT_SLOTS * 4) as *mut u32;
        // Pages that were read here need not be mapped again in every run.
        for page in (0..HOT_SLOTS).step_by(1024) {
            HOT.add(page).read_volatile();
        }
    }
}

/// Notes an access; memory that only the running strand knows is left alone.
#[inline(always)]
fn note(addr: u64, size: u32, write: bool, pc: u64) -> bool {
    !is_private(addr) && touched::note(addr, size, write, pc & 0xFFFF_FFFF)
}

/// Notes an access that is a point, for those whose instructions are not known yet.
#[inline(always)]
fn note_point(addr: u64, size: u32, write: bool) {
    if !is_private(addr) {
        touched::note_point(addr, size, write);
    }
}

/// Whether writes are put off anywhere.
#[inline(always)]
pub(super) fn any_copies() -> bool {
    // SAFETY: single kernel thread.
    unsafe { COPIES }
}

/// The running strand makes an atomic access, which is a point: plain ones to the same bytes are to be points, too.
#[inline]
pub fn atomic(addr: u64, size: u32, write: bool) {
    // SAFETY: single kernel thread.
    let (gate, mode) = unsafe { (GATE, MODE) };
    if gate != 0 && mode == PointMode::Shared {
        note_point(addr, size, write);
    }
}

/// Whether plain accesses are never points.
pub fn is_off() -> bool {
    // SAFETY: single kernel thread.
    unsafe { MODE == PointMode::Sync }
}

/// Whether something was not learnt: there was no room for it.
pub fn is_bounded() -> bool {
    // SAFETY: single kernel thread.
    unsafe { BOUNDED || touched::has_lost() || live().learnt as usize >= layout::FACTS_CAPACITY }
}

/// Whether strands of this program have been seen touching each other's stacks.
pub fn stacks_shared() -> bool {
    // SAFETY: single kernel thread; null before the fork server runs.
    !unsafe { HOT }.is_null() && is_known(Fact::StacksShared)
}

/// Untouched memory is touched: if it is another strand's stack, that strand has to note what it does to it from now on,
/// and in later runs from the beginning. (It need not as long as nobody else touches it.)
pub fn note_stack(addr: u64, me: u64) {
    /// Below it are the program's own data and heap, no stacks.
    const STACKS: u64 = 0x7000_0000_0000;
    let e = engine();
    if addr < STACKS {
        return;
    }
    for index in 0..e.strands.len() {
        let mut other = strand(StrandId(index as u16));
        let (low, high) = other.stack;
        if (low as u64..high as u64).contains(&addr) && other.id.0 as u64 + 1 != me && !other.stack_shared {
            other.stack_shared = true;
            learn_fact(Fact::StacksShared);
        }
    }
}

/// Whether an address lies in the running strand's stack, and nobody else has touched that.
#[inline(always)]
pub(super) fn is_private(addr: u64) -> bool {
    let this = sched::this();
    !this.stack_shared && addr >= this.stack.0 as u64 && addr < this.stack.1 as u64
}

/// Memory is freed: a write to all of it, so that what others do to it becomes points.
pub fn released(addr: u64, size: u64, pc: u64) {
    // SAFETY: reading the gate on the single kernel thread.
    if unsafe { GATE } != 0 && touched::last_write(addr, size) {
        learn(pc);
    }
}

/// The program is about to free a block: an event, and a point where that has been learnt. Not in code that nobody sees,
/// which may hold a lock of its own meanwhile.
pub fn frees(addr: u64, size: impl FnOnce() -> usize, pc: u64, seen: bool) {
    // SAFETY: single kernel thread.
    let (mode, gate, stop_at) = unsafe { (MODE, GATE, STOP_AT) };
    let next = live().events + 1;
    let hot = gate != 0 && seen && (mode == PointMode::All || mode == PointMode::Shared && is_hot(pc));
    if (hot || next >= stop_at && must_stop(next)) && engine().phase == Phase::Running {
        let size = size().min(u32::MAX as usize) as u32;
        point(Op { size, ..Op::new(OpKind::Free, addr, pc) });
        coverage::freed(addr, pc);
    } else {
        live().events = next;
    }
}

/// The free at this instruction was too early for somebody: others are to go on before it in later runs.
pub fn freed_early(pc: u64) {
    learn(pc);
}

/// A plain access while several strands are alive; it is made right after this.
#[inline]
pub fn access(kind: OpKind, addr: u64, size: u32, pc: u64) {
    addressable::check(kind, addr, size, pc);
    made(kind, addr, size, pc);
}

/// The same, announced by the compiler's pass: a write may be made only with the read that is announced next.
#[inline(never)]
pub fn announced(kind: OpKind, addr: u64, size: u32, pc: u64) {
    addressable::check(kind, addr, size, pc);
    if matches!(kind, OpKind::Read | OpKind::ReadRange) {
        if let Some(write) = copies::take() {
            return made_with(write, Access { kind, addr, size, pc });
        }
        let before = copies::found(pc);
        made(kind, addr, size, pc);
        if let Some(before) = before
            && (is_hot(before) || is_hot(pc))
        {
            learn_fact(Fact::put_off(before));
        }
        return;
    }
    if any_copies() && is_known(Fact::put_off(pc)) {
        live().events += 1;
        return copies::put_off(Access { kind, addr, size, pc });
    }
    made(kind, addr, size, pc);
    copies::announced(pc, live().events);
}

/// An access at an instruction that is a point.
#[inline(never)]
pub(super) fn at_point<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    let Some(kind) = OpKind::from_code(KIND) else { return };
    let write = KIND != OpKind::Read as u8;
    coverage::comes(addr, SIZE);
    note_point(addr, SIZE, write);
    stops_at(kind, addr, SIZE, pc, write, false);
    if race::is_on() && !is_private(addr) {
        race::access(kind, addr, SIZE, pc);
    }
    if write {
        copies::announced(pc, live().events);
    }
}

/// An access has turned out to be one of a conflicting pair.
#[cold]
#[inline(never)]
pub(super) fn turns_out<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    learn(pc);
    at_point::<KIND, SIZE>(addr, pc);
}

#[inline]
fn made(kind: OpKind, addr: u64, size: u32, pc: u64) {
    // SAFETY: single kernel thread.
    let mode = unsafe { MODE };
    let write = !matches!(kind, OpKind::Read | OpKind::ReadRange);
    if mode == PointMode::Shared && is_hot(pc) {
        note_point(addr, size, write);
        access_point(kind, addr, size, pc, write)
    } else if mode == PointMode::All {
        access_point(kind, addr, size, pc, write)
    } else {
        access_alone(kind, addr, size, pc, write, mode)
    }
    if race::is_on() && !is_private(addr) {
        race::access(kind, addr, size, pc);
    }
}

/// A copy: a write that was put off, and the read that it is made with. One point for both, which is the write's if that
/// makes one.
#[inline(never)]
fn made_with(write: Access, read: Access) {
    // SAFETY: single kernel thread.
    let mode = unsafe { MODE };
    let event = live().events + 1;
    let is_point = |it: &Access, writes: bool| match mode {
        PointMode::Shared => {
            let known = is_hot(it.pc);
            if note(it.addr, it.size, writes, if known { 0 } else { it.pc }) {
                learn(it.pc);
            }
            is_hot(it.pc)
        }
        PointMode::All => true,
        PointMode::Sync => false,
    };
    let (writes, reads) = (is_point(&write, true), is_point(&read, false));
    // SAFETY: single kernel thread.
    let stops = event >= unsafe { STOP_AT } && must_stop(event);
    // Who follows all choices of a schedule does not know which of the two was a point.
    let writes = writes || stops && follow::stops_at(write.pc);
    if writes {
        access_point(write.kind, write.addr, write.size, write.pc, true);
        if reads {
            let Access { kind, addr, size, pc } = read;
            steps::accesses(Op { kind, order: Order::Relaxed, size, addr, pc });
            if coverage::is_on() && !is_private(addr) {
                coverage::read(addr, size, pc);
            }
        }
    } else if reads || stops {
        access_point(read.kind, read.addr, read.size, read.pc, false);
    } else {
        live().events = event;
    }
    for it in [read, write] {
        if race::is_on() && !is_private(it.addr) {
            race::access(it.kind, it.addr, it.size, it.pc);
        }
    }
}

/// The last plain access that was no point.
struct Last {
    addr: u64,
    pc: u64,
    /// Its number among the run's events.
    event: u64,
}

static mut LAST: Last = Last { addr: 0, pc: 0, event: 0 };

#[inline(always)]
pub(super) fn keep_last(addr: u64, pc: u64, event: u64) {
    // SAFETY: single kernel thread.
    unsafe { LAST = Last { addr, pc, event } }
}

/// The last read that was a point: where, and the run's events with it.
static mut LAST_READ: (u64, u64) = (0, 0);

/// A write is about to be made that may belong to a bit-field, if no read was announced right before it.
#[cold]
fn looks_for_merge(addr: u64, pc: u64) {
    // SAFETY: single kernel thread.
    let (alone, read) = unsafe { (&*(&raw const LAST), LAST_READ) };
    let announced = [(alone.addr, alone.event), read].contains(&(addr, live().events));
    // SAFETY: the program's code behind a call it has made.
    if !announced && unsafe { merge::loads_what_it_stores(pc) } {
        steps::doubt(Doubt::Merge, pc);
    }
}

/// The instruction of the access that faulted at this address, if the compiler's pass announced it.
pub fn accessing(addr: u64) -> Option<u64> {
    // SAFETY: single kernel thread.
    let last = unsafe { &*(&raw const LAST) };
    (last.addr == addr && last.pc != 0).then_some(last.pc)
}

/// Precompiled code has looked at memory out of sight, and the running strand is about to wait for it: others are to come in
/// before that, in later runs, so the last access before it is a point from now on. False if there is none: the look belongs
/// to the step before it.
pub fn looked_unseen() -> bool {
    // SAFETY: single kernel thread.
    let (last, mode) = unsafe { (&*(&raw const LAST), MODE) };
    // What another strand stands before, stopped there by a schedule, is not this strand's last access.
    let own = last.event > sched::engine().segment_start;
    if last.event != live().events || !own || last.pc == 0 {
        return sched::this().op.kind.is_plain_access();
    }
    if mode == PointMode::Shared {
        learn(last.pc);
    }
    learn_fact(Fact::looks_behind(last.pc));
    true
}

/// An access at an instruction that is no point; it may turn out to be one, or a schedule may stop at it.
#[inline(never)]
fn access_alone(kind: OpKind, addr: u64, size: u32, pc: u64, write: bool, mode: PointMode) {
    let event = live().events + 1;
    keep_last(addr, pc, event);
    // SAFETY: single kernel thread.
    let stops = event >= unsafe { STOP_AT } && must_stop(event);
    let mut learnt = false;
    if mode == PointMode::Shared && note(addr, size, write, pc) {
        learn(pc);
        learnt = true;
    }
    if stops || learnt {
        return stops_at(kind, addr, size, pc, write, !learnt);
    }
    spin::touched(pc, addr, size);
    live().events = event;
    if engine().plan.record == layout::Record::Everything as u32 {
        let op = Op { kind, order: Order::Relaxed, size, addr, pc };
        record::push(threadbare_abi::event::EventKind::Point, engine().current, op, live().events);
    }
}

#[inline(never)]
fn access_point(kind: OpKind, addr: u64, size: u32, pc: u64, write: bool) {
    stops_at(kind, addr, size, pc, write, false);
}

/// The point of an access, and what is noted of it besides. `made_to`: it is one only because the strand had made none for long.
#[inline(always)]
fn stops_at(kind: OpKind, addr: u64, size: u32, pc: u64, write: bool, made_to: bool) {
    if engine().phase != Phase::Running {
        return;
    }
    if write && steps::is_on() {
        looks_for_merge(addr, pc);
    }
    let switches = live().switches;
    point(Op { kind, order: Order::Relaxed, size, addr, pc });
    // SAFETY: single kernel thread.
    if unsafe { UNSEEN } && live().switches != switches && is_known(Fact::looks_behind(pc)) {
        // What others did meanwhile, precompiled code may find done, and come after it.
        race::acquires_unseen();
    }
    let covered = coverage::is_on() && !is_private(addr);
    if write {
        if covered {
            coverage::write(addr, size, pc);
        }
        // A store to shared memory is progress only if it may change something; a spin that writes the same value
        // again and again is caught by the limit on points or time.
        sched::progress();
        return;
    }
    // SAFETY: single kernel thread.
    unsafe { LAST_READ = (addr, live().events) };
    if covered {
        coverage::read(addr, size, pc);
    }
    if size <= 8 {
        // SAFETY: the program is about to read this place itself.
        let value = unsafe {
            match size {
                1 => (addr as *const u8).read_volatile() as u64,
                2 => (addr as *const u16).read_unaligned() as u64,
                4 => (addr as *const u32).read_unaligned() as u64,
                8 => (addr as *const u64).read_unaligned(),
                _ => return,
            }
        };
        spin::observe(pc, addr, value, size as u8, made_to);
    }
}
