//! The public annotation calls: what a program tells a race detector about its own synchronisation.
//!
//! Those that stand for an acquire or release are points; the rest is accepted. Safe before init, in a signal, after
//! fork.

use crate::engine::{controlled, point};
use crate::sys::{c_char, c_int, c_void};
use threadbare_abi::op::{Op, OpKind};

unsafe extern "C" fn annotated(addr: u64, pc: u64) {
    if controlled() {
        point(Op::new(OpKind::Annotate, addr, pc));
    }
}

/// `AnnotateHappensBefore(file, line, address)` and its like.
unsafe extern "C" fn annotated_at(_file: *const c_char, _line: c_int, addr: u64, pc: u64) {
    if controlled() {
        point(Op::new(OpKind::Annotate, addr, pc));
    }
}

interpose!(__tsan_acquire, 1, annotated);
interpose!(__tsan_release, 1, annotated);
interpose!(AnnotateHappensBefore, 3, annotated_at);
interpose!(AnnotateHappensAfter, 3, annotated_at);
interpose!(AnnotateRWLockAcquired, 3, annotated_at);
interpose!(AnnotateRWLockReleased, 3, annotated_at);

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
    AnnotateNewMemory AnnotateNoOp AnnotateTraceMemory AnnotateThreadName AnnotatePublishMemoryRange
    AnnotateUnpublishMemoryRange AnnotateBenignRace AnnotateBenignRaceSized
    AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd
    AnnotateIgnoreSyncBegin AnnotateIgnoreSyncEnd AnnotateMemoryIsInitialized AnnotateMemoryIsUninitialized
    WTFAnnotateHappensBefore WTFAnnotateHappensAfter WTFAnnotateBenignRaceSized
    __tsan_ignore_thread_begin __tsan_ignore_thread_end
    __tsan_mutex_create __tsan_mutex_destroy __tsan_mutex_pre_unlock __tsan_mutex_pre_lock
    __tsan_mutex_pre_signal __tsan_mutex_post_signal __tsan_mutex_pre_divert __tsan_mutex_post_divert
    __tsan_flush_memory __tsan_destroy_fiber __tsan_switch_to_fiber __tsan_set_fiber_name
    __tsan_external_assign_tag __tsan_external_register_header __tsan_external_read __tsan_external_write
    __tsan_on_thread_idle
}

/// A lock of the program's own making was taken: the strand is told to be seen as holding it.
unsafe extern "C" fn mutex_post_lock(addr: u64, _flags: u32, _recursion: c_int, pc: u64) {
    if controlled() {
        point(Op::new(OpKind::Annotate, addr, pc));
    }
}

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
