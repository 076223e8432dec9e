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
use alloc::vec::Vec;
use core::fmt;
use threadbare_abi::report::RecordTag;
use threadbare_abi::strand::StrandId;

/// Callers that are kept with a lock: enough to come out of a guard's constructor.
pub const CALLERS: usize = 4;

/// A lock a strand holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The lock.
    pub object: ObjectId,
    /// Where it was taken.
    pub pc: u64,
    /// The callers of that place, innermost first; 0 behind the last one.
    pub callers: [u64; CALLERS],
    /// Taken for reading only.
    pub shared: bool,
}

impl Held {
    /// A lock that the running strand has taken here.
    pub fn here(object: ObjectId, pc: u64, shared: bool) -> Held {
        Held { object, pc, callers: frames::innermost(), shared }
    }
}

/// What a strand holds, oldest first.
pub fn held_by(id: StrandId) -> &'static mut Vec<Held> {
    &mut strand(id).held
}

/// The running strand has taken a lock.
pub fn taken(object: ObjectId, pc: u64, shared: bool) {
    held_by(me()).push(Held::here(object, pc, shared));
}

/// A strand has given a lock back. False if it did not hold it.
pub fn given_back(id: StrandId, object: ObjectId) -> bool {
    let held = held_by(id);
    match held.iter().rposition(|held| held.object == object) {
        Some(at) => {
            held.remove(at);
            true
        }
        None => false,
    }
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

/// Different orders that are told in one run.
const ORDERS_MOST: usize = 1024;
const SLOTS: usize = 2 * ORDERS_MOST;
/// Strands whose creation and join is told with an order.
const CLOCK_TOLD: usize = 128;

struct Orders {
    /// Hashes of what was told; 0 is an empty slot.
    told: [u64; SLOTS],
    count: usize,
    /// What each strand knows of the first [`CLOCK_TOLD`] ones by creation and join: the number of the last stretch of each.
    clocks: Vec<Vec<u32>>,
}

static ORDERS: Single<Orders> = Single::new(Orders { told: [0; SLOTS], count: 0, clocks: Vec::new() });

fn clock(id: StrandId) -> &'static mut Vec<u32> {
    let clocks = &mut ORDERS.get().clocks;
    while clocks.len() <= id.index() {
        let own = clocks.len();
        let mut fresh = alloc::vec![0; (own + 1).min(CLOCK_TOLD)];
        if let Some(stretch) = fresh.get_mut(own) {
            *stretch = 1;
        }
        clocks.push(fresh);
    }
    &mut clocks[id.index()]
}

fn learn(from: StrandId, to: StrandId) {
    let known = clock(from).clone();
    let own = clock(to);
    if own.len() < known.len() {
        own.resize(known.len(), 0);
    }
    for (mine, theirs) in own.iter_mut().zip(known) {
        *mine = theirs.max(*mine);
    }
}

/// The running strand has created another: what it does from now on is a new stretch, unknown to the new one.
pub fn created(child: StrandId) {
    learn(me(), child);
    next_stretch();
}

/// The running strand has joined another, and knows all that the other did.
pub fn joined(other: StrandId) {
    learn(other, me());
    next_stretch();
}

/// What the running strand does from now on is unknown to the others.
fn next_stretch() {
    if let Some(stretch) = clock(me()).get_mut(me().index()) {
        *stretch += 1;
    }
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
    let epoch = clock(me).get(me.index()).copied().unwrap_or(0);
    let mut hash = Hash::new();
    for word in [me.0 as u64, epoch as u64, object.addr, pc, shared as u64] {
        hash.add(word);
    }
    let all = || held_by(me).iter().chain(strand(me).words.held.iter());
    for held in all() {
        hash.add(held.object.addr ^ (held.shared as u64) << 63);
    }
    let Some(occasion) = first_time(hash.0 | 1) else { return };
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
                Numbers(clock(me))
            ),
        );
    }
}

/// The number of this occasion if it is a new one.
fn first_time(hash: u64) -> Option<usize> {
    let orders = ORDERS.get();
    let mut at = hash as usize % SLOTS;
    while orders.told[at] != 0 {
        if orders.told[at] == hash {
            return None;
        }
        at = (at + 1) % SLOTS;
    }
    if orders.count == ORDERS_MOST {
        return None;
    }
    orders.told[at] = hash;
    orders.count += 1;
    Some(orders.count)
}

struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0x243F_6A88_85A3_08D3)
    }

    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(25) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 29;
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
