//! Runs that are made one after the other without a word to the driver.
//!
//! The driver writes the plans of several runs, resets [`Batch`] and sends one command. The runtime makes the runs in order and leaves what
//! each has to tell in the area of results: a [`Head`] and the lists that it counts. A run that has more to tell than fits there (it
//! failed, or wrote something that somebody wants to read) is answered like a run of its own, with all runs before it done; the driver
//! sends the others again. Where nothing of that kind comes, [`crate::protocol::Reply::BATCH`] is the only answer.

use crate::layout::{Live, Plan};
use core::sync::atomic::{AtomicU32, AtomicU64};

/// The most runs of a batch.
pub const RUNS: usize = 64;
/// Words for the strategies of all its runs.
pub const GUIDE_WORDS: usize = 1 << 17;
/// Bytes for what they tell.
pub const RESULTS: usize = 4 << 20;

/// What both sides know of the batch under way.
#[repr(C)]
#[derive(Debug)]
pub struct Batch {
    /// How many runs it has; 0: the command is for the one run of the plan. By the driver.
    pub count: u64,
    /// No other run is to begin. By the driver, at any time.
    pub stop: AtomicU32,
    /// Reserved, zero.
    pub reserved: u32,
    /// The run under way.
    pub index: AtomicU64,
    /// So many runs, from the first one on, are made for good; what they tell can be read.
    pub done: AtomicU64,
    /// Where in the area of results those of a run begin; behind the last one, where the next would.
    pub results: [u64; RUNS + 1],
    /// Records of coverage that a run finds: those of the driver at the first one.
    pub told: [u64; RUNS + 1],
    /// What the driver wants of each run. The records of coverage are those above.
    pub plans: [Plan; RUNS],
    /// Where in the area of guides that of a run begins, and how many words it has.
    pub guides: [[u64; 2]; RUNS],
}

/// What a run tells; behind it come the lists, in this order, each aligned to 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Counters and all else that a run of its own leaves in its page.
    pub live: Live,
    /// Bytes it wrote to its standard output and error, which are gone.
    pub written: [u64; 2],
    /// Pcs it has learnt, one word each.
    pub learnt: u64,
    /// Words that its strategy noted.
    pub notes: u64,
    /// Words of records of who read from whom.
    pub reads: u64,
    /// Steps.
    pub steps: u64,
    /// Records of coverage, two words each.
    pub told: u64,
    /// Bytes of the report, without what is told of the modules before the first run.
    pub report: u64,
}

impl Head {
    /// Bytes of head and lists.
    pub fn size(&self) -> usize {
        let words =
            [self.learnt, self.notes, self.reads, self.told.saturating_mul(2), self.report.div_ceil(8)];
        let words = words.iter().fold(0u64, |sum, &words| sum.saturating_add(words));
        let steps = self.steps.saturating_mul(size_of::<crate::step::Step>() as u64);
        let lists = words.saturating_mul(8).saturating_add(steps);
        (size_of::<Head>() as u64).saturating_add(lists).try_into().unwrap_or(usize::MAX)
    }
}

const _: () = assert!(size_of::<Head>().is_multiple_of(8));
const _: () = assert!(size_of::<crate::step::Step>().is_multiple_of(8));
