//! pthread mutexes: normal, recursive, error-checking, adaptive, robust, with priority protocols accepted and ignored.
//!
//! glibc's layout is kept. `__lock` is 0 when free; when held its low bits are 1, or the holder for a robust mutex,
//! whose `__owner` tells its consistency instead. `__owner` is the holder's index plus one. The bits above
//! [`HELD_MASK`] hold the priority ceiling and the mark of a dead owner, as in glibc.
//!
//! Differences from glibc: a mutex locked before the run began has a holder no strand can match, so only a normal one
//! can be unlocked.

use super::timeout::{CLOCK_REALTIME, Limit, clock_error};
use super::word::Word;
use super::{cancel, hook};
use crate::effect::{Effect, Mode, Was, effect, here};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake, faults};
use crate::sys::errno::*;
use crate::sys::{c_int, c_void, timespec};
use alloc::vec::Vec;
use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::{MAX_STRANDS, StrandId};

/// What a strand holds.
#[derive(Default)]
pub struct PerStrand {
    /// Robust mutexes that it has taken, oldest first.
    robust: Vec<usize>,
}

const RECURSIVE: u32 = 1;
const ERRORCHECK: u32 = 2;
const TYPE_MASK: u32 = 3;
const ROBUST: u32 = 16;
const PRIO_PROTECT: u32 = 64;
const DESTROYED: u32 = u32::MAX;

/// The part of `__lock` that is 0 if and only if the mutex is free.
const HELD_MASK: u32 = 0x7ffff;
const CEILING_SHIFT: u32 = 19;
const CEILING_MASK: u32 = (0xfff << CEILING_SHIFT) & !OWNER_DIED;
const OWNER_DIED: u32 = 0x4000_0000;

/// Values of a robust mutex's `__owner`.
const INCONSISTENT: u32 = 0x7fff_ffff;
const NOT_RECOVERABLE: u32 = 0x7fff_fffe;

/// A `pthread_mutex_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mutex {
    lock: Word,
    count: Word,
    owner: Word,
    kind: Word,
    addr: usize,
}

impl Mutex {
    /// The mutex at an address.
    ///
    /// # Safety
    /// There is a `pthread_mutex_t` there for as long as the value is used.
    #[inline]
    pub unsafe fn at(mutex: *mut c_void) -> Mutex {
        let addr = mutex as usize;
        // SAFETY: the words lie within the mutex.
        unsafe {
            Mutex {
                lock: Word::at(addr),
                count: Word::at(addr + 4),
                owner: Word::at(addr + 8),
                kind: Word::at(addr + 16),
                addr,
            }
        }
    }

    fn key(self) -> ObjectId {
        ObjectId::new(ObjectClass::Mutex, self.addr as u64)
    }

    fn kind_of(self) -> u32 {
        self.kind.get() & TYPE_MASK
    }

    fn robust(self) -> bool {
        self.kind.get() & ROBUST != 0
    }

    fn held(self) -> bool {
        self.lock.get() & HELD_MASK != 0
    }

    /// Who holds it; `NONE` if nobody does, or nobody we know.
    fn holder(self) -> StrandId {
        let lock = self.lock.get() & HELD_MASK;
        let id = if lock == 0 {
            0
        } else if self.robust() {
            lock
        } else {
            self.owner.get()
        };
        if id == 0 || id as usize > MAX_STRANDS { StrandId::NONE } else { StrandId((id - 1) as u16) }
    }

    fn ready(self) -> Ready {
        if self.held() { Ready::No(self.holder()) } else { Ready::Yes }
    }

    /// Takes a free mutex.
    fn take(self, pc: u64) -> c_int {
        let robust = self.robust();
        if robust && self.owner.get() == NOT_RECOVERABLE {
            return ENOTRECOVERABLE;
        }
        let me = engine::me();
        let id = me.0 as u32 + 1;
        let old = self.lock.get();
        self.lock.set((old & CEILING_MASK) | if robust { id } else { 1 });
        let died = robust && old & OWNER_DIED != 0;
        self.owner.set(if died { INCONSISTENT } else { id });
        self.count.set(1);
        if robust {
            engine::strand(me).model.mutex.robust.push(self.addr);
        }
        engine::retract(self.key());
        effect(Effect::Acquire(Mode::Alone), self.key(), pc);
        if died { EOWNERDEAD } else { 0 }
    }

    /// What locking does for the one who holds it already; `None` if it waits like anybody else.
    fn relock_by_holder(self) -> Option<c_int> {
        match self.kind_of() {
            RECURSIVE => {
                let count = self.count.get();
                if count == u32::MAX {
                    return Some(EAGAIN);
                }
                self.count.set(count + 1);
                Some(0)
            }
            ERRORCHECK => Some(EDEADLK),
            _ => None,
        }
    }

    /// Locks it, waiting if need be.
    pub fn acquire(self, kind: OpKind, limit: Limit, pc: u64) -> c_int {
        let op = Op::new(kind, self.addr as u64, pc);
        let mine = self.holder() == engine::me();
        if self.kind.get() == DESTROYED || mine && self.kind_of() != 0 {
            engine::point(op);
            if self.kind.get() == DESTROYED {
                return EINVAL;
            }
            if let Some(result) = self.relock_by_holder() {
                effect(Effect::Announce, self.key(), pc);
                return result;
            }
        }
        if let Limit::Malformed(error) = limit {
            engine::point(op);
            return if self.held() { error } else { self.take(pc) };
        }
        loop {
            match engine::acquire(op, self.key(), limit.deadline(), &mut || self.ready()) {
                Wake::Go => {
                    if limit == Limit::Never {
                        effect(Effect::Want(Mode::Alone), self.key(), pc);
                    }
                    return self.take(pc);
                }
                Wake::TimedOut => return ETIMEDOUT,
                Wake::Interrupted => cancel::check_asynchronous(),
            }
        }
    }

    /// Unlocks it; the caller has made the point.
    pub fn release(self) -> c_int {
        let me = engine::me();
        let holder = self.holder();
        let robust = self.robust();
        let kind = self.kind_of();
        if (kind == RECURSIVE || kind == ERRORCHECK || robust) && holder != me {
            return EPERM;
        }
        if kind == RECURSIVE {
            let count = self.count.get().wrapping_sub(1);
            self.count.set(count);
            if count != 0 {
                return 0;
            }
        }
        effect(Effect::Release(Mode::Alone, Was::Shut), self.key(), here());
        let lost = robust && self.owner.get() == INCONSISTENT;
        self.owner.set(if lost { NOT_RECOVERABLE } else { 0 });
        self.count.set(0);
        self.lock.set(self.lock.get() & CEILING_MASK);
        if robust {
            engine::strand(me).model.mutex.robust.retain(|&addr| addr != self.addr);
        }
        engine::notify(self.key());
        0
    }
}

/// Who holds the mutex at an address that a strand waits for; `NONE` if nobody does, or nobody we know.
pub fn holder_of(addr: usize) -> StrandId {
    // SAFETY: a strand waits for it, so it is there.
    unsafe { Mutex::at(addr as *mut c_void) }.holder()
}

/// Whether somebody holds the mutex at an address that a strand stands before.
pub fn is_held(addr: usize) -> bool {
    // SAFETY: a strand is about to use it, so it is there.
    unsafe { Mutex::at(addr as *mut c_void) }.held()
}

/// The strand has ended: its robust mutexes have a dead owner, the others stay locked.
pub fn owner_ended(strand: StrandId) {
    for addr in core::mem::take(&mut engine::strand(strand).model.mutex.robust) {
        // SAFETY: POSIX asks that a robust mutex outlives its holder.
        let mutex = unsafe { Mutex::at(addr as *mut c_void) };
        if mutex.holder() == strand {
            effect(Effect::Release(Mode::Alone, Was::Shut), mutex.key(), here());
            let lost = mutex.owner.get() == NOT_RECOVERABLE;
            mutex.lock.set((mutex.lock.get() & CEILING_MASK) | if lost { 0 } else { OWNER_DIED });
            if !lost {
                mutex.owner.set(0);
            }
            mutex.count.set(0);
            engine::notify(mutex.key());
        }
    }
}

fn lock(mutex: *mut c_void, kind: OpKind, limit: Limit, pc: u64) -> c_int {
    // SAFETY: the program passes a mutex.
    unsafe { Mutex::at(mutex) }.acquire(kind, limit, pc)
}

hook! {
    /// Safe before init and after fork (libc's); in a signal handler as POSIX says: not.
    pthread_mutex_lock / 1 is MutexLock => on_lock(mutex: *mut c_void; pc) -> c_int {
        lock(mutex, OpKind::MutexLock, Limit::Never, pc)
    }
}

hook! {
    /// As `pthread_mutex_lock`.
    pthread_mutex_timedlock / 2 is MutexTimedLock timed => on_timedlock(mutex: *mut c_void, time: *const timespec; pc) -> c_int {
        lock(mutex, OpKind::MutexTimedLock, Limit::absolute(CLOCK_REALTIME, time), pc)
    }
}

hook! {
    /// As `pthread_mutex_lock`.
    pthread_mutex_clocklock / 3 is MutexTimedLock timed => on_clocklock(mutex: *mut c_void, clock: c_int, time: *const timespec; pc) -> c_int {
        match clock_error(clock) {
            Some(error) => error,
            None => lock(mutex, OpKind::MutexTimedLock, Limit::absolute(clock, time), pc),
        }
    }
}

hook! {
    /// As `pthread_mutex_lock`.
    pthread_mutex_trylock / 1 is MutexTryLock => on_trylock(mutex: *mut c_void; pc) -> c_int {
        try_lock(mutex, false, pc)
    }
}

/// Takes the mutex if it is free; a weak try may fail all the same.
pub(super) fn try_lock(mutex: *mut c_void, weak: bool, pc: u64) -> c_int {
    engine::sched::point_before_lock(Op::new(OpKind::MutexTryLock, mutex as u64, pc));
    // SAFETY: the program passes a mutex.
    let mutex = unsafe { Mutex::at(mutex) };
    if mutex.kind.get() == DESTROYED {
        return EINVAL;
    }
    if mutex.held() {
        effect(Effect::Look, mutex.key(), pc);
        let mine = mutex.holder() == engine::me();
        return match mutex.kind_of() {
            RECURSIVE if mine => mutex.relock_by_holder().unwrap_or(EBUSY),
            ERRORCHECK if mine && mutex.robust() => EDEADLK,
            _ => EBUSY,
        };
    }
    if weak && faults::happens(Fault::TryLock, pc) {
        effect(Effect::Look, mutex.key(), pc);
        return EBUSY;
    }
    mutex.take(pc)
}

hook! {
    /// As `pthread_mutex_lock`.
    pthread_mutex_unlock / 1 is MutexUnlock => on_unlock(mutex: *mut c_void; pc) -> c_int {
        engine::point(Op::new(OpKind::MutexUnlock, mutex as u64, pc));
        // SAFETY: the program passes a mutex.
        let mutex = unsafe { Mutex::at(mutex) };
        if mutex.kind.get() == DESTROYED {
            return EINVAL;
        }
        mutex.release()
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_mutex_init / 2 => on_init(mutex: *mut c_void, attr: *const c_void; pc) -> c_int {
        super::makes(ObjectId::new(ObjectClass::Mutex, mutex as u64), pc);
        if is_held(mutex as usize) {
            effect(Effect::FoundShut, ObjectId::new(ObjectClass::Mutex, mutex as u64), pc);
        }
        // SAFETY: libc only fills the mutex in.
        let result = unsafe { crate::real!(pthread_mutex_init: fn(*mut c_void, *const c_void) -> c_int)(mutex, attr) };
        // SAFETY: the program passes a mutex.
        engine::notify(unsafe { Mutex::at(mutex) }.key());
        result
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_mutex_destroy / 1 => on_destroy(mutex: *mut c_void; pc) -> c_int {
        // SAFETY: the program passes a mutex.
        let mutex = unsafe { Mutex::at(mutex) };
        super::destroys(mutex.key(), pc);
        if mutex.held() {
            effect(Effect::FoundShut, mutex.key(), pc);
        }
        if mutex.held() && !mutex.robust() {
            return EBUSY;
        }
        effect(Effect::Lose, mutex.key(), pc);
        mutex.kind.set(DESTROYED);
        effect(Effect::Destroyed, mutex.key(), pc);
        0
    }
}

hook! {
    /// As `pthread_mutex_lock`.
    pthread_mutex_consistent / 1 => on_consistent(mutex: *mut c_void; _pc) -> c_int {
        engine::event();
        // SAFETY: the program passes a mutex.
        let mutex = unsafe { Mutex::at(mutex) };
        if !mutex.robust() || mutex.owner.get() != INCONSISTENT {
            return EINVAL;
        }
        mutex.owner.set(engine::me().0 as u32 + 1);
        0
    }
}

hook! {
    /// As `pthread_mutex_lock`: it locks the mutex while it changes the ceiling.
    pthread_mutex_setprioceiling / 3 => on_setprioceiling(mutex: *mut c_void, ceiling: c_int, old: *mut c_int; pc) -> c_int {
        // SAFETY: the program passes a mutex.
        let mutex = unsafe { Mutex::at(mutex) };
        if mutex.kind.get() & PRIO_PROTECT == 0 || !(1..=99).contains(&ceiling) {
            engine::event();
            return EINVAL;
        }
        let mine = mutex.holder() == engine::me();
        let locked = if mine { 0 } else { mutex.acquire(OpKind::MutexLock, Limit::Never, pc) };
        if locked != 0 && locked != EOWNERDEAD {
            return locked;
        }
        let word = mutex.lock.get();
        if !old.is_null() {
            // SAFETY: the program passes a place for the old ceiling.
            unsafe { old.write(((word & CEILING_MASK) >> CEILING_SHIFT) as c_int) };
        }
        mutex.lock.set((word & !CEILING_MASK) | ((ceiling as u32) << CEILING_SHIFT));
        if mine { 0 } else { mutex.release() }
    }
}

// Old names of the same functions; libc's own under those names differ only in their symbol version.
crate::interpose!(__pthread_mutex_lock, 1, on_lock);
crate::interpose!(__pthread_mutex_trylock, 1, on_trylock);
crate::interpose!(__pthread_mutex_unlock, 1, on_unlock);
crate::interpose!(__pthread_mutex_init, 2, on_init);
crate::interpose!(__pthread_mutex_destroy, 1, on_destroy);
crate::interpose!(pthread_mutex_consistent_np, 1, on_consistent);
