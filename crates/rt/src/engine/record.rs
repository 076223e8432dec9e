//! The event stream: a ring in shared memory that the driver drains while the run goes on.

use super::shared;
use crate::sys::{nr, syscall6};
use core::sync::atomic::Ordering;
use threadbare_abi::event::{ChoiceKind, Event, EventKind};
use threadbare_abi::layout::{self, Ring};
use threadbare_abi::op::Op;
use threadbare_abi::strand::StrandId;

const FUTEX_WAIT: usize = 0;
const FUTEX_WAKE: usize = 1;
/// The driver is woken when this many events are new.
const BATCH: u64 = 4096;

fn ring() -> Option<&'static Ring> {
    // SAFETY: the ring's indices are in the mapped file, atomics only.
    shared::area(layout::RING).map(|base| unsafe { &*base })
}

/// Streams one event.
pub fn push(kind: EventKind, strand: StrandId, op: Op, value: u64) {
    write(Event {
        pc: op.pc,
        addr: op.addr,
        value,
        strand: strand.0,
        kind: kind as u8,
        op: op.kind as u8,
        size_order: op.size.min(0xFF_FFFF) | (op.order as u32) << 24,
    });
}

/// Streams an access that is made now, by a strand with so many functions on its stack; or the next piece of it.
pub fn push_made(strand: StrandId, op: Op, before: u64, depth: u64, goes_on: bool) {
    write(Event {
        pc: op.pc,
        addr: op.addr,
        value: before,
        strand: strand.0,
        kind: EventKind::Made as u8,
        op: op.kind as u8,
        size_order: op.size | (depth.min(0x7F_FFFF) as u32) << 8 | (goes_on as u32) << 31,
    });
}

/// Streams a choice that is no strand.
pub fn push_choice(kind: ChoiceKind, strand: StrandId, op: Op, options: u64) {
    write(Event {
        pc: op.pc,
        addr: op.addr,
        value: options,
        strand: strand.0,
        kind: EventKind::Choice as u8,
        op: kind as u8,
        size_order: 0,
    });
}

/// Streams a record.
pub fn write(event: Event) {
    let (Some(ring), Some(base)) = (ring(), shared::area(layout::EVENTS)) else {
        return;
    };
    let head = ring.head.load(Ordering::Relaxed);
    loop {
        let seen = ring.space.load(Ordering::Acquire);
        if head - ring.tail.load(Ordering::Acquire) < layout::EVENTS_CAPACITY as u64 {
            break;
        }
        wake(ring);
        // SAFETY: a futex wait on a word of the shared file.
        unsafe { syscall6(nr::FUTEX, ring.space.as_ptr() as usize, FUTEX_WAIT, seen as usize, 0, 0, 0) };
    }
    let at = (head as usize) & (layout::EVENTS_CAPACITY - 1);
    // SAFETY: the slot is free: the driver has read it.
    unsafe { base.add(at).write(event) }
    ring.head.store(head + 1, Ordering::Release);
    if (head + 1) % BATCH == 0 {
        wake(ring);
    }
}

fn wake(ring: &Ring) {
    ring.data.fetch_add(1, Ordering::Release);
    // SAFETY: a futex wake on a word of the shared file.
    unsafe { syscall6(nr::FUTEX, ring.data.as_ptr() as usize, FUTEX_WAKE, 1, 0, 0, 0) };
}

/// Tells the driver that there may be events it has not seen.
pub fn flush() {
    if let Some(ring) = ring()
        && ring.head.load(Ordering::Relaxed) != ring.tail.load(Ordering::Relaxed)
    {
        wake(ring);
    }
}
