//! One place of the program's code made to come before another, to see what that mends.
//!
//! Who comes to the second place waits until somebody has made the first, as for a semaphore that is posted there, once and for all.
//! It is one for whoever looks on, planners and the deadlock check too. The first place is made when its strand comes to its next operation.

use super::word::Word;
use crate::effect::{Effect, Mode, Was, effect, here};
use crate::engine::sched::{ATTENTION, attention, publish, this};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake};
use crate::raw::Raw;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use threadbare_abi::layout::{Watch, WatchKind};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// Posted at once: nobody who comes later waits.
const MANY: u32 = 1 << 24;

/// The semaphore's value.
static mut POSTED: u32 = 0;
/// Return addresses of the first place, and of the second.
static mut PLACES: (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());

fn value() -> Word {
    // SAFETY: a static of our own, used by one kernel thread.
    unsafe { Word::at(&raw mut POSTED as usize) }
}

fn key() -> ObjectId {
    ObjectId::new(ObjectClass::Sem, &raw const POSTED as u64)
}

fn places() -> Raw<(Vec<u64>, Vec<u64>)> {
    // SAFETY: single kernel thread.
    unsafe { Raw::new(&raw mut PLACES) }
}

/// The driver wants these.
pub fn begin(watches: &[Watch]) {
    let of = |kind: WatchKind| watches.iter().filter(move |watch| watch.kind == kind as u32);
    let (first, second) = &mut *places();
    first.extend(of(WatchKind::First).map(|watch| watch.pc));
    second.extend(of(WatchKind::Second).map(|watch| watch.pc));
    if !second.is_empty() {
        ATTENTION.fetch_or(attention::PART, Ordering::Relaxed);
    }
}

/// The running strand has come to its next operation: what it stood before is made.
pub fn comes() {
    let mut this = this();
    let (first, _) = &mut *places();
    let makes_first = first.contains(&this.op.pc);
    if core::mem::replace(&mut this.makes_first, makes_first) && value().get() == 0 {
        effect(Effect::Release(Mode::Alone, Was::Shut), key(), here());
        value().set(MANY);
        engine::notify(key());
    }
}

/// The running strand stands before an operation, and waits if it is the second.
#[cold]
pub fn wait(op: Op) {
    let posted = &raw const POSTED as u64;
    if op.addr == posted || !places().1.contains(&op.pc) {
        return;
    }
    let wait = Op::new(OpKind::SemWait, posted, op.pc);
    loop {
        let ready = &mut || if value().get() > 0 { Ready::Yes } else { Ready::No(StrandId::NONE) };
        if engine::acquire(wait, key(), None, ready) == Wake::Go {
            break;
        }
    }
    value().set(value().get() - 1);
    effect(Effect::Acquire(Mode::Alone), key(), here());
    publish(op);
}
