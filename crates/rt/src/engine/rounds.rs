//! Rounds that come to nothing.
//!
//! A strand may wait by taking a lock, looking at what it guards, and giving it back, again and again. For [`super::spin`] it does not
//! spin: others see that it takes the lock. If it came back to the same lock at the same place often enough, found the same there, and
//! has changed nothing but locks that it has given back, it gives way before it takes the lock once more, as if it had yielded. Nobody
//! is kept from anything by that: it is a wish, which strategies grant while somebody else can go on.
//!
//! Locks are libc's, and words that a program takes by an exchange of 0 for 1, as Rust's do.

use super::loops;
use super::sched::{self, engine};
use threadbare_abi::op::{Op, OpKind};

/// Rounds in vain after which a strand gives way where a driver plans: a plan says itself how far it goes.
const ENOUGH_PLANNED: u16 = 8;
/// The same for strategies that draw: a poll with a bound is to run out, too.
const ENOUGH: u16 = 64;
/// The same in the few runs in which whoever gives way does so in vain: see [`loops::is_hasty`].
const ENOUGH_HASTY: u16 = 1024;
/// Other locks between two rounds; with more of them another lock is looked at.
const BETWEEN: u16 = 16;

/// What a strand did since it took a lock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// The lock, and where it is taken.
    pc: u64,
    addr: u64,
    /// What the strand has found in this round, and in the one before.
    found: u64,
    before: u64,
    /// A word that it has taken as a lock and not given back.
    word: u64,
    /// Rounds in vain, one after the other.
    vain: u16,
    left: u16,
    /// It has changed something.
    changed: bool,
}

/// Whether an operation may be the beginning of a round, besides exchanges.
#[inline]
pub fn takes(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::MutexLock
            | OpKind::MutexTryLock
            | OpKind::SpinLock
            | OpKind::SpinTryLock
            | OpKind::ReadLock
            | OpKind::ReadTryLock
            | OpKind::WriteLock
            | OpKind::WriteTryLock
    )
}

/// The running strand has come to an operation: whether it is to give way there.
#[inline]
pub fn comes(op: &Op) -> bool {
    takes(op.kind) && comes_to(op)
}

/// The same of one that may take a lock.
#[inline]
pub fn comes_to(op: &Op) -> bool {
    let rounds = &mut sched::this().rounds;
    if rounds.pc != op.pc || rounds.addr != op.addr {
        if rounds.left > 0 {
            rounds.left -= 1;
        } else {
            *rounds = Rounds { pc: op.pc, addr: op.addr, left: BETWEEN, ..Rounds::default() };
        }
        return false;
    }
    let vain = !rounds.changed && rounds.word == 0 && rounds.found == rounds.before;
    rounds.vain = if vain { rounds.vain.saturating_add(1) } else { 0 };
    (rounds.before, rounds.found, rounds.changed, rounds.left) = (rounds.found, 0, false, BETWEEN);
    rounds.vain >= ENOUGH_PLANNED && rounds.vain >= enough() && engine().can_count() > 1
}

fn enough() -> u16 {
    match &engine().plan {
        plan if loops::is_planned(plan) => ENOUGH_PLANNED,
        _ if engine().hasty => ENOUGH_HASTY,
        _ => ENOUGH,
    }
}

/// The running strand has found a value.
#[inline]
pub fn finds(pc: u64, addr: u64, value: u64) {
    let found = &mut sched::this().rounds.found;
    *found = (found.rotate_left(7) ^ pc ^ addr.rotate_left(21) ^ value.rotate_left(43))
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
}

/// The running strand has changed something that others can see.
#[inline]
pub fn changes() {
    sched::this().rounds.changed = true;
}

/// The running strand has taken a word.
#[inline]
pub fn takes_word(addr: u64) {
    sched::this().rounds.word = addr;
}

/// The running strand has put 0 into a word. True if it had taken it.
#[inline]
pub fn gives_back(addr: u64) -> bool {
    let word = &mut sched::this().rounds.word;
    let taken = *word == addr;
    if taken {
        *word = 0;
    }
    taken
}

/// Makes what strategies ask for while the running strand stands before a lock.
#[inline]
pub fn set_polite(polite: bool) {
    sched::this().yields = polite;
    engine().yielding = polite;
}
