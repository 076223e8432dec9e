//! Objects of synchronisation that were destroyed: whoever uses one before it is made anew ends the run.
//!
//! Besides an init call, an object is made anew by a static initialiser, which overwrites the mark that destroying leaves, and
//! is gone with the block that it lay in.

use super::addressable::{Name, ends_by, is_left_to_the_point};
use super::live::live;
use super::sched::{Phase, engine};
use super::wait::ObjectId;
use super::{frames, me, report};
use crate::model::single::Single;
use crate::raw::Raw;
use alloc::collections::BTreeMap;
use threadbare_abi::object::ObjectClass;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::report::RecordTag;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;

/// Objects remembered; of more, those at the lowest addresses are forgotten.
const OBJECTS: usize = 1 << 14;
/// Callers of a destroy that are kept: enough to come out of a library.
const CALLERS: usize = 8;

struct Destroyed {
    class: ObjectClass,
    strand: StrandId,
    event: u64,
    pc: u64,
    callers: [u64; CALLERS],
}

static OBJECTS_GONE: Single<BTreeMap<u64, Destroyed>> = Single::new(BTreeMap::new());

/// Whether there is any.
static mut ANY: bool = false;

fn gone() -> Raw<BTreeMap<u64, Destroyed>> {
    OBJECTS_GONE.get()
}

/// The word that tells a destroyed object from one that a static initialiser was assigned to, and what is in it: a mutex's kind, a
/// condition variable's count of references, a lock's padding. Others have no such initialiser.
fn mark(class: ObjectClass) -> Option<(u64, u32)> {
    match class {
        ObjectClass::Mutex => Some((16, u32::MAX)),
        ObjectClass::Cond => Some((36, 4)),
        ObjectClass::RwLock => Some((40, 0x6465_6164)),
        _ => None,
    }
}

/// An object is no more.
#[cold]
pub fn destroyed(object: ObjectId, pc: u64) {
    if let Some((offset, mark)) = mark(object.class) {
        // SAFETY: in the object that the program has just destroyed, whose layout is glibc's.
        unsafe { ((object.addr + offset) as *mut u32).write_unaligned(mark) };
    }
    let callers = frames::innermost();
    let entry = Destroyed { class: object.class, strand: me(), event: live().events, pc, callers };
    if gone().len() >= OBJECTS {
        gone().pop_first();
    }
    gone().insert(object.addr, entry);
    set_any();
}

/// An object is made there.
#[inline]
pub fn made(addr: u64) {
    // SAFETY: single kernel thread.
    if unsafe { ANY } {
        gone().remove(&addr);
        set_any();
    }
}

/// A block is freed.
#[inline]
pub fn freed(addr: u64, size: u64) {
    // SAFETY: single kernel thread.
    if unsafe { ANY } {
        freed_slow(addr, size);
    }
}

#[cold]
fn freed_slow(addr: u64, size: u64) {
    while let Some((&at, _)) = gone().range(addr..addr.saturating_add(size)).next() {
        gone().remove(&at);
    }
    set_any();
}

fn set_any() {
    // SAFETY: single kernel thread.
    unsafe { ANY = !gone().is_empty() }
}

/// The running strand is about to use an object: ends the run if it was destroyed. `made`: that has been told as a step.
#[inline(always)]
pub fn check(op: Op, made: bool) {
    // SAFETY: single kernel thread.
    if unsafe { ANY } {
        look(op, made);
    }
}

#[cold]
#[inline(never)]
fn look(op: Op, made: bool) {
    let all = gone();
    let Some(entry) = all.get(&op.addr) else { return };
    let used = class_of(op.kind);
    if !made && is_left_to_the_point() {
        return;
    }
    if engine().phase != Phase::Running || used.is_some_and(|used| used != entry.class) {
        return;
    }
    if let Some((offset, mark)) = mark(entry.class) {
        // SAFETY: in the object that the program is about to use.
        let found = unsafe { ((op.addr + offset) as *const u32).read_unaligned() };
        if found != mark {
            return self::made(op.addr);
        }
    }
    ends_by(op, made);
    report::add(RecordTag::Destroyed, entry.strand.0, [op.addr, entry.event, entry.pc], format_args!(""));
    for &pc in entry.callers.iter().take_while(|&&pc| pc != 0) {
        report::add(RecordTag::AccessFrame, entry.strand.0, [pc, 0, 0], format_args!(""));
    }
    super::fail_run(
        VerdictKind::UseAfterDestroy,
        0,
        op.addr,
        op.pc,
        format_args!(
            "{} of a {} that strand {} has destroyed",
            op.kind.name(),
            entry.class.name(),
            Name(entry.strand)
        ),
    )
}

/// The class of object that an operation uses, if it can be only one.
fn class_of(kind: OpKind) -> Option<ObjectClass> {
    match kind {
        OpKind::MutexLock | OpKind::MutexTryLock | OpKind::MutexTimedLock | OpKind::MutexUnlock => {
            Some(ObjectClass::Mutex)
        }
        OpKind::CondWait | OpKind::CondTimedWait | OpKind::CondSignal | OpKind::CondBroadcast => {
            Some(ObjectClass::Cond)
        }
        OpKind::BarrierWait => Some(ObjectClass::Barrier),
        OpKind::SemWait | OpKind::SemTryWait | OpKind::SemPost => Some(ObjectClass::Sem),
        OpKind::SpinLock | OpKind::SpinTryLock | OpKind::SpinUnlock => Some(ObjectClass::Spin),
        _ => None,
    }
}
