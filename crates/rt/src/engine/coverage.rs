//! What a run covered: its class, and pairs of places for the driver; see `threadbare-strategy`'s `classes`.
//!
//! A step is told where it is made, not where it is published: an attempt that has to wait is no step.

use super::live::live;
use super::sched::{Stop, engine, this};
use super::strand::{State, Strand};
use super::{ObjectClass, ObjectId, StrandId, loops, memory, shared};
use crate::arch;
use crate::raw::Raw;
use core::sync::atomic::Ordering;
use threadbare_abi::layout::{TOLD, TOLD_CAPACITY};
use threadbare_strategy::classes::table::{Entry, Memory, memory_key, sync_key};
use threadbare_strategy::classes::told::{RECORD_WORDS, read_record, record};
use threadbare_strategy::classes::{Moment, Pair, Tracker};
use threadbare_strategy::rng::mix;

/// 1 from the second strand on, if coverage is told.
static mut ON: u8 = 0;
static mut WANTED: bool = false;
static mut TRACKER: Tracker = Tracker::new();
/// Places that a run has room for without asking the kernel.
const FEW: usize = 256;
/// The most it has room for.
const MOST: usize = 1 << 20;
/// Words of the set of what was told, at first.
const TOLD_FEW: usize = 1 << 12;
/// Larger accesses count for so many of their bytes.
const LONGEST: u64 = 1 << 16;

fn tracker() -> Raw<Tracker> {
    // SAFETY: single kernel thread.
    unsafe { Raw::new(&raw mut TRACKER) }
}

/// Zeroed memory for so many values of integers, the caller's for good.
fn zeroed<'a, T>(count: usize) -> &'a mut [T] {
    let base = memory::reserve(count * size_of::<T>()) as *mut T;
    // SAFETY: reserved just now, of this size, aligned to a page, nobody else's; zero is valid for integers.
    unsafe { core::slice::from_raw_parts_mut(base, count) }
}

/// There are more places than are close at hand.
static mut LARGE: bool = false;

fn more(places: usize) -> Option<Memory> {
    // SAFETY: single kernel thread.
    unsafe { LARGE = true }
    (places <= MOST).then(|| (zeroed(places), zeroed::<Entry>(places)))
}

/// Reserves memory in the fork server, so that the children need no system call for it.
pub fn init() {
    // Close together: a small program's places then lie in one page with their buckets.
    let base = memory::reserve(FEW * (size_of::<u32>() + size_of::<Entry>()));
    // SAFETY: reserved just now, of this size, aligned to a page, nobody else's; zero is valid for integers, and the places
    // begin at a multiple of 8.
    let memory = unsafe {
        let entries = base + FEW * size_of::<u32>();
        (
            core::slice::from_raw_parts_mut(base as *mut u32, FEW),
            core::slice::from_raw_parts_mut(entries as *mut Entry, FEW),
        )
    };
    tracker().table.furnish(memory, more);
    furnish_told(TOLD_FEW);
}

fn furnish_told(words: usize) {
    let slots: &mut [u64] = zeroed(words);
    // Pages that were read here need not be mapped again in every run.
    for page in (0..words).step_by(512) {
        core::hint::black_box(slots[page]);
    }
    tracker().told.furnish(slots);
}

static mut TOLD_LOADED: usize = 0;

fn list() -> Option<Raw<[[u64; RECORD_WORDS]; TOLD_CAPACITY]>> {
    // SAFETY: the area holds this many records; the driver does not touch it during a run.
    shared::area(TOLD).map(|base| unsafe { Raw::new(base.cast()) })
}

/// Takes over what the driver knows (in the fork server, so that every child has it).
pub fn load_told(count: u64) {
    live().told = count;
    let Some(list) = list() else { return };
    let count = (count as usize).min(TOLD_CAPACITY);
    // SAFETY: single kernel thread.
    let loaded = unsafe { &mut *(&raw mut TOLD_LOADED) };
    while *loaded < count {
        let told = &mut tracker().told;
        if told.is_crowded() {
            furnish_told(tracker().told.room() * 4);
        }
        if let Some((kind, one, other)) = read_record(list[*loaded]) {
            tracker().told.is_new(kind, one, other);
        }
        *loaded += 1;
    }
}

/// The run begins.
pub fn begin(wanted: bool) {
    // SAFETY: single kernel thread.
    unsafe { WANTED = wanted }
    if wanted {
        for index in 0..engine().strands.len() {
            let other = super::strand(super::StrandId(index as u16));
            live().class = live().class.wrapping_add(other.track.view());
        }
    }
}

/// Strands can meet from now on, or not any more: see `race::set_on`.
pub fn set_on(on: bool) {
    // SAFETY: single kernel thread.
    unsafe { ON = (on && WANTED) as u8 }
}

/// Whether steps are followed right now.
#[inline(always)]
pub fn is_on() -> bool {
    // SAFETY: single kernel thread.
    unsafe { ON != 0 }
}

#[cold]
#[inline(never)]
fn tell(pair: Pair) {
    let mut counters = live();
    let at = counters.told as usize;
    if let Some(mut list) = list()
        && let Some(place) = list.get_mut(at)
    {
        *place = record(pair.0, pair.1, pair.2);
        // The driver may look when the run was killed.
        core::sync::atomic::fence(Ordering::Release);
        counters.told += 1;
    }
}

#[inline(always)]
fn step(key: u64, write: bool, pc: u64) {
    let mut this = this();
    let mut counters = live();
    let waits = || loops::is_idle(pc);
    let now = Moment { events: counters.events, pc };
    let delta = tracker().step(&mut this.track, now, key, write, waits, tell);
    counters.class = counters.class.wrapping_add(delta);
}

/// The running strand is about to come to a point before an access, which will be a step. What is known of it may be far away in memory, and is asked
/// for now: until then somebody is chosen.
#[inline(always)]
pub fn comes(addr: u64, size: u32) {
    // SAFETY: single kernel thread.
    if unsafe { LARGE }
        && is_on()
        && let Some(entry) = tracker().table.soon(memory_key(addr, size))
    {
        arch::prefetch(entry);
    }
}

/// A read that is a step.
#[inline(never)]
pub fn read(addr: u64, size: u32, pc: u64) {
    if (addr & 7) as u32 + size <= 8 {
        step(memory_key(addr, size), false, pc);
    } else {
        long_access(addr, size, false, pc);
    }
}

/// A write that is a step.
#[inline(never)]
pub fn write(addr: u64, size: u32, pc: u64) {
    if (addr & 7) as u32 + size <= 8 {
        step(memory_key(addr, size), true, pc);
    } else {
        long_access(addr, size, true, pc);
    }
}

#[cold]
#[inline(never)]
fn long_access(addr: u64, size: u32, write: bool, pc: u64) {
    let end = addr + (size as u64).min(LONGEST);
    let mut at = addr;
    while at < end {
        let stop = ((at | 7) + 1).min(end);
        step(memory_key(at, (stop - at) as u32), write, pc);
        at = stop;
    }
}

/// An atomic access; a read if it has changed nothing.
#[inline(always)]
pub fn atomic(addr: u64, size: u8, write: bool, pc: u64) {
    if is_on() {
        if write { self::write(addr, size as u32, pc) } else { read(addr, size as u32, pc) }
    }
}

/// A block is freed, as a step: a write to all of it that others touch.
pub fn freed(addr: u64, pc: u64) {
    if is_on() {
        write(addr, 8, pc);
    }
}

/// Memory is given anew.
#[inline]
pub fn forget(addr: u64, size: u64) {
    if is_on() && size != 0 {
        tracker().table.forget(addr, size);
    }
}

/// The place of an object. Input, output and signals are one, as the world outside is.
#[inline(always)]
fn place(object: ObjectId) -> u64 {
    match object.class {
        ObjectClass::Io | ObjectClass::Signal => sync_key(ObjectId::DESCRIPTORS),
        _ => sync_key(object),
    }
}

/// An object is changed: in what order that happens matters.
#[inline(always)]
pub fn changes(object: ObjectId, pc: u64) {
    if is_on() {
        changed(place(object), pc);
    }
}

#[inline(never)]
fn changed(place: u64, pc: u64) {
    step(place, true, pc);
}

/// An object is looked at, or shared with others.
#[inline(always)]
pub fn looks(object: ObjectId, pc: u64) {
    if is_on() {
        looked(place(object), pc);
    }
}

#[inline(never)]
fn looked(place: u64, pc: u64) {
    step(place, false, pc);
}

/// The process ends: what every other strand has done is part of the run.
pub fn process_ends() {
    // SAFETY: single kernel thread.
    if !unsafe { WANTED } {
        return;
    }
    let me = super::me();
    let mut by = 0u64;
    for index in 0..engine().strands.len() {
        let other = super::strand(super::StrandId(index as u16));
        if other.id != me {
            by = by.wrapping_add(other.track.done(other.op.pc));
        }
    }
    let delta = this().track.turns(live().events, by);
    live().class = live().class.wrapping_add(delta);
}

/// The running strand waits for an object that is taken.
#[cold]
pub fn blocked(object: ObjectId) {
    if is_on() {
        tracker().blocked(place(object), this().op.pc, tell);
    }
}

/// A choice that is no strand: it is part of what follows.
pub fn chose(option: u64) {
    if is_on() {
        let delta = this().track.turns(live().events, option.wrapping_add(1));
        live().class = live().class.wrapping_add(delta);
    }
}

/// A choice of the program's own, which is part of what follows also where there is one strand only.
pub fn chose_own(option: u64) {
    // SAFETY: single kernel thread.
    let wanted = unsafe { WANTED };
    if is_on() {
        chose(option);
    } else if wanted {
        live().class = mix(live().class ^ option.wrapping_add(1));
    }
}

/// The running strand wakes another.
pub fn woke(other: &mut Strand) {
    if is_on() {
        let settled = this().track.settle();
        let by = this().track.step(live().events);
        let delta = other.track.turned(by);
        live().class = live().class.wrapping_add(delta).wrapping_add(settled);
    }
}

/// The running strand creates another.
pub fn created(id: StrandId) {
    // SAFETY: single kernel thread.
    if unsafe { WANTED } {
        let mut new = super::strand(id);
        live().class = live().class.wrapping_add(this().track.settle());
        new.track = this().track.child(new.id.0, live().events, new.ordinal);
        live().class = live().class.wrapping_add(new.track.view());
    }
}

/// The run goes on with another strand.
#[inline(always)]
pub fn switches(old: &mut Strand, new: &mut Strand, how: Stop) {
    let events = live().events;
    old.track.stops(events);
    new.track.goes_on(events);
    if is_on() && how as u8 == Stop::Preempted as u8 && old.state() == State::Ready {
        tracker().preempted(events, old.op.pc, tell);
    }
}
