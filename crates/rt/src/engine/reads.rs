//! Who reads from whom, and what each strand does, when the strategy or the driver wants to know; see
//! `threadbare-strategy`'s `reads` and `counts`.

use super::{guidance, memory, strand};
use crate::raw::Raw;
use threadbare_abi::strand::StrandId;
use threadbare_strategy::Born;
use threadbare_strategy::counts::{COUNTS_WORDS, Counts};
use threadbare_strategy::reads::{READS_WORDS, Reads};
use threadbare_strategy::weights::bucket;

static mut READS: Reads = Reads::new();
static mut COUNTS: Counts = Counts::new();

fn reads() -> Raw<Reads> {
    // SAFETY: single kernel thread.
    unsafe { Raw::new(&raw mut READS) }
}

fn counts() -> Raw<Counts> {
    // SAFETY: as above.
    unsafe { Raw::new(&raw mut COUNTS) }
}

/// Words of zero, the caller's for good.
fn reserve<'a>(words: usize) -> &'a mut [u64] {
    let base = memory::reserve(words * 8) as *mut u64;
    // SAFETY: reserved just now, zeroed, of this size, and nobody else's.
    unsafe { core::slice::from_raw_parts_mut(base, words) }
}

/// A run begins that keeps track. Strands are told afterwards.
pub fn begin() {
    reads().furnish(reserve(READS_WORDS));
    counts().furnish(reserve(COUNTS_WORDS));
}

/// A strand was created.
pub fn created(born: Born) {
    counts().created(born);
}

/// The strand makes the operation it stands before.
#[inline(never)]
pub fn executed(id: StrandId) {
    let op = strand(id).op;
    reads().executed(id, &op, |record| guidance::tell_reads(&record));
    counts().count(id, bucket(&op));
}

/// The instruction that last wrote here, 0 if none did.
pub fn last_writer(addr: u64) -> u64 {
    reads().last_writer(addr)
}

/// Writes what each strand did; returns how many words.
pub fn finish(notes: &mut [u64]) -> usize {
    counts().finish(notes)
}
