//! Which locks each strand holds, and in which orders it takes them.
//!
//! Every lock model tells here what was taken and given back. When a strand is about to take a lock with a wait that has
//! no end of its own while it holds others, that order is told to the driver ([`RecordTag::LockOrder`]), once for each
//! set of locks and place: two strands with opposite orders may deadlock in another run. With each order goes what the
//! strand knows of the others through creation and join, so that orders that can never meet are told apart.

use super::report;
use super::wait::Class;
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
    pub addr: usize,
    /// Where it was taken.
    pub pc: u64,
    /// The callers of that place, innermost first; 0 behind the last one.
    pub callers: [u64; CALLERS],
    /// What sort of lock it is.
    pub class: Class,
    /// Taken for reading only.
    pub shared: bool,
    /// It frees itself when its holder ends.
    pub robust: bool,
}

impl Held {
    /// A lock that the running strand holds alone.
    pub fn alone(class: Class, addr: usize, pc: u64) -> Held {
        Held { addr, pc, callers: frames::innermost(), class, shared: false, robust: false }
    }
}

/// What a strand holds, oldest first.
pub fn held_by(id: StrandId) -> &'static mut Vec<Held> {
    &mut strand(id).model.mutex.held
}

/// The running strand has taken a lock.
pub fn taken(lock: Held) {
    held_by(me()).push(lock);
}

/// A strand has given a lock back. False if it did not hold it.
pub fn given_back(id: StrandId, class: Class, addr: usize) -> bool {
    let held = held_by(id);
    match held.iter().rposition(|held| held.addr == addr && held.class == class) {
        Some(at) => {
            held.remove(at);
            true
        }
        None => false,
    }
}

/// The running strand gives a lock back that it may have got from another.
pub fn given_back_by_any(class: Class, addr: usize) {
    if given_back(me(), class, addr) {
        return;
    }
    super::deadlock::given_by_another(addr);
    for index in 0..strand_count() as u16 {
        if given_back(StrandId(index), class, addr) {
            return;
        }
    }
}

/// The strands that hold a lock.
pub fn holders(class: Class, addr: usize, mut visit: impl FnMut(StrandId)) {
    for index in 0..strand_count() as u16 {
        let id = StrandId(index);
        if held_by(id).iter().any(|held| held.addr == addr && held.class == class) {
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
pub fn wants(class: Class, addr: usize, pc: u64, shared: bool) {
    if words::any() {
        words::settle(me());
    }
    if !held_by(me()).is_empty() || !strand(me()).model.words.held.is_empty() {
        tell_orders(class, addr, pc, shared);
    }
}

#[cold]
#[inline(never)]
fn tell_orders(class: Class, addr: usize, pc: u64, shared: bool) {
    let me = me();
    let epoch = clock(me).get(me.index()).copied().unwrap_or(0);
    let mut hash = Hash::new();
    for word in [me.0 as u64, epoch as u64, addr as u64, pc, shared as u64] {
        hash.add(word);
    }
    let all = || held_by(me).iter().chain(strand(me).model.words.held.iter());
    for held in all() {
        hash.add(held.addr as u64 ^ (held.shared as u64) << 63);
    }
    let Some(occasion) = first_time(hash.0 | 1) else { return };
    let callers: [u64; CALLERS] = frames::innermost();
    for held in all() {
        if held.addr == addr && held.class == class {
            continue;
        }
        report::add(
            RecordTag::LockOrder,
            me.0,
            [held.addr as u64, addr as u64, pc],
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
