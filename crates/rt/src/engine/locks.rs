//! Which locks each strand holds, and in which orders it takes them.
//!
//! Models say what was taken and given back (`effect`). When a strand is about to take a lock with a wait that has
//! no end of its own while it holds others, that order is told to the driver ([`RecordTag::LockOrder`]), once for each
//! set of locks and place: two strands with opposite orders may deadlock in another run. With each order goes what the
//! strand knows of the others through creation and join, so that orders that can never meet are told apart.

use super::report;
use super::wait::ObjectId;
use super::{frames, me, strand, strand_count, words};
use crate::model::single::Single;
use crate::raw::Raw;
use alloc::vec::Vec;
use core::fmt;
use threadbare_abi::report::RecordTag;
use threadbare_abi::strand::StrandId;
use threadbare_rules::locks::{CALLERS, CLOCK_TOLD, Held, Orders, give_back};

/// A lock that the running strand has taken here.
pub fn here(object: ObjectId, pc: u64, shared: bool) -> Held {
    Held { object, pc, callers: frames::innermost(), shared }
}

/// What a strand holds, oldest first.
pub fn held_by(id: StrandId) -> Raw<Vec<Held>> {
    strand(id).part(|strand| &mut strand.held)
}

/// The running strand has taken a lock.
pub fn taken(object: ObjectId, pc: u64, shared: bool) {
    held_by(me()).push(here(object, pc, shared));
}

/// A strand has given a lock back. False if it did not hold it.
pub fn given_back(id: StrandId, object: ObjectId) -> bool {
    give_back(&mut held_by(id), object)
}

/// The running strand gives a lock back that it may have got from another.
pub fn given_back_by_any(object: ObjectId) {
    if given_back(me(), object) {
        return;
    }
    super::deadlock::given_by_another(object);
    for index in 0..strand_count() as u16 {
        if given_back(StrandId(index), object) {
            return;
        }
    }
}

/// The strands that hold a lock.
pub fn holders(object: ObjectId, mut visit: impl FnMut(StrandId)) {
    for index in 0..strand_count() as u16 {
        let id = StrandId(index);
        if held_by(id).iter().any(|held| held.object == object) {
            visit(id);
        }
    }
}

static ORDERS: Single<Orders> = Single::new(Orders::new());

/// The running strand has created another.
pub fn created(child: StrandId) {
    ORDERS.with(|orders| orders.created(me(), child));
}

/// The running strand has joined another.
pub fn joined(other: StrandId) {
    ORDERS.with(|orders| orders.joined(other, me()));
}

/// The running strand is about to wait for a lock, for ever if need be: the orders this makes are told.
#[inline]
pub fn wants(object: ObjectId, pc: u64, shared: bool) {
    if words::any() {
        words::settle(me());
    }
    if !held_by(me()).is_empty() || !strand(me()).words.held.is_empty() {
        tell_orders(object, pc, shared);
    }
}

#[cold]
#[inline(never)]
fn tell_orders(object: ObjectId, pc: u64, shared: bool) {
    let me = me();
    let (locks, this) = (held_by(me), strand(me));
    let all = || locks.iter().chain(this.words.held.iter());
    let occasion = ORDERS.with(|orders| orders.wants(me, (object, pc, shared), all()));
    let Some(occasion) = occasion else { return };
    let known = ORDERS.with(|orders| orders.clock(me).clone());
    let callers: [u64; CALLERS] = frames::innermost();
    for held in all() {
        if held.object == object {
            continue;
        }
        report::add(
            RecordTag::LockOrder,
            me.0,
            [held.object.addr, object.addr, pc],
            format_args!(
                "{:x}{} {:x}{} {} {} {occasion}{}",
                held.pc,
                Pcs(&held.callers),
                pc,
                Pcs(&callers),
                held.shared as u8,
                shared as u8,
                Numbers(&known)
            ),
        );
    }
}

/// Callers, each behind a comma.
pub struct Pcs<'a>(pub &'a [u64]);

impl fmt::Display for Pcs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take_while(|&&pc| pc != 0).try_for_each(|pc| write!(f, ",{pc:x}"))
    }
}

struct Numbers<'a>(&'a [u32]);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(CLOCK_TOLD).try_for_each(|number| write!(f, " {number}"))
    }
}
