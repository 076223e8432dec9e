//! Runs that are made without a word to the driver (`abi::batch`): the plan of the next one, and what the last one leaves to be read.

use super::{live, shared};
use crate::raw::Raw;
use core::ptr;
use core::sync::atomic::Ordering;
use threadbare_abi::batch::{Batch, GUIDE_WORDS, Head, RESULTS, RUNS};
use threadbare_abi::layout::{self, Area, WORDS_CAPACITY};
use threadbare_abi::verdict::VerdictKind;

/// The batch under way; `None` where each run has a command of its own.
pub fn current() -> Option<Raw<Batch>> {
    let base = shared::area(layout::BATCH)?;
    // SAFETY: the batch lies there and is integers; the driver writes only the flag, which is atomic, while one is under way.
    let batch = unsafe { Raw::new(base) };
    (1..=RUNS as u64).contains(&batch.count).then_some(batch)
}

/// The run of the batch that is under way; of those that are made for good, how many.
fn place(batch: &Batch) -> (usize, usize) {
    let in_table = |index: u64| (index as usize).min(RUNS);
    (in_table(batch.index.load(Ordering::Relaxed)), in_table(batch.done.load(Ordering::Relaxed)))
}

/// Puts the plan of the run under way where a run of its own finds it.
pub fn load_plan() {
    let Some(batch) = current() else { return };
    let index = place(&batch).0.min(RUNS - 1);
    let (Some(plan), Some(guide), Some(guides)) =
        (shared::area(layout::PLAN), shared::area(layout::GUIDE), shared::area(layout::BATCH_GUIDES))
    else {
        return;
    };
    let [start, count] = batch.guides[index].map(|word| (word as usize).min(GUIDE_WORDS));
    let count = count.min(GUIDE_WORDS - start).min(WORDS_CAPACITY - 1);
    // SAFETY: all areas lie in the shared file, and the counts are cut to them.
    unsafe {
        plan.write(batch.plans[index]);
        (*plan).told = batch.told[index];
        guide.write(count as u64);
        ptr::copy_nonoverlapping(guides.add(start), guide.add(1), count);
    }
}

/// What the run that has ended leaves, if that is all there is to tell of it: it has passed.
pub fn head(modules_len: u64) -> Option<Head> {
    let batch = current()?;
    let index = place(&batch).0;
    let live = *live::live();
    if live.verdict != VerdictKind::None as u32 || live.ended != 1 {
        return None;
    }
    let words = |area: Area<u64>| {
        // SAFETY: the area's first word is the number of the others.
        shared::area(area).map_or(0, |base| unsafe { base.read() })
    };
    Some(Head {
        live,
        written: [0; 2],
        learnt: live.learnt.min(layout::FACTS_CAPACITY as u64),
        notes: words(layout::NOTES).min(WORDS_CAPACITY as u64 - 1),
        reads: words(layout::READS).min(WORDS_CAPACITY as u64 - 1),
        steps: live.steps.min(layout::STEPS_CAPACITY as u64),
        told: live.told.min(layout::TOLD_CAPACITY as u64).checked_sub(batch.told.get(index).copied()?)?,
        report: live.report_len.min(layout::REPORT_SIZE as u64).checked_sub(modules_len)?,
    })
}

/// Where it is put; `None` if there is no room for it.
pub fn room_for(head: &Head) -> Option<usize> {
    let batch = current()?;
    let at = *batch.results.get(place(&batch).0)? as usize;
    at.checked_add(head.size()).is_some_and(|end| end <= RESULTS).then_some(at)
}

/// Writes what the run that has ended leaves; [`room_for`] it was asked for.
pub fn write(head: &Head, at: usize, modules_len: u64) {
    let (Some(mut batch), Some(results)) = (current(), shared::area(layout::RESULTS)) else { return };
    let index = place(&batch).0;
    let results = results as usize;
    let (mut to, told) = (results + at + size_of::<Head>(), batch.told[index] as usize);
    let mut put = |from: *const u8, bytes: u64| {
        // SAFETY: the lists lie in their areas, and the results have room for them.
        unsafe { ptr::copy_nonoverlapping(from, to as *mut u8, bytes as usize) };
        to += (bytes as usize).next_multiple_of(8);
    };
    // SAFETY: as above; a head is integers.
    unsafe { ((results + at) as *mut Head).write(*head) };
    list(layout::LEARNT, 0, head.learnt, &mut put);
    list(layout::NOTES, 1, head.notes, &mut put);
    list(layout::READS, 1, head.reads, &mut put);
    list(layout::STEPS, 0, head.steps, &mut put);
    list(layout::TOLD, told, head.told, &mut put);
    list(layout::REPORT, modules_len as usize, head.report, &mut put);
    batch.results[index + 1] = (at + head.size()) as u64;
    batch.told[index + 1] = batch.told[index] + head.told;
}

/// Puts so many entries of an area, from one on.
fn list<T>(area: Area<T>, first: usize, count: u64, put: &mut dyn FnMut(*const u8, u64)) {
    if let Some(base) = shared::area(area) {
        put(base.wrapping_add(first).cast(), count * size_of::<T>() as u64);
    }
}

/// All runs up to the one under way are made for good; with it, if `with_it`.
pub fn settle(with_it: bool) {
    if let Some(batch) = current() {
        let done = place(&batch).0 + usize::from(with_it);
        batch.done.store(done as u64, Ordering::Release);
    }
}

/// Whether the run under way is the last one.
pub fn is_last() -> bool {
    current().is_none_or(|batch| batch.index.load(Ordering::Relaxed) + 1 >= batch.count)
}

/// Goes on behind the run under way; false if that was the last one.
pub fn go_on() -> bool {
    current().is_some_and(|batch| batch.index.fetch_add(1, Ordering::Relaxed) + 1 < batch.count)
}

/// Whether the driver wants no more runs.
pub fn is_stopped() -> bool {
    current().is_some_and(|batch| batch.stop.load(Ordering::SeqCst) != 0)
}

/// What is left to do when whoever made the runs is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// The run under way is the only one that is not made for good: how it ended is its answer.
    Answer,
    /// Runs from this number on are to be made, again or for the first time.
    Runs(u64),
    /// The batch is over.
    Nothing,
}

/// The process that made the runs is gone.
pub fn gone() -> Left {
    let Some(batch) = current() else { return Left::Answer };
    let (index, done) = place(&batch);
    if index == done && (index as u64) < batch.count {
        return Left::Answer;
    }
    batch.index.store(done as u64, Ordering::Relaxed);
    if done as u64 >= batch.count || is_stopped() {
        return Left::Nothing;
    }
    Left::Runs(batch.plans[done.min(RUNS - 1)].run)
}

/// What was not made for good is made again.
pub fn go_back() {
    if let Some(batch) = current() {
        batch.index.store(batch.done.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
