//! Moments whose stacks the driver wants to know when it makes a run again.

use super::live::live;
use super::race::tell;
use super::sched::{ATTENTION, attention, engine, this};
use super::{StrandId, addressable, part, report, shared};
use crate::model::before;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use threadbare_abi::layout::{self, Watch, WatchKind};
use threadbare_abi::report::RecordTag;

static mut WATCHES: Vec<Watch> = Vec::new();

/// Whether anything is watched for.
#[inline(always)]
pub fn is_on() -> bool {
    ATTENTION.load(Ordering::Relaxed) & attention::WATCH != 0
}

/// Whether anything is watched for, or all accesses are told.
#[inline(always)]
pub fn or_recorded() -> bool {
    ATTENTION.load(Ordering::Relaxed) & (attention::WATCH | attention::EFFECTS) != 0
}

/// Takes over what the driver wants.
pub fn begin() {
    let count = (engine().plan.watches as usize).min(layout::WATCHES_CAPACITY);
    let Some(base) = shared::area(layout::WATCHES) else { return };
    if count == 0 {
        return;
    }
    // SAFETY: the driver wrote `count` watches; single kernel thread.
    unsafe {
        let watches = &mut *(&raw mut WATCHES);
        watches.extend((0..count).map(|at| base.add(at).read()));
        part::begin(watches);
        before::begin(watches);
        let told =
            |watch: &Watch| watch.kind < WatchKind::Part as u32 || watch.kind == WatchKind::Step as u32;
        if !watches.iter().any(told) {
            return;
        }
    }
    ATTENTION.fetch_or(attention::WATCH, Ordering::Relaxed);
    // SAFETY: single kernel thread.
    let watches = unsafe { &mut *(&raw mut WATCHES) };
    let at_once = |watch: &&mut Watch| watch.kind == WatchKind::Step as u32 && watch.event == 0;
    if let Some(watch) = watches.iter_mut().find(at_once) {
        watch.kind = u32::MAX;
        super::verdict::stop_for_debugger();
    }
}

fn told(index: usize, pc: u64) {
    let this = this();
    report::add(RecordTag::Watched, this.id.0, [index as u64, live().events, pc], format_args!(""));
    tell::here(&this);
}

fn each(kind: WatchKind, matches: impl Fn(&Watch) -> bool, pc: u64, once: bool) -> bool {
    let mut met = false;
    // SAFETY: single kernel thread.
    let watches = unsafe { &mut *(&raw mut WATCHES) };
    for (index, watch) in watches.iter_mut().enumerate() {
        if watch.kind == kind as u32 && matches(watch) {
            met = true;
            told(index, pc);
            if kind == WatchKind::Event && watch.addr != 0 {
                addressable::tell_block(crate::heap::find(watch.addr as usize));
            }
            if once {
                watch.kind = u32::MAX;
            }
        }
    }
    met
}

/// The running strand does something, now.
#[cold]
#[inline(never)]
pub fn happens(pc: u64) {
    let (me, now) = (engine().current, live().events);
    let here = |watch: &Watch| {
        watch.strand == me.0 as u32 && watch.event == now && (watch.pc == 0 || watch.pc == pc)
    };
    if each(WatchKind::Event, here, pc, true) {
        // A debugger that waits for a moment of a run, not for its failure.
        super::verdict::stop_for_debugger();
    }
}

/// The running strand has come to a point. When all have come to theirs that are waited for, the run stops for whoever looks at it.
#[cold]
#[inline(never)]
pub fn comes(pc: u64) {
    let me = engine().current.0 as u32;
    // SAFETY: single kernel thread.
    let watches = unsafe { &mut *(&raw mut WATCHES) };
    let mut met = false;
    for watch in watches.iter_mut().filter(|watch| watch.kind == WatchKind::Step as u32) {
        if watch.strand == me && watch.pc == pc {
            watch.event = watch.event.saturating_sub(1);
            if watch.event == 0 {
                (watch.kind, met) = (u32::MAX, true);
            }
        }
    }
    if met && watches.iter().all(|watch| watch.kind != WatchKind::Step as u32) {
        super::verdict::stop_for_debugger();
    }
}

/// The running strand has allocated a block.
#[cold]
pub fn allocated(addr: u64, pc: u64) {
    each(WatchKind::Allocation, |watch| watch.addr == addr, pc, false);
}

/// The running strand frees a block.
#[cold]
pub fn freed(addr: u64, pc: u64) {
    each(WatchKind::Release, |watch| watch.addr == addr, pc, false);
}

/// The running strand creates a strand.
#[cold]
pub fn created(new: StrandId, pc: u64) {
    each(WatchKind::Creation, |watch| watch.strand == new.0 as u32, pc, false);
}
