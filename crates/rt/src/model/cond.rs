//! Condition variables.
//!
//! The waiters are the engine's sleepers on the variable's address, so nothing but the clock is kept in the
//! `pthread_cond_t`; a waiter that is woken, cancelled or timed out touches the variable no more. Which waiter a
//! signal wakes is a choice. A wait that ends without a wake (a fault) ends as soon as it has begun: the strand still has to take
//! the mutex, and whatever others do before it does is what they could have done before a later end.

use super::cancel;
use super::hook;
use super::mutex::Mutex;
use super::single::Single;
use super::timeout::{CLOCK_MONOTONIC, CLOCK_REALTIME, Limit, clock_error};
use crate::effect::{Effect, effect};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake, faults};
use crate::sys::errno::*;
use crate::sys::{c_int, c_void, timespec};
use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

const WORDS: usize = 12;

fn key(cond: *mut c_void) -> ObjectId {
    ObjectId::new(ObjectClass::Cond, cond as u64)
}

/// Whoever destroys the variable waits here until its waiters are gone.
fn destroy_key(cond: *mut c_void) -> ObjectId {
    ObjectId::new(ObjectClass::Cond, cond as u64 + 1)
}

/// Where glibc keeps the mark of the monotonic clock in a `pthread_cond_t`: word and bit. The place moved between
/// releases, so libc is asked by making one.
fn clock_mark() -> (usize, u32) {
    static FOUND: Single<Option<(usize, u32)>> = Single::new(None);
    if let Some(found) = *FOUND.get() {
        return found;
    }
    let mut attr = [0u64; 8];
    let mut cond = [0u32; WORDS];
    let attr = attr.as_mut_ptr().cast::<c_void>();
    // SAFETY: libc only fills in the attribute and the variable, which are large enough.
    unsafe {
        crate::real!(pthread_condattr_init: fn(*mut c_void) -> c_int)(attr);
        crate::real!(pthread_condattr_setclock: fn(*mut c_void, c_int) -> c_int)(attr, CLOCK_MONOTONIC);
        crate::real!(pthread_cond_init @ "GLIBC_2.3.2": fn(*mut c_void, *const c_void) -> c_int)(
            cond.as_mut_ptr().cast(),
            attr,
        );
    }
    let at = cond.iter().position(|word| *word != 0).unwrap_or(0);
    *FOUND.get().insert((at, cond[at]))
}

fn clock_of(cond: *mut c_void) -> c_int {
    let (at, bit) = clock_mark();
    // SAFETY: the program passes a condition variable, which has WORDS words.
    let word = unsafe { cond.cast::<u32>().add(at).read() };
    if word & bit != 0 { CLOCK_MONOTONIC } else { CLOCK_REALTIME }
}

fn wait(cond: *mut c_void, mutex: *mut c_void, kind: OpKind, limit: Limit, pc: u64) -> c_int {
    let op = Op::new(kind, cond as u64, pc);
    engine::point(op);
    cancel::check();
    // SAFETY: the program passes a mutex.
    let mutex = unsafe { Mutex::at(mutex) };
    let released = mutex.release();
    if released != 0 {
        return released;
    }
    effect(Effect::Change, key(cond), pc);
    let wake = match faults::happens(Fault::Wake, pc) {
        true => Wake::Go,
        false => engine::sleep_on(op, key(cond), limit.deadline(), u32::MAX),
    };
    if !matches!(wake, Wake::Go) {
        engine::notify(destroy_key(cond));
    }
    let locked = mutex.acquire(OpKind::MutexLock, Limit::Never, pc);
    match wake {
        Wake::Go => locked,
        Wake::TimedOut if locked == 0 => ETIMEDOUT,
        Wake::TimedOut => locked,
        // POSIX lets a handler's return end the wait like a wake.
        Wake::Interrupted => {
            cancel::check();
            locked
        }
    }
}

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    pthread_cond_wait @ "GLIBC_2.3.2" / 2 is CondWait => on_wait(cond: *mut c_void, mutex: *mut c_void; pc) -> c_int {
        wait(cond, mutex, OpKind::CondWait, Limit::Never, pc)
    }
}

hook! {
    /// As `pthread_cond_wait`.
    pthread_cond_timedwait @ "GLIBC_2.3.2" / 3 is CondTimedWait timed => on_timedwait(cond: *mut c_void, mutex: *mut c_void, time: *const timespec; pc) -> c_int {
        match Limit::checked(clock_of(cond), time) {
            Ok(limit) => wait(cond, mutex, OpKind::CondTimedWait, limit, pc),
            Err(error) => error,
        }
    }
}

hook! {
    /// As `pthread_cond_wait`.
    pthread_cond_clockwait / 4 is CondTimedWait timed => on_clockwait(cond: *mut c_void, mutex: *mut c_void, clock: c_int, time: *const timespec; pc) -> c_int {
        if let Some(error) = clock_error(clock) {
            return error;
        }
        match Limit::checked(clock, time) {
            Ok(limit) => wait(cond, mutex, OpKind::CondTimedWait, limit, pc),
            Err(error) => error,
        }
    }
}

hook! {
    /// As `pthread_cond_wait`.
    pthread_cond_signal @ "GLIBC_2.3.2" / 1 is CondSignal => on_signal(cond: *mut c_void; pc) -> c_int {
        engine::point(Op::new(OpKind::CondSignal, cond as u64, pc));
        effect(Effect::Change, key(cond), pc);
        let woken = engine::wake_one(key(cond), u32::MAX);
        effect(Effect::Woke(woken.is_some() as usize), key(cond), pc);
        engine::notify(destroy_key(cond));
        0
    }
}

hook! {
    /// As `pthread_cond_wait`.
    pthread_cond_broadcast @ "GLIBC_2.3.2" / 1 is CondBroadcast => on_broadcast(cond: *mut c_void; pc) -> c_int {
        engine::point(Op::new(OpKind::CondBroadcast, cond as u64, pc));
        effect(Effect::Change, key(cond), pc);
        let woken = engine::wake_all(key(cond), u32::MAX);
        effect(Effect::Woke(woken), key(cond), pc);
        engine::notify(destroy_key(cond));
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_cond_init @ "GLIBC_2.3.2" / 2 => on_init(cond: *mut c_void, attr: *const c_void; pc) -> c_int {
        super::makes(key(cond), pc);
        // SAFETY: libc only fills the variable in.
        unsafe { crate::real!(pthread_cond_init @ "GLIBC_2.3.2": fn(*mut c_void, *const c_void) -> c_int)(cond, attr) }
    }
}

hook! {
    /// Waits, as glibc does, until no strand waits on the variable.
    pthread_cond_destroy @ "GLIBC_2.3.2" / 1 => on_destroy(cond: *mut c_void; pc) -> c_int {
        super::destroys(key(cond), pc);
        while engine::waiting(key(cond)) != 0 {
            let op = Op::new(OpKind::CondBroadcast, cond as u64, pc);
            engine::acquire(op, destroy_key(cond), None, &mut || {
                if engine::waiting(key(cond)) == 0 { Ready::Yes } else { Ready::No(StrandId::NONE) }
            });
        }
        effect(Effect::Destroyed, key(cond), pc);
        0
    }
}
