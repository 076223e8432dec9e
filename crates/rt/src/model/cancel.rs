//! Cancellation.
//!
//! A request is a mark on the strand. It is acted on where the strand waits or is about to wait at a cancellation
//! point (semaphores, condition variables, join, sleeps, input and output), at `pthread_testcancel`, and for the
//! asynchronous type at any point. Acting is libc's own `pthread_exit`, which runs cleanup handlers and destructors.

use super::{hook, thread};
use crate::effect::{Effect, effect, here};
use crate::engine::{self, ATTENTION, ObjectId, attention};
use crate::raw::Raw;
use crate::sys::errno::*;
use crate::sys::{c_int, c_void, pthread_t};
use core::sync::atomic::Ordering;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

const CANCEL_DISABLE: c_int = 1;
const CANCEL_ASYNCHRONOUS: c_int = 1;
/// `PTHREAD_CANCELED`.
const CANCELED: *mut c_void = usize::MAX as *mut c_void;

/// What a strand thinks of being cancelled.
#[derive(Default)]
pub struct PerStrand {
    disabled: bool,
    asynchronous: bool,
    pending: bool,
    /// It is on its way out: nothing more can cancel it.
    shut: bool,
}

impl PerStrand {
    /// The strand is ending.
    pub fn shut(&mut self) {
        self.shut = true;
    }

    fn due(&self) -> bool {
        self.pending && !self.disabled && !self.shut
    }
}

fn of(strand: StrandId) -> Raw<PerStrand> {
    engine::strand(strand).part(|strand| &mut strand.model.cancel)
}

/// Whether a request would be acted on wherever the strand is.
pub fn is_asynchronous(id: StrandId) -> bool {
    of(id).asynchronous && !of(id).disabled
}

/// Whether this strand is to be cancelled at a cancellation point.
pub fn due() -> bool {
    of(engine::me()).due()
}

/// A cancellation point: does not return if the strand is to be cancelled. Call it before and after a wait, when the
/// strand holds nothing of the runtime's.
pub fn check() {
    if due() {
        effect(Effect::After, ObjectId::SIGNALS, here());
        thread::leave(CANCELED);
    }
}

/// As [`check`], for the asynchronous type only. The engine calls it after every point while a request is open; a wait
/// that is no cancellation point calls it when it is interrupted.
pub fn check_asynchronous() {
    if of(engine::me()).asynchronous {
        check();
    }
    if ATTENTION.load(Ordering::Relaxed) & attention::CANCEL != 0 {
        let open = |id| of(id).asynchronous && of(id).due();
        if !(0..engine::strand_count() as u16).map(StrandId).any(open) {
            ATTENTION.fetch_and(!attention::CANCEL, Ordering::Relaxed);
        }
    }
}

fn request(id: StrandId) {
    effect(Effect::Before, ObjectId::SIGNALS, here());
    of(id).pending = true;
    if id == engine::me() {
        return check_asynchronous();
    }
    if !of(id).due() {
        return;
    }
    if of(id).asynchronous {
        ATTENTION.fetch_or(attention::CANCEL, Ordering::Relaxed);
        engine::interrupt(id);
    } else if cancellable(engine::strand(id).op.kind) {
        engine::interrupt(id);
    }
}

/// Whether a strand that waits in this operation waits at a cancellation point.
fn cancellable(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(kind, CondWait | CondTimedWait | SemWait | Join | TimedJoin | Sleep | Io | IoWait | Signal)
}

/// Whether this strand, about to wait in such an operation, is to be cancelled there instead.
pub fn wanted(kind: OpKind) -> bool {
    due() && cancellable(kind)
}

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    pthread_cancel / 1 => on_cancel(target: pthread_t; pc) -> c_int {
        let found = thread::find(target);
        engine::point(Op::new(OpKind::Cancel, found.map_or(u64::MAX, |id| id.0 as u64), pc));
        let Some(id) = thread::find(target) else { return ESRCH };
        request(id);
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    pthread_setcancelstate / 2 => on_setcancelstate(state: c_int, old: *mut c_int; _pc) -> c_int {
        engine::event();
        if !(0..=CANCEL_DISABLE).contains(&state) {
            return EINVAL;
        }
        let mut mine = of(engine::me());
        if !old.is_null() {
            // SAFETY: the program passes a place for the old state.
            unsafe { old.write(mine.disabled as c_int) };
        }
        mine.disabled = state == CANCEL_DISABLE;
        check_asynchronous();
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    pthread_setcanceltype / 2 => on_setcanceltype(kind: c_int, old: *mut c_int; _pc) -> c_int {
        engine::event();
        if !(0..=CANCEL_ASYNCHRONOUS).contains(&kind) {
            return EINVAL;
        }
        if !old.is_null() {
            // SAFETY: the program passes a place for the old type.
            unsafe { old.write(of(engine::me()).asynchronous as c_int) };
        }
        set_type(kind);
        0
    }
}

fn set_type(kind: c_int) {
    of(engine::me()).asynchronous = kind == CANCEL_ASYNCHRONOUS;
    check_asynchronous();
}

/// `pthread_testcancel`. Safe before init and after fork (libc's); not in a signal handler.
pub unsafe extern "C" fn on_testcancel(_pc: u64) {
    if engine::controlled() {
        engine::event();
        return check();
    }
    // SAFETY: libc's own function.
    unsafe { crate::real!(pthread_testcancel: fn())() }
}

/// Where `__pthread_unwind_buf_t` keeps the cancellation type that `pthread_cleanup_push_defer_np` saves.
const SAVED_TYPE: usize = 88;

/// `__pthread_register_cancel_defer`, of `pthread_cleanup_push_defer_np`. Safe before init and after fork.
pub unsafe extern "C" fn on_register_defer(buffer: *mut c_void, _pc: u64) {
    // SAFETY: libc's own function; the buffer is one of libc's, which keeps the type at SAVED_TYPE.
    unsafe {
        crate::real!(__pthread_register_cancel_defer: fn(*mut c_void))(buffer);
        if engine::controlled() {
            let saved = buffer.byte_add(SAVED_TYPE).cast::<c_int>();
            saved.write(of(engine::me()).asynchronous as c_int);
            of(engine::me()).asynchronous = false;
        }
    }
}

/// `__pthread_unregister_cancel_restore`, of `pthread_cleanup_pop_restore_np`. Safe before init and after fork.
pub unsafe extern "C" fn on_unregister_restore(buffer: *mut c_void, _pc: u64) {
    // SAFETY: as above; libc is shown the deferred type so that it leaves its own state alone.
    unsafe {
        let saved = buffer.byte_add(SAVED_TYPE).cast::<c_int>();
        let kind = saved.read();
        if engine::controlled() {
            saved.write(0);
        }
        crate::real!(__pthread_unregister_cancel_restore: fn(*mut c_void))(buffer);
        if engine::controlled() {
            set_type(kind);
        }
    }
}

crate::interpose!(pthread_testcancel, 0, on_testcancel);
crate::interpose!(__pthread_register_cancel_defer, 1, on_register_defer);
crate::interpose!(__pthread_unregister_cancel_restore, 1, on_unregister_restore);
