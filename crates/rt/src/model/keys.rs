//! pthread keys.
//!
//! Values live where libc keeps them, in the thread control block of the strand's carrier, so `pthread_getspecific`
//! and `pthread_setspecific` are libc's own and work before init, in constructors and in libraries. What libc would
//! do when a thread ends never happens to a carrier, so the destructors are remembered here and run at a strand's end.

use crate::engine;
use crate::model::state::{of, uses_seen};
use crate::sys::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};
use threadbare_abi::op::state;

type Destructor = unsafe extern "C" fn(*mut c_void);

const KEYS_MAX: usize = 1024;
const DESTRUCTOR_ITERATIONS: usize = 4;

/// Destructors by key; 0 for none.
static DESTRUCTORS: [AtomicUsize; KEYS_MAX] = [const { AtomicUsize::new(0) }; KEYS_MAX];
/// One more than the highest key with a destructor.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Runs the destructors of the strand that ends.
pub fn run_destructors() {
    for _ in 0..DESTRUCTOR_ITERATIONS {
        let mut again = false;
        for (key, slot) in DESTRUCTORS.iter().enumerate().take(USED.load(Ordering::Relaxed)) {
            let destructor = slot.load(Ordering::Relaxed);
            if destructor == 0 {
                continue;
            }
            // SAFETY: libc's own functions on a key it gave; the destructor is the one the program gave with it.
            unsafe {
                let value = crate::real!(pthread_getspecific: fn(u32) -> *mut c_void)(key as u32);
                if value.is_null() {
                    continue;
                }
                crate::real!(pthread_setspecific: fn(u32, *const c_void) -> c_int)(
                    key as u32,
                    core::ptr::null(),
                );
                again = true;
                core::mem::transmute::<usize, Destructor>(destructor)(value);
            }
        }
        if !again {
            break;
        }
    }
}

/// `pthread_key_create`. Safe before init, in a signal as libc's, after fork.
pub unsafe extern "C" fn on_create(key: *mut u32, destructor: Option<Destructor>, slot: *const u64) -> c_int {
    if engine::controlled() {
        engine::event();
        uses_seen(of(state::KEYS), slot);
    }
    // SAFETY: libc's own function with the arguments the program gave.
    let result = unsafe {
        crate::real!(pthread_key_create: fn(*mut u32, Option<Destructor>) -> c_int)(key, destructor)
    };
    if result == 0 {
        // SAFETY: libc has just written the key.
        let key = unsafe { key.read() } as usize;
        if let Some(slot) = DESTRUCTORS.get(key) {
            slot.store(destructor.map_or(0, |destructor| destructor as usize), Ordering::Relaxed);
            USED.fetch_max(key + 1, Ordering::Relaxed);
        }
    }
    result
}

/// `pthread_key_delete`. Safe before init, after fork.
pub unsafe extern "C" fn on_delete(key: u32, slot: *const u64) -> c_int {
    if engine::controlled() {
        engine::event();
        uses_seen(of(state::KEYS), slot);
    }
    // SAFETY: libc's own function with the arguments the program gave.
    let result = unsafe { crate::real!(pthread_key_delete: fn(u32) -> c_int)(key) };
    if result == 0
        && let Some(slot) = DESTRUCTORS.get(key as usize)
    {
        slot.store(0, Ordering::Relaxed);
    }
    result
}

crate::interpose_slot!(pthread_key_create, 2, on_create);
crate::interpose_slot!(__pthread_key_create, 2, on_create);
crate::interpose_slot!(pthread_key_delete, 1, on_delete);
