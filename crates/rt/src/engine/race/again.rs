//! What the running strand does again before others hear of it: the rules are those of `threadbare_rules::again`.
//!
//! What is known of it lapses whenever something comes that makes it untrue: a switch, a release, an instruction that turns out to be a
//! point, memory that is given back. The next access that is looked at begins it anew, if it may.

use super::super::live::live;
use super::super::sched::{ATTENTION, attention, this};
use super::super::{copies, shadow, spin};
use super::{SYNC, is_on, tells};
use crate::raw::Raw;
use core::sync::atomic::Ordering;
use threadbare_rules::Who;
use threadbare_rules::again::Again;

static mut AGAIN: Again = Again::NOTHING;
/// Marks up to this event say nothing for any strand.
static mut SINCE: u64 = 0;

fn again() -> Raw<Again> {
    // SAFETY: single kernel thread.
    unsafe { Raw::new(&raw mut AGAIN) }
}

/// What the running strand has done so far is not to be taken for done again: another one runs, others may hear of it, or each
/// access is to be looked at. Safe in a signal handler.
#[inline(always)]
pub fn lapses() {
    again().lapses();
}

/// The same of all strands: there are more points, or less memory.
pub fn lapses_for_all() {
    // SAFETY: single kernel thread.
    unsafe { SINCE = live().events }
    lapses();
}

/// The running strand's access has been looked at.
#[inline(always)]
pub(super) fn looked() {
    if again().is_nothing() {
        begins();
    }
}

#[inline(never)]
fn begins() {
    let this = this();
    let ignored = this.ignored.reads | this.ignored.writes != 0;
    let told = ATTENTION.load(Ordering::Relaxed) & (attention::WATCH | attention::EFFECTS) != 0;
    let looked_at = told || ignored || spin::is_looking() || copies::is_put_off();
    if is_on() && tells() && !looked_at {
        // SAFETY: single kernel thread.
        *again() = Again::since(this.id.0, this.heard_of().max(unsafe { SINCE }));
    }
}

/// Whether one look tells that the running strand does not make an access again.
///
/// # Safety
/// The cell is in the shadow.
#[inline(always)]
pub unsafe fn may_be_made(cell: *mut shadow::Cell, writes: bool, pc: u64) -> bool {
    // SAFETY: the caller's word.
    let pcs = unsafe { (*cell).marks.pcs };
    let last = if writes { pcs } else { pcs >> 32 };
    last as u32 == pc as u32
}

/// Whether nothing is known that the running strand might do again.
#[inline(always)]
pub fn is_nothing() -> bool {
    again().is_nothing()
}

/// Whether the running strand makes an access again, as the run's next event, about which there is nothing to be done but to count it. It is one of
/// `SIZE` bytes within a cell.
///
/// # Safety
/// The cell is in the shadow.
#[inline(always)]
pub unsafe fn is_made<const SIZE: u32>(
    cell: *mut shadow::Cell,
    writes: bool,
    addr: u64,
    event: u64,
    pc: u64,
) -> bool {
    // SAFETY: the caller's word; single kernel thread.
    let cell = unsafe { &mut *cell };
    let bits = (((1u32 << SIZE) - 1) << (addr & 7)) as u8;
    cell.touch & SYNC == 0
        && match writes {
            true => again().writes(&mut cell.marks, bits, pc),
            false => again().reads(&mut cell.marks, event, bits, pc),
        }
}
