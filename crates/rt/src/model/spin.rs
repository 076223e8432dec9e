//! Spin locks.
//!
//! glibc's value of a free lock differs by processor (1 on x86, 0 elsewhere), and only `pthread_spin_init` makes one,
//! so libc is asked. A held lock names its holder: below 1 where 1 is free, above 0 where 0 is. Nobody spins: a strand
//! that finds the lock held waits.

use super::single::Single;
use super::word::Word;
use super::{cancel, hook};
use crate::effect::{Effect, Mode, Was, effect};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake};
use crate::sys::errno::EBUSY;
use crate::sys::{c_int, c_void};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::{MAX_STRANDS, StrandId};

fn free_value() -> u32 {
    static FOUND: Single<Option<u32>> = Single::new(None);
    *FOUND.get().get_or_insert_with(|| {
        let mut lock = 0u32;
        // SAFETY: libc only fills the local lock in.
        unsafe {
            crate::real!(pthread_spin_init: fn(*mut c_void, c_int) -> c_int)((&raw mut lock).cast(), 0)
        };
        lock
    })
}

fn word(lock: *mut c_void) -> Word {
    // SAFETY: the program passes a spin lock, which is one word.
    unsafe { Word::at(lock as usize) }
}

fn key(lock: *mut c_void) -> ObjectId {
    ObjectId::new(ObjectClass::Spin, lock as u64)
}

fn ready(lock: *mut c_void) -> Ready {
    let value = word(lock).get();
    if value == free_value() {
        return Ready::Yes;
    }
    let id = if free_value() == 1 { value.wrapping_neg() } else { value };
    let known = id != 0 && id as usize <= MAX_STRANDS;
    Ready::No(if known { StrandId((id - 1) as u16) } else { StrandId::NONE })
}

/// Who holds the lock at an address that a strand waits for; `NONE` if nobody does, or nobody we know.
pub fn holder_of(addr: usize) -> StrandId {
    match ready(addr as *mut c_void) {
        Ready::Yes => StrandId::NONE,
        Ready::No(holder) => holder,
    }
}

/// Whether somebody holds the lock at an address that a strand stands before.
pub fn is_held(addr: usize) -> bool {
    !matches!(ready(addr as *mut c_void), Ready::Yes)
}

fn take(lock: *mut c_void, pc: u64) -> c_int {
    let id = engine::me().0 as u32 + 1;
    word(lock).set(if free_value() == 1 { id.wrapping_neg() } else { id });
    engine::retract(key(lock));
    effect(Effect::Acquire(Mode::Alone), key(lock), pc);
    0
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_spin_lock / 1 is SpinLock => on_lock(lock: *mut c_void; pc) -> c_int {
        let op = Op::new(OpKind::SpinLock, lock as u64, pc);
        while !matches!(engine::acquire(op, key(lock), None, &mut || ready(lock)), Wake::Go) {
            cancel::check_asynchronous();
        }
        effect(Effect::Want(Mode::Alone), key(lock), pc);
        take(lock, pc)
    }
}

hook! {
    /// As `pthread_spin_lock`.
    pthread_spin_trylock / 1 is SpinTryLock => on_trylock(lock: *mut c_void; pc) -> c_int {
        engine::sched::point_before_lock(Op::new(OpKind::SpinTryLock, lock as u64, pc));
        if matches!(ready(lock), Ready::Yes) {
            return take(lock, pc);
        }
        effect(Effect::Look, key(lock), pc);
        EBUSY
    }
}

hook! {
    /// As `pthread_spin_lock`.
    pthread_spin_unlock / 1 is SpinUnlock => on_unlock(lock: *mut c_void; pc) -> c_int {
        engine::point(Op::new(OpKind::SpinUnlock, lock as u64, pc));
        let was = if matches!(ready(lock), Ready::Yes) { Was::Open } else { Was::Shut };
        effect(Effect::Release(Mode::Alone, was), key(lock), pc);
        word(lock).set(free_value());
        engine::notify(key(lock));
        0
    }
}

hook! {
    /// As `pthread_spin_lock`.
    pthread_spin_init / 2 => on_init(lock: *mut c_void, _shared: c_int; pc) -> c_int {
        super::makes(key(lock), pc);
        word(lock).set(free_value());
        0
    }
}

hook! {
    /// As `pthread_spin_lock`. Does nothing, as in glibc.
    pthread_spin_destroy / 1 => on_destroy(lock: *mut c_void; pc) -> c_int {
        super::destroys(key(lock), pc);
        effect(Effect::Destroyed, key(lock), pc);
        0
    }
}
