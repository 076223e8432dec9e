//! Locks that are one word of the program's own: Rust's `std::sync::Mutex`, and others of the kind that Drepper describes.
//!
//! Such a lock is 0 when free, 1 when held, 2 when held and waited for. The compiler's pass sees its fast path in the
//! program's own code: a compare-and-exchange of 0 by 1 that acquires, a write of 0 that releases. Precompiled code does
//! the rest out of sight, and the futex calls it makes tell what it did:
//!
//! - A strand whose wait on such a word ended, and that goes on without waiting on it again, has taken it.
//! - A strand that comes to a wake or a wait on another word (a condition variable's) and finds a lock that it held free
//!   has just given it back, and has it again when it goes on after the wait.
//!
//! This tells who holds a lock that others wait for, and in which orders locks are taken. A word that is used in the same
//! way and is no lock does no harm: it has a holder only while it is 2 and strands wait on it, and orders are tried before
//! they are told.

use super::locks;
use super::wait::{ObjectClass, ObjectId};
use super::{me, strand, strand_count};
use crate::raw::Raw;
use crate::sys::errno::EFAULT;
use crate::sys::{nr, syscall6};
use alloc::vec::Vec;
use threadbare_abi::strand::StrandId;
use threadbare_rules::locks::Held;

/// Held and waited for.
const CONTENDED: u32 = 2;
/// Words a strand may seem to hold; a program that never gives them back uses them for something else.
const HELD_MOST: usize = 64;

/// What a strand has of such locks.
#[derive(Default)]
pub struct PerStrand {
    /// Those it holds, oldest first.
    pub held: Vec<Held>,
    /// The last one it could not take, and where it tried.
    tried: Option<(usize, u64)>,
    /// The word it waited on last: it may hold it now.
    waited: Option<usize>,
    /// Those that it gave back out of sight for the wait it is in.
    lent: Vec<Held>,
    /// That wait has ended.
    back: bool,
}

static mut ANY: bool = false;

/// Whether there is any such lock yet.
#[inline(always)]
pub fn any() -> bool {
    // SAFETY: a byte that only the single kernel thread writes.
    unsafe { ANY }
}

fn word(addr: usize) -> ObjectId {
    ObjectId::new(ObjectClass::Futex, addr as u64)
}

fn of(id: StrandId) -> Raw<PerStrand> {
    strand(id).part(|strand| &mut strand.words)
}

/// The word's value; 0 where there is no memory any more.
fn value(addr: usize) -> u32 {
    const NO_CHANGE: usize = usize::MAX;
    // SAFETY: the kernel reads the 8 bytes before it refuses to change the mask, or says that they are not there; the word
    // is read only if they are.
    unsafe {
        let refused = syscall6(nr::RT_SIGPROCMASK, NO_CHANGE, addr & !7, 0, 8, 0, 0);
        if refused == -(EFAULT as isize) { 0 } else { (addr as *const u32).read_volatile() }
    }
}

/// Who holds the word that a strand waits on; `NONE` if it is no lock, or nobody knows.
pub fn holder_of(addr: usize) -> StrandId {
    if !any() || !addr.is_multiple_of(4) || value(addr) != CONTENDED {
        return StrandId::NONE;
    }
    for index in 0..strand_count() as u16 {
        settle(StrandId(index));
    }
    recorded(addr)
}

/// Where a strand tried to take the word that it waits on, if it did that in sight.
pub fn tried(id: StrandId) -> Option<u64> {
    let key = strand(id).wait.key;
    let (addr, pc) = of(id).tried?;
    (key == word(addr)).then_some(pc)
}

/// The words that a strand holds and others wait on.
pub fn contended(id: StrandId) -> impl Iterator<Item = Held> {
    of(id).held.clone().into_iter().filter(|held| value(held.object.addr as usize) == CONTENDED)
}

fn recorded(addr: usize) -> StrandId {
    let holds = |id: &StrandId| of(*id).held.iter().any(|held| held.object == word(addr));
    (0..strand_count() as u16).map(StrandId).find(holds).unwrap_or(StrandId::NONE)
}

fn hold(id: StrandId, lock: Held) {
    if recorded(lock.object.addr as usize) != StrandId::NONE {
        return;
    }
    if id == me() {
        locks::wants(lock.object, lock.pc, false);
    }
    if of(id).held.len() < HELD_MOST {
        of(id).held.push(lock);
    }
}

/// The running strand has exchanged 0 by 1 and acquired.
#[cold]
#[inline(never)]
pub fn taken(addr: usize, pc: u64) {
    // SAFETY: single kernel thread.
    unsafe { ANY = true }
    settle(me());
    hold(me(), locks::here(word(addr), pc, false));
}

/// The running strand wanted to exchange 0 by 1, and there was no 0.
#[cold]
#[inline(never)]
pub fn refused(addr: usize, pc: u64) {
    settle(me());
    of(me()).tried = Some((addr, pc));
}

/// The running strand has released the word, which is 0 now.
#[cold]
#[inline(never)]
pub fn given_back(addr: usize) {
    settle(me());
    let id = recorded(addr);
    if id != StrandId::NONE {
        of(id).held.retain(|held| held.object != word(addr));
    }
}

/// Makes up for what a strand did out of sight since its last wait.
pub fn settle(id: StrandId) {
    let mut this = of(id);
    if this.waited.is_none() && !this.back {
        return;
    }
    let waited = this.waited.take();
    let lent = if core::mem::take(&mut this.back) { core::mem::take(&mut this.lent) } else { Vec::new() };
    if let Some((addr, pc)) = this.tried.filter(|(addr, _)| waited == Some(*addr))
        && value(addr) == CONTENDED
    {
        this.tried = None;
        hold(id, locks::here(word(addr), pc, false));
    }
    for lock in lent {
        if value(lock.object.addr as usize) != 0 {
            hold(id, lock);
        }
    }
}

/// The running strand comes to a wait on a word; nobody else has run since it went out of sight.
pub fn waits(addr: usize) {
    if !any() {
        return;
    }
    let mut this = of(me());
    let own = this.tried.is_some_and(|(tried, _)| tried == addr)
        || this.lent.iter().any(|it| it.object == word(addr));
    if own {
        // It did not get the lock yet.
        this.waited = None;
    } else {
        wakes();
    }
}

/// The running strand comes to a wake; nobody else has run since it went out of sight.
pub fn wakes() {
    if !any() {
        return;
    }
    settle(me());
    let mut this = of(me());
    let (lent, held): (Vec<Held>, Vec<Held>) =
        core::mem::take(&mut this.held).into_iter().partition(|held| value(held.object.addr as usize) == 0);
    this.held = held;
    this.lent.extend(lent);
}

/// The running strand's wait on a word has ended.
pub fn waited(addr: usize) {
    if any() {
        let mut this = of(me());
        this.waited = Some(addr);
        this.back |= !this.lent.is_empty();
    }
}
