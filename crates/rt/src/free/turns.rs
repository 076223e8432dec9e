//! Sleeps by noise: who sleeps, and whose turn it is to go on.
//!
//! A sleep ends at its time at the latest, and before that when no other strand is at work: a time alone says nothing about
//! what the others did meanwhile, least of all on a loaded machine. A strand that polls is not at work either, once it has
//! looked after this one fell asleep. Of several sleepers one is let go: the lowest rank first; among these one of those that are
//! about to touch the same object, where the order decides something; among these the one that went first there less often;
//! among these it is chance.

use super::noise::now;
use super::past;
use super::thread::{self, Thread};
use crate::sys::{nr, syscall3, timespec};
use core::sync::atomic::{AtomicU64, Ordering};
use threadbare_abi::op::OpKind;

/// How long a sleeping strand does not look what the others do, in nanoseconds.
const NAP: u64 = 20_000;
/// Strands up to which objects are compared.
const COMPARED: usize = 64;

/// Sleeps of the run so far.
static EPOCH: AtomicU64 = AtomicU64::new(0);

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
}

const ASLEEP: u64 = 1 << 63;
const RANK_SHIFT: u32 = 32;

impl Turn {
    fn asleep(&self) -> Option<u64> {
        Some(self.key.load(Ordering::Relaxed)).filter(|&key| key != 0)
    }
}

/// The strand polls: it has looked once more.
pub fn polls(me: &mut Thread) {
    me.turn.polled.store(me.past.epoch, Ordering::Relaxed);
    me.past.epoch = EPOCH.load(Ordering::Relaxed);
}

/// The strand does something else.
pub fn works(me: &mut Thread) {
    me.turn.polled.store(0, Ordering::Relaxed);
    me.past.epoch = 0;
}

/// Sleeps before this operation on an object until it is the strand's turn, or that late.
pub fn sleep(me: &Thread, op: OpKind, addr: u64, rank: u32, random: u32, end: u64) {
    let object = if addr == 0 { 0 } else { addr >> 3 << 1 | past::changes(op) as u64 };
    me.turn.object.store(object, Ordering::Relaxed);
    me.turn.key.store(ASLEEP | (rank as u64) << RANK_SHIFT | random as u64, Ordering::Relaxed);
    let epoch = EPOCH.fetch_add(1, Ordering::Relaxed) + 1;
    loop {
        let left = end.saturating_sub(now());
        if left == 0 {
            break;
        }
        nap(left.min(NAP));
        if is_next(me, epoch) {
            if is_met(me) {
                me.turn.led.fetch_add(1, Ordering::Relaxed);
            }
            break;
        }
    }
    me.turn.key.store(0, Ordering::Relaxed);
}

/// Whether no other strand is at work, and none that sleeps comes before this one.
fn is_next(me: &Thread, epoch: u64) -> bool {
    let mine = place(me);
    thread::all().filter(|other| other.index != me.index).all(|other| {
        let polled = other.turn.polled.load(Ordering::Relaxed);
        other.ended.load(Ordering::Relaxed)
            || other.wait.seq.load(Ordering::Relaxed) & 1 == 1
            || polled >= epoch
            || other.turn.asleep().is_some() && mine < place(other)
    })
}

/// A sleeper's place among the others.
fn place(this: &Thread) -> (u64, bool, u64, u64, u16) {
    let key = this.turn.key.load(Ordering::Relaxed);
    (key >> RANK_SHIFT, !is_met(this), this.turn.led.load(Ordering::Relaxed), key as u32 as u64, this.index)
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

fn nap(ns: u64) {
    let time = timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    // SAFETY: the struct outlives the call; a signal ends the sleep, which is as good.
    unsafe { syscall3(nr::NANOSLEEP, &raw const time as usize, 0, 0) };
}
