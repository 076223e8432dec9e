//! The report area of a run, decoded.
//!
//! The bytes come from a process that may have died in the middle of a write, so the reader takes what is whole and
//! stops at the first record that is not.

use crate::locks::LockOrder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::{RecordTag, Remedy, StrandState};

const HEAD: usize = size_of::<threadbare_abi::report::RecordHead>();

/// One record: head and text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// What it tells.
    pub tag: RecordTag,
    /// The strand it concerns, or `u16::MAX`.
    pub strand: u16,
    /// See the tag.
    pub a: u64,
    /// See the tag.
    pub b: u64,
    /// See the tag.
    pub c: u64,
    /// The text, if it has one.
    pub text: String,
}

/// The records of a report area, in order; unknown tags are left out.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Record> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let head = rest.get(..HEAD)?;
            let tag = u16::from_le_bytes([head[0], head[1]]);
            let strand = u16::from_le_bytes([head[2], head[3]]);
            let len = u32::from_le_bytes(head[4..8].try_into().ok()?) as usize;
            let word = |at: usize| head[at..at + 8].try_into().map(u64::from_le_bytes).unwrap_or(0);
            let (a, b, c) = (word(8), word(16), word(24));
            let text = rest.get(HEAD..HEAD.checked_add(len)?)?;
            let padded = len.next_multiple_of(8);
            rest = rest.get(HEAD + padded..).unwrap_or(&[]);
            if let Some(tag) = u8::try_from(tag).ok().and_then(RecordTag::from_code) {
                return Some(Record {
                    tag,
                    strand,
                    a,
                    b,
                    c,
                    text: String::from_utf8_lossy(text).into_owned(),
                });
            }
        }
    })
}

/// A module that was loaded in the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Module {
    /// The address its offsets count from.
    pub base: u64,
    /// Bytes it spans.
    pub size: u64,
    /// Its file.
    pub path: String,
}

/// What a strand was doing when the run ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StrandReport {
    /// Its index.
    pub index: u16,
    /// The parent's index; its own for the main strand.
    pub parent: u16,
    /// Its ordinal among the parent's children, from 1.
    pub ordinal: u32,
    /// The name the program gave it.
    pub name: String,
    /// Its state.
    pub state: Option<StrandState>,
    /// What it waits for or is about to do.
    pub pending: Option<Pending>,
    /// More of what it waits for: how many have come to a barrier, of how many.
    pub detail: String,
    /// The strand that keeps it waiting.
    pub holder: Option<u16>,
    /// All strands that keep it waiting.
    pub holders: Vec<u16>,
    /// Whether the verdict is about it: it is part of a cycle of waits, or waits for what an ended strand holds.
    pub stuck: bool,
    /// The pcs of its stack, innermost first.
    pub frames: Vec<u64>,
    /// Locks it holds: address and the pc where each was taken.
    pub held: Vec<(u64, u64)>,
    /// For each of them, that pc and its callers, innermost first.
    pub held_stacks: Vec<Vec<u64>>,
}

/// The operation a strand stands before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// What it is.
    pub op: OpKind,
    /// The object.
    pub addr: u64,
    /// The instruction.
    pub pc: u64,
    /// Bytes of an access.
    pub size: u32,
}

/// Where a replay left its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The number of the segment.
    pub segment: u64,
    /// The stop the schedule has, as module and offset.
    pub expected: u64,
    /// The pc the run was at.
    pub actual: u64,
    /// The strand.
    pub strand: u16,
    /// Why.
    pub why: String,
}

/// Something the user should know.
#[derive(Clone, PartialEq, Eq, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    /// What.
    pub text: String,
    /// The instruction, or 0.
    pub pc: u64,
    /// It is no warning but the name of a place that the program has come to.
    pub reached: bool,
}

impl Warning {
    /// A warning without a place.
    pub fn new(text: impl Into<String>) -> Warning {
        Warning { text: text.into(), pc: 0, reached: false }
    }
}

/// A whole report, typed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunReport {
    /// The verdict in words.
    pub message: String,
    /// The strands, by index.
    pub strands: Vec<StrandReport>,
    /// The loaded modules; their order is the index in a segment's stop.
    pub modules: Vec<Module>,
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// The divergence, when the run was one.
    pub divergence: Option<Divergence>,
    /// The data races, in the order they came.
    pub races: Vec<Race>,
    /// Memory that is left at the end, by place; that of the verdict comes first.
    pub leaks: Vec<Leak>,
    /// What the driver asked the runtime to look out for and was met, by the watch's index.
    pub watched: BTreeMap<u64, Moment>,
    /// The heap block the verdict concerns.
    pub block: Option<Block>,
    /// Heap blocks that were asked for with a moment.
    pub asked: Vec<Block>,
    /// Wakes that nobody waited for.
    pub lost_wakes: Vec<LostWake>,
    /// When the object was destroyed that the verdict is about.
    pub destroyed: Option<Moment>,
    /// Atomic operations that did not see the newest store, or came before it.
    pub stale: Vec<Stale>,
    /// Waits that ended by their deadline while others could go on.
    pub early: Vec<Early>,
    /// Pairs of locks that strands took one inside the other.
    pub lock_orders: Vec<LockOrder>,
    /// Frames that operations were on, each once; of a run that streams its points.
    pub holders: Vec<Holder>,
    /// What a second making of the run told.
    pub details: Details,
}

/// A function's frame on a strand's stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Whose stack it is on.
    pub strand: u16,
    /// Where the function goes on: a return address.
    pub pc: u64,
    /// The stack pointer before the function was called: DWARF's canonical frame address.
    pub address: u64,
    /// The stack pointer that the function has between its calls.
    pub pointer: u64,
}

/// Where an access or another event happened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// The strand.
    pub strand: u16,
    /// The instruction.
    pub pc: u64,
    /// The run's event count then.
    pub event: u64,
    /// The pcs of the callers, innermost first.
    pub frames: Vec<u64>,
    /// Locks the strand held: address and the pc where each was taken.
    pub held: Vec<(u64, u64)>,
}

/// One of the two accesses of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// What it is.
    pub op: OpKind,
    /// Its bytes.
    pub size: u32,
    /// Where it happened.
    pub moment: Moment,
}

/// A data race.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Race {
    /// Where the two accesses overlap.
    pub addr: u64,
    /// The bytes they share.
    pub size: u64,
    /// The later access, then the earlier one.
    pub accesses: Vec<Access>,
    /// The heap block the memory belongs to.
    pub block: Option<Block>,
}

/// Stacks of the moments that matter, where the run was made a second time for them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// The last allocation of a heap block, by the block's address.
    pub allocations: BTreeMap<u64, Moment>,
    /// The last release of a heap block, by the block's address.
    pub releases: BTreeMap<u64, Moment>,
    /// The creation of a strand, by its index.
    pub creations: BTreeMap<u16, Moment>,
    /// Other events, by strand and event.
    pub events: BTreeMap<(u16, u64), Moment>,
    /// Where a strand began to write of its own panic, which is all that is seen of it.
    pub panic: Option<Moment>,
    /// Frames that operations were on.
    pub holders: Vec<Holder>,
}

/// A heap block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Where it begins.
    pub addr: u64,
    /// Its bytes.
    pub size: u64,
    /// Whether it had been freed.
    pub freed: bool,
}

/// A wake that nobody waited for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostWake {
    /// The condition variable, or what else is waited on.
    pub addr: u64,
    /// Who made it, where and when.
    pub moment: Moment,
}

/// Memory that is left at the end, of one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leak {
    /// The first block.
    pub addr: u64,
    /// Bytes of all blocks.
    pub bytes: u64,
    /// How many there are.
    pub blocks: u64,
    /// Who allocated the first one, and where.
    pub moment: Moment,
}

/// A store, as far as it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreTold {
    /// Who made it; `u16::MAX` for what was there first.
    pub strand: u16,
    /// The instruction; 0 for what was there first.
    pub pc: u64,
    /// What it wrote.
    pub value: u64,
}

/// A wait that ended by its deadline while another strand could go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Early {
    /// Who waited.
    pub strand: u16,
    /// The instruction.
    pub pc: u64,
    /// Where the program's own code has called it, or 0.
    pub site: u64,
    /// The sort of wait.
    pub op: OpKind,
    /// Who could go on.
    pub other: u16,
}

/// An atomic load that saw an older store, or an atomic store that came before a newer one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stale {
    /// Who made it.
    pub strand: u16,
    /// The instruction.
    pub pc: u64,
    /// A load or a store.
    pub op: OpKind,
    /// The object.
    pub addr: u64,
    /// Its bytes.
    pub size: u64,
    /// The store that was seen, or that comes right before.
    pub saw: StoreTold,
    /// The newer one.
    pub missed: StoreTold,
    /// What would have forbidden it.
    pub remedy: Remedy,
}

impl Stale {
    fn of_record(strand: u16, pcs: [u64; 3], text: &str) -> Option<Stale> {
        let mut words = text.split_whitespace().map(|word| word.parse::<u64>().ok());
        let mut next = || words.next().flatten();
        let [pc, saw, missed] = pcs;
        let (addr, size, op) = (next()?, next()?, OpKind::from_code(u8::try_from(next()?).ok()?)?);
        let mut store = |pc| Some(StoreTold { strand: u16::try_from(next()?).ok()?, pc, value: next()? });
        let (saw, missed) = (store(saw)?, store(missed)?);
        let remedy = Remedy::from_code(u8::try_from(next()?).ok()?)?;
        Some(Stale { strand, pc, op, addr, size, saw, missed, remedy })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Race,
    Access,
    Watched(u64),
    LostWake,
    Destroyed,
}

impl RunReport {
    /// Decodes a report area.
    pub fn decode(bytes: &[u8]) -> RunReport {
        let mut report = RunReport::default();
        // What frames and locks that come next belong to.
        let mut open = None;
        for record in records(bytes) {
            report.take(record, &mut open);
        }
        report.strands.sort_by_key(|strand| strand.index);
        report
    }

    /// The strand with this index, if the report has it.
    pub fn strand(&self, index: u16) -> Option<&StrandReport> {
        let at = self.strands.binary_search_by_key(&index, |strand| strand.index);
        at.ok().map(|at| &self.strands[at])
    }

    /// The module an address lies in, with its index.
    pub fn module_of(&self, addr: u64) -> Option<(usize, &Module)> {
        self.modules.iter().enumerate().find(|(_, module)| addr.wrapping_sub(module.base) < module.size)
    }

    /// The address a segment's stop stands for; `None` when the module is not known.
    pub fn address_of(&self, stop: u64) -> Option<u64> {
        let module = self.modules.get((stop >> 48) as usize)?;
        Some(module.base.wrapping_add(stop & ((1 << 48) - 1)))
    }

    fn take(&mut self, record: Record, open: &mut Option<Open>) {
        let Record { tag, strand, a, b, c, text } = record;
        match tag {
            RecordTag::Message => {
                self.message = text;
                *open = None;
            }
            RecordTag::Module => self.modules.push(Module { base: a, size: b, path: text }),
            RecordTag::Warning => self.warnings.push(Warning { text, pc: a, reached: false }),
            RecordTag::Reached => self.warnings.push(Warning { text, pc: a, reached: true }),
            RecordTag::Divergence => {
                self.divergence = Some(Divergence { segment: a, expected: b, actual: c, strand, why: text });
            }
            RecordTag::Strand => {
                let entry = self.entry(strand);
                entry.parent = a as u16;
                entry.ordinal = b as u32;
                entry.state = StrandState::from_code(c as u8);
                entry.name = text;
            }
            RecordTag::Pending => {
                let op = OpKind::from_code(a as u8);
                let entry = self.entry(strand);
                entry.pending = op.map(|op| Pending { op, addr: b, pc: c, size: (a >> 8) as u32 });
                entry.detail = text;
            }
            RecordTag::Holder => {
                let entry = self.entry(strand);
                entry.holder.get_or_insert(a as u16);
                entry.holders.push(a as u16);
                entry.stuck |= b != 0;
            }
            RecordTag::Frame => self.entry(strand).frames.push(a),
            RecordTag::Held => {
                let entry = self.entry(strand);
                entry.held.push((a, b));
                entry.held_stacks.push(crate::locks::pcs(&text));
            }
            RecordTag::Race => {
                self.races.push(Race { addr: a, size: b, ..Race::default() });
                *open = Some(Open::Race);
            }
            RecordTag::Access => {
                let (Some(race), Some(op)) = (self.races.last_mut(), OpKind::from_code(c as u8)) else {
                    return;
                };
                let moment = Moment { strand, pc: a, event: b, ..Moment::default() };
                race.accesses.push(Access { op, size: (c >> 8) as u32, moment });
                *open = Some(Open::Access);
            }
            RecordTag::Watched => {
                let moment = Moment { strand, pc: c, event: b, ..Moment::default() };
                self.watched.insert(a, moment);
                *open = Some(Open::Watched(a));
            }
            RecordTag::AccessFrame => {
                if let Some(moment) = self.moment(*open) {
                    moment.frames.push(a);
                }
            }
            RecordTag::AccessHeld => {
                if let Some(moment) = self.moment(*open) {
                    moment.held.push((a, b));
                }
            }
            RecordTag::Block => {
                let block = Some(Block { addr: a, size: b, freed: c != 0 });
                // Behind a race's accesses it is the race's if the race is in it, else the verdict's.
                let lies_in = |race: &&mut Race| race.block.is_none() && race.addr.wrapping_sub(a) < b;
                match (open, self.races.last_mut().filter(lies_in)) {
                    (Some(Open::Race | Open::Access), Some(race)) => race.block = block,
                    (Some(Open::Watched(_)), _) => self.asked.extend(block),
                    _ => self.block = block,
                }
            }
            RecordTag::LostWake => {
                let moment = Moment { strand, pc: c, event: b, ..Moment::default() };
                self.lost_wakes.push(LostWake { addr: a, moment });
                *open = Some(Open::LostWake);
            }
            RecordTag::Destroyed => {
                self.destroyed = Some(Moment { strand, pc: c, event: b, ..Moment::default() });
                *open = Some(Open::Destroyed);
            }
            RecordTag::Stale => self.stale.extend(Stale::of_record(strand, [a, b, c], &text)),
            RecordTag::Holds => {
                self.holders.push(Holder { strand, pc: a, address: b, pointer: c.wrapping_add(8) });
            }
            RecordTag::Early => {
                let op = u8::try_from(b).ok().and_then(OpKind::from_code);
                let site = u64::from_str_radix(&text, 16).unwrap_or(0);
                self.early.extend(op.map(|op| Early { strand, pc: a, site, op, other: c as u16 }));
            }
            RecordTag::Leak => {
                let (blocks, frames) = text.split_once(',').unwrap_or((&text, ""));
                let moment = Moment { strand, pc: c, frames: crate::locks::pcs(frames), ..Moment::default() };
                self.leaks.push(Leak { addr: a, bytes: b, blocks: blocks.parse().unwrap_or(1), moment });
            }
            // The driver reads it before the first run.
            RecordTag::Check => {}
            RecordTag::LockOrder => {
                self.lock_orders.push(LockOrder::of_record(strand, a, b, c, &text));
            }
        }
    }

    fn moment(&mut self, open: Option<Open>) -> Option<&mut Moment> {
        match open? {
            Open::Race => None,
            Open::Access => Some(&mut self.races.last_mut()?.accesses.last_mut()?.moment),
            Open::Watched(index) => self.watched.get_mut(&index),
            Open::Destroyed => self.destroyed.as_mut(),
            Open::LostWake => Some(&mut self.lost_wakes.last_mut()?.moment),
        }
    }

    fn entry(&mut self, index: u16) -> &mut StrandReport {
        // Strands are told in their order, so a new one is nearly always the last.
        let at = match self.strands.binary_search_by_key(&index, |strand| strand.index) {
            Ok(at) => at,
            Err(at) => {
                self.strands.insert(at, StrandReport { index, ..StrandReport::default() });
                at
            }
        };
        &mut self.strands[at]
    }
}

/// Whether a report area holds a warning or the like; looks at heads only.
pub fn has_warning(bytes: &[u8]) -> bool {
    has_record(bytes, RecordTag::Warning) || has_record(bytes, RecordTag::Reached)
}

/// Whether a report area holds a record of this kind; looks at heads only.
pub fn has_record(bytes: &[u8], tag: RecordTag) -> bool {
    let mut at = 0usize;
    while let Some(head) = bytes.get(at..at + 8) {
        if u16::from_le_bytes([head[0], head[1]]) == tag as u16 {
            return true;
        }
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        at += HEAD + len.next_multiple_of(8);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(tag: u16, strand: u16, words: [u64; 3], text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(tag.to_le_bytes());
        out.extend(strand.to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        for word in words {
            out.extend(word.to_le_bytes());
        }
        out.extend(text.as_bytes());
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }

    #[test]
    fn strands_are_joined_from_their_records() {
        let bytes = [
            record(1, u16::MAX, [0; 3], "no strand can go on"),
            record(2, 1, [0, 1, 1], "worker"),
            record(3, 1, [16, 0x7000, 0x40_1000], ""),
            record(4, 1, [2, 0, 0], ""),
            record(5, 1, [0x40_1000, 0, 0], ""),
            record(5, 1, [0x40_2000, 0, 0], ""),
            record(6, u16::MAX, [0x40_0000, 0x1000, 0], "/bin/x"),
            record(99, 0, [0; 3], "from a later version"),
            record(7, u16::MAX, [5, 0, 0], "ptrace is not modelled"),
        ]
        .concat();
        let report = RunReport::decode(&bytes);
        assert_eq!(report.message, "no strand can go on");
        let strand = report.strand(1).unwrap();
        assert_eq!((strand.parent, strand.ordinal, strand.name.as_str()), (0, 1, "worker"));
        assert_eq!(
            strand.pending,
            Some(Pending { op: OpKind::MutexLock, addr: 0x7000, pc: 0x40_1000, size: 0 })
        );
        assert_eq!((strand.holder, strand.frames.len()), (Some(2), 2));
        assert_eq!(report.module_of(0x40_0fff).unwrap().1.path, "/bin/x");
        assert_eq!(report.module_of(0x40_1000), None);
        assert!(has_warning(&bytes) && report.warnings.len() == 1);
        // A record cut in its middle is left out, the ones before it stay.
        assert_eq!(RunReport::decode(&bytes[..45]), RunReport::default());
        assert!(!has_warning(&bytes[..45]));
    }

    #[test]
    fn races_have_their_accesses_and_their_block() {
        let access = |strand, pc, op: OpKind| record(11, strand, [pc, 7, op as u64 | 4 << 8], "");
        let bytes = [
            record(10, 2, [0x9010, 4, 0], ""),
            access(2, 0x40_1000, OpKind::Write),
            record(12, 2, [0x40_2000, 0, 0], ""),
            record(13, 2, [0x7000, 0x40_3000, 0], ""),
            access(1, 0x40_1500, OpKind::Read),
            record(15, u16::MAX, [0x9000, 64, 0], ""),
            record(10, 2, [0x8000, 8, 0], ""),
            record(15, u16::MAX, [0xa000, 16, 1], ""),
            record(1, 0, [0; 3], "used after it was freed"),
        ]
        .concat();
        let report = RunReport::decode(&bytes);
        let [race, bare] = &report.races[..] else { panic!("{:?}", report.races) };
        assert_eq!((race.addr, race.size), (0x9010, 4));
        assert_eq!(race.block, Some(Block { addr: 0x9000, size: 64, freed: false }));
        let [later, earlier] = &race.accesses[..] else { panic!("{race:?}") };
        assert_eq!((later.op, later.size, later.moment.strand), (OpKind::Write, 4, 2));
        assert_eq!(
            (later.moment.frames.as_slice(), later.moment.held.as_slice()),
            (&[0x40_2000][..], &[(0x7000, 0x40_3000)][..])
        );
        assert_eq!((earlier.op, earlier.moment.pc, earlier.moment.event), (OpKind::Read, 0x40_1500, 7));
        assert_eq!((bare.accesses.len(), bare.block), (0, None));
        assert_eq!(report.block, Some(Block { addr: 0xa000, size: 16, freed: true }));
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let report = RunReport::decode(&bytes);
            prop_assert!(report.strands.len() <= bytes.len() / HEAD);
            prop_assert_eq!(has_warning(&bytes) || report.warnings.is_empty(), true);
        }
    }
}
