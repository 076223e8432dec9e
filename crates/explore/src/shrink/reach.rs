//! What an operation has to do with others.

use threadbare_abi::decision::Decision;
use threadbare_abi::op::OpKind;

/// The memory an operation depends on, in pieces of 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// None: it makes no difference to others when it is done.
    Nobody,
    /// It may depend on anything.
    Anybody,
    /// These pieces, the last one included.
    Cells(u64, u64),
}

/// Pieces of one operation at the most.
const CELLS: u64 = 64;

/// What the operation that a strand stands before depends on.
pub(crate) fn reach(decision: &Decision) -> Reach {
    use OpKind::{Alloc, Annotate, Cancel, End, Free, Io, IoWait, Quit, Region, Signal};
    let (from, op) = (decision.addr >> 3, decision.op);
    match op {
        Io | IoWait | Signal | Cancel | Free | Annotate | Quit | End | Region => Reach::Anybody,
        Alloc => Reach::Nobody,
        op if op.is_plain_access() || op.is_atomic_access() => {
            let to = decision.addr.saturating_add(u64::from(decision.size.max(1)) - 1) >> 3;
            if to - from > CELLS { Reach::Anybody } else { Reach::Cells(from, to) }
        }
        op if op.has_memory_address() => Reach::Cells(from, from),
        _ => Reach::Nobody,
    }
}
