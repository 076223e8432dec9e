//! What a strand has of its own where it stands: its registers and its stack.
//!
//! What another strand has written there is memory like any other: the strand knows of it what it has read. So such bytes count as they were
//! before, until the strand itself writes them.

use super::sched::engine;
use super::steps;
use super::strand::Strand;
use crate::arch;
use alloc::vec::Vec;
use threadbare_abi::op::Op;
use threadbare_abi::strand::StrandId;

/// The longest range that is noted; what is longer counts as the strand's own.
const LONGEST: u32 = 256;

/// Eight bytes of a stack.
#[derive(Clone, Copy)]
struct Word {
    addr: usize,
    /// The bits that another strand has written, and what they were before.
    mask: u64,
    before: u64,
}

/// What others have written into a strand's stack.
#[derive(Default)]
pub struct Foreign(Vec<Word>);

impl Foreign {
    fn position(&self, addr: usize) -> Option<usize> {
        self.0.iter().position(|word| word.addr == addr)
    }

    /// Another strand is about to write these bits of a word.
    fn taken(&mut self, addr: usize, mask: u64) {
        // SAFETY: a word of a stack, which is mapped as a whole.
        let now = unsafe { (addr as *const u64).read_volatile() };
        let at = self.position(addr).unwrap_or_else(|| {
            self.0.push(Word { addr, mask: 0, before: 0 });
            self.0.len() - 1
        });
        let word = &mut self.0[at];
        let new = mask & !word.mask;
        word.before |= now & new;
        word.mask |= new;
    }

    /// The strand itself is about to write them.
    fn given_back(&mut self, addr: usize, mask: u64) {
        if let Some(at) = self.position(addr) {
            let word = &mut self.0[at];
            word.mask &= !mask;
            word.before &= word.mask;
            if word.mask == 0 {
                self.0.swap_remove(at);
            }
        }
    }

    /// A word as the strand knows it.
    fn known(&self, addr: usize, word: u64) -> u64 {
        match self.position(addr) {
            Some(at) => word & !self.0[at].mask | self.0[at].before,
            None => word,
        }
    }
}

/// Stands for what the running strand had at its last hook.
pub fn state(this: &Strand) -> u64 {
    arch::local::state(this.stack.1, |addr, word| this.foreign.known(addr, word))
}

/// Notes what the running strand has, if planners ask.
pub fn note(this: &mut Strand) {
    if steps::is_on() {
        this.local = state(this);
    }
}

/// The strand is about to make an operation.
pub fn makes(id: StrandId, op: Op) {
    let writes = (op.kind.is_plain_access() || op.kind.is_atomic_access()) && !op.kind.looks();
    if !writes || op.size == 0 || op.size > LONGEST {
        return;
    }
    let addr = op.addr as usize;
    let Some(end) = addr.checked_add(op.size as usize) else { return };
    let holds = |other: &Strand| addr >= other.stack.0 && end <= other.stack.1;
    let e = engine();
    let Some(owner) =
        (0..e.strands.len()).map(|at| StrandId(at as u16)).find(|&it| holds(&super::strand(it)))
    else {
        return;
    };
    let foreign = &mut super::strand(owner).foreign;
    let mut word = addr & !7;
    while word < end {
        let first = addr.saturating_sub(word) as u32 * 8;
        let behind = (word + 8).saturating_sub(end) as u32 * 8;
        let mask = u64::MAX << first & u64::MAX >> behind;
        match owner == id {
            true => foreign.given_back(word, mask),
            false => foreign.taken(word, mask),
        }
        word += 8;
    }
}
