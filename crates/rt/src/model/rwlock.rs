//! Read-write locks.
//!
//! The state is kept in the `pthread_rwlock_t`: readers (offset 0), announced writers (4), the exclusive-or of the
//! readers' indices plus one (8), which names the last one that remains, and the writer's index plus one (24). The
//! kind is where glibc's initialisers put it (48). Readers come before writers unless the kind is
//! `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`, as in glibc.
//!
//! Differences from glibc: unlocking a lock nobody holds, or that another strand holds for writing, is `EPERM`.

use super::timeout::{CLOCK_REALTIME, Limit, clock_error};
use super::word::Word;
use super::{cancel, hook};
use crate::effect::{Effect, Mode, Was, effect, here};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake};
use crate::sys::errno::*;
use crate::sys::{c_int, c_void, timespec};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

const PREFER_WRITER_NONRECURSIVE: u32 = 2;

#[derive(Clone, Copy)]
struct RwLock {
    readers: Word,
    announced: Word,
    reader_ids: Word,
    writer: Word,
    kind: Word,
    addr: usize,
}

impl RwLock {
    /// The lock at an address.
    ///
    /// # Safety
    /// There is a `pthread_rwlock_t` there for as long as the value is used.
    unsafe fn at(lock: *mut c_void) -> RwLock {
        let addr = lock as usize;
        // SAFETY: the words lie within the lock.
        unsafe {
            RwLock {
                readers: Word::at(addr),
                announced: Word::at(addr + 4),
                reader_ids: Word::at(addr + 8),
                writer: Word::at(addr + 24),
                kind: Word::at(addr + 48),
                addr,
            }
        }
    }

    fn key(self) -> ObjectId {
        ObjectId::new(ObjectClass::RwLock, self.addr as u64)
    }

    fn mine(self) -> bool {
        self.writer.get() == engine::me().0 as u32 + 1
    }

    fn holder(self) -> StrandId {
        let id = match (self.writer.get(), self.readers.get()) {
            (0, 1) => self.reader_ids.get(),
            (writer, _) => writer,
        };
        if id == 0 { StrandId::NONE } else { StrandId((id - 1) as u16) }
    }

    fn ready_to_read(self) -> Ready {
        if self.writer.get() != 0
            || self.announced.get() != 0 && self.kind.get() == PREFER_WRITER_NONRECURSIVE
        {
            return Ready::No(self.holder());
        }
        Ready::Yes
    }

    fn ready_to_write(self) -> Ready {
        if self.writer.get() != 0 || self.readers.get() != 0 { Ready::No(self.holder()) } else { Ready::Yes }
    }

    fn take_read(self, pc: u64) -> c_int {
        let readers = self.readers.get();
        if readers == u32::MAX >> 3 {
            return EAGAIN;
        }
        self.readers.set(readers + 1);
        self.reader_ids.set(self.reader_ids.get() ^ (engine::me().0 as u32 + 1));
        // Others may still read.
        engine::retract_from(self.key(), |op| op != OpKind::ReadLock);
        effect(Effect::Acquire(Mode::Shared), self.key(), pc);
        0
    }

    /// Somebody tried to read, and it is taken.
    fn busy(self, pc: u64) -> c_int {
        effect(Effect::Look, self.key(), pc);
        EBUSY
    }

    /// Somebody tried to write, and it is taken, be it by readers: no two looks go together there.
    fn busy_for_writers(self, pc: u64) -> c_int {
        effect(Effect::Change, self.key(), pc);
        EBUSY
    }

    fn take_write(self, pc: u64) -> c_int {
        self.writer.set(engine::me().0 as u32 + 1);
        engine::retract(self.key());
        effect(Effect::Acquire(Mode::Alone), self.key(), pc);
        0
    }

    fn read(self, limit: Limit, pc: u64) -> c_int {
        let op = Op::new(OpKind::ReadLock, self.addr as u64, pc);
        if self.mine() {
            engine::point(op);
            return EDEADLK;
        }
        loop {
            match engine::acquire(op, self.key(), limit.deadline(), &mut || self.ready_to_read()) {
                Wake::Go => {
                    if limit == Limit::Never {
                        effect(Effect::Want(Mode::Shared), self.key(), pc);
                    }
                    return self.take_read(pc);
                }
                Wake::TimedOut => return ETIMEDOUT,
                Wake::Interrupted => cancel::check_asynchronous(),
            }
        }
    }

    fn write(self, limit: Limit, pc: u64) -> c_int {
        let op = Op::new(OpKind::WriteLock, self.addr as u64, pc);
        if self.mine() {
            engine::point(op);
            return EDEADLK;
        }
        let announce = self.kind.get() == PREFER_WRITER_NONRECURSIVE;
        if announce {
            engine::point(op);
            // Readers that come later wait for it, even if it has to wait itself.
            effect(Effect::Announce, self.key(), pc);
            if matches!(self.ready_to_write(), Ready::Yes) {
                if limit == Limit::Never {
                    effect(Effect::Want(Mode::Alone), self.key(), pc);
                }
                return self.take_write(pc);
            }
            self.announced.set(self.announced.get() + 1);
            engine::retract(self.key());
        }
        let wake = loop {
            match engine::acquire(op, self.key(), limit.deadline(), &mut || self.ready_to_write()) {
                Wake::Interrupted => cancel::check_asynchronous(),
                wake => break wake,
            }
        };
        if announce {
            self.announced.set(self.announced.get() - 1);
        }
        if matches!(wake, Wake::Go) {
            if limit == Limit::Never {
                effect(Effect::Want(Mode::Alone), self.key(), pc);
            }
            return self.take_write(pc);
        }
        engine::notify(self.key());
        ETIMEDOUT
    }

    fn unlock(self) -> c_int {
        if self.mine() {
            effect(Effect::Release(Mode::Alone, Was::Shut), self.key(), here());
            self.writer.set(0);
        } else if self.readers.get() != 0 {
            effect(Effect::Release(Mode::Shared, Was::Shut), self.key(), here());
            self.readers.set(self.readers.get() - 1);
            self.reader_ids.set(self.reader_ids.get() ^ (engine::me().0 as u32 + 1));
        } else {
            return EPERM;
        }
        // While others read, nobody can go on who could not before.
        if self.readers.get() == 0 {
            engine::notify(self.key());
        }
        0
    }
}

/// Who holds the lock at an address for writing; `NONE` if nobody does.
pub fn writer_of(addr: usize) -> StrandId {
    match at(addr as *mut c_void).writer.get() {
        0 => StrandId::NONE,
        id => StrandId((id - 1) as u16),
    }
}

/// Whether who wants to read has to wait for the lock at an address that a strand stands before, and who wants to write.
pub fn is_taken(addr: usize) -> (bool, bool) {
    let lock = at(addr as *mut c_void);
    (!matches!(lock.ready_to_read(), Ready::Yes), !matches!(lock.ready_to_write(), Ready::Yes))
}

/// The lock a program's pointer stands for.
fn at(lock: *mut c_void) -> RwLock {
    // SAFETY: the program passes a read-write lock.
    unsafe { RwLock::at(lock) }
}

fn timed(clock: c_int, time: *const timespec, lock: impl FnOnce(Limit) -> c_int) -> c_int {
    if let Some(error) = clock_error(clock) {
        return error;
    }
    match Limit::checked(clock, time) {
        Ok(limit) => lock(limit),
        Err(error) => error,
    }
}

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    pthread_rwlock_rdlock / 1 is ReadLock => on_rdlock(lock: *mut c_void; pc) -> c_int {
        at(lock).read(Limit::Never, pc)
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_wrlock / 1 is WriteLock => on_wrlock(lock: *mut c_void; pc) -> c_int {
        at(lock).write(Limit::Never, pc)
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_timedrdlock / 2 is ReadLock timed => on_timedrdlock(lock: *mut c_void, time: *const timespec; pc) -> c_int {
        timed(CLOCK_REALTIME, time, |limit| at(lock).read(limit, pc))
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_timedwrlock / 2 is WriteLock timed => on_timedwrlock(lock: *mut c_void, time: *const timespec; pc) -> c_int {
        timed(CLOCK_REALTIME, time, |limit| at(lock).write(limit, pc))
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_clockrdlock / 3 is ReadLock timed => on_clockrdlock(lock: *mut c_void, clock: c_int, time: *const timespec; pc) -> c_int {
        timed(clock, time, |limit| at(lock).read(limit, pc))
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_clockwrlock / 3 is WriteLock timed => on_clockwrlock(lock: *mut c_void, clock: c_int, time: *const timespec; pc) -> c_int {
        timed(clock, time, |limit| at(lock).write(limit, pc))
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_tryrdlock / 1 is ReadTryLock => on_tryrdlock(lock: *mut c_void; pc) -> c_int {
        engine::sched::point_before_lock(Op::new(OpKind::ReadTryLock, lock as u64, pc));
        let lock = at(lock);
        if matches!(lock.ready_to_read(), Ready::Yes) { lock.take_read(pc) } else { lock.busy(pc) }
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_trywrlock / 1 is WriteTryLock => on_trywrlock(lock: *mut c_void; pc) -> c_int {
        engine::sched::point_before_lock(Op::new(OpKind::WriteTryLock, lock as u64, pc));
        let lock = at(lock);
        if matches!(lock.ready_to_write(), Ready::Yes) { lock.take_write(pc) } else { lock.busy_for_writers(pc) }
    }
}

hook! {
    /// As `pthread_rwlock_rdlock`.
    pthread_rwlock_unlock / 1 is RwUnlock => on_unlock(lock: *mut c_void; pc) -> c_int {
        let kind = if at(lock).mine() { OpKind::RwUnlock } else { OpKind::ReadUnlock };
        engine::point(Op::new(kind, lock as u64, pc));
        at(lock).unlock()
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_rwlock_init / 2 => on_init(lock: *mut c_void, attr: *const c_void; pc) -> c_int {
        super::makes(at(lock).key(), pc);
        // SAFETY: libc only fills the lock in.
        unsafe { crate::real!(pthread_rwlock_init: fn(*mut c_void, *const c_void) -> c_int)(lock, attr) }
    }
}

hook! {
    /// Safe before init and after fork (libc's). Does nothing, as in glibc.
    pthread_rwlock_destroy / 1 => on_destroy(lock: *mut c_void; pc) -> c_int {
        super::destroys(at(lock).key(), pc);
        effect(Effect::Destroyed, at(lock).key(), pc);
        0
    }
}

// Old names of the same functions.
crate::interpose!(__pthread_rwlock_rdlock, 1, on_rdlock);
crate::interpose!(__pthread_rwlock_wrlock, 1, on_wrlock);
crate::interpose!(__pthread_rwlock_tryrdlock, 1, on_tryrdlock);
crate::interpose!(__pthread_rwlock_trywrlock, 1, on_trywrlock);
crate::interpose!(__pthread_rwlock_unlock, 1, on_unlock);
crate::interpose!(__pthread_rwlock_init, 2, on_init);
crate::interpose!(__pthread_rwlock_destroy, 1, on_destroy);
