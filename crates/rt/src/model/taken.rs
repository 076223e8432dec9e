//! For whom a lock or the like is taken at a moment: a planner wants to know of every operation, a try that fails included,
//! whether somebody could have acquired the object right before it.

use super::{mutex, rwlock, sem, spin};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::step::flags::{SHUT as EXCLUSIVE, SHUT_SHARED as SHARED};

/// Who could not acquire the object that a strand stands before; 0 where that cannot be told by the operation alone.
pub fn shut(op: Op) -> u32 {
    let addr = op.addr as usize;
    let alone = |taken: bool| if taken { EXCLUSIVE } else { 0 };
    match op.kind {
        OpKind::MutexLock | OpKind::MutexTryLock | OpKind::MutexTimedLock | OpKind::MutexUnlock => {
            alone(mutex::is_held(addr))
        }
        OpKind::SpinLock | OpKind::SpinTryLock | OpKind::SpinUnlock => alone(spin::is_held(addr)),
        OpKind::SemWait | OpKind::SemTryWait | OpKind::SemPost => alone(sem::is_empty(addr)),
        OpKind::ReadLock
        | OpKind::ReadTryLock
        | OpKind::ReadUnlock
        | OpKind::WriteLock
        | OpKind::WriteTryLock
        | OpKind::RwUnlock => {
            let (to_read, to_write) = rwlock::is_taken(addr);
            alone(to_write) | if to_read { SHARED } else { 0 }
        }
        _ => 0,
    }
}
