//! Wakes that nobody waited for: kept by the rules of `threadbare_rules::lost`, told at a deadlock.

use super::live::live;
use super::strand::State;
use super::wait::ObjectId;
use super::{frames, me, report, strand, strand_count};
use crate::model::single::Single;
use threadbare_abi::report::RecordTag;
use threadbare_abi::strand::StrandId;
use threadbare_rules::lost::{Lost, Wake};

static LOST: Single<Lost> = Single::new(Lost::new());

/// A wake of `object` found so many waiters.
pub fn woke(object: ObjectId, waiters: usize, pc: u64) {
    if waiters != 0 {
        return LOST.with(|lost| lost.found(object));
    }
    let wake = Wake { object, strand: me(), event: live().events, pc, callers: frames::innermost() };
    LOST.with(|lost| lost.missed(wake));
}

/// Tells those that strands wait for now.
pub fn tell() {
    for index in 0..strand_count() as u16 {
        let other = strand(StrandId(index));
        if other.state() != State::Blocked {
            continue;
        }
        let Some(wake) = LOST.with(|lost| lost.take(other.wait.key)) else { continue };
        let facts = [wake.object.addr, wake.event, wake.pc];
        report::add(RecordTag::LostWake, wake.strand.0, facts, format_args!(""));
        for &pc in wake.callers.iter().take_while(|&&pc| pc != 0) {
            report::add(RecordTag::AccessFrame, wake.strand.0, [pc, 0, 0], format_args!(""));
        }
    }
}
