//! C11 threads.
//!
//! glibc's functions call its pthread functions inside, past our hooks, so each is modelled by the pthread model of the
//! same thing: glibc makes `mtx_t`, `cnd_t`, `tss_t`, `once_flag` and `thrd_t` of the pthread types. Those that only fill
//! memory in or read it (`mtx_init`, `cnd_init`, `tss_get`, `tss_set`, `thrd_current`, `thrd_equal`) are libc's own.

use super::timeout::{CLOCK_REALTIME, Limit};
use super::{cond, hook, keys, mutex, once, thread};
use crate::engine::Start;
use crate::free;
use crate::sys::errno::*;
use crate::sys::{c_int, c_void, pthread_t, timespec};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

type IntStart = unsafe extern "C" fn(*mut c_void) -> c_int;
type Destructor = unsafe extern "C" fn(*mut c_void);

/// glibc's mapping of errors.
fn code(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        ENOMEM => NO_MEMORY,
        ETIMEDOUT => TIMED_OUT,
        EBUSY => BUSY,
        _ => ERROR,
    }
}

/// As `pthread_create`. The int result is the low half of the result register, and `thrd_join` reads only that.
pub unsafe extern "C" fn on_thrd_create(
    thr: *mut pthread_t,
    start: IntStart,
    arg: *mut c_void,
    pc: u64,
) -> c_int {
    // SAFETY: on the C ABI both kinds of function are called the same way.
    let start = unsafe { core::mem::transmute::<IntStart, Start>(start) };
    if crate::engine::controlled() {
        return code(thread::create(thr, core::ptr::null(), start, arg, pc));
    }
    let mut make = |start, arg| {
        // SAFETY: libc's own function with what the program gave.
        unsafe { crate::real!(thrd_create: fn(*mut pthread_t, Start, *mut c_void) -> c_int)(thr, start, arg) }
    };
    free::server::before_create();
    if free::on() { free::thread::create(start, arg, thr, pc, &mut make) } else { make(start, arg) }
}

crate::interpose!(thrd_create, 3, on_thrd_create);

hook! {
    /// As `pthread_join`.
    thrd_join / 2 is Join => on_thrd_join(thr: pthread_t, out: *mut c_int; pc) -> c_int {
        let mut result = core::ptr::null_mut();
        let error = thread::join(thr, &mut result, Limit::Never, pc);
        if error == 0 && !out.is_null() {
            // SAFETY: the program passes a place for the result.
            unsafe { out.write(result as usize as c_int) };
        }
        code(error)
    }
}

hook! {
    /// As `pthread_detach`.
    thrd_detach / 1 => on_thrd_detach(thr: pthread_t; pc) -> c_int {
        code(thread::detach(thr, pc))
    }
}

/// `thrd_exit`. As `pthread_exit`.
pub unsafe extern "C" fn on_thrd_exit(result: c_int, pc: u64) -> ! {
    // SAFETY: the same promise as `pthread_exit`'s caller makes.
    unsafe { thread::on_exit(result as isize as *mut c_void, pc) }
}
crate::interpose!(thrd_exit, 1, on_thrd_exit);

hook! {
    /// As `pthread_mutex_lock`.
    mtx_lock / 1 is MutexLock => on_mtx_lock(mtx: *mut c_void; pc) -> c_int {
        // SAFETY: an `mtx_t` is a `pthread_mutex_t`.
        code(unsafe { mutex::on_lock(mtx, pc) })
    }
}

hook! {
    /// As `pthread_mutex_timedlock`.
    mtx_timedlock / 2 is MutexTimedLock timed => on_mtx_timedlock(mtx: *mut c_void, time: *const timespec; pc) -> c_int {
        // SAFETY: as above; `TIME_UTC` is the real-time clock.
        code(unsafe { mutex::on_timedlock(mtx, time, pc) })
    }
}

hook! {
    /// As `pthread_mutex_trylock`.
    mtx_trylock / 1 is MutexTryLock => on_mtx_trylock(mtx: *mut c_void; pc) -> c_int {
        code(mutex::try_lock(mtx, true, pc))
    }
}

hook! {
    /// As `pthread_mutex_unlock`.
    mtx_unlock / 1 is MutexUnlock => on_mtx_unlock(mtx: *mut c_void; pc) -> c_int {
        // SAFETY: as above.
        code(unsafe { mutex::on_unlock(mtx, pc) })
    }
}

/// `mtx_destroy`. As `pthread_mutex_destroy`.
pub unsafe extern "C" fn on_mtx_destroy(mtx: *mut c_void, pc: u64) {
    // SAFETY: as above.
    unsafe { mutex::on_destroy(mtx, pc) };
}
crate::interpose!(mtx_destroy, 1, on_mtx_destroy);

hook! {
    /// As `pthread_cond_wait`.
    cnd_wait / 2 is CondWait => on_cnd_wait(cnd: *mut c_void, mtx: *mut c_void; pc) -> c_int {
        // SAFETY: a `cnd_t` is a `pthread_cond_t`.
        code(unsafe { cond::on_wait(cnd, mtx, pc) })
    }
}

hook! {
    /// As `pthread_cond_timedwait`.
    cnd_timedwait / 3 is CondTimedWait timed => on_cnd_timedwait(cnd: *mut c_void, mtx: *mut c_void, time: *const timespec; pc) -> c_int {
        // SAFETY: as above.
        code(unsafe { cond::on_clockwait(cnd, mtx, CLOCK_REALTIME, time, pc) })
    }
}

hook! {
    /// As `pthread_cond_signal`.
    cnd_signal / 1 is CondSignal => on_cnd_signal(cnd: *mut c_void; pc) -> c_int {
        // SAFETY: as above.
        code(unsafe { cond::on_signal(cnd, pc) })
    }
}

hook! {
    /// As `pthread_cond_broadcast`.
    cnd_broadcast / 1 is CondBroadcast => on_cnd_broadcast(cnd: *mut c_void; pc) -> c_int {
        // SAFETY: as above.
        code(unsafe { cond::on_broadcast(cnd, pc) })
    }
}

/// `cnd_destroy`. As `pthread_cond_destroy`.
pub unsafe extern "C" fn on_cnd_destroy(cnd: *mut c_void, pc: u64) {
    // SAFETY: as above.
    unsafe { cond::on_destroy(cnd, pc) };
}
crate::interpose!(cnd_destroy, 1, on_cnd_destroy);

/// `tss_create`. As `pthread_key_create`.
pub unsafe extern "C" fn on_tss_create(
    key: *mut u32,
    destructor: Option<Destructor>,
    slot: *const u64,
) -> c_int {
    // SAFETY: a `tss_t` is a `pthread_key_t`.
    code(unsafe { keys::on_create(key, destructor, slot) })
}
crate::interpose_slot!(tss_create, 2, on_tss_create);

/// `tss_delete`. As `pthread_key_delete`.
pub unsafe extern "C" fn on_tss_delete(key: u32, slot: *const u64) {
    // SAFETY: as above.
    unsafe { keys::on_delete(key, slot) };
}
crate::interpose_slot!(tss_delete, 1, on_tss_delete);

/// `call_once`. As `pthread_once`.
pub unsafe extern "C" fn on_call_once(flag: *mut c_void, routine: unsafe extern "C" fn(), pc: u64) {
    // SAFETY: a `once_flag` is a `pthread_once_t`.
    unsafe { once::on_once(flag, routine, pc) };
}
crate::interpose!(call_once, 2, on_call_once);
