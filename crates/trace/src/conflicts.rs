//! Which plain accesses of one run conflict: same memory, two strands, one of them writing.
//!
//! The runtime learns this across runs, and a single run may show a conflict only after the access has passed. Here
//! the whole run is known, so that a trace of it shows every access that matters as a point.

use crate::events::{Happening, TraceEvent};
use std::collections::{HashMap, HashSet};
use threadbare_abi::event::{Event, EventKind};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;

/// The memory a run touched, in cells of 8 bytes.
#[derive(Clone, Debug, Default)]
pub struct Conflicts {
    cells: HashMap<u64, Cell>,
    /// Each instruction with each cell it touched.
    touches: HashSet<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    first: StrandId,
    many: bool,
    written: bool,
}

/// Longer accesses (a large copy) are looked at only so far.
const LONGEST: u64 = 1 << 20;

impl Conflicts {
    /// Takes an event of a run that recorded everything, or what was done.
    pub fn event(&mut self, event: &Event) {
        let decoded = TraceEvent::decode(event);
        let (strand, op, size, addr, pc) = match (EventKind::from_code(event.kind), decoded) {
            (Some(EventKind::Accessed), _) => {
                let Some(op) = OpKind::from_code(event.op) else { return };
                (StrandId(event.strand), op, event.value, event.addr, event.pc)
            }
            (_, Some(TraceEvent { strand, happening: Happening::Point { op, size, addr, pc, .. } })) => {
                (strand, op, u64::from(size), addr, pc)
            }
            _ => return,
        };
        if !op.is_plain_access() && !op.is_atomic_access() {
            return;
        }
        let writes = op.writes_memory();
        let last = addr.saturating_add(size.clamp(1, LONGEST) - 1);
        for key in addr / 8..=last / 8 {
            let cell = self.cells.entry(key).or_insert(Cell { first: strand, many: false, written: false });
            cell.many |= cell.first != strand;
            cell.written |= writes;
            if op.is_plain_access() {
                self.touches.insert((pc, key));
            }
        }
    }

    /// The instructions with a conflicting plain access, in order.
    pub fn pcs(&self) -> Vec<u64> {
        let conflicts = |key: &u64| self.cells.get(key).is_some_and(|cell| cell.many && cell.written);
        let mut pcs: Vec<u64> =
            self.touches.iter().filter(|(_, key)| conflicts(key)).map(|(pc, _)| *pc).collect();
        pcs.sort_unstable();
        pcs.dedup();
        pcs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_read_conflicts_with_a_later_write() {
        let access = |strand, op: OpKind, addr, size, pc| Event {
            pc,
            addr,
            value: 0,
            strand,
            kind: EventKind::Point as u8,
            op: op as u8,
            size_order: size,
        };
        let mut conflicts = Conflicts::default();
        for event in [
            access(1, OpKind::Read, 0x100, 4, 1),
            access(2, OpKind::Read, 0x100, 4, 2),
            access(2, OpKind::Write, 0x104, 4, 3),
            // Only read, by two.
            access(1, OpKind::Read, 0x200, 8, 4),
            access(2, OpKind::Read, 0x200, 8, 5),
            // Written by one alone.
            access(1, OpKind::Write, 0x300, 8, 6),
            // A range that reaches into another's cell; the atomic itself is a point anyway.
            access(1, OpKind::WriteRange, 0x400, 100, 7),
            access(2, OpKind::AtomicLoad, 0x460, 8, 8),
        ] {
            conflicts.event(&event);
        }
        assert_eq!(conflicts.pcs(), [1, 2, 3, 7]);
    }
}
