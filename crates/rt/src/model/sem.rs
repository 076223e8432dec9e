//! POSIX semaphores, unnamed and named.
//!
//! The value is the first word of the `sem_t`, as glibc has it on 64-bit little-endian machines. A named semaphore is
//! libc's own shared mapping with the same model on it: posts by other processes are seen when a strand next tries, but
//! wake nobody.

use super::cancel;
use super::hook;
use super::signal::{self, Interruption};
use super::timeout::{CLOCK_REALTIME, Limit, clock_error};
use super::word::Word;
use crate::effect::{Effect, Mode, Was, effect, here};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake, faults};
use crate::sys::errno::*;
use crate::sys::{c_int, c_void, fail, timespec};
use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

const VALUE_MAX: u32 = i32::MAX as u32;

fn value(sem: *mut c_void) -> Word {
    // SAFETY: the program passes a semaphore, which begins with its value.
    unsafe { Word::at(sem as usize) }
}

fn key(sem: *mut c_void) -> ObjectId {
    ObjectId::new(ObjectClass::Sem, sem as u64)
}

/// Whether who waits for the semaphore at an address that a strand stands before has to wait.
pub fn is_empty(addr: usize) -> bool {
    value(addr as *mut c_void).get() == 0
}

fn take(sem: *mut c_void) -> c_int {
    value(sem).set(value(sem).get() - 1);
    effect(Effect::Acquire(Mode::Alone), key(sem), here());
    if value(sem).get() == 0 {
        engine::retract(key(sem));
    }
    0
}

fn wait(sem: *mut c_void, limit: Limit, pc: u64) -> c_int {
    let op = Op::new(OpKind::SemWait, sem as u64, pc);
    if let Limit::Malformed(error) = limit {
        engine::point(op);
        return fail(error);
    }
    signal::arm();
    if faults::happens(Fault::Interrupted, pc) {
        engine::point(op);
        return fail(EINTR);
    }
    loop {
        cancel::check();
        let wake = engine::acquire(op, key(sem), limit.deadline(), &mut || {
            if value(sem).get() > 0 { Ready::Yes } else { Ready::No(StrandId::NONE) }
        });
        cancel::check();
        match wake {
            Wake::Go => return take(sem),
            Wake::TimedOut => return fail(ETIMEDOUT),
            Wake::Interrupted => match signal::interruption() {
                Interruption::Spurious => {}
                Interruption::Restart if limit == Limit::Never => {}
                _ => return fail(EINTR),
            },
        }
    }
}

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    sem_wait / 1 is SemWait => on_wait(sem: *mut c_void; pc) -> c_int {
        wait(sem, Limit::Never, pc)
    }
}

hook! {
    /// As `sem_wait`.
    sem_timedwait / 2 is SemWait timed => on_timedwait(sem: *mut c_void, time: *const timespec; pc) -> c_int {
        wait(sem, Limit::absolute(CLOCK_REALTIME, time), pc)
    }
}

hook! {
    /// As `sem_wait`.
    sem_clockwait / 3 is SemWait timed => on_clockwait(sem: *mut c_void, clock: c_int, time: *const timespec; pc) -> c_int {
        match clock_error(clock) {
            Some(error) => fail(error),
            None => wait(sem, Limit::absolute(clock, time), pc),
        }
    }
}

hook! {
    /// As `sem_wait`.
    sem_trywait / 1 is SemTryWait => on_trywait(sem: *mut c_void; pc) -> c_int {
        engine::point(Op::new(OpKind::SemTryWait, sem as u64, pc));
        if value(sem).get() > 0 {
            return take(sem);
        }
        effect(Effect::Look, key(sem), pc);
        fail(EAGAIN)
    }
}

hook! {
    /// Safe before init, in a signal handler and after fork.
    sem_post / 1 is SemPost => on_post(sem: *mut c_void; pc) -> c_int {
        engine::point(Op::new(OpKind::SemPost, sem as u64, pc));
        let old = value(sem).get();
        if old >= VALUE_MAX {
            return fail(EOVERFLOW);
        }
        let was = if old == 0 { Was::Shut } else { Was::Open };
        effect(Effect::Release(Mode::Alone, was), key(sem), pc);
        value(sem).set(old + 1);
        engine::notify(key(sem));
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    sem_getvalue / 2 => on_getvalue(sem: *mut c_void, out: *mut c_int; pc) -> c_int {
        engine::point(Op::new(OpKind::SemTryWait, sem as u64, pc));
        effect(Effect::Look, key(sem), pc);
        // SAFETY: the program passes a place for the value.
        unsafe { out.write(value(sem).get() as c_int) };
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    sem_init / 3 => on_init(sem: *mut c_void, shared: c_int, count: u32; pc) -> c_int {
        super::makes(key(sem), pc);
        if is_empty(sem as usize) {
            effect(Effect::FoundShut, key(sem), pc);
        }
        // SAFETY: libc only fills the semaphore in.
        let result = unsafe { crate::real!(sem_init: fn(*mut c_void, c_int, u32) -> c_int)(sem, shared, count) };
        // Somebody may stand before it from before.
        if is_empty(sem as usize) { engine::retract(key(sem)) } else { engine::notify(key(sem)) }
        result
    }
}

hook! {
    /// Safe before init and after fork (libc's). Does nothing, as in glibc.
    sem_destroy / 1 => on_destroy(sem: *mut c_void; pc) -> c_int {
        super::destroys(key(sem), pc);
        if is_empty(sem as usize) {
            effect(Effect::FoundShut, key(sem), pc);
        }
        effect(Effect::Destroyed, key(sem), pc);
        0
    }
}
