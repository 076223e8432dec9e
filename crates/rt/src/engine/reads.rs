//! Who reads from whom, when the strategy or the driver wants to know; see `threadbare-strategy`'s `reads`.

use super::{guidance, memory, strand};
use threadbare_abi::strand::StrandId;
use threadbare_strategy::reads::{READS_WORDS, Reads};

static mut READS: Reads = Reads::new();

fn reads() -> &'static mut Reads {
    // SAFETY: single kernel thread, and no reference outlives the call it is for.
    unsafe { &mut *(&raw mut READS) }
}

/// A run begins that keeps track.
pub fn begin() {
    let base = memory::reserve(READS_WORDS * 8) as *mut u64;
    // SAFETY: reserved just now, zeroed, of this size, and nobody else's.
    reads().furnish(unsafe { core::slice::from_raw_parts_mut(base, READS_WORDS) });
}

/// The strand makes the operation it stands before.
#[inline(never)]
pub fn executed(id: StrandId) {
    let op = strand(id).op;
    reads().executed(id, &op, |record| guidance::tell_reads(&record));
}

/// The instruction that last wrote here, 0 if none did.
pub fn last_writer(addr: u64) -> u64 {
    reads().last_writer(addr)
}
