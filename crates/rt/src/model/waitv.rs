//! `futex_waitv`: waiting on several futex words at once.
//!
//! The strand sleeps on a key of its own, and a wake of any of the words finds it through the list kept here.

use super::futex::{absolute, word_at};
use super::single::Single;
use super::timeout::{CLOCK_MONOTONIC, CLOCK_REALTIME};
use crate::effect::{Effect, effect};
use crate::engine::{self, ObjectClass, ObjectId, Wake};
use crate::raw::Raw;
use crate::sys::errno::*;
use crate::sys::{c_int, timespec};
use alloc::vec::Vec;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// The kernel's `struct futex_waitv`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Waiter {
    value: u64,
    addr: u64,
    flags: u32,
    reserved: u32,
}

impl Waiter {
    fn word(&self) -> ObjectId {
        super::futex::key(self.addr as usize)
    }
}

const FLAG_SIZE_32: u32 = 2;
const FLAG_PRIVATE: u32 = 128;
const WAITERS_MAX: usize = 128;

struct Sleeper {
    strand: StrandId,
    words: Vec<usize>,
    woken: Option<usize>,
}

static SLEEPERS: Single<Vec<Sleeper>> = Single::new(Vec::new());

fn sleepers() -> Raw<Vec<Sleeper>> {
    SLEEPERS.get()
}

fn key(strand: StrandId) -> ObjectId {
    // An odd address, which no futex word has.
    ObjectId::new(ObjectClass::Futex, strand.0 as u64 * 4 + 3)
}

/// Wakes the strand that has waited longest on a list with this word in it.
pub fn wake(addr: usize) -> bool {
    let found = sleepers().iter_mut().filter(|sleeper| sleeper.woken.is_none()).find_map(|sleeper| {
        let at = sleeper.words.iter().position(|word| *word == addr)?;
        sleeper.woken = Some(at);
        Some(sleeper.strand)
    });
    match found {
        Some(strand) => {
            engine::wake_all(key(strand), u32::MAX);
            true
        }
        None => false,
    }
}

/// In a forked child the others do not sleep any more.
pub fn after_fork_child() {
    sleepers().retain(|sleeper| sleeper.strand == engine::me());
}

/// `futex_waitv(waiters, count, flags, timeout, clock)`.
pub fn futex_waitv(waiters: usize, count: usize, flags: u32, timeout: usize, clock: c_int, pc: u64) -> isize {
    match wait(waiters, count, flags, timeout, clock, pc) {
        Ok(index) => index as isize,
        Err(error) => error,
    }
}

fn wait(
    waiters: usize,
    count: usize,
    flags: u32,
    timeout: usize,
    clock: c_int,
    pc: u64,
) -> Result<usize, isize> {
    let invalid = -(EINVAL as isize);
    if flags != 0 || count == 0 || count > WAITERS_MAX || waiters == 0 {
        return Err(invalid);
    }
    let time = timeout as *const timespec;
    if !time.is_null() && clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME {
        return Err(invalid);
    }
    let limit = absolute(clock, time)?;
    // SAFETY: the program passes an array of that many entries.
    let list = unsafe { core::slice::from_raw_parts(waiters as *const Waiter, count) };
    for waiter in list {
        if waiter.reserved != 0 || waiter.flags & !FLAG_PRIVATE != FLAG_SIZE_32 {
            return Err(invalid);
        }
        word_at(waiter.addr as usize)?;
    }
    let op = Op { size: count as u32, ..Op::new(OpKind::FutexWait, list[0].addr, pc) };
    list.iter().for_each(|waiter| effect(Effect::Wait, waiter.word(), pc));
    engine::point(op);
    for waiter in list {
        effect(Effect::Read(4), ObjectId::memory(waiter.addr), pc);
        if word_at(waiter.addr as usize)?.get() != waiter.value as u32 {
            effect(Effect::Waited, waiter.word(), pc);
            return Err(-(EAGAIN as isize));
        }
    }
    let me = engine::me();
    list.iter().for_each(|waiter| effect(Effect::Queue, waiter.word(), pc));
    let words = list.iter().map(|waiter| waiter.addr as usize).collect();
    sleepers().push(Sleeper { strand: me, words, woken: None });
    let wake = engine::sleep_on(op, key(me), limit.deadline(), u32::MAX);
    let at = sleepers().iter().position(|sleeper| sleeper.strand == me);
    let woken = at.and_then(|at| sleepers().remove(at).woken);
    list.iter().for_each(|waiter| effect(Effect::Waited, waiter.word(), pc));
    match (woken, wake) {
        (Some(index), _) => Ok(index),
        (None, Wake::TimedOut) => Err(-(ETIMEDOUT as isize)),
        (None, _) => Err(-(EINTR as isize)),
    }
}
