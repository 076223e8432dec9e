//! What makes two data races the same: the unordered pair of their places.
//!
//! A place is an instruction and what it does. Which strand came first, and who they were, does not matter: the same two
//! lines of source race in many runs, one way and the other. Of the earlier access the runtime remembers only whether it
//! wrote and whether it was atomic, so no more than that is told apart.

use crate::report::{Access, Race, RunReport};
use threadbare_abi::op::OpKind;

/// Bits of a place that are the offset in its module.
const OFFSET_BITS: u32 = 48;
/// The module of an address that lies in none.
const NO_MODULE: u64 = 0xffff;

/// An instruction as module and offset, in the form of a segment's stop, and what it does.
pub type RacePlace = (u64, OpKind);

/// The two places of a race, the smaller one first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct RacePair([RacePlace; 2]);

impl RacePair {
    /// The pair of these two, in whatever order.
    pub fn new(one: RacePlace, other: RacePlace) -> RacePair {
        RacePair(if one <= other { [one, other] } else { [other, one] })
    }

    /// The pair of a race in a run; `None` where the report has not both accesses.
    pub fn of(race: &Race, report: &RunReport) -> Option<RacePair> {
        let [later, earlier] = &race.accesses[..] else { return None };
        let place = |access: &Access| (report.stop_of(access.moment.pc), coarse(access.op));
        Some(RacePair::new(place(later), place(earlier)))
    }

    /// The two places.
    pub fn places(&self) -> [RacePlace; 2] {
        self.0
    }
}

/// What an operation is to a race: a read or a write, plain or atomic.
pub const fn coarse(op: OpKind) -> OpKind {
    match op {
        OpKind::AtomicLoad => OpKind::AtomicLoad,
        op if op.is_atomic_access() => OpKind::AtomicStore,
        op if op.only_reads_memory() => OpKind::Read,
        _ => OpKind::Write,
    }
}

impl RunReport {
    /// The form in which a segment's stop names an address: the module's index and the offset in it.
    pub fn stop_of(&self, pc: u64) -> u64 {
        match self.module_of(pc) {
            Some((index, module)) => (index as u64) << OFFSET_BITS | (pc - module.base),
            None => NO_MODULE << OFFSET_BITS | pc & ((1 << OFFSET_BITS) - 1),
        }
    }

    /// The race with this pair of places, if the run showed it.
    pub fn race_of(&self, pair: RacePair) -> Option<&Race> {
        self.races.iter().find(|race| RacePair::of(race, self) == Some(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Module, Moment};

    fn race(later: (u64, OpKind, u16), earlier: (u64, OpKind, u16)) -> Race {
        let access =
            |(pc, op, strand)| Access { op, size: 4, moment: Moment { strand, pc, ..Moment::default() } };
        Race { accesses: vec![access(later), access(earlier)], ..Race::default() }
    }

    fn report(base: u64) -> RunReport {
        let module = |base| Module { base, size: 0x1000, path: String::new() };
        RunReport { modules: vec![module(base), module(base + 0x10_000)], ..RunReport::default() }
    }

    #[test]
    fn order_strands_and_addresses_do_not_matter() {
        use OpKind::{Read, Write};
        let one = RacePair::of(&race((0x5010, Read, 1), (0x1_5020, Write, 2)), &report(0x5000)).unwrap();
        let two = RacePair::of(&race((0x1_9020, Write, 3), (0x9010, Read, 0)), &report(0x9000)).unwrap();
        assert_eq!(one, two);
        assert_eq!(one.places(), [(0x10, Read), (1 << 48 | 0x20, Write)]);
        let other = RacePair::of(&race((0x5010, Write, 1), (0x1_5020, Write, 2)), &report(0x5000)).unwrap();
        assert_ne!(one, other);
        assert_eq!(RacePair::of(&Race::default(), &report(0)), None);
        // The earlier access of a range, of a free, of a read-modify-write is remembered as a write.
        for (op, remembered) in
            [(OpKind::WriteRange, Write), (OpKind::Free, Write), (OpKind::AtomicCas, OpKind::AtomicStore)]
        {
            let now = RacePair::of(&race((0x5010, op, 1), (0x5020, Read, 2)), &report(0x5000));
            let before = RacePair::of(&race((0x5020, Read, 2), (0x5010, remembered, 1)), &report(0x5000));
            assert_eq!(now, before);
        }
        let found =
            RunReport { races: vec![race((0x5010, Read, 1), (0x1_5020, Write, 2))], ..report(0x5000) };
        assert!(found.race_of(one).is_some() && found.race_of(other).is_none());
    }
}
