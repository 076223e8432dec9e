//! How often places are passed, in this run by each strand and in earlier runs; and how many strands each creates.
//!
//! A place is an instruction with the two calls that led to it, so that accesses through a function of their own (`get`, `set`) are as
//! many places as there are callers. Its *heat* is how often it was passed in one run, at the most. Runs of a fork server share what they know of
//! it. A look once more at the same object, right after the last one, is no pass: who spins stays where it is. Tables are lossy: places that meet in them count as one, and strands that count at once may count one pass less.

use super::noise::At;
use super::past;
use super::thread::Thread;
use crate::sys::{nr, syscall6};
use core::sync::atomic::{AtomicPtr, AtomicU16, Ordering};
use threadbare_abi::op::OpKind;
use threadbare_strategy::rng::mix;

const PLACES: usize = 1 << 14;
/// Strands whose creations are known, lossily as well.
const CREATORS: usize = 1 << 8;
/// Calls that are part of a place.
const CALLS: usize = 2;

/// How often each place was passed in this run.
static PASSED: [AtomicU16; PLACES] = [const { AtomicU16::new(0) }; PLACES];

/// What runs share.
struct Known {
    by_all: [AtomicU16; PLACES],
    by_one: [AtomicU16; PLACES],
    /// How many strands each strand created before it waited for one.
    created: [AtomicU16; CREATORS],
}

static KNOWN: AtomicPtr<Known> = AtomicPtr::new(core::ptr::null_mut());

/// How often a place was passed in one run, at the most; this one counts.
#[derive(Clone, Copy, Debug)]
pub struct Heat {
    /// By all strands.
    pub by_all: u64,
    /// By one of them.
    pub by_one: u64,
}

/// Makes the memory that runs share (in the fork server). Without it each run begins with nothing.
pub fn begin() {
    const PROT_RW: usize = 3;
    const MAP_SHARED_ANONYMOUS: usize = 0x21;
    // SAFETY: a new mapping touches nothing that exists.
    let at =
        unsafe { syscall6(nr::MMAP, 0, size_of::<Known>(), PROT_RW, MAP_SHARED_ANONYMOUS, usize::MAX, 0) };
    if at > 0 {
        KNOWN.store(at as *mut Known, Ordering::Relaxed);
    }
}

/// A strand's own passes: a part of the place, and how often it was passed.
#[derive(Debug)]
pub struct Passes {
    counts: [(u16, u16); COUNTS],
    /// The last place, with the object it looked at.
    last: u64,
}

const COUNTS: usize = 512;

impl Passes {
    fn count(&mut self, place: u64, more: u16) -> u16 {
        let tag = (place >> 48) as u16;
        let slot = &mut self.counts[place as usize % COUNTS];
        *slot = if slot.0 == tag { (tag, slot.1.saturating_add(more)) } else { (tag, 1) };
        slot.1
    }
}

/// The place that the strand is at, with this instruction: before it, or after it.
pub fn place(me: &Thread, pc: u64, over: bool) -> u64 {
    let depth = me.stack.depth();
    let mut place = pc ^ (over as u64) << 48;
    for level in 1..=CALLS.min(depth) {
        place = mix(place).wrapping_add(me.stack.entry(depth - level).map_or(0, |entry| entry.caller));
    }
    mix(place)
}

/// The strand passes a place by an event: its heat.
pub fn pass(me: &mut Thread, place: u64, at: At) -> Heat {
    let looks = !past::changes(at.op) || at.op == OpKind::AtomicCas;
    let this = mix(place) ^ at.addr;
    let spins = core::mem::replace(&mut me.passes.last, this) == this && looks;
    let more = !spins as u16;
    let slot = (place >> 24) as usize % PLACES;
    let by_all = PASSED[slot].load(Ordering::Relaxed).saturating_add(more).max(1);
    PASSED[slot].store(by_all, Ordering::Relaxed);
    let by_one = me.passes.count(place, more);
    // SAFETY: null, or memory that is never given back, of which every content is valid.
    match unsafe { KNOWN.load(Ordering::Relaxed).as_ref() } {
        Some(known) => {
            Heat { by_all: most(&known.by_all[slot], by_all), by_one: most(&known.by_one[slot], by_one) }
        }
        None => Heat { by_all: by_all as u64, by_one: by_one as u64 },
    }
}

/// How many strands this one creates before it waits for one, at the most, as far as is known; so many it has created now.
pub fn creations(me: &Thread, now: u16) -> u64 {
    // SAFETY: as in `pass`.
    match unsafe { KNOWN.load(Ordering::Relaxed).as_ref() } {
        Some(known) => most(&known.created[mix(me.path.0) as usize % CREATORS], now),
        None => now as u64,
    }
}

fn most(known: &AtomicU16, passed: u16) -> u64 {
    let before = known.load(Ordering::Relaxed);
    if passed > before {
        known.store(passed, Ordering::Relaxed);
    }
    passed.max(before) as u64
}
