//! The public annotation calls: what a program tells a race detector about its own synchronisation.
//!
//! Those that stand for an acquire or release are points; the rest is accepted. Safe before init, in a signal, after
//! fork.

use crate::effect::{Effect, Exempt, effect, in_free_run};
use crate::engine::{ObjectClass, ObjectId, controlled, point};
use crate::sys::{c_char, c_int, c_void};
use threadbare_abi::op::{Op, OpKind};

fn annotated(addr: u64) -> ObjectId {
    ObjectId::new(ObjectClass::Annotated, addr)
}

unsafe extern "C" fn acquired(addr: u64, pc: u64) {
    if controlled() {
        point(Op::new(OpKind::Annotate, addr, pc));
        effect(Effect::After, annotated(addr), pc);
    } else {
        in_free_run(Effect::After, annotated(addr), pc);
    }
}

unsafe extern "C" fn released(addr: u64, pc: u64) {
    if controlled() {
        point(Op::new(OpKind::Annotate, addr, pc));
        effect(Effect::Before, annotated(addr), pc);
    } else {
        in_free_run(Effect::Before, annotated(addr), pc);
    }
}

/// `AnnotateHappensAfter(file, line, address)` and its like.
unsafe extern "C" fn acquired_at(_file: *const c_char, _line: c_int, addr: u64, pc: u64) {
    // SAFETY: as the caller's call.
    unsafe { acquired(addr, pc) }
}

/// `AnnotateHappensBefore(file, line, address)` and its like.
unsafe extern "C" fn released_at(_file: *const c_char, _line: c_int, addr: u64, pc: u64) {
    // SAFETY: as the caller's call.
    unsafe { released(addr, pc) }
}

interpose!(__tsan_acquire, 1, acquired);
interpose!(__tsan_release, 1, released);
interpose!(AnnotateHappensBefore, 3, released_at);
interpose!(AnnotateHappensAfter, 3, acquired_at);
interpose!(WTFAnnotateHappensBefore, 3, released_at);
interpose!(WTFAnnotateHappensAfter, 3, acquired_at);
interpose!(AnnotateRWLockAcquired, 3, acquired_at);
interpose!(AnnotateRWLockReleased, 3, released_at);

/// Something the program says of memory.
fn either(what: Effect, addr: u64, pc: u64) {
    if controlled() {
        effect(what, ObjectId::memory(addr), pc);
    } else {
        in_free_run(what, ObjectId::memory(addr), pc);
    }
}

unsafe extern "C" fn benign(_file: *const c_char, _line: c_int, addr: u64, _why: *const c_char, pc: u64) {
    either(Effect::Benign(1), addr, pc);
}

unsafe extern "C" fn benign_sized(
    _file: *const c_char,
    _line: c_int,
    addr: u64,
    size: u64,
    _why: *const c_char,
    pc: u64,
) {
    either(Effect::Benign(size), addr, pc);
}

/// `AnnotateNewMemory(file, line, address, size)`: nobody has used it yet.
unsafe extern "C" fn new_memory(_file: *const c_char, _line: c_int, addr: u64, size: u64, pc: u64) {
    either(Effect::Fresh(size), addr, pc);
}

interpose!(AnnotateBenignRace, 4, benign);
interpose!(AnnotateBenignRaceSized, 5, benign_sized);
interpose!(WTFAnnotateBenignRaceSized, 5, benign_sized);
interpose!(AnnotateNewMemory, 4, new_memory);
interpose!(AnnotateMemoryIsInitialized, 4, new_memory);

macro_rules! sections {
    ($($begin:ident $end:ident $what:ident;)*) => {
        $(
            /// Exported; begins a section that is left out of the race check.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $begin() {
                if controlled() {
                    effect(Effect::Exempt(Exempt::$what, true), ObjectId::NEVER, 0);
                } else {
                    in_free_run(Effect::Exempt(Exempt::$what, true), ObjectId::NEVER, 0);
                }
            }

            /// Exported; ends it.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $end() {
                if controlled() {
                    effect(Effect::Exempt(Exempt::$what, false), ObjectId::NEVER, 0);
                } else {
                    in_free_run(Effect::Exempt(Exempt::$what, false), ObjectId::NEVER, 0);
                }
            }
        )*
    };
}

sections! {
    AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd Reads;
    AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd Writes;
    AnnotateIgnoreSyncBegin AnnotateIgnoreSyncEnd Sync;
}

/// Exported; begins a section in which nothing of the strand is looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_ignore_thread_begin() {
    // SAFETY: the same as the program's own annotations.
    unsafe {
        AnnotateIgnoreReadsBegin();
        AnnotateIgnoreWritesBegin();
    }
}

/// Exported; ends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_ignore_thread_end() {
    // SAFETY: the same as the program's own annotations.
    unsafe {
        AnnotateIgnoreReadsEnd();
        AnnotateIgnoreWritesEnd();
    }
}

macro_rules! accepted {
    ($($name:ident)*) => {
        $(
            /// Exported; accepted.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {}
        )*
    };
}

accepted! {
    AnnotateRWLockCreate AnnotateRWLockCreateStatic AnnotateRWLockDestroy
    AnnotateCondVarSignal AnnotateCondVarSignalAll AnnotateCondVarWait AnnotateMutexIsNotPHB
    AnnotateMutexIsUsedAsCondVar AnnotatePCQCreate AnnotatePCQDestroy AnnotatePCQPut AnnotatePCQGet
    AnnotateExpectRace AnnotateFlushExpectedRaces AnnotateFlushState AnnotateEnableRaceDetection
    AnnotateNoOp AnnotateTraceMemory AnnotateThreadName AnnotatePublishMemoryRange
    AnnotateUnpublishMemoryRange     AnnotateMemoryIsUninitialized
    __tsan_mutex_create __tsan_mutex_destroy __tsan_mutex_pre_lock
    __tsan_mutex_pre_signal __tsan_mutex_post_signal __tsan_mutex_pre_divert __tsan_mutex_post_divert
    __tsan_flush_memory __tsan_destroy_fiber __tsan_switch_to_fiber __tsan_set_fiber_name
    __tsan_external_assign_tag __tsan_external_register_header __tsan_external_read __tsan_external_write
    __tsan_on_thread_idle
}

/// A lock of the program's own making was taken: the strand is told to be seen as holding it.
unsafe extern "C" fn mutex_post_lock(addr: u64, flags: u32, _recursion: c_int, pc: u64) {
    const TRY_FAILED: u32 = 1 << 5;
    if flags & TRY_FAILED == 0 {
        // SAFETY: as the caller's call.
        unsafe { acquired(addr, pc) }
    }
}

/// A lock of the program's own making is about to be released.
unsafe extern "C" fn mutex_pre_unlock(addr: u64, _flags: u32, pc: u64) -> c_int {
    if controlled() {
        effect(Effect::Before, annotated(addr), pc);
    } else {
        in_free_run(Effect::Before, annotated(addr), pc);
    }
    0
}

interpose!(__tsan_mutex_pre_unlock, 2, mutex_pre_unlock);

/// A lock of the program's own making was released.
unsafe extern "C" fn mutex_post_unlock(addr: u64, _flags: u32, pc: u64) {
    if controlled() {
        point(Op::new(OpKind::Annotate, addr, pc));
    }
}

interpose!(__tsan_mutex_post_lock, 3, mutex_post_lock);
interpose!(__tsan_mutex_post_unlock, 2, mutex_post_unlock);

/// Fibers of the program's own making are not strands: one tag serves them all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_current_fiber() -> *mut c_void {
    core::ptr::dangling_mut::<u64>().cast()
}

/// See above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_create_fiber(_flags: u32) -> *mut c_void {
    core::ptr::dangling_mut::<u64>().cast()
}

/// Tags of external libraries are accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_external_register_tag(_name: *const c_char) -> *mut c_void {
    core::ptr::dangling_mut::<u64>().cast()
}

/// Whether the program runs under valgrind: it does not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RunningOnValgrind() -> c_int {
    0
}

/// See above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ValgrindSlowdown() -> f64 {
    10.0
}
