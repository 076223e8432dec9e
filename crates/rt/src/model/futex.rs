//! The futex system calls, with the kernel's return values.
//!
//! Waiters are the engine's sleepers on the word's address; private and shared futexes are not told apart, since only
//! strands of this process take part. A priority-inheriting futex hands the word over to the waiter it wakes, as the
//! kernel does. `FUTEX_WAIT_REQUEUE_PI`, its partner and the retired `FUTEX_FD` are `ENOSYS`.

use super::signal::{self, Interruption};
use super::timeout::{CLOCK_MONOTONIC, CLOCK_REALTIME, Limit};
use super::waitv;
use super::word::Word;
use crate::effect::{Effect, Mode, Was, effect};
use crate::engine::unseen::{self, Caller};
use crate::engine::{self, ObjectClass, ObjectId, Wake, faults};
use crate::sys::errno::*;
use crate::sys::{c_int, timespec};
use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

const WAIT: u32 = 0;
const WAKE: u32 = 1;
const REQUEUE: u32 = 3;
const CMP_REQUEUE: u32 = 4;
const WAKE_OP: u32 = 5;
const LOCK_PI: u32 = 6;
const UNLOCK_PI: u32 = 7;
const TRYLOCK_PI: u32 = 8;
const WAIT_BITSET: u32 = 9;
const WAKE_BITSET: u32 = 10;
const LOCK_PI2: u32 = 13;
const COMMAND_MASK: u32 = 127;
const FLAG_CLOCK_REALTIME: u32 = 256;

/// What a strand that parks by Rust's library waits to see changed.
const PARKED: u32 = u32::MAX;
/// What it finds there when it has its token.
const NOTIFIED: u32 = 1;

const TID_MASK: u32 = 0x3fff_ffff;
const OWNER_DIED: u32 = 0x4000_0000;
const WAITERS: u32 = 0x8000_0000;

/// The wait key of a futex word.
pub fn key(addr: usize) -> ObjectId {
    ObjectId::new(ObjectClass::Futex, addr as u64)
}

/// Waiters for a priority-inheriting lock sleep apart from plain waiters of the same word.
fn pi_key(addr: usize) -> ObjectId {
    ObjectId::new(ObjectClass::FutexLock, addr as u64)
}

/// Who holds the priority-inheriting lock that strands wait for at this address.
pub fn holder_of(addr: usize) -> StrandId {
    // SAFETY: a strand waits for it, so it is there.
    let word = unsafe { Word::at(addr) }.get();
    super::identity::strand_of((word & TID_MASK) as i32).unwrap_or(StrandId::NONE)
}

fn error(errno: c_int) -> isize {
    -(errno as isize)
}

/// The word at an address the program gave, or the kernel's error.
pub fn word_at(addr: usize) -> Result<Word, isize> {
    if !addr.is_multiple_of(4) {
        return Err(error(EINVAL));
    }
    if addr == 0 {
        return Err(error(EFAULT));
    }
    // SAFETY: the program passes a futex word.
    Ok(unsafe { Word::at(addr) })
}

/// The deadline a relative time gives.
fn relative(time: *const timespec) -> Result<Limit, isize> {
    match super::time::deadline_relative(time) {
        Ok(u64::MAX) => Ok(Limit::Never),
        Ok(at) => Ok(Limit::At(at)),
        Err(errno) => Err(error(errno)),
    }
}

/// The deadline an absolute time gives.
pub fn absolute(clock: c_int, time: *const timespec) -> Result<Limit, isize> {
    Limit::checked(clock, time).map_err(error)
}

/// `futex(addr, op, val, timeout or val2, addr2, val3)`.
pub fn futex(addr: usize, op: u32, val: u32, timeout: usize, addr2: usize, val3: u32, pc: u64) -> isize {
    match call(addr, op, val, timeout, addr2, val3, pc) {
        Ok(value) => value as isize,
        Err(value) => value,
    }
}

fn call(
    addr: usize,
    op: u32,
    val: u32,
    timeout: usize,
    addr2: usize,
    val3: u32,
    pc: u64,
) -> Result<usize, isize> {
    let command = op & COMMAND_MASK;
    let clock = if op & FLAG_CLOCK_REALTIME != 0 { CLOCK_REALTIME } else { CLOCK_MONOTONIC };
    let time = timeout as *const timespec;
    match command {
        WAIT => wait(addr, val, relative(time)?, u32::MAX, pc),
        WAIT_BITSET => wait(addr, val, absolute(clock, time)?, val3, pc),
        WAKE => wake(addr, val, u32::MAX, pc),
        WAKE_BITSET => wake(addr, val, val3, pc),
        REQUEUE => requeue(addr, val, timeout as u32, addr2, None, pc),
        CMP_REQUEUE => requeue(addr, val, timeout as u32, addr2, Some(val3), pc),
        WAKE_OP => wake_op(addr, val, timeout as u32, addr2, val3, pc),
        LOCK_PI => lock_pi(addr, absolute(CLOCK_REALTIME, time)?, pc),
        LOCK_PI2 => lock_pi(addr, absolute(clock, time)?, pc),
        TRYLOCK_PI => try_lock_pi(addr, pc),
        UNLOCK_PI => unlock_pi(addr, pc),
        _ => {
            engine::event();
            engine::warn_once("a futex operation that is not modelled", pc);
            Err(error(ENOSYS))
        }
    }
}

fn wait(addr: usize, expected: u32, limit: Limit, mask: u32, pc: u64) -> Result<usize, isize> {
    let word = word_at(addr)?;
    if mask == 0 {
        return Err(error(EINVAL));
    }
    let caller = unseen::caller(addr as u64);
    unseen::waits_for(caller.0, true);
    let waited = wait_for(word, caller, expected, limit, mask, pc);
    unseen::waits_for(caller.0, false);
    waited
}

fn wait_for(
    word: Word,
    (caller, called_at): (Caller, Option<u64>),
    expected: u32,
    limit: Limit,
    mask: u32,
    pc: u64,
) -> Result<usize, isize> {
    let addr = word.addr();
    let op = Op { size: 4, ..Op::new(OpKind::FutexWait, addr as u64, pc) };
    // Rust's `park` has written this value itself, and would have found whatever came before.
    effect(Effect::Peek { certain: expected == PARKED }, key(addr), pc);
    effect(Effect::Unseen, key(addr), pc);
    signal::arm();
    loop {
        effect(Effect::Wait, key(addr), pc);
        engine::point(op);
        effect(Effect::Read(4), ObjectId::memory(addr as u64), pc);
        if word.get() != expected {
            effect(Effect::Waited, key(addr), pc);
            return Err(error(EAGAIN));
        }
        if caller != Caller::Lock && faults::happens(Fault::Wake, called_at.unwrap_or(pc)) {
            if caller == Caller::Park && expected == PARKED {
                // `park` itself goes back to waiting unless it finds its token.
                word.set(NOTIFIED);
            }
            engine::sched::progress();
            effect(Effect::Waited, key(addr), pc);
            return Ok(0);
        }
        effect(Effect::Queue, key(addr), pc);
        let wake = engine::sleep_on(op, key(addr), limit.deadline(), mask);
        effect(Effect::Waited, key(addr), pc);
        match wake {
            Wake::Go => return Ok(0),
            Wake::TimedOut => return Err(error(ETIMEDOUT)),
            Wake::Interrupted => match signal::interruption() {
                Interruption::Spurious => {}
                Interruption::Restart if limit == Limit::Never => {}
                _ => return Err(error(EINTR)),
            },
        }
    }
}

/// Wakes up to `count` waiters, at least one as the kernel does, those that wait on several words last.
fn wake_some(addr: usize, count: u32, mask: u32) -> usize {
    let count = count.max(1) as usize;
    let mut woken = 0;
    if count >= engine::waiting(key(addr)) {
        woken = engine::wake_all(key(addr), mask);
    } else {
        while woken < count && engine::wake_one(key(addr), mask).is_some() {
            woken += 1;
        }
    }
    while woken < count && waitv::wake(addr) {
        woken += 1;
    }
    woken
}

fn wake_point(addr: usize, count: u32, pc: u64) {
    // Whoever wakes has changed the word before.
    effect(Effect::Unseen, key(addr), pc);
    effect(Effect::Wake, key(addr), pc);
    engine::point(Op { size: count, ..Op::new(OpKind::FutexWake, addr as u64, pc) });
    effect(Effect::Wakes, key(addr), pc);
}

fn wake(addr: usize, count: u32, mask: u32, pc: u64) -> Result<usize, isize> {
    if mask == 0 || !addr.is_multiple_of(4) {
        return Err(error(EINVAL));
    }
    wake_point(addr, count, pc);
    let woken = wake_some(addr, count, mask);
    effect(Effect::Woke(woken), key(addr), pc);
    Ok(woken)
}

fn requeue(
    addr: usize,
    count: u32,
    limit: u32,
    to: usize,
    expected: Option<u32>,
    pc: u64,
) -> Result<usize, isize> {
    let word = word_at(addr)?;
    word_at(to)?;
    if (count as i32) < 0 || (limit as i32) < 0 {
        return Err(error(EINVAL));
    }
    effect(Effect::Wake, key(to), pc);
    wake_point(addr, count, pc);
    if expected.is_some_and(|expected| word.get() != expected) {
        return Err(error(EAGAIN));
    }
    let woken = if count == 0 { 0 } else { wake_some(addr, count, u32::MAX) };
    Ok(woken + engine::requeue(key(addr), key(to), limit as usize))
}

/// Changes the second word, wakes waiters of the first, and of the second if its old value compares.
fn wake_op(
    addr: usize,
    count: u32,
    count2: u32,
    addr2: usize,
    encoded: u32,
    pc: u64,
) -> Result<usize, isize> {
    word_at(addr)?;
    let word = word_at(addr2)?;
    let sign_extend = |bits: u32| ((bits << 20) as i32 >> 20) as u32;
    let (operation, comparison) = (encoded >> 28, encoded >> 24 & 15);
    let (mut operand, against) = (sign_extend(encoded >> 12 & 0xfff), sign_extend(encoded & 0xfff) as i32);
    if operation & 8 != 0 {
        operand = 1u32.wrapping_shl(operand);
    }
    let change: fn(u32, u32) -> u32 = match operation & 7 {
        0 => |_, new| new,
        1 => u32::wrapping_add,
        2 => |old, bits| old | bits,
        3 => |old, bits| old & !bits,
        4 => |old, bits| old ^ bits,
        _ => return Err(error(ENOSYS)),
    };
    let compare: fn(&i32, &i32) -> bool = match comparison {
        0 => i32::eq,
        1 => i32::ne,
        2 => i32::lt,
        3 => i32::le,
        4 => i32::gt,
        5 => i32::ge,
        _ => return Err(error(ENOSYS)),
    };
    effect(Effect::Wake, key(addr2), pc);
    wake_point(addr, count, pc);
    let old = word.get();
    word.set(change(old, operand));
    let mut woken = wake_some(addr, count, u32::MAX);
    if compare(&(old as i32), &against) {
        woken += wake_some(addr2, count2, u32::MAX);
    }
    Ok(woken)
}

/// What the strand is called in a priority-inheriting futex word.
fn tid(strand: StrandId) -> u32 {
    super::identity::tid_of(strand) as u32
}

fn lock_pi(addr: usize, limit: Limit, pc: u64) -> Result<usize, isize> {
    let word = word_at(addr)?;
    let op = Op { size: 4, ..Op::new(OpKind::FutexWait, addr as u64, pc) };
    engine::point(op);
    effect(Effect::Change, pi_key(addr), pc);
    let mine = tid(engine::me());
    match word.get() & TID_MASK {
        0 => {
            let waiters = if engine::waiting(pi_key(addr)) != 0 { WAITERS } else { 0 };
            word.set(mine | waiters | word.get() & OWNER_DIED);
            effect(Effect::After, pi_key(addr), pc);
            return Ok(0);
        }
        owner if owner == mine => return Err(error(EDEADLK)),
        _ => word.set(word.get() | WAITERS),
    }
    loop {
        match engine::sleep_on(op, pi_key(addr), limit.deadline(), u32::MAX) {
            // Whoever unlocked has written this strand into the word.
            Wake::Go => {
                effect(Effect::After, pi_key(addr), pc);
                return Ok(0);
            }
            Wake::TimedOut => return Err(error(ETIMEDOUT)),
            Wake::Interrupted => {
                if word.get() & TID_MASK == 0 {
                    word.set(mine);
                    effect(Effect::After, pi_key(addr), pc);
                    return Ok(0);
                }
                word.set(word.get() | WAITERS);
            }
        }
    }
}

fn try_lock_pi(addr: usize, pc: u64) -> Result<usize, isize> {
    let word = word_at(addr)?;
    engine::point(Op { size: 4, ..Op::new(OpKind::FutexWait, addr as u64, pc) });
    effect(Effect::Change, pi_key(addr), pc);
    let mine = tid(engine::me());
    match word.get() & TID_MASK {
        0 => {
            word.set(mine | word.get() & (OWNER_DIED | WAITERS));
            effect(Effect::After, pi_key(addr), pc);
            Ok(0)
        }
        owner if owner == mine => Err(error(EDEADLK)),
        _ => Err(error(EAGAIN)),
    }
}

fn unlock_pi(addr: usize, pc: u64) -> Result<usize, isize> {
    let word = word_at(addr)?;
    wake_point(addr, 1, pc);
    if word.get() & TID_MASK != tid(engine::me()) {
        return Err(error(EPERM));
    }
    effect(Effect::Release(Mode::Alone, Was::Open), pi_key(addr), pc);
    match engine::wake_one(pi_key(addr), u32::MAX) {
        Some(next) => {
            let waiters = if engine::waiting(pi_key(addr)) != 0 { WAITERS } else { 0 };
            word.set(tid(next) | waiters);
        }
        None => word.set(0),
    }
    Ok(0)
}
