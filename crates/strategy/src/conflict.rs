//! Which operations depend on their order.

use threadbare_abi::does::Impact;
use threadbare_abi::op::{Op, OpKind};

/// Bytes an operation concerns; objects of synchronisation count as one.
#[inline]
const fn extent(op: &Op) -> u64 {
    if (op.kind as u8) < OpKind::Fence as u8 && op.size > 0 { op.size as u64 } else { 1 }
}

/// Whether the order of two operations of different strands can make a difference: same object, one changes it.
#[inline]
pub fn conflict(a: &Op, b: &Op) -> bool {
    if a.addr.wrapping_sub(b.addr) >= extent(b) && b.addr.wrapping_sub(a.addr) >= extent(a) {
        return false;
    }
    if (a.kind == OpKind::Io || a.kind == OpKind::IoWait)
        != (b.kind == OpKind::Io || b.kind == OpKind::IoWait)
    {
        // A descriptor's number is no address.
        return false;
    }
    match (a.kind.does().impact, b.kind.does().impact) {
        // Whether somebody reads is what a try to write looks at.
        (Impact::Looks, Impact::Looks) => {
            let reader = |op: &Op| op.kind.is_shared();
            reader(a) && b.kind == OpKind::AtomicLoad || reader(b) && a.kind == OpKind::AtomicLoad
        }
        (Impact::None, _) | (_, Impact::None) => false,
        (Impact::Changes, _) | (_, Impact::Changes) => true,
    }
}

/// Whether the order of two operations of different strands is part of what a run has done, for planners: they conflict,
/// or nobody knows that they do not. Descriptors above the standard ones may be two ends of one thing.
#[inline]
pub fn depends(a: &Op, b: &Op) -> bool {
    const STANDARD: u64 = 2;
    let io = |op: &Op| matches!(op.kind, OpKind::Io | OpKind::IoWait) && op.addr > STANDARD;
    let signals = |op: &Op| matches!(op.kind, OpKind::Signal | OpKind::Cancel | OpKind::Region);
    let frees = |free: &Op, op: &Op| {
        free.kind == OpKind::Free
            && op.kind.has_memory_address()
            && (op.kind == OpKind::Free && op.addr == free.addr
                || op.addr.wrapping_sub(free.addr) < (free.size as u64).max(1))
    };
    // What another strand has not done when the process ends is never done.
    let ends = |end: &Op, op: &Op| end.kind == OpKind::End && !op.kind.is_quiet();
    // Whether a strand is over already decides for who does not wait for it.
    let joins = |join: &Op, exit: &Op| {
        matches!(join.kind, OpKind::TryJoin | OpKind::TimedJoin)
            && exit.kind == OpKind::Exit
            && join.addr == exit.addr
    };
    // Which deadline comes first depends on who began to wait first.
    let timers = a.kind == OpKind::Sleep && b.kind == OpKind::Sleep;
    // Where a strand is when it is interrupted or cancelled can make any difference, and so can what is done in one go.
    conflict(a, b)
        || timers
        || io(a) && io(b)
        || signals(a)
        || signals(b)
        || frees(a, b)
        || frees(b, a)
        || ends(a, b)
        || ends(b, a)
        || joins(a, b)
        || joins(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_abi::op::Order;

    fn op(kind: OpKind, addr: u64, size: u32) -> Op {
        Op { kind, order: Order::Relaxed, size, addr, pc: 0 }
    }

    #[test]
    fn overlapping_accesses_conflict_if_one_writes() {
        let read = op(OpKind::Read, 0x100, 8);
        let low = op(OpKind::Write, 0x100, 4);
        let high = op(OpKind::Write, 0x104, 4);
        let next = op(OpKind::Write, 0x108, 4);
        assert!(conflict(&read, &low) && conflict(&low, &read));
        assert!(conflict(&read, &high) && conflict(&high, &read));
        assert!(!conflict(&low, &high) && !conflict(&read, &next) && !conflict(&next, &read));
        assert!(!conflict(&read, &read));
    }

    #[test]
    fn objects_conflict_with_themselves_only() {
        let lock = op(OpKind::MutexLock, 0x100, 0);
        assert!(conflict(&lock, &op(OpKind::MutexUnlock, 0x100, 0)));
        assert!(!conflict(&lock, &op(OpKind::MutexLock, 0x128, 0)));
        assert!(!conflict(&lock, &op(OpKind::Join, 0x100, 0)));
        assert!(!conflict(&op(OpKind::ReadLock, 0x100, 0), &op(OpKind::ReadLock, 0x100, 0)));
        assert!(!conflict(&op(OpKind::Io, 3, 0), &op(OpKind::Write, 3, 1)));
    }

    #[test]
    fn a_strand_s_end_matters_to_who_asks_for_it() {
        let exit = op(OpKind::Exit, 2, 0);
        for kind in [OpKind::TryJoin, OpKind::TimedJoin] {
            assert!(depends(&exit, &op(kind, 2, 0)) && depends(&op(kind, 2, 0), &exit));
            assert!(!depends(&exit, &op(kind, 1, 0)));
        }
        assert!(!depends(&exit, &op(OpKind::Join, 2, 0)));
    }

    #[test]
    fn states_conflict_if_one_changes_them() {
        let (read, write) = (op(OpKind::StateRead, 0x110, 0), op(OpKind::StateWrite, 0x110, 0));
        assert!(conflict(&read, &write) && conflict(&write, &write) && !conflict(&read, &read));
        assert!(!conflict(&write, &op(OpKind::StateWrite, 0x118, 0)));
        assert!(conflict(&op(OpKind::Destroy, 0x1000, 0), &op(OpKind::MutexLock, 0x1000, 0)));
    }

    #[test]
    fn the_end_depends_on_all_that_is_left_to_do() {
        let end = op(OpKind::End, 0, 0);
        for &kind in OpKind::ALL {
            let other = op(kind, 0x100, 4);
            assert_eq!(depends(&end, &other), !kind.is_quiet(), "{}", kind.name());
            assert_eq!(depends(&other, &end), !kind.is_quiet(), "{}", kind.name());
        }
    }
}
