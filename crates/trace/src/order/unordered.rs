//! Accesses to the same bytes, one of them a write and not both atomic, that happens-before does not order: data races.

use super::{GRAIN, RunOrder};
use crate::recording::{Entry, Table, What};
use std::collections::{HashMap, HashSet};
use threadbare_abi::event::atomic as flags;
use threadbare_abi::op::OpKind;

/// Longer accesses (a large copy) are looked at only so far, as in the run.
const LONGEST: u64 = 1 << 20;

/// An access to one grain.
#[derive(Clone, Copy)]
struct Access {
    at: usize,
    strand: u16,
    place: u32,
    bytes: u8,
    writes: bool,
    atomic: bool,
}

impl Access {
    /// Whether what races with the other races with this one, too, or comes after both.
    fn stands_for(&self, other: &Access) -> bool {
        (self.strand, self.place, self.bytes, self.writes, self.atomic)
            == (other.strand, other.place, other.bytes, other.writes, other.atomic)
    }

    fn races(&self, other: &Access) -> bool {
        self.strand != other.strand
            && self.bytes & other.bytes != 0
            && (self.writes || other.writes)
            && !(self.atomic && other.atomic)
    }
}

/// The pairs of entries that race, the earlier one first: one pair for each two places.
pub fn unordered(entries: &[Entry], table: &Table, order: &RunOrder) -> Vec<(usize, usize)> {
    let mut grains: HashMap<u64, Vec<Access>> = HashMap::new();
    let mut told: HashSet<(u32, u32, bool, bool)> = HashSet::new();
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(object) = table.object(entry.object) else { continue };
        let (op, atomic) = match entry.what {
            What::Access { op } => (op, false),
            What::Atomic { op, flags: bits, .. } => {
                (if bits & flags::REFUSED != 0 { OpKind::AtomicLoad } else { op }, true)
            }
            What::Forget => {
                let end = object.addr.saturating_add(object.size);
                let gone = object.addr / GRAIN..end.div_ceil(GRAIN);
                if gone.end - gone.start > grains.len() as u64 {
                    grains.retain(|grain, _| !gone.contains(grain));
                } else {
                    gone.for_each(|grain| _ = grains.remove(&grain));
                }
                continue;
            }
            _ => continue,
        };
        let end = object.addr.saturating_add(object.size.min(LONGEST));
        for grain in object.addr / GRAIN..end.div_ceil(GRAIN) {
            let from = object.addr.max(grain * GRAIN) - grain * GRAIN;
            let to = end.min((grain + 1).saturating_mul(GRAIN)) - grain * GRAIN;
            let bytes = (from..to).fold(0u8, |bytes, byte| bytes | 1 << byte);
            let writes = op.writes_memory();
            let mine = Access { at, strand: entry.strand, place: entry.place, bytes, writes, atomic };
            let list = grains.entry(grain).or_default();
            for other in list.iter().filter(|other| other.races(&mine)) {
                if !order.precedes(other.at, at)
                    && told.insert((other.place, entry.place, other.writes, writes))
                {
                    found.push((other.at, at));
                }
            }
            // Who touches freed memory afterwards makes another mistake.
            if op != OpKind::Free {
                list.retain(|other| !mine.stands_for(other));
                list.push(mine);
            }
        }
    }
    found
}
