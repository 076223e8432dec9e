//! The noise maker: at an event it does nothing, or delays the strand.
//!
//! How likely noise is falls with the number of times a place was passed, so that code that runs rarely is disturbed often and
//! a hot loop is not slowed down without end. What is drawn depends on the run's seed, the strand's place in the creation
//! tree and how often it drew; the strands' timing, and so the run, is the kernel's.

use super::thread::Thread;
use crate::sys::{c_int, nr, syscall3, timespec};
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use threadbare_abi::noise::{ALWAYS, Noise, NoiseKind, flags};
use threadbare_strategy::rng::mix;

/// Passes of a place after which noise there is half as likely.
const HALF: u64 = 48;
/// The least of the probability that stays, as a shift.
const FLOOR: u32 = 9;
/// The shortest and the longest usual sleep, in nanoseconds.
const SHORTEST: u64 = 20_000;
const LONGEST: u64 = 1_500_000;
/// Sleeps of one strand that may be long, before all are short.
const SPIN_SHARE: u64 = 8;
const PLACES: usize = 1 << 14;

static mut NOISE: Noise = Noise::OFF;
static SEED: AtomicU64 = AtomicU64::new(0);
/// Whether noise is made at this time.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// How often each place was passed.
static PASSED: [AtomicU16; PLACES] = [const { AtomicU16::new(0) }; PLACES];

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
    if wanted().kind != NoiseKind::None {
        ACTIVE.fetch_xor(true, Ordering::Relaxed);
    }
}

/// What all draws of the run depend on.
pub fn seed() -> u64 {
    SEED.load(Ordering::Relaxed)
}

/// Monotonic time in nanoseconds.
pub fn now() -> u64 {
    let mut time = timespec::default();
    // SAFETY: libc's own function, which reads a clock.
    unsafe { crate::real!(clock_gettime: fn(c_int, *mut timespec) -> c_int)(1, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Maybe noise, before or after an event at `place`.
#[inline]
pub fn maybe(me: &mut Thread, place: u64) {
    if ACTIVE.load(Ordering::Relaxed) {
        draw(me, place);
    }
}

#[cold]
#[inline(never)]
fn draw(me: &mut Thread, place: u64) {
    let noise = wanted();
    let passed = &PASSED[(mix(place) as usize) & (PLACES - 1)];
    let times = passed.load(Ordering::Relaxed);
    passed.store(times.saturating_add(1), Ordering::Relaxed);
    let likely =
        (noise.probability * HALF / (HALF + times as u64)).max(noise.probability >> FLOOR).min(ALWAYS);
    let random = me.rng.next();
    if random & (ALWAYS - 1) >= likely {
        return;
    }
    make(me, &noise, random >> 16);
}

fn make(me: &mut Thread, noise: &Noise, random: u64) {
    let began = now();
    if noise.share < 1000 {
        let lived = began.saturating_sub(me.born_ns).max(1_000_000);
        if me.noise_ns * 1000 > lived * noise.share {
            return;
        }
    }
    let kind = match noise.kind {
        NoiseKind::Mixed => match random % 16 {
            0..10 => NoiseKind::Sleep,
            10..12 => NoiseKind::Yield,
            12..15 => NoiseKind::Spin,
            _ => NoiseKind::Priority,
        },
        kind => kind,
    };
    let random = random >> 4;
    match kind {
        NoiseKind::Sleep => sleep(length(random, noise.strength)),
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
    me.noise_ns += now().saturating_sub(began);
}

/// A time between the shortest and the longest, each order of magnitude as likely as the others.
fn length(random: u64, strength: u64) -> u64 {
    let doublings = (LONGEST / SHORTEST).ilog2() as u64 + 1;
    let base = SHORTEST << (random % doublings);
    (base + (random >> 8) % base) * strength / 1000
}

fn sleep(ns: u64) {
    let time = timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    // SAFETY: the struct outlives the call; a signal ends the sleep, which is as good.
    unsafe { syscall3(nr::NANOSLEEP, &raw const time as usize, 0, 0) };
}

fn spin(ns: u64) {
    let end = now() + ns;
    while now() < end {
        core::hint::spin_loop();
    }
}

/// Lowers the strand's priority, or puts it back where the system allows that.
fn priority(me: &mut Thread) {
    const SETPRIORITY: i64 = 141;
    const PRIO_PROCESS: usize = 0;
    const SCHED_SETSCHEDULER: i64 = 144;
    const SCHED_OTHER: usize = 0;
    const SCHED_IDLE: usize = 5;
    let zero = 0i32;
    // SAFETY: concerns this thread's own scheduling only.
    unsafe {
        if me.lowered {
            if syscall3(SETPRIORITY, PRIO_PROCESS, 0, 0) < 0 {
                syscall3(SCHED_SETSCHEDULER, 0, SCHED_OTHER, &raw const zero as usize);
            }
            me.lowered = false;
        } else {
            if syscall3(SETPRIORITY, PRIO_PROCESS, 0, 19) < 0 {
                syscall3(SCHED_SETSCHEDULER, 0, SCHED_IDLE, &raw const zero as usize);
            }
            me.lowered = true;
            syscall3(nr::SCHED_YIELD, 0, 0, 0);
        }
    }
}
