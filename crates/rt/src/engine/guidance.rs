//! What strategy and driver tell each other: the guide before a run, the notes at its end; and the strategy's memory.

use super::sched::engine;
use super::{lenient, memory, reads, shared};
use crate::raw::Raw;
use threadbare_abi::layout::{Area, GUIDE, NOTES, READS, WORDS_CAPACITY};
use threadbare_strategy::{ROOM_WORDS, Room, Strategy};

static mut ROOM: usize = 0;

/// Sets memory aside in the fork server, so that the children need no system call for it.
pub fn init() {
    // SAFETY: once, single kernel thread.
    unsafe { ROOM = memory::reserve(ROOM_WORDS * 8) }
}

/// The strategy's memory. Once a run.
pub fn room() -> Room {
    // SAFETY: reserved by `init`, of this size, zeroed, and only the run's one strategy uses it.
    unsafe { &mut *(ROOM as *mut [u64; ROOM_WORDS]) }
}

/// The words of an area of the shared file, the first of which is their number.
fn words(area: Area<u64>) -> Option<Raw<[u64; WORDS_CAPACITY]>> {
    // SAFETY: the area has this many words; the driver does not touch it during a run.
    shared::area(area).map(|base| unsafe { Raw::new(base.cast()) })
}

/// What the driver has to say to the strategy.
pub fn guide() -> &'static [u64] {
    match words(GUIDE) {
        Some(words) => {
            // SAFETY: the driver wrote them before the run, and nobody writes there during it.
            let words = unsafe { words.look() };
            let (count, rest) = words.split_at(1);
            &rest[..(count[0] as usize).min(rest.len())]
        }
        None => &[],
    }
}

/// A run begins: nothing is noted yet.
pub fn clear() {
    for area in [NOTES, READS] {
        if let Some(mut words) = words(area) {
            words[0] = 0;
        }
    }
}

/// The run has come to its end: the strategy writes its notes; where it has none, what each strand did is noted.
pub fn finish() {
    if lenient::is_on() {
        return;
    }
    if let Some(mut words) = words(NOTES) {
        let (count, rest) = words.split_at_mut(1);
        let noted = match engine().strategy.finish(rest) {
            0 => reads::finish(rest),
            noted => noted,
        };
        count[0] = noted as u64;
    }
}

/// Adds a record of a pair of write and read; one that does not fit is left out.
pub fn tell_reads(record: &[u64]) {
    add(READS, record);
}

/// Adds a record to the notes at once; one that does not fit is left out.
pub fn note(record: &[u64]) {
    add(NOTES, record);
}

fn add(area: Area<u64>, record: &[u64]) {
    let Some(mut words) = words(area) else { return };
    let (count, rest) = words.split_at_mut(1);
    let at = count[0] as usize;
    if let Some(place) = rest.get_mut(at..at + record.len()) {
        place.copy_from_slice(record);
        count[0] += record.len() as u64;
    }
}
