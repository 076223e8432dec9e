//! What a strand did lately, as far as noise depends on it.
//!
//! Delays decide something where a strand is in the middle: it has touched the same object a moment ago and takes for granted that
//! nobody else did since, or it has changed one thing and not yet the other that belongs to it. A strand that looks at the same
//! places again and again is no such case. It waits for a change, by polling.

use super::noise::At;
use threadbare_abi::op::OpKind;

/// Objects that are remembered.
const RECENT: usize = 4;
/// Looks in a row that found nothing new, before a strand counts as polling.
const LOOKS: u32 = 3;

/// What a strand did lately.
#[derive(Debug)]
pub struct Past {
    /// Objects it touched, and where, the latest first.
    recent: [(u64, u64); RECENT],
    /// Looks in a row at places where it has just looked.
    looks: u32,
    /// Its last event changed something that others see.
    changed: bool,
    /// What the run's count of sleeps was when it last looked: see `turns`.
    pub epoch: u64,
}

/// What a strand did before an event.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// The call has made an event before.
    pub inside: bool,
    /// It has touched the same object, at another place.
    pub again: bool,
    /// Its last event changed something that others see.
    pub changed: bool,
}

impl Past {
    /// The strand comes to an event, at this instruction of the code that noise is wanted in.
    pub fn see(&mut self, at: At, pc: u64, inside: bool) -> Before {
        if at.over {
            return Before { inside, again: false, changed: changes(at.op) };
        }
        let found = self.recent.iter().position(|&(addr, _)| addr == at.addr);
        let same = found.is_some_and(|slot| self.recent[slot].1 == pc);
        let before = Before {
            inside,
            // The same instruction once more is a loop.
            again: at.addr != 0 && found.is_some() && !same,
            changed: self.changed,
        };
        self.recent[..=found.unwrap_or(RECENT - 1)].rotate_right(1);
        self.recent[0] = (at.addr, pc);
        self.changed = changes(at.op);
        self.looks = if same && !self.changed { self.looks.saturating_add(1) } else { 0 };
        before
    }

    /// Whether it only waits for a change.
    pub fn polls(&self) -> bool {
        self.looks >= LOOKS
    }
}

/// Whether others may see what such an event does.
pub fn changes(op: OpKind) -> bool {
    use OpKind::*;
    !matches!(op, Read | ReadRange | AtomicLoad | Fence | Yield | Start | Join)
}
