//! Noise where tasks are open: see `threadbare_strategy::guided` for how likely, and `cover` for what tasks are.
//!
//! | guidance | a task is open |
//! |---|---|
//! | `model1` | the function was not interrupted |
//! | `model2` | a function that another strand is in has not met this one, or others have not met it |
//! | `history` | either, when the strand's stretch without noise is over |
//!
//! Where no task of the program is left, noise is made by chance: there is nothing to guide it, and it still finds failures.

use super::thread::Thread;
use super::{cover, functions, noise};
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use threadbare_abi::noise::{Guidance, Noise};
use threadbare_abi::tasks::marks;
use threadbare_strategy::guided::{self, Open};
use threadbare_strategy::rng::mix;

const TASKS: usize = 1 << 12;
/// How often noise was made for a task in this run.
static TRIES: [AtomicU16; TASKS] = [const { AtomicU16::new(0) }; TASKS];
/// Whether any task was open when the run began.
static ANY_OPEN: AtomicBool = AtomicBool::new(false);
/// How far strands come.
static REACH: AtomicU64 = AtomicU64::new(0);
/// By what noise is less likely where a place is hot, and one of how many of its passes is looked at.
const HOT: u64 = 256;
const SELDOM: u64 = 16;
/// One of how many functions is taken.
const TAKEN: u64 = 4;
/// More than any usual rank.
const BEHIND: u32 = 16;
/// Other strands that are looked at.
const OTHERS: usize = 8;

/// A run is about to begin (in the fork server). `reach`: events that a strand of earlier runs had at the most; 0 if unknown.
pub fn begin(guidance: Guidance, reach: u64) {
    let Some(table) = functions::table() else { return };
    let open = match guidance {
        Guidance::Random => false,
        // Before the first run nothing is known.
        _ if table.count.load(Ordering::Relaxed) == 0 => true,
        Guidance::Interrupted => functions::any_function_open(table),
        Guidance::Pairs => functions::any_pair_open(table),
        Guidance::History => functions::any_function_open(table) || functions::any_pair_open(table),
    };
    ANY_OPEN.store(open, Ordering::Relaxed);
    REACH.store(reach, Ordering::Relaxed);
}

/// How likely noise is at this event; `usual` by chance alone, which falls with the passes of a place.
pub fn likely(me: &mut Thread, noise: &Noise, usual: u64, random: u64) -> u64 {
    if noise.guidance == Guidance::Random || !cover::on() {
        return usual;
    }
    if noise.guidance == Guidance::History {
        if !me.cover.drawn {
            me.cover.drawn = true;
            me.cover.left = guided::stretch(me.rng.next(), REACH.load(Ordering::Relaxed));
        }
        if me.cover.left > 0 {
            me.cover.left -= 1;
            return 0;
        }
    }
    // A place that was passed very often is looked at seldom: a look takes longer than an event.
    let is_hot = usual < noise.probability / HOT && !random.is_multiple_of(SELDOM);
    if is_hot || !ANY_OPEN.load(Ordering::Relaxed) {
        return usual;
    }
    let (open, task) = look(me, noise.guidance);
    me.cover.tried = task;
    me.cover.behind = matches!(open, Open::Here | Open::Soon);
    guided::likely(open, TRIES[task as usize].load(Ordering::Relaxed) as u64, noise.probability, usual)
}

/// Noise is made where [`likely`] was asked.
pub fn made(me: &mut Thread) {
    let tries = &TRIES[me.cover.tried as usize];
    tries.store(tries.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
    me.cover.drawn = false;
}

/// What is open for the strand, and where its tries are counted.
fn look(me: &Thread, guidance: Guidance) -> (Open, u16) {
    let (Some(table), Some((own, _))) = (functions::table(), cover::own(me)) else {
        return (Open::Nothing, 0);
    };
    let task = |other: u16| mix((own as u64) << 16 | other as u64) as u16 & (TASKS as u16 - 1);
    let alone = task(u16::MAX);
    if guidance != Guidance::Pairs && functions::marks_of(table, own) & marks::INTERRUPTED == 0 {
        return (Open::Here, alone);
    }
    if guidance == Guidance::Interrupted {
        return (Open::Nothing, alone);
    }
    // Of the functions that are to meet others, each run takes some: where all were stopped, none would get far.
    let is_taken = |salt: u64| mix(noise::seed() ^ (own as u64) << 2 ^ salt).is_multiple_of(TAKEN);
    let mut next = false;
    for other in cover::others(me).take(OTHERS) {
        if functions::is_open(table, own, other) {
            return (Open::Here, task(other));
        }
        next = next || functions::begins_open(table, other);
    }
    if is_taken(0) && functions::begins_open(table, own) {
        return (Open::Soon, alone);
    }
    if is_taken(1) && functions::ends_open(table, own) {
        return (Open::Wanted, task(u16::MAX - 1));
    }
    (if next { Open::Next } else { Open::Nothing }, alone)
}

/// When a strand that sleeps by noise is let go, compared with others: one that is to be interrupted after the others.
pub fn rank(me: &Thread, usual: u32) -> u32 {
    if me.cover.behind { usual + BEHIND } else { usual }
}
