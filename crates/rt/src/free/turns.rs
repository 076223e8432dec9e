//! Sleeps by noise: who sleeps, and whose turn it is to go on.
//!
//! A sleep ends at its time at the latest, and before that when no other strand is at work: a time alone says nothing about
//! what the others did meanwhile, least of all on a loaded machine. So the time is longer, too, while others want a processor and
//! do not get it. A strand that polls is not at work, once it has looked after this one fell asleep. Of several sleepers one is let go. In
//! most runs that is the one with the lowest rank; among these one of those that are about to touch the same object, where the order
//! decides something, and of these the one that went first there less often. In every
//! seventh run chance has more to say.

use super::noise::{clock, now};
use super::thread::{self, Thread};
use super::{past, watchdog};
use crate::sys::{c_int, nr, syscall3, timespec};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use threadbare_abi::op::OpKind;

/// How long a sleeping strand does not look what the others do, in nanoseconds.
const NAP: u64 = 20_000;
/// The same for one that sleeps for long: looking takes time from the others.
const LONG_NAP: u64 = 160_000;
/// Strands up to which objects are compared.
const COMPARED: usize = 64;
/// Strands of which the kernel is asked.
const ASKED: usize = 8;
/// By what factor a sleep may be longer while the others do not get a processor.
const PATIENCE: u64 = 16;
/// The clock of what the process worked.
const PROCESS_CPU: c_int = 2;

/// Sleeps of the run so far.
static EPOCH: AtomicU64 = AtomicU64::new(0);
/// Patient ones that lasted until their time was over.
static SPENT: AtomicU32 = AtomicU32::new(0);

/// How often a sleeper was let go.
static TURNS: AtomicU64 = AtomicU64::new(0);

/// How a strand is to sleep.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    /// When it is let go, compared with others: the lowest first.
    pub rank: u32,
    /// How long the others may work meanwhile, in nanoseconds.
    pub most: u64,
    /// It has a lock in its hands.
    pub locked: bool,
    /// That is long, and less is left for others if it takes so long.
    pub patient: bool,
}

/// A strand's part in it.
#[derive(Debug)]
pub struct Turn {
    /// Not 0 while it sleeps: its rank, and chance.
    key: AtomicU64,
    /// The object it is about to touch, and in the lowest bit whether it changes it; 0 for none.
    object: AtomicU64,
    /// The last sleep that began before it looked for a change and found none; 0 if it does not poll.
    polled: AtomicU64,
    /// How often it went first of those that met at an object.
    led: AtomicU64,
    /// What the count of turns will be when it has waited long enough.
    due: AtomicU64,
}

const ASLEEP: u64 = 1 << 63;
const RANK_SHIFT: u32 = 32;

impl Turn {
    /// Its rank and chance while it sleeps.
    pub fn asleep(&self) -> Option<u64> {
        Some(self.key.load(Ordering::Relaxed)).filter(|&key| key != 0)
    }
}

/// The strand polls: it has looked once more.
pub fn polls(me: &mut Thread) {
    me.turn.polled.store(me.past.epoch, Ordering::Relaxed);
    me.past.epoch = EPOCH.load(Ordering::Relaxed);
}

/// How many patient sleeps of the run have lasted until their time was over, as far as it is of use as a shift.
pub fn spent() -> u32 {
    SPENT.load(Ordering::Relaxed).min(32)
}

/// The strand does something else.
pub fn works(me: &mut Thread) {
    me.turn.polled.store(0, Ordering::Relaxed);
    me.past.epoch = 0;
}

/// Sleeps before this operation on an object until it is the strand's turn, or the others have worked for that long.
pub fn sleep(me: &Thread, op: OpKind, addr: u64, sleep: Sleep, random: u32) {
    let Sleep { rank, most, locked, patient } = sleep;
    let bound = if locked { u64::MAX } else { OVERTAKEN.load(Ordering::Relaxed) };
    me.turn.due.store(TURNS.load(Ordering::Relaxed).saturating_add(bound), Ordering::Relaxed);
    let object = if addr == 0 { 0 } else { addr >> 2 << 1 | past::changes(op) as u64 };
    me.turn.object.store(object, Ordering::Relaxed);
    me.turn.key.store(ASLEEP | (rank as u64) << RANK_SHIFT | random as u64, Ordering::Relaxed);
    let epoch = EPOCH.fetch_add(1, Ordering::Relaxed) + 1;
    let (began, worked) = (now(), clock(PROCESS_CPU));
    let mut slept = 0;
    loop {
        nap((slept / 8).clamp(NAP, LONG_NAP).min(most));
        if is_next(me, epoch) && is_so(me) {
            if is_met(me) {
                me.turn.led.fetch_add(1, Ordering::Relaxed);
            }
            TURNS.fetch_add(1, Ordering::Relaxed);
            break;
        }
        slept = now() - began;
        let over = slept >= most * PATIENCE || slept >= most && had_time(me, epoch, worked + most);
        if over {
            SPENT.fetch_add(patient as u32, Ordering::Relaxed);
            break;
        }
    }
    me.turn.key.store(0, Ordering::Relaxed);
}

/// Whether the strand waits, polls, or has ended.
fn rests(other: &Thread, epoch: u64) -> bool {
    other.ended.load(Ordering::Relaxed) || waits(other) || other.turn.polled.load(Ordering::Relaxed) >= epoch
}

fn waits(other: &Thread) -> bool {
    other.wait.seq.load(Ordering::Relaxed) & 1 == 1 && !other.ended.load(Ordering::Relaxed)
}

fn others(me: &Thread) -> impl Iterator<Item = &'static Thread> {
    let index = me.index;
    thread::all().filter(move |other| other.index != index)
}

/// Whether no other strand is at work, and none that sleeps comes before this one.
fn is_next(me: &Thread, epoch: u64) -> bool {
    let mine = place(me);
    others(me).all(|other| rests(other, epoch) || other.turn.asleep().is_some() && mine < place(other))
}

/// Whether those that wait really do: one that has been woken may not have run yet. Who waits for a spin lock never sleeps.
fn is_so(me: &Thread) -> bool {
    let spins = |other: &Thread| other.wait.op.load(Ordering::Relaxed) == OpKind::SpinLock as u32;
    others(me)
        .filter(|other| waits(other) && !spins(other))
        .take(ASKED)
        .all(|other| watchdog::sleeps(other.index))
}

/// Whether others are at work and had the time to do something: the process has worked until then, or they all wait for
/// something else than a processor.
fn had_time(me: &Thread, epoch: u64, until: u64) -> bool {
    let mut at_work = others(me)
        .filter(|other| !rests(other, epoch) && other.turn.asleep().is_none())
        .take(ASKED)
        .peekable();
    at_work.peek().is_some()
        && (clock(PROCESS_CPU) >= until || at_work.all(|other| watchdog::sleeps(other.index)))
}

/// A sleeper's place among the others.
fn place(this: &Thread) -> (u64, u64, u64, u16) {
    let key = this.turn.key.load(Ordering::Relaxed);
    let is_due = TURNS.load(Ordering::Relaxed) >= this.turn.due.load(Ordering::Relaxed);
    let (rank, chance) = (if is_due { 0 } else { key >> RANK_SHIFT }, key as u32 as u64);
    if are_by_rank() {
        let met = is_met(this);
        return (rank << 1 | !met as u64, this.turn.led.load(Ordering::Relaxed), chance, this.index);
    }
    (rank, 0, chance, this.index)
}

/// Of so many runs of a campaign one goes without what may be wrong about the program.
const PLAIN: u64 = 7;
static BY_RANK: AtomicBool = AtomicBool::new(true);
/// A bound for [`OVERTAKEN`].
const FEW: u64 = 3;
/// After how many turns of others a sleeper is let go whatever its rank. Without a bound one that comes first would come to its end before those
/// in the middle of something have gone on at all; with one, those that wait for many others would not wait long enough. So runs differ.
static OVERTAKEN: AtomicU64 = AtomicU64::new(u64::MAX);

/// The run begins.
pub fn begin(run: u64) {
    let plain = run.is_multiple_of(PLAIN);
    BY_RANK.store(!plain, Ordering::Relaxed);
    OVERTAKEN.store(if plain { u64::MAX } else { FEW }, Ordering::Relaxed);
}

/// Whether who goes first depends on what the program is presumed to do. No order shows every failure.
pub fn are_by_rank() -> bool {
    BY_RANK.load(Ordering::Relaxed)
}

/// Whether another sleeper is about to touch the same object, and one of them changes it.
fn is_met(this: &Thread) -> bool {
    let object = this.turn.object.load(Ordering::Relaxed);
    object != 0
        && thread::count() <= COMPARED
        && thread::all().any(|other| {
            let theirs = other.turn.object.load(Ordering::Relaxed);
            other.index != this.index
                && theirs >> 1 == object >> 1
                && (theirs | object) & 1 == 1
                && other.turn.asleep().is_some()
        })
}

/// Sleeps that long.
pub fn nap(ns: u64) {
    let time = timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    // SAFETY: the struct outlives the call; a signal ends the sleep, which is as good.
    unsafe { syscall3(nr::NANOSLEEP, &raw const time as usize, 0, 0) };
}
