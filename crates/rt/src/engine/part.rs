//! Parts of the program's code that are made atomic, to see what that mends.
//!
//! Between a strand's first point in such a part and its last one nobody else goes on, unless the strand has to wait. What it calls
//! from there belongs to it, and so does another part that is in it. Who goes from one part to another one is between them for a moment. Where a strand comes to its first place again it is in the part once more, and others may have gone
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

/// Return addresses in a part, from the first to the last of a stretch.
#[derive(Clone, Copy)]
struct Stretch {
    part: u64,
    first: u64,
    last: u64,
}

static mut PARTS: Vec<Stretch> = Vec::new();

/// Where a strand is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inside {
    /// Stands for its first place inside with the calls that lead there; 0 if it is outside.
    entry: u64,
    /// Which part it is.
    part: u64,
    pinned: bool,
    points: u32,
}

/// The driver wants these.
pub fn begin(watches: &[Watch]) {
    let parts = watches.iter().filter(|watch| watch.kind == WatchKind::Part as u32);
    // SAFETY: single kernel thread.
    let known = unsafe { &mut *(&raw mut PARTS) };
    known.extend(parts.map(|watch| Stretch { part: watch.event, first: watch.addr, last: watch.pc }));
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
    let is_in = |pc: u64, stretch: &Stretch| (stretch.first..=stretch.last).contains(&pc);
    let pc = this.op.pc;
    let places = || core::iter::once(pc).chain(frames::innermost::<CALLERS>());
    // The way to a place from where the part begins.
    let within = |part: u64| {
        let mut way = 0_u64;
        let ways = places().map(|pc| {
            way = way.rotate_left(5) ^ pc.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let inside = parts.iter().any(|stretch| stretch.part == part && is_in(pc, stretch));
            inside.then_some(way | 1)
        });
        ways.flatten().last()
    };
    let outside = this.part.entry == 0;
    let mut found = (!outside).then(|| this.part.part).and_then(|part| Some((part, within(part)?)));
    if found.is_none() {
        if !outside {
            leave(&mut this);
        }
        // The outermost one has the others in it.
        let outermost = places().filter_map(|pc| parts.iter().find(|stretch| is_in(pc, stretch))).next_back();
        found = outermost.and_then(|stretch| Some((stretch.part, within(stretch.part)?)));
    }
    let Some((part, here)) = found else { return };
    if this.part.entry != 0 && (this.part.entry == here || this.part.points > LONGEST) {
        leave(&mut this);
    }
    if this.part.entry == 0 {
        (this.part.entry, this.part.part) = (here, part);
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
