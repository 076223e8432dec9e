//! Barriers.
//!
//! In glibc's layout: arrivals of this round (offset 0), rounds done (4), the size (8). Whoever arrives last frees the
//! others and is told `PTHREAD_BARRIER_SERIAL_THREAD`; a freed strand does not touch the barrier again, so it may be
//! destroyed or used anew at once.

use super::word::Word;
use super::{cancel, hook};
use crate::effect::{Effect, Mode, Was, effect};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake};
use crate::sys::{c_int, c_void};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

const SERIAL_THREAD: c_int = -1;

#[derive(Clone, Copy)]
struct Barrier {
    arrived: Word,
    rounds: Word,
    size: Word,
    addr: usize,
}

impl Barrier {
    /// The barrier a program's pointer stands for.
    fn at(barrier: *mut c_void) -> Barrier {
        let addr = barrier as usize;
        // SAFETY: the program passes a barrier, and the words lie within it.
        unsafe {
            Barrier { arrived: Word::at(addr), rounds: Word::at(addr + 4), size: Word::at(addr + 8), addr }
        }
    }

    fn key(self) -> ObjectId {
        ObjectId::new(ObjectClass::Barrier, self.addr as u64)
    }

    /// Whoever destroys it waits here for the round to end.
    fn destroy_key(self) -> ObjectId {
        ObjectId::new(ObjectClass::Barrier, self.addr as u64 + 1)
    }
}

/// How many have come to the barrier that a strand waits at, and how many it waits for.
pub fn arrivals(addr: usize) -> (u32, u32) {
    let barrier = Barrier::at(addr as *mut c_void);
    (barrier.arrived.get(), barrier.size.get())
}

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    pthread_barrier_wait / 1 is BarrierWait => on_wait(barrier: *mut c_void; pc) -> c_int {
        let op = Op::new(OpKind::BarrierWait, barrier as u64, pc);
        engine::point(op);
        let barrier = Barrier::at(barrier);
        let arrived = barrier.arrived.get() + 1;
        let round = barrier.rounds.get();
        effect(Effect::Release(Mode::Alone, Was::Open), barrier.key(), pc);
        if arrived >= barrier.size.get() {
            barrier.arrived.set(0);
            barrier.rounds.set(round.wrapping_add(1));
            engine::wake_all(barrier.key(), u32::MAX);
            engine::notify(barrier.destroy_key());
            effect(Effect::After, barrier.key(), pc);
            return SERIAL_THREAD;
        }
        barrier.arrived.set(arrived);
        while !matches!(engine::sleep_on(op, barrier.key(), None, u32::MAX), Wake::Go) {
            cancel::check_asynchronous();
            // A signal handler ran; the round may have ended meanwhile.
            if barrier.rounds.get() != round {
                break;
            }
        }
        effect(Effect::After, barrier.key(), pc);
        0
    }
}

hook! {
    /// Safe before init and after fork (libc's).
    pthread_barrier_init / 3 => on_init(barrier: *mut c_void, attr: *const c_void, count: u32; pc) -> c_int {
        super::makes(Barrier::at(barrier).key(), pc);
        // SAFETY: libc only fills the barrier in.
        unsafe { crate::real!(pthread_barrier_init: fn(*mut c_void, *const c_void, u32) -> c_int)(barrier, attr, count) }
    }
}

hook! {
    /// Waits, as glibc does, for strands that are inside.
    pthread_barrier_destroy / 1 => on_destroy(barrier: *mut c_void; pc) -> c_int {
        let op = Op::new(OpKind::BarrierWait, barrier as u64, pc);
        let barrier = Barrier::at(barrier);
        super::destroys(barrier.key(), pc);
        while barrier.arrived.get() != 0 {
            engine::acquire(op, barrier.destroy_key(), None, &mut || {
                if barrier.arrived.get() == 0 { Ready::Yes } else { Ready::No(StrandId::NONE) }
            });
        }
        effect(Effect::Destroyed, barrier.key(), pc);
        0
    }
}
