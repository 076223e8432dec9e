//! What a free run covers: which functions were interrupted, which ran through, and which ran meanwhile.
//!
//! The two models of ConTest: a function was interrupted by a switch or was not; a function ran in another strand while one was
//! interrupted. On several processors strands need not be switched for that. A call is *interrupted* where another strand
//! makes a concurrent event between two of its marks: function entry and exit, its own events, the ends of noise and waits.
//!
//! One counter counts the events of all strands, and a ring remembers the last ones: strand and function. At each mark a
//! strand compares the counter with what it was at the mark before. If it is the same, which costs one load, nobody else
//! did anything. Else the function that was innermost meanwhile was interrupted, and those in the ring ran. Functions
//! without events of their own are not in the ring; after noise and waits those that other strands are just in count as well.
//!
//! What a library does counts for the function of the program that called it. Its callers further out are not interrupted
//! by that, nor do they run: only the innermost counts.
//!
//! Deviations from the paper:
//! 1. A wait of the strand's own is an interruption, but a call that has waited may still have run through: a function
//!    that waits could not be covered otherwise.
//! 2. The same load of the same place once more is no event here: a strand that spins would interrupt everybody for ever.

use super::frames::{Entry, PC};
use super::functions;
use super::noise::At;
use super::thread::{self, Thread};
use crate::raw::Raw;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use threadbare_abi::op::OpKind;
use threadbare_abi::tasks::marks;

static ON: AtomicBool = AtomicBool::new(false);

/// On a cache line of its own.
#[repr(align(128))]
struct Apart(AtomicU64);

/// Events of all strands while there are two or more.
static TICK: Apart = Apart(AtomicU64::new(0));

const RING: usize = 1 << 12;
/// The events by their numbers: the number's low half, the strand, the function's number with one more.
static LAST: [AtomicU64; RING] = [const { AtomicU64::new(0) }; RING];
/// Events that are looked at after an interruption.
const WALK: u64 = RING as u64 / 2;
/// Callers that are asked whether they are of the program's own.
const CALLERS: usize = 16;

/// What a strand keeps for it.
#[derive(Debug)]
pub struct Cover {
    /// The counter at its last mark.
    seen: u64,
    /// The innermost function; others read it.
    inner: AtomicU64,
    /// The number of the function that its last event counted for, with one more; others read it.
    own: AtomicU16,
    /// Its last loads: instruction and place.
    loads: [(u64, u64); 2],
    /// Whether a stretch without noise was drawn, the events that are left of it, and the task that noise is made for:
    /// see `guide`.
    pub drawn: bool,
    pub left: u64,
    pub tried: u16,
    /// It is to be interrupted.
    pub behind: bool,
}

/// Whether coverage is noted.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// The run begins, or is over for this process.
pub fn begin(wanted: bool) {
    ON.store(wanted, Ordering::Relaxed);
}

/// A strand begins.
pub fn begins(me: &mut Thread) {
    me.cover.seen = TICK.0.load(Ordering::Relaxed);
}

/// Why a strand has not gone on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Others were as fast, or it lost its processor.
    Chance,
    /// Noise.
    Noise,
    /// It waited for something.
    Wait,
}

/// A mark of the strand.
#[inline(always)]
pub fn mark(me: &mut Thread) {
    if TICK.0.load(Ordering::Relaxed) != me.cover.seen {
        catch_up(me, Gap::Chance);
    }
}

/// The strand goes on after noise or a wait.
pub fn goes_on(me: &mut Thread, gap: Gap) {
    if gap == Gap::Noise || TICK.0.load(Ordering::Relaxed) != me.cover.seen {
        catch_up(me, gap);
    }
}

#[cold]
#[inline(never)]
fn catch_up(me: &mut Thread, gap: Gap) {
    let now = TICK.0.load(Ordering::Relaxed);
    let from = core::mem::replace(&mut me.cover.seen, now);
    interrupted(me, from, now, gap);
}

/// The function that counts for what the strand does, and its call.
pub fn own(me: &Thread) -> Option<(u16, Raw<Entry>)> {
    let table = functions::table()?;
    let depth = me.stack.depth();
    for level in 1..=CALLERS.min(depth) {
        let mut entry = me.stack.entry(depth - level)?;
        let number = number_of(&mut entry)?;
        if functions::marks_of(table, number) & marks::LIBRARY == 0 {
            return Some((number, entry));
        }
    }
    None
}

#[inline]
fn number_of(entry: &mut Entry) -> Option<u16> {
    entry.number().or_else(|| {
        let number = functions::number(entry.function & PC)?;
        entry.set_number(number);
        Some(number)
    })
}

/// Events from one number to another were made while the strand did nothing.
fn interrupted(me: &Thread, from: u64, to: u64, gap: Gap) {
    let (Some(table), Some((first, mut entry))) = (functions::table(), own(me)) else { return };
    let begin = from.max(to.saturating_sub(WALK));
    let mut others = begin != from;
    let mut before = 0;
    for tick in begin..to {
        let event = LAST[tick as usize % RING].load(Ordering::Relaxed);
        if event >> 32 != tick & 0xFFFF_FFFF {
            // Its strand has the number, and has not come to write it.
            others = true;
            continue;
        }
        if (event >> 16) as u16 == me.index {
            continue;
        }
        others = true;
        let function = event as u16;
        if function != 0 && function != before {
            functions::pair(table, first, function - 1);
            before = function;
        }
    }
    if gap != Gap::Chance {
        for (other, second) in others_in(me, is_at_work) {
            if functions::marks_of(table, second) & marks::LIBRARY == 0 {
                functions::mark(table, other, second, 0);
                functions::pair(table, first, second);
                others = true;
            }
        }
    }
    if others {
        functions::mark(table, me, first, marks::INTERRUPTED);
        if gap != Gap::Wait {
            entry.cut();
        }
    }
}

/// Whether a strand neither waits nor is delayed by noise.
fn is_at_work(other: &Thread) -> bool {
    other.wait.seq.load(Ordering::Relaxed) & 1 == 0 && other.turn.asleep().is_none()
}

/// The functions that other strands are in, a library's for what they are.
fn others_in(
    me: &Thread,
    is_wanted: impl Fn(&Thread) -> bool,
) -> impl Iterator<Item = (&'static Thread, u16)> {
    let index = me.index;
    thread::all()
        .filter(move |other| other.index != index && !other.ended.load(Ordering::Relaxed) && is_wanted(other))
        .filter_map(|other| Some((other, functions::number(other.cover.inner.load(Ordering::Relaxed))?)))
}

/// The functions of the program's own that other strands are in, at work or not.
pub fn others(me: &Thread) -> impl Iterator<Item = u16> {
    others_in(me, |_| true).filter_map(|(other, number)| {
        let table = functions::table()?;
        if functions::marks_of(table, number) & marks::LIBRARY == 0 {
            return Some(number);
        }
        other.cover.own.load(Ordering::Relaxed).checked_sub(1)
    })
}

/// The strand makes an event here and now.
pub fn event(me: &mut Thread, at: &At) {
    if thread::alive() < 2 || is_again(me, at) {
        return;
    }
    let own = own(me);
    let number = own.as_ref().map_or(0, |(number, _)| number + 1);
    let tick = TICK.0.fetch_add(1, Ordering::Relaxed);
    let event = tick << 32 | (me.index as u64) << 16 | number as u64;
    LAST[tick as usize % RING].store(event, Ordering::Relaxed);
    let from = core::mem::replace(&mut me.cover.seen, tick + 1);
    if from != tick {
        interrupted(me, from, tick, Gap::Chance);
    }
    if let (Some(table), Some((number, _))) = (functions::table(), own) {
        me.cover.own.store(number + 1, Ordering::Relaxed);
        functions::mark(table, me, number, marks::EVENTS);
    }
}

/// Whether the strand looks at a place where it has just looked: it spins.
fn is_again(me: &mut Thread, at: &At) -> bool {
    let loads = matches!(at.op, OpKind::Read | OpKind::AtomicLoad | OpKind::Yield);
    let this = (at.pc, at.addr);
    if loads && me.cover.loads.contains(&this) {
        return true;
    }
    me.cover.loads = if loads { [this, me.cover.loads[0]] } else { [(0, 0); 2] };
    false
}

/// The strand enters a function; the caller is still the innermost.
#[inline]
pub fn enters(me: &mut Thread, function: u64) {
    mark(me);
    me.cover.inner.store(function, Ordering::Relaxed);
}

/// The strand leaves the innermost function, which is still there.
#[inline]
pub fn leaves(me: &mut Thread) {
    mark(me);
    if let Some((mut entry, caller)) = me.stack.innermost_two() {
        ran(me, &mut entry);
        me.cover.inner.store(caller, Ordering::Relaxed);
    }
}

/// A call has come to its end. One without others beside it makes the function known, and no more.
#[inline]
fn ran(me: &Thread, entry: &mut Entry) {
    let (Some(table), Some(number)) = (functions::table(), number_of(entry)) else { return };
    if thread::alive() < 2 {
        return;
    }
    let through = if entry.is_cut() { 0 } else { marks::THROUGH };
    functions::mark(table, me, number, marks::RETURNED | through);
}
