//! Which operations can depend on each other at all: those that share a list.

use std::ops::Range;
use threadbare_abi::op::{Op, OpKind};

/// Bytes that share a list of accesses.
pub const GRAIN: u64 = 8;
/// The longest range that is in the list of each of its grains; longer ones have a list of their own.
const LONGEST: u64 = 1 << 16;
/// The list of what depends on everything: signals, cancellations, the end of the process.
pub const SIGNALS: u64 = u64::MAX - 1;
/// The first list of strands' ends.
const STRANDS: u64 = u64::MAX - (1 << 20);

/// The lists that an operation belongs to.
pub fn grains(op: &Op) -> Range<u64> {
    match op.kind {
        OpKind::Io | OpKind::IoWait => {
            let list = u64::MAX - 2 - op.addr.min(3);
            list..list + 1
        }
        OpKind::Signal | OpKind::Cancel | OpKind::End | OpKind::Region => SIGNALS..SIGNALS + 1,
        OpKind::Quit => u64::MAX - 9..u64::MAX - 8,
        OpKind::Exit | OpKind::TryJoin | OpKind::TimedJoin => {
            let list = STRANDS + op.addr.min(u64::from(u16::MAX));
            list..list + 1
        }
        OpKind::Sleep => u64::MAX - 8..u64::MAX - 7,
        _ if !op.kind.has_memory_address() => 0..0,
        kind => {
            let plain = (kind as u8) < OpKind::Fence as u8 || kind == OpKind::Free;
            let length = if plain { u64::from(op.size).max(1) } else { 1 };
            op.addr / GRAIN..op.addr.saturating_add(length - 1) / GRAIN + 1
        }
    }
}

/// Whether the operation is in the list of large ones.
pub fn is_large(op: &Op) -> bool {
    let grains = grains(op);
    grains.end - grains.start > LONGEST / GRAIN
}
