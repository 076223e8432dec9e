//! Scheduling parameters: remembered, and without effect, since the strategy schedules.
//!
//! libc's own functions would change a carrier in the fork server.

use super::{hook, thread};
use crate::engine;
use crate::sys::errno::*;
use crate::sys::{c_int, pthread_t};

/// What a strand asked for.
#[derive(Default)]
pub struct PerStrand {
    policy: c_int,
    priority: c_int,
}

const SCHED_FIFO: c_int = 1;
const SCHED_RR: c_int = 2;
const SCHED_BATCH: c_int = 3;
const SCHED_IDLE: c_int = 5;

fn valid(policy: c_int, priority: c_int) -> bool {
    match policy {
        SCHED_FIFO | SCHED_RR => (1..=99).contains(&priority),
        0 | SCHED_BATCH | SCHED_IDLE => priority == 0,
        _ => false,
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_getschedparam / 3 => on_get(target: pthread_t, policy: *mut c_int, priority: *mut c_int; _pc) -> c_int {
        engine::event();
        let Some(id) = thread::find(target) else { return ESRCH };
        let sched = &engine::strand(id).model.sched;
        // SAFETY: the program passes places for both.
        unsafe {
            policy.write(sched.policy);
            priority.write(sched.priority);
        }
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_setschedparam / 3 => on_set(target: pthread_t, policy: c_int, priority: *const c_int; _pc) -> c_int {
        engine::event();
        let Some(id) = thread::find(target) else { return ESRCH };
        // SAFETY: the program passes a `sched_param`, which is the priority.
        let priority = unsafe { priority.read() };
        if !valid(policy, priority) {
            return EINVAL;
        }
        engine::strand(id).model.sched = PerStrand { policy, priority };
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_setschedprio / 2 => on_setprio(target: pthread_t, priority: c_int; _pc) -> c_int {
        engine::event();
        let Some(id) = thread::find(target) else { return ESRCH };
        let sched = &mut engine::strand(id).model.sched;
        if !valid(sched.policy, priority) {
            return EINVAL;
        }
        sched.priority = priority;
        0
    }
}
