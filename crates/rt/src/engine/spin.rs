//! Spinning strands.
//!
//! A strand that loads the same values at the same instructions again and again looks for memory to change. Whether it waits
//! for that, or has a count after which it goes on without, is a fact of the program that is learnt ([`super::loops`]): the
//! first time a loop is found, its strand goes on alone, with all others held, until it leaves the loop or has looked often
//! enough. A loop that does not end by itself *waits*: its strand is taken out of the enabled set until one of the values
//! differs. One that ends by itself is made of ordinary steps; strategies that draw let it run out in some runs, and have it
//! wait in others.
//!
//! When nothing else can go on, each waiting strand is let go on again, alone and for longer, because a loop may be bounded by
//! a count that is larger than what was tried. When it has come back to a look often enough with the same registers, stack and
//! memory of its own, or has looked a million times, and still nothing has changed, nobody can change it: a livelock.
//!
//! Accesses to memory of the strand's own (no point) that are new, by instruction, address or value, make a spin take longer
//! to be found: a loop that works is seldom one that waits. A strand that makes no points but those it is made to stop at (`stops`) has
//! thousands of accesses between two looks; only the last ones before each are asked about.

use super::live::live;
use super::loops::{self, Nature, Purpose};
use super::race::again;
use super::sched::{self, ATTENTION, Stop, attention, engine, reschedule};
use super::strand::{State, Strand};
use super::wait::{ObjectId, Wait};
use super::{lenient, lists, local, me, rounds, steps, strand};
use crate::arch;
use core::sync::atomic::Ordering;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::step::Doubt;
use threadbare_abi::strand::StrandId;

const PLACES: usize = 4;
/// Repeated loads that make a spin, for each place in the loop.
const REPEATS: u32 = 6;
/// The same for a loop in which the strand does other things of its own.
const REPEATS_BUSY: u32 = 64;
/// The limit of a spin that has been let go on for as long as any is; if that changed nothing either, it is a livelock.
const REPEATS_MOST: u32 = loops::LAST_TRY;
/// Looks between two at what a strand has, and how often that is to be the same for a livelock. More than once, since a library
/// may count where no hook sees it.
const SAMPLE: u32 = 60;
const _: () = assert!(SAMPLE.is_multiple_of(12) && PLACES == 4);
const SAME: u32 = loops::LAST_TRY / 4 / SAMPLE;
/// Words of the set of hashes.
const SEEN: usize = 32;
/// Different accesses after which the set is begun anew.
const NOVEL_MOST: u32 = 256;

#[derive(Clone, Copy, Debug)]
struct Place {
    pc: u64,
    addr: u64,
    value: u64,
    size: u8,
    /// It has been loaded again: it is part of a loop, not only on the way to it.
    again: bool,
    /// Stands for the instruction and its callers, once it has been loaded again.
    key: u64,
    /// The callers, as planners know them.
    context: u64,
}

/// What a strand has lately loaded without progress.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpinTrack {
    used: u8,
    next: u8,
    /// Its looks were only those at which it was made to stop.
    seldom: bool,
    /// It is looked at what it does between its looks.
    closely: bool,
    /// It spins: it waits at its next point.
    pub due: bool,
    /// Why it goes on alone, if it does.
    alone: Purpose,
    repeats: u32,
    /// Repeats since the loop was entered.
    total: u32,
    limit: u32,
    /// The event at which it began to go on alone.
    since: u64,
    /// What the strand had at one of its loop's looks in its last try, and how often nothing has differed since.
    local: u64,
    same: u32,
    /// Repeats at which that is asked again.
    sample: u32,
    novel: u32,
    places: [Place; PLACES],
    /// A set of hashes of accesses made since the last progress.
    seen: [u64; SEEN],
}

impl SpinTrack {
    /// Nothing loaded yet.
    pub const fn new() -> Self {
        SpinTrack {
            places: [Place { pc: 0, addr: 0, value: 0, size: 0, again: false, key: 0, context: 0 }; PLACES],
            used: 0,
            next: 0,
            seldom: false,
            closely: false,
            alone: Purpose::None,
            repeats: 0,
            total: 0,
            limit: REPEATS,
            since: 0,
            local: 0,
            same: 0,
            sample: 0,
            seen: [0; SEEN],
            novel: 0,
            due: false,
        }
    }

    /// The strand did something others can see.
    #[inline]
    pub fn clear(&mut self) {
        if self.used != 0 {
            if self.limit != REPEATS {
                self.outlasts();
            }
            self.forget();
        }
    }

    /// The strand had been let go on because nothing else could; it may have left its loop by itself.
    #[cold]
    fn outlasts(&self) {
        if self.total > REPEATS && !self.changed() {
            left(self);
        }
    }

    fn forget(&mut self) {
        if self.used != 0 {
            self.used = 0;
            self.closely = false;
            self.limit = REPEATS;
            self.due = false;
            self.alone = Purpose::None;
        }
    }

    /// Whether nobody else is to go on.
    pub fn is_alone(&self) -> bool {
        self.alone != Purpose::None
    }

    /// Whether it goes on alone to learn of its loop, one way or the other.
    pub fn learns(&self) -> bool {
        matches!(self.alone, Purpose::Learn | Purpose::LearnAgain | Purpose::LastTry)
    }

    /// The places of the loop.
    fn looped(&self) -> impl Iterator<Item = &Place> {
        self.places[..self.used as usize].iter().filter(|place| place.again)
    }

    /// Stands for the loop.
    fn key(&self) -> u64 {
        self.looped().fold(0, |sum, place| sum.wrapping_add(place.key))
    }

    /// How often it has looked, on the mean of its places.
    fn rounds(&self) -> u32 {
        self.total / self.looped().count().max(1) as u32
    }

    /// Whether an operation is one of the loop's, or none that others can see.
    fn has(&self, op: &Op) -> bool {
        matches!(op.kind, OpKind::Yield | OpKind::Fence)
            || self.looped().any(|place| place.pc == op.pc && place.addr == op.addr)
    }

    /// What has been counted begins anew.
    fn restart(&mut self) {
        (self.repeats, self.total, self.same, self.sample) = (0, 0, 0, 0);
    }

    /// Something new was found. Places that are not looked at again from now on are those of a loop that was left.
    fn progress(&mut self) {
        self.restart();
        self.places[..self.used as usize].iter_mut().for_each(|place| place.again = false);
    }

    #[inline]
    fn forget_seen(&mut self) {
        if self.novel != 0 {
            self.seen = [0; SEEN];
            self.novel = 0;
        }
    }

    fn changed(&self) -> bool {
        self.looped().any(|place| load(place.addr, place.size) != place.value)
    }
}

impl Default for SpinTrack {
    fn default() -> Self {
        Self::new()
    }
}

/// What is in memory there.
pub fn load(addr: u64, size: u8) -> u64 {
    // SAFETY: the program loaded this place a moment ago, at this size, or a strand stands before an access to it; if it is not
    // mapped (any more), the fault is the program's: it spins on freed memory, or is about to access it.
    unsafe {
        match size {
            1 => (addr as *const u8).read_volatile() as u64,
            2 => (addr as *const u16).read_unaligned() as u64,
            4 => (addr as *const u32).read_unaligned() as u64,
            _ => (addr as *const u64).read_unaligned(),
        }
    }
}

/// Whether the running strand has loaded what others may change, nothing has come of it yet, and what it does meanwhile matters.
#[inline(always)]
pub fn is_looking() -> bool {
    sched::this().spin.closely
}

/// The running strand will soon be made to stop.
pub fn looks_closely() {
    let track = &mut sched::this().spin;
    track.closely = track.used != 0;
    again::lapses();
}

/// The running strand touches memory of its own; if that is new, it does not spin.
#[inline]
pub fn touched(pc: u64, addr: u64, size: u32) {
    let track = &mut sched::this().spin;
    if !track.closely || track.is_alone() && track.alone != Purpose::LastTry {
        return;
    }
    let value = if size <= 8 { load(addr, size as u8) } else { 0 };
    let hash = (pc ^ addr.rotate_left(17) ^ value.rotate_left(39)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (word, bit) = ((hash >> 59) as usize % SEEN, 1u64 << (hash >> 53 & 63));
    if track.seen[word] & bit == 0 {
        track.seen[word] |= bit;
        track.novel += 1;
        (track.repeats, track.same) = (0, 0);
        if track.novel > NOVEL_MOST {
            track.forget_seen();
        }
    }
}

/// The running strand loaded `value`; it may turn out to be spinning. `made_to`: it stopped there only because it had made no point for long.
#[inline]
pub fn observe(pc: u64, addr: u64, value: u64, size: u8, made_to: bool) {
    let e = engine();
    if e.strands.len() < 2 || e.follow.active || e.recorded {
        return;
    }
    rounds::finds(pc, addr, value);
    let track = &mut sched::this().spin;
    let place = Place { pc, addr, value, size: size.min(8), again: false, key: 0, context: 0 };
    let used = track.used as usize;
    if used == 0 {
        track.restart();
        track.forget_seen();
        track.seldom = made_to;
    }
    track.seldom &= made_to;
    if track.closely == track.seldom {
        track.closely = !track.seldom;
        again::lapses();
    }
    match track.places[..used].iter().position(|p| p.pc == pc && p.addr == addr) {
        Some(at) if track.places[at].value == value => {
            if !track.places[at].again {
                track.places[at].again = true;
                track.places[at].key = loops::place(pc);
                track.places[at].context = steps::context_here();
            }
            track.repeats += 1;
            track.total += 1;
            let busy = track.total & (REPEATS_BUSY * PLACES as u32 - 1) == 0;
            if track.repeats > track.limit * used as u32 || busy && track.limit == REPEATS {
                track.repeats = 0;
                track.due = true;
                // The last strand's points are not looked at otherwise.
                if e.live < 2 {
                    ATTENTION.fetch_or(attention::SPIN, Ordering::Relaxed);
                }
            }
        }
        Some(at) => {
            track.places[at] = place;
            track.progress();
        }
        None => {
            if used < PLACES {
                track.places[used] = place;
                track.used += 1;
            } else {
                track.places[track.next as usize % PLACES] = place;
                track.next = track.next.wrapping_add(1);
            }
            track.progress();
        }
    }
}

/// The running strand spins and stands before its next operation.
#[cold]
pub fn wait() {
    let mut this = sched::this();
    let tried = this.spin.is_alone();
    if tried && !goes_on_alone(&mut this) {
        return reschedule(Stop::Preempted);
    }
    this.spin.due = false;
    // Before anything else it has left its loop by itself.
    let spins = this.spin.has(&this.op)
        && matches!(
            this.op.kind,
            OpKind::AtomicLoad | OpKind::AtomicCas | OpKind::AtomicRmw | OpKind::Read | OpKind::Yield
        );
    if !spins || this.pinned > 0 || this.spin.changed() || !(tried || waits(&mut this)) {
        return reschedule(Stop::Preempted);
    }
    block(&mut this);
}

/// Whether the strand waits from now on. If not, it goes on, perhaps alone.
fn waits(this: &mut Strand) -> bool {
    let key = this.spin.key();
    let rounds = this.spin.rounds();
    let purpose = if lenient::is_on() {
        // A plan that is followed loosely says how far each strand goes.
        match loops::nature(key) {
            Nature::Endless => return true,
            Nature::Unknown if rounds > loops::TRIED => return true,
            _ => Purpose::None,
        }
    } else if this.spin.limit > REPEATS {
        // Nothing else could go on.
        return true;
    } else {
        match loops::decide(key, rounds) {
            Some(purpose) => purpose,
            None => return true,
        }
    };
    if purpose != Purpose::None {
        (this.spin.alone, this.spin.since) = (purpose, live().events);
        this.spin.due = true;
        ATTENTION.fetch_or(attention::SPIN, Ordering::Relaxed);
    }
    false
}

/// A strand that goes on alone comes to a wait, which is none of its loop's looks: it has left the loop.
#[cold]
pub fn comes_to_wait() {
    let mut this = sched::this();
    if !this.spin.has(&this.op) {
        goes_on_alone(&mut this);
    }
}

/// The strand goes on alone and stands before its next operation. True if it has looked in vain for so long that it waits.
fn goes_on_alone(this: &mut Strand) -> bool {
    let track = &mut this.spin;
    let in_vain = !track.changed();
    if in_vain && track.has(&this.op) {
        let learns = track.alone == Purpose::Learn;
        if learns && live().events - track.since > loops::WORK {
            loops::learn(track.key(), Nature::Work);
            track.forget();
            return false;
        } else if track.rounds() <= loops::most(track.alone) && !is_stuck(track, this.op.pc, this.stack.1) {
            return false;
        } else if learns {
            loops::learn(track.key(), Nature::Endless);
            for place in track.looped() {
                loops::learn_idle(place.pc, place.key);
            }
        }
        track.alone = Purpose::None;
        return true;
    }
    if in_vain {
        left(track);
    }
    track.forget();
    false
}

/// Whether the running strand, in its last try, has come back to the same state so often that it will for ever.
fn is_stuck(track: &mut SpinTrack, pc: u64, stack: usize) -> bool {
    if track.alone != Purpose::LastTry || track.total < track.sample {
        return false;
    }
    // Some of the places may be of a loop before this one. However many are not, it is at the same one again after so many.
    track.sample = track.total + SAMPLE * track.used as u32;
    // Nobody else goes on meanwhile: all that is there is the strand's.
    let local = arch::local::state(stack, |_, word| word) ^ pc;
    track.same = if track.local == local { track.same + 1 } else { 0 };
    track.local = local;
    track.same > SAME
}

/// The strand has left its loop though nothing had changed.
fn left(track: &SpinTrack) {
    let known = loops::nature(track.key());
    let nature = if track.rounds() <= loops::SHORT { Nature::Short } else { Nature::Long };
    loops::learn(track.key(), nature);
    if loops::nature(track.key()) == Nature::Long {
        tell(track);
    } else if known == Nature::Short {
        let pc = track.looped().next().map_or(0, |place| place.pc);
        steps::doubt(Doubt::Rounds, pc);
    }
}

/// Planners are told of a loop that waits, or is taken to. A short one has been left to wait by a draw, and makes ordinary steps.
fn tell(track: &SpinTrack) {
    let nature = loops::nature(track.key());
    if !steps::is_on() || nature == Nature::Short {
        return;
    }
    for place in track.looped() {
        let op = Op { size: place.size as u32, ..Op::new(OpKind::AtomicLoad, place.addr, place.pc) };
        steps::spins(op, place.value, place.context, nature == Nature::Long);
    }
}

/// The run is over; a strand that went on alone has come to the end of its loop.
pub fn finish() {
    let track = &sched::this().spin;
    if track.is_alone() && !track.changed() {
        left(track);
    }
}

/// The strand waits before its next load, so that it loads when it goes on.
fn block(this: &mut Strand) {
    let mut e = engine();
    local::note(this);
    this.wait = Wait { key: ObjectId::memory(this.op.addr), acquire: true, ..Wait::NONE };
    tell(&this.spin);
    let current = e.current;
    e.spinners.push(current);
    ATTENTION.fetch_or(attention::SPIN, Ordering::Relaxed);
    lists::set_blocked(this);
    // For a schedule it is a preemption: whoever follows it does not look for spins.
    reschedule(Stop::Preempted);
    strand(me()).wait = Wait::NONE;
}

/// Enables the spinning strands whose memory has changed.
pub fn check() {
    let mut e = engine();
    let mut at = 0;
    while at < e.spinners.len() {
        let mut other = strand(e.spinners[at]);
        if other.spin.changed() {
            e.spinners.remove(at);
            wake(&mut other);
        } else {
            at += 1;
        }
    }
    if e.spinners.is_empty() && !e.hasty && !sched::this().spin.is_alone() {
        ATTENTION.fetch_and(!attention::SPIN, Ordering::Relaxed);
    }
}

fn wake(other: &mut Strand) {
    if other.state() == State::Blocked {
        other.spin.forget();
        lists::set_ready(other);
    }
}

/// Nothing else can go on: lets a spinning strand look again, alone and for long. False when all have looked long enough.
pub fn resume() -> bool {
    let mut e = engine();
    let Some(at) = e.spinners.iter().position(|&id| strand(id).spin.limit < REPEATS_MOST) else {
        return false;
    };
    let mut other = strand(e.spinners.remove(at));
    let track = &mut other.spin;
    track.restart();
    track.limit = REPEATS_MOST;
    (track.alone, track.since, track.due) = (Purpose::LastTry, live().events, true);
    (track.seldom, track.closely) = (false, true);
    arch::local::want(true);
    ATTENTION.fetch_or(attention::SPIN, Ordering::Relaxed);
    if other.state() == State::Blocked {
        lists::set_ready(&mut other);
    }
    true
}

/// Other processes go on: the spinning strands look again.
pub fn look_again() {
    for &id in &engine().spinners {
        strand(id).spin.limit = REPEATS;
    }
}

/// Takes a strand out of the spinners, if it is one (it was woken otherwise).
pub fn forget(id: StrandId) {
    engine().spinners.retain(|&other| other != id);
}
