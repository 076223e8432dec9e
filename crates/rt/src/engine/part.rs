//! Parts of the program's code that are made atomic, to see what that mends.
//!
//! Between a strand's first point in such a part and its last one nobody else goes on, unless the strand has to wait. What it calls
//! from there belongs to it. Where a strand comes to its first place again it is in the part once more, and others may have gone
//! on in between: each time around a loop by itself.

use super::sched::{ATTENTION, attention, this};
use super::{frames, strand::Strand};
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use threadbare_abi::layout::{Watch, WatchKind};

/// Callers that are looked at.
const CALLERS: usize = 16;
/// Points after which others may go on, whatever a part does.
const LONGEST: u32 = 10_000;

/// Return addresses in the parts, from the first to the last of each stretch.
static mut PARTS: Vec<(u64, u64)> = Vec::new();

/// Where a strand is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inside {
    /// Its first place inside, and the operation it stood before there; 0 if it is outside.
    entry: (u64, u64),
    pinned: bool,
    points: u32,
}

/// The driver wants these.
pub fn begin(watches: &[Watch]) {
    let parts = watches.iter().filter(|watch| watch.kind == WatchKind::Part as u32);
    // SAFETY: single kernel thread.
    let known = unsafe { &mut *(&raw mut PARTS) };
    known.extend(parts.map(|watch| (watch.addr, watch.pc)));
    if !known.is_empty() {
        ATTENTION.fetch_or(attention::PART, Ordering::Relaxed);
    }
}

/// The running strand has come to a point.
#[cold]
pub fn comes() {
    let mut this = this();
    // SAFETY: single kernel thread.
    let parts = unsafe { &*(&raw const PARTS) };
    let is_in = |pc: &u64| parts.iter().any(|(first, last)| (first..=last).contains(&pc));
    let place = core::iter::once(this.op.pc).chain(frames::innermost::<CALLERS>()).find(is_in);
    let Some(place) = place else { return leave(&mut this) };
    let here = (place, this.op.pc);
    if this.part.entry != (0, 0) && (this.part.entry == here || this.part.points > LONGEST) {
        leave(&mut this);
    }
    if this.part.entry == (0, 0) {
        this.part.entry = here;
    } else if !this.part.pinned {
        this.part.pinned = true;
        this.pinned += 1;
    }
    this.part.points += 1;
}

fn leave(this: &mut Strand) {
    if this.part.pinned {
        this.pinned = this.pinned.saturating_sub(1);
    }
    this.part = Inside::default();
}
