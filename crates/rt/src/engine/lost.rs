//! Wakes that nobody waited for.
//!
//! The last wake of each object that found no waiter is kept with its place; a later wake that finds one takes it away.
//! At a deadlock those of the objects that strands wait on are told: the signal that came before the wait.

use super::live::live;
use super::strand::State;
use super::wait::ObjectId;
use super::{frames, me, report, strand, strand_count};
use crate::model::single::Single;
use threadbare_abi::report::RecordTag;
use threadbare_abi::strand::StrandId;

/// Objects remembered; one more takes the place of another.
const OBJECTS: usize = 128;
/// Callers of a wake that are kept: enough to come out of a library.
const CALLERS: usize = 8;

#[derive(Clone, Copy)]
struct Lost {
    key: ObjectId,
    strand: StrandId,
    event: u64,
    pc: u64,
    callers: [u64; CALLERS],
}

const NONE: Lost =
    Lost { key: ObjectId::NEVER, strand: StrandId::NONE, event: 0, pc: 0, callers: [0; CALLERS] };

static TABLE: Single<[Lost; OBJECTS]> = Single::new([NONE; OBJECTS]);

fn slot(key: ObjectId) -> &'static mut Lost {
    let hash = key.code().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &mut TABLE.get()[(hash >> 32) as usize % OBJECTS]
}

/// A wake of `key` found so many waiters.
pub fn woke(key: ObjectId, waiters: usize, pc: u64) {
    let entry = slot(key);
    if waiters != 0 {
        if entry.key == key {
            *entry = NONE;
        }
        return;
    }
    *entry = Lost { key, strand: me(), event: live().events, pc, callers: frames::innermost() };
}

/// Tells those that strands wait for now.
pub fn tell() {
    for index in 0..strand_count() as u16 {
        let other = strand(StrandId(index));
        let entry = slot(other.wait.key);
        if other.state != State::Blocked || entry.key != other.wait.key || entry.strand == StrandId::NONE {
            continue;
        }
        report::add(
            RecordTag::LostWake,
            entry.strand.0,
            [entry.key.addr, entry.event, entry.pc],
            format_args!(""),
        );
        for &pc in entry.callers.iter().take_while(|&&pc| pc != 0) {
            report::add(RecordTag::AccessFrame, entry.strand.0, [pc, 0, 0], format_args!(""));
        }
        // Once, however many wait.
        *entry = NONE;
    }
}
