//! What a run that follows a plan loosely tells of each decision: records among the strategy's notes.

use crate::event::StopKind;
use crate::op::OpKind;
use crate::strand::StrandId;

/// Words of a record.
pub const WORDS: usize = 5;

/// Bits of [`Decision::told`].
pub mod bits {
    /// The strand could have gone on.
    pub const READY: u8 = 1;
    /// It gave way.
    pub const YIELDS: u8 = 2;
    /// It may not be stopped here.
    pub const PINNED: u8 = 4;
    /// Strands can go on that the set has no room for.
    pub const MORE: u8 = 8;
}

/// A strand has stopped, and somebody goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Who has stopped.
    pub strand: StrandId,
    /// The operation it stands before.
    pub op: OpKind,
    /// How it has stopped.
    pub how: StopKind,
    /// A set of [`bits`].
    pub told: u8,
    /// The strand whose deadline comes first, or [`StrandId::NONE`].
    pub timed: StrandId,
    /// Bytes the operation concerns.
    pub size: u32,
    /// Events the strand has made since its beginning.
    pub own: u64,
    /// The strands that can go on, by index; of the first 64.
    pub enabled: u64,
    /// The operation's object.
    pub addr: u64,
    /// The run's event count.
    pub event: u64,
}

impl Decision {
    /// The record.
    pub const fn encode(&self) -> [u64; WORDS] {
        let head = self.strand.0 as u64
            | (self.op as u64) << 16
            | (self.how as u64) << 24
            | (self.timed.0 as u64) << 32
            | (self.told as u64) << 48;
        let size = if self.size > 0xff_ffff { 0xff_ffff } else { self.size };
        [head, self.own, self.enabled, self.addr, self.event << 24 | size as u64]
    }

    /// The decision of a record, `None` if it is none.
    pub fn decode(words: [u64; WORDS]) -> Option<Decision> {
        let [head, own, enabled, addr, last] = words;
        Some(Decision {
            strand: StrandId(head as u16),
            op: OpKind::from_code((head >> 16) as u8)?,
            how: StopKind::from_code((head >> 24) as u8)?,
            timed: StrandId((head >> 32) as u16),
            told: (head >> 48) as u8,
            size: (last & 0xff_ffff) as u32,
            own,
            enabled,
            addr,
            event: last >> 24,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let decision = Decision {
            strand: StrandId(7),
            op: OpKind::MutexLock,
            how: StopKind::Blocked,
            told: bits::READY | bits::MORE,
            timed: StrandId::NONE,
            size: 40,
            own: 1 << 40,
            enabled: 0b1011,
            addr: 0x7fff_1234_5678,
            event: 99_999,
        };
        assert_eq!(Decision::decode(decision.encode()), Some(decision));
        assert_eq!(Decision::decode([0xff << 16, 0, 0, 0, 0]), None);
    }
}
