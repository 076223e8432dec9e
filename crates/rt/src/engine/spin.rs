//! Spinning strands.
//!
//! A strand that loads the same values at the same instructions again and again, without doing anything else that is
//! new, is waiting for memory to change. It is taken out of the enabled set until one of those values differs. When
//! nothing else can go on it is let go on again, each time for longer, because its loop may be bounded by a count that
//! nobody sees; when it has gone on for millions of loads and still nothing has changed, nobody can change it: a
//! livelock.
//!
//! What is new: an access to memory of the strand's own (no point) with an instruction, address or value it did not
//! have a moment ago.

use super::sched::{self, ATTENTION, Stop, attention, engine, reschedule};
use super::strand::{State, Strand};
use super::wait::{Class, Wait, WaitKey};
use super::{lists, me, steps, strand};
use core::sync::atomic::Ordering;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;

const PLACES: usize = 4;
/// Repeated loads that make a spin, for each place in the loop.
const REPEATS: u32 = 6;
/// Loads that a spin is let go on for at the most; if they change nothing either, it is a livelock.
const REPEATS_MOST: u32 = 1 << 20;
/// Words of the set of hashes.
const SEEN: usize = 32;
/// Different accesses after which a loop is taken to be work, not a spin.
const NOVEL_MOST: u32 = 256;

#[derive(Clone, Copy, Debug)]
struct Place {
    pc: u64,
    addr: u64,
    value: u64,
    size: u8,
    /// It has been loaded again: it is part of a loop, not only on the way to it.
    again: bool,
}

/// What a strand has lately loaded without progress.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpinTrack {
    used: u8,
    next: u8,
    /// It spins: it waits at its next point.
    pub due: bool,
    repeats: u32,
    limit: u32,
    novel: u32,
    places: [Place; PLACES],
    /// A set of hashes of accesses made since the last progress.
    seen: [u64; SEEN],
}

impl SpinTrack {
    /// Nothing loaded yet.
    pub const fn new() -> Self {
        SpinTrack {
            places: [Place { pc: 0, addr: 0, value: 0, size: 0, again: false }; PLACES],
            used: 0,
            next: 0,
            repeats: 0,
            limit: REPEATS,
            seen: [0; SEEN],
            novel: 0,
            due: false,
        }
    }

    /// The strand did something others can see.
    #[inline]
    pub fn clear(&mut self) {
        if self.used != 0 {
            self.used = 0;
            self.limit = REPEATS;
            self.due = false;
        }
    }

    #[inline]
    fn forget_seen(&mut self) {
        if self.novel != 0 {
            self.seen = [0; SEEN];
            self.novel = 0;
        }
    }

    fn changed(&self) -> bool {
        self.places[..self.used as usize]
            .iter()
            .any(|place| place.again && load(place.addr, place.size) != place.value)
    }
}

impl Default for SpinTrack {
    fn default() -> Self {
        Self::new()
    }
}

/// What is in memory there.
pub fn load(addr: u64, size: u8) -> u64 {
    // SAFETY: the program loaded this place a moment ago, at this size; if it has unmapped it since, the fault is
    // the program's (it spins on freed memory).
    unsafe {
        match size {
            1 => (addr as *const u8).read_volatile() as u64,
            2 => (addr as *const u16).read_unaligned() as u64,
            4 => (addr as *const u32).read_unaligned() as u64,
            _ => (addr as *const u64).read_unaligned(),
        }
    }
}

/// The running strand touches memory of its own; if that is new, it does not spin.
#[inline]
pub fn touched(pc: u64, addr: u64, size: u32) {
    let track = &mut sched::this().spin;
    if track.used == 0 {
        return;
    }
    let value = if size <= 8 { load(addr, size as u8) } else { 0 };
    let hash = (pc ^ addr.rotate_left(17) ^ value.rotate_left(39)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (word, bit) = ((hash >> 59) as usize % SEEN, 1u64 << (hash >> 53 & 63));
    if track.seen[word] & bit == 0 {
        track.seen[word] |= bit;
        track.novel += 1;
        track.repeats = 0;
        if track.novel > NOVEL_MOST {
            track.clear();
            track.forget_seen();
        }
    }
}

/// The running strand loaded `value`; it may turn out to be spinning.
#[inline]
pub fn observe(pc: u64, addr: u64, value: u64, size: u8) {
    let e = engine();
    if e.live < 2 || e.follow.active || e.recorded {
        return;
    }
    let track = &mut sched::this().spin;
    let place = Place { pc, addr, value, size: size.min(8), again: false };
    let used = track.used as usize;
    if used == 0 {
        track.repeats = 0;
        track.forget_seen();
    }
    match track.places[..used].iter().position(|p| p.pc == pc && p.addr == addr) {
        Some(at) if track.places[at].value == value => {
            track.places[at].again = true;
            track.repeats += 1;
            if track.repeats > track.limit * used as u32 {
                track.repeats = 0;
                track.due = true;
            }
        }
        Some(at) => {
            track.places[at] = place;
            track.repeats = 0;
        }
        None => {
            if used < PLACES {
                track.places[used] = place;
                track.used += 1;
            } else {
                track.places[track.next as usize % PLACES] = place;
                track.next = track.next.wrapping_add(1);
            }
            track.repeats = 0;
        }
    }
}

/// The running strand spins and stands before its next load: it waits there, so that it loads when it goes on.
#[cold]
pub fn wait() {
    let e = engine();
    let this = strand(e.current);
    this.spin.due = false;
    let spins = matches!(
        this.op.kind,
        OpKind::AtomicLoad | OpKind::AtomicCas | OpKind::AtomicRmw | OpKind::Read | OpKind::Yield
    );
    if !spins || this.pinned > 0 || this.spin.changed() {
        reschedule(Stop::Preempted);
        return;
    }
    this.wait = Wait {
        key: WaitKey { class: Class::Memory, addr: this.op.addr as usize },
        acquire: true,
        ..Wait::NONE
    };
    if steps::is_on() {
        for place in this.spin.places[..this.spin.used as usize].iter().filter(|place| place.again) {
            steps::spins(place.pc, place.addr, place.size, place.value);
        }
    }
    e.spinners.push(e.current);
    ATTENTION.fetch_or(attention::SPIN, Ordering::Relaxed);
    lists::set_blocked(this);
    // For a schedule it is a preemption: whoever follows it does not look for spins.
    reschedule(Stop::Preempted);
    strand(me()).wait = Wait::NONE;
}

/// Enables the spinning strands whose memory has changed.
pub fn check() {
    let e = engine();
    let mut at = 0;
    while at < e.spinners.len() {
        let other = strand(e.spinners[at]);
        if other.spin.changed() {
            e.spinners.remove(at);
            wake(other);
        } else {
            at += 1;
        }
    }
    if e.spinners.is_empty() {
        ATTENTION.fetch_and(!attention::SPIN, Ordering::Relaxed);
    }
}

fn wake(other: &mut Strand) {
    if other.state == State::Blocked {
        other.spin.clear();
        lists::set_ready(other);
    }
}

/// Nothing else can go on: lets the spinning strands look again, for longer. False when all have looked long enough.
pub fn resume_all() -> bool {
    let e = engine();
    if e.spinners.iter().all(|&id| strand(id).spin.limit >= REPEATS_MOST) {
        return false;
    }
    while let Some(id) = e.spinners.pop() {
        let other = strand(id);
        let limit = (other.spin.limit * 4).min(REPEATS_MOST);
        wake(other);
        other.spin.limit = limit;
    }
    true
}

/// Takes a strand out of the spinners, if it is one (it was woken otherwise).
pub fn forget(id: StrandId) {
    engine().spinners.retain(|&other| other != id);
}
