//! The noise maker: at an event it does nothing, or delays the strand.
//!
//! Places are drawn, not events: what is passed once is as likely to be disturbed as what is passed thousands of times, so the chance of an event
//! is that of its place by the passes that a strand makes there (`heat`). Noise is likely where a strand is in the middle of something,
//! and where code takes for granted that nothing happens: between two events of one call of a function; less likely before the first.
//!
//! What comes of a sleep is a matter of who is let go first: see `turns`.
//!
//! What is drawn depends on the run's seed, the strand's place in the creation
//! tree and how often it drew; the strands' timing, and so the run, is the kernel's.

use super::cover::{self, Gap};
use super::past::{Before, Change};
use super::thread::{self, Thread};
use super::turns::Sleep;
use super::{guide, heat, sharing, turns};
use crate::sys::{c_int, nr, syscall3, timespec};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use threadbare_abi::noise::{ALWAYS, Noise, NoiseKind, flags};
use threadbare_abi::op::{OpKind, Order};
use threadbare_strategy::rng::mix;

/// At how many passes of a place noise is made in a run, where there are more; twice as many where no lock guards what is touched.
const FEW: u64 = 2;
/// The same in the middle of something, of the passes of each strand.
const SOME: u64 = 8;
/// Passes of a place by a strand from which on it is busy work.
const HOT: u64 = 48;
/// Before the first event of a call noise is less likely, by this shift.
const OUTSIDE: u32 = 2;
/// The shortest and the longest usual noise, in nanoseconds.
const SHORTEST: u64 = 400_000;
const LONGEST: u64 = 3_200_000;
/// How long noise may last elsewhere than in busy work, while others are at work, in nanoseconds; half of that after each one that lasted so long.
const PATIENT: u64 = 24_000_000;
/// The rank of a strand that is in the middle of something; one more if others can see what it has left half done.
const MIDDLE: u32 = 3;
/// The rank of one that may block with a lock in its hands: all others are to come as far.
const LOCKED: u32 = MIDDLE + 2;
/// What spinning is shorter by than sleeping.
const SPIN_SHARE: u64 = 8;
static mut NOISE: Noise = Noise::OFF;
static SEED: AtomicU64 = AtomicU64::new(0);
/// Whether noise is made at this time.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// The run's noise.
pub fn wanted() -> Noise {
    // SAFETY: written once, before the second strand exists.
    unsafe { NOISE }
}

/// The run begins.
pub fn begin(noise: Noise, seed: u64) {
    // SAFETY: one kernel thread so far.
    unsafe { NOISE = noise };
    SEED.store(mix(seed), Ordering::Relaxed);
    ACTIVE.store(noise.kind != NoiseKind::None && noise.flags & flags::PAUSED == 0, Ordering::Relaxed);
}

/// Starts noise, or stops it. Safe in a signal handler.
pub fn toggle() {
    if wanted().kind != NoiseKind::None && ACTIVE.fetch_xor(true, Ordering::Relaxed) {
        for thread in thread::all().filter(|thread| thread.lowered.swap(false, Ordering::Relaxed)) {
            set_priority(thread.tid.load(Ordering::Relaxed) as usize, false);
        }
    }
}

/// Whether noise is made at this time.
pub fn is_active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// What all draws of the run depend on.
pub fn seed() -> u64 {
    SEED.load(Ordering::Relaxed)
}

/// Monotonic time in nanoseconds.
pub fn now() -> u64 {
    clock(1)
}

/// The time of a clock in nanoseconds.
pub fn clock(id: c_int) -> u64 {
    let mut time = timespec::default();
    // SAFETY: libc's own function, which reads a clock.
    unsafe { crate::real!(clock_gettime: fn(c_int, *mut timespec) -> c_int)(id, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How an event is looked at.
struct Draw {
    /// By what shift noise is less likely than usual.
    shift: u32,
    /// When a strand that sleeps there is let go, compared with others: the lowest first.
    rank: u32,
}

fn weigh(at: At, before: Before) -> Draw {
    use OpKind::*;
    let Before { inside, again, shared, written, changed, guarded, holds, unlocks, fresh } = before;
    if at.over {
        return Draw { shift: if inside { 1 } else { OUTSIDE }, rank: if inside { 2 } else { 0 } };
    }
    if fresh || !inside && !again && !holds && changed == Change::None {
        return Draw { shift: OUTSIDE, rank: 0 };
    }
    // Nobody can come in between this and what was done before.
    if unlocks {
        return Draw { shift: 1, rank: 1 };
    }
    if !turns::are_by_rank() {
        return weigh_plainly(at.op, again);
    }
    match at.op {
        // What a lock guards is touched by nobody else, as a rule.
        op if guarded && (op.is_plain_access() || matches!(op, AtomicLoad | AtomicStore | AtomicRmw)) => {
            Draw { shift: OUTSIDE, rank: 1 }
        }
        Read | ReadRange | AtomicLoad if again && written => Draw { shift: 0, rank: MIDDLE },
        Read | ReadRange | AtomicLoad => Draw { shift: OUTSIDE - (changed == Change::Seen) as u32, rank: 1 },
        AtomicCas if holds => Draw { shift: 0, rank: LOCKED },
        op if holds && may_block(op) => Draw { shift: 0, rank: LOCKED },
        CondWait | CondTimedWait => Draw { shift: 0, rank: 2 },
        Write | ReadWrite | WriteRange | AtomicStore | AtomicRmw | AtomicCas | MutexLock | ReadLock
        | WriteLock | SpinLock => Draw {
            shift: 0,
            rank: match changed {
                Change::Seen => MIDDLE + 1,
                Change::Presumed => MIDDLE,
                Change::None if again && shared => MIDDLE,
                Change::None => 1 + (again || shared) as u32,
            },
        },
        _ => Draw { shift: 1, rank: 1 },
    }
}

/// The same in runs where that does not count which may be wrong: what strands share, what locks guard, what belongs together.
fn weigh_plainly(op: OpKind, again: bool) -> Draw {
    use OpKind::*;
    match op {
        Read | ReadRange | AtomicLoad if !again => Draw { shift: OUTSIDE, rank: 1 },
        Write | ReadWrite | WriteRange | AtomicStore | Read | ReadRange | AtomicLoad | AtomicRmw
        | AtomicCas | MutexLock => Draw { shift: 0, rank: 2 },
        _ => Draw { shift: 1, rank: 1 },
    }
}

/// Whether a strand may have to wait there for another.
fn may_block(op: OpKind) -> bool {
    use OpKind::*;
    matches!(op, MutexLock | ReadLock | WriteLock | SpinLock | SemWait | BarrierWait | Once | Join)
}

/// An event at which noise may be made.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub op: OpKind,
    pub pc: u64,
    /// The object, 0 if that does not matter.
    pub addr: u64,
    /// It has been made; else it is about to be.
    pub over: bool,
    /// The call of the function has made an event before.
    pub inside: bool,
    /// An atomic operation's order.
    pub order: Order,
}

impl At {
    /// An event that is about to be made.
    pub fn before(op: OpKind, addr: u64, pc: u64, inside: bool) -> At {
        At { op, pc, addr, over: false, inside, order: Order::SeqCst }
    }

    /// An event that has been made.
    pub fn after(op: OpKind, pc: u64, inside: bool) -> At {
        At { op, pc, addr: 0, over: true, inside, order: Order::SeqCst }
    }
}

/// Maybe noise, before or after an event.
#[inline]
pub fn maybe(me: &mut Thread, at: At) {
    let covers = cover::on();
    if covers {
        cover::mark(me);
    }
    if ACTIVE.load(Ordering::Relaxed) {
        draw(me, at);
    }
    if covers && !at.over {
        cover::event(me, &at);
    }
}

#[cold]
#[inline(never)]
fn draw(me: &mut Thread, at: At) {
    if !at.op.is_plain_access() {
        sharing::note(at.pc);
    }
    if at.op == OpKind::Create && !at.over {
        me.past.creates();
    }
    let Some((pc, inside)) = sharing::wanted(me, at.pc, at.inside) else { return };
    let place = heat::place(me, pc, at.over);
    let heat = heat::pass(me, place, at);
    let hot = heat.by_one >= HOT;
    let before = me.past.see(me.index, &mut me.held, at, place, inside, hot);
    if thread::alive() < 2 {
        return;
    }
    if let Some(begins) = me.past.polls() {
        if begins {
            turns::polls(me);
        }
        return;
    }
    turns::works(me);
    if hurries(me, at.op) {
        return;
    }
    let noise = wanted();
    let random = me.rng.next();
    let Draw { shift, rank } = if hot { Draw { shift: 0, rank: 0 } } else { weigh(at, before) };
    let (passes, heat) = match () {
        _ if hot || at.over || before.unlocks => (FEW, heat.by_all),
        _ if rank >= MIDDLE || before.again && shift == 0 => (SOME, heat.by_one),
        _ if before.guarded => (FEW, heat.by_all),
        _ => (2 * FEW, heat.by_all),
    };
    let evenly = noise.probability * passes / heat;
    let likely = (noise.probability >> shift).min(evenly).min(ALWAYS);
    if random & (ALWAYS - 1) >= guide::likely(me, &noise, likely, random >> 40) {
        return;
    }
    guide::made(me);
    let rank = guide::rank(me, rank);
    let most = match length(random >> 32, noise.strength) {
        _ if hot => SHORTEST * noise.strength / 1000,
        usual => usual.max((PATIENT * noise.strength / 1000) >> turns::spent()),
    };
    make(me, &noise, at, random >> 16, Sleep { rank, most, locked: before.holds, patient: !hot });
}

/// Whether the strand is left alone, as others wait to be created by it: those that it has created would be at their end when the last one
/// begins. So it is in half of the runs; what a strand does to those that it has just created shows in the other half, and behind the last one.
fn hurries(me: &mut Thread, op: OpKind) -> bool {
    me.joins |= op == OpKind::Join;
    let created = me.children.load(Ordering::Relaxed).min(u16::MAX as u32) as u16;
    !me.joins && mix(seed()) & 1 == 0 && (created as u64) < heat::creations(me, created)
}

fn make(me: &mut Thread, noise: &Noise, at: At, random: u64, sleep: Sleep) {
    let began = now();
    if noise.share < 1000 {
        let lived = began.saturating_sub(me.born_ns).max(1_000_000);
        if me.noise_ns * 1000 > lived * noise.share {
            return;
        }
    }
    let kind = match noise.kind {
        // In the middle of something a sleep does most.
        NoiseKind::Mixed if sleep.rank >= MIDDLE && random & 32 == 0 => NoiseKind::Sleep,
        NoiseKind::Mixed => match random % 32 {
            0 if random & 64 == 0 => NoiseKind::Yield,
            0 => NoiseKind::Priority,
            1 => NoiseKind::Spin,
            _ => NoiseKind::Sleep,
        },
        kind => kind,
    };
    let random = random >> 7;
    match kind {
        NoiseKind::Sleep => turns::sleep(me, at.op, at.addr, sleep, random as u32 & 0xFFFF),
        NoiseKind::Spin => spin(length(random, noise.strength) / SPIN_SHARE),
        NoiseKind::Yield => {
            for _ in 0..(1 + random % 4) * noise.strength.max(1000) / 1000 {
                // SAFETY: touches no memory.
                unsafe { syscall3(nr::SCHED_YIELD, 0, 0, 0) };
            }
        }
        NoiseKind::Priority => priority(me),
        NoiseKind::None | NoiseKind::Mixed => {}
    }
    if cover::on() {
        cover::goes_on(me, Gap::Noise);
    }
    me.noise_ns += now().saturating_sub(began);
}

/// A time between the shortest and the longest, each order of magnitude as likely as the others.
fn length(random: u64, strength: u64) -> u64 {
    let doublings = (LONGEST / SHORTEST).ilog2() as u64 + 1;
    let base = SHORTEST << (random % doublings);
    (base + (random >> 8) % base) * strength / 1000
}

fn spin(ns: u64) {
    let end = now() + ns;
    while now() < end {
        core::hint::spin_loop();
    }
}

/// Lowers the strand's priority, or puts it back where the system allows that.
fn priority(me: &mut Thread) {
    let lower = !me.lowered.load(Ordering::Relaxed);
    set_priority(0, lower);
    me.lowered.store(lower, Ordering::Relaxed);
    if lower {
        // SAFETY: touches no memory.
        unsafe { syscall3(nr::SCHED_YIELD, 0, 0, 0) };
    }
}

/// Sets the priority of a thread by its id, 0 for the one that asks.
fn set_priority(tid: usize, lower: bool) {
    const PRIO_PROCESS: usize = 0;
    const SCHED_OTHER: usize = 0;
    const SCHED_IDLE: usize = 5;
    let (nice, policy) = if lower { (19, SCHED_IDLE) } else { (0, SCHED_OTHER) };
    let zero = 0i32;
    // SAFETY: concerns the scheduling of this process's own threads only.
    unsafe {
        if syscall3(nr::SETPRIORITY, PRIO_PROCESS, tid, nice) < 0 {
            syscall3(nr::SCHED_SETSCHEDULER, tid, policy, &raw const zero as usize);
        }
    }
}
