//! The shared memory file: who writes what, and where.
//!
//! One sparse file per job, mapped whole by both sides. The driver writes the [`Plan`] and the replay segments before
//! it sends a command; the runtime writes the rest during the run. Nobody reads the other's part while it may change,
//! except the event ring (single producer, single consumer) and the counters, which are only shown.

use crate::batch::{self, Batch};
use crate::event::{Event, Segment};
use crate::step::Step;
use crate::tasks::Tasks;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// `"THRDBARE"` in memory.
pub const MAGIC: u64 = u64::from_le_bytes(*b"THRDBARE");
/// Grows with every change to this crate's structs.
pub const VERSION: u32 = 9;

const PAGE: usize = 4096;
/// A table of the shared memory: where it is, of what, and how many entries it has room for.
#[derive(Debug)]
pub struct Area<T> {
    offset: usize,
    capacity: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Area<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Area<T> {}

impl<T> Area<T> {
    const fn new(offset: usize, capacity: usize) -> Self {
        assert!(offset.is_multiple_of(align_of::<T>()));
        Area { offset, capacity, of: PhantomData }
    }

    /// The table on the next page behind this one.
    const fn next<U>(self, capacity: usize) -> Area<U> {
        Area::new(self.end().next_multiple_of(PAGE), capacity)
    }

    /// Where it begins in the file.
    #[inline(always)]
    pub const fn offset(self) -> usize {
        self.offset
    }

    /// How many entries it has room for.
    #[inline(always)]
    pub const fn capacity(self) -> usize {
        self.capacity
    }

    /// Where it ends.
    pub const fn end(self) -> usize {
        self.offset + self.capacity * size_of::<T>()
    }
}

/// The [`Header`].
pub const HEADER: Area<Header> = Area::new(0, 1);
/// The [`Plan`].
pub const PLAN: Area<Plan> = HEADER.next(1);
/// [`Live`] (one page of its own: the runtime maps it over its own counters).
pub const LIVE: Area<Live> = PLAN.next(1);
/// The [`Ring`]'s indices.
pub const RING: Area<Ring> = LIVE.next(1);
/// Bytes of the report area.
pub const REPORT_SIZE: usize = 4 << 20;
/// The reports: records (runtime to driver); before a run, the texts of an input (driver to runtime).
pub const REPORT: Area<u8> = Area::new(16 * PAGE, REPORT_SIZE);
/// How many facts each of the two tables holds.
pub const FACTS_CAPACITY: usize = 1 << 17;
/// The words of the [`crate::fact::Fact`]s that are known of the program (driver to runtime).
pub const KNOWN: Area<u64> = REPORT.next(FACTS_CAPACITY);
/// Those that this run learnt (runtime to driver).
pub const LEARNT: Area<u64> = KNOWN.next(FACTS_CAPACITY);
/// How many events the ring holds (a power of two).
pub const EVENTS_CAPACITY: usize = 1 << 17;
/// The ring's events (runtime to driver).
pub const EVENTS: Area<Event> = LEARNT.next(EVENTS_CAPACITY);
/// How many segments each of the two tables holds.
pub const SEGMENTS_CAPACITY: usize = 1 << 20;
/// The segments to follow (driver to runtime).
pub const FOLLOW: Area<Segment> = EVENTS.next(SEGMENTS_CAPACITY);
/// The segments of this run (runtime to driver).
pub const TAKEN: Area<Segment> = FOLLOW.next(SEGMENTS_CAPACITY);
/// How many watches there may be.
pub const WATCHES_CAPACITY: usize = 128;
/// The [`Watch`]es (driver to runtime).
pub const WATCHES: Area<Watch> = TAKEN.next(WATCHES_CAPACITY);
/// How many words each of the next three areas holds, the first one included: it is the number of words that follow it.
pub const WORDS_CAPACITY: usize = 1 << 15;
/// The words for the strategy (driver to runtime): its guide.
pub const GUIDE: Area<u64> = WATCHES.next(WORDS_CAPACITY);
/// The strategy's notes (runtime to driver).
pub const NOTES: Area<u64> = GUIDE.next(WORDS_CAPACITY);
/// The records of reads-from pairs (runtime to driver): see `threadbare-strategy`'s `reads`.
pub const READS: Area<u64> = NOTES.next(WORDS_CAPACITY);
/// How many records of coverage there may be.
pub const TOLD_CAPACITY: usize = 1 << 15;
/// The records of coverage (runtime to driver): see `threadbare-strategy`'s `classes`. The list grows from run to
/// run of one server; a run begins at [`Plan::told`] and ends at [`Live::told`].
pub const TOLD: Area<[u64; 2]> = READS.next(TOLD_CAPACITY);
/// How many steps there may be.
pub const STEPS_CAPACITY: usize = 1 << 17;
/// The [`Step`]s of a run (runtime to driver).
pub const STEPS: Area<Step> = TOLD.next(STEPS_CAPACITY);
/// How many events of a free run are recorded: what fits a guide.
pub const RECORDED_CAPACITY: usize = 1 << 15;
/// How many strands of a free run have their paths told.
pub const RECORDED_STRANDS: usize = 1 << 12;
/// The [`Recorded`] order of a free run's events (runtime to driver).
pub const RECORDED: Area<Recorded> = STEPS.next(1);
/// The [`Tasks`] of free runs (both ways).
pub const TASKS: Area<Tasks> = RECORDED.next(1);
/// The [`Batch`] (both ways).
pub const BATCH: Area<Batch> = TASKS.next(1);
/// The words for the strategies of its runs (driver to runtime).
pub const BATCH_GUIDES: Area<u64> = BATCH.next(batch::GUIDE_WORDS);
/// Where its runs leave what they tell (runtime to driver): [`batch::Head`]s, each with its lists.
pub const RESULTS: Area<u64> = BATCH_GUIDES.next(batch::RESULTS / 8);
/// The places of parameters and locals (driver to runtime): see [`crate::local`].
pub const PLACES: Area<u64> = RESULTS.next(crate::local::WORDS);
/// The size of the file.
pub const FILE_SIZE: usize = PLACES.end();

/// The order of a free run's events. All strands write it at the same time.
#[repr(C)]
#[derive(Debug)]
pub struct Recorded {
    /// Events so far; more than fit if some were left out.
    pub count: AtomicU64,
    /// Strands so far.
    pub strands: AtomicU64,
    /// The strands' paths, by their index.
    pub paths: [AtomicU64; RECORDED_STRANDS],
    /// The events in order: the strand's index in the high 16 bits, the pc in the others.
    pub events: [AtomicU64; RECORDED_CAPACITY],
}

/// What the file begins with.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Reserved, zero.
    pub reserved: u32,
}

/// Bytes of heap a run may have at a time unless the user says otherwise.
pub const MEMORY: u64 = 2 << 30;

/// What the driver wants of the next run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The run's number in its campaign, from 0.
    pub run: u64,
    /// The seed of this run's choices.
    pub seed: u64,
    /// The seed of `getrandom` and friends: the same for a whole campaign.
    pub entropy: u64,
    /// The strategy: see `threadbare-strategy`'s registry.
    pub strategy: u32,
    /// A [`PointMode`] code.
    pub points: u32,
    /// What to stream: a [`Record`] code.
    pub record: u32,
    /// Bit set of [`flags`].
    pub flags: u32,
    /// The run is ended as `livelock` after this many points (0: no bound).
    pub max_points: u64,
    /// Segments to follow before the strategy takes over.
    pub follow: u64,
    /// Facts in the known table.
    pub known: u64,
    /// 1 if data races are looked for.
    pub races: u32,
    /// Entries of the watch table that the runtime is to look out for.
    pub watches: u32,
    /// Choices seen in earlier runs (for strategies that need an estimate), 0 if unknown.
    pub estimate_choices: u64,
    /// Strands seen in earlier runs, 0 if unknown.
    pub estimate_strands: u64,
    /// Records of coverage that the driver has taken over: they are not told again.
    pub told: u64,
    /// The strategy's own parameters.
    pub params: [u64; 8],
    /// Bytes of heap the run may have at a time (0: no bound).
    pub memory: u64,
    /// What atomic loads may see: a [`MemoryModel`] code.
    pub model: u32,
    /// The groups of [`crate::fault::Faults`] that may happen.
    pub faults: u32,
    /// What the program's own choices come from: 0 for the run's seed, 1 for the first option of each, others a seed of their own.
    pub choices: u64,
}

/// Flags of a [`Plan`].
pub mod flags {
    /// The schedule is followed to its end and must fit exactly: another behaviour is a divergence.
    pub const STRICT: u32 = 1;
    /// When the run fails, or a [`super::WatchKind::Event`] or [`super::WatchKind::Step`] is met, stop the process (SIGSTOP): a debugger is waiting.
    pub const STOP_ON_FAILURE: u32 = 2;
    /// The run whose schedule is followed ended as a livelock: so does this one, where the schedule ends. (Strands that
    /// follow a schedule are not watched for spinning.)
    pub const ENDS_IN_LIVELOCK: u32 = 4;
    /// The schedule is of another build of the program: its places are not compared, only what the strands do, and the
    /// last strand may go on where the other build failed.
    pub const OTHER_BUILD: u32 = 1 << 10;
    /// Reads-from pairs, and what each strand did, are told, whatever the strategy.
    pub const READS: u32 = 8;
    /// Coverage is told, and the run's class.
    pub const COVERAGE: u32 = 16;
    /// The schedule is a plan that is followed loosely: it need not fit, and nobody is preempted behind its end. Each
    /// decision is noted ([`crate::decision`]).
    pub const LENIENT: u32 = 256;
    /// Steps are told.
    pub const STEPS: u32 = 1 << 16;
    /// The schedule is of a time when calls with a state of libc's were no events.
    pub const FEWER_EVENTS: u32 = 1 << 17;
    /// The schedule is of a time when precompiled functions had no points at their entry.
    pub const NO_ENTRY_POINTS: u32 = 1 << 21;
    /// With steps it is told which callers a context stands for, each once.
    pub const CALLERS: u32 = 1 << 20;
    /// With steps it is told in which functions they are made.
    pub const FUNCTIONS: u32 = 1 << 22;
    /// Memory that is left at the end is told.
    pub const LEAKS: u32 = 1 << 23;
    /// Accesses to what several strands touch are points though nothing but creations and joins order them: no choice moves them, but who looks at
    /// what reads see, at values or at calls has to know of them.
    pub const ORDERED: u32 = 1 << 24;
}

/// Something whose stack the driver wants to know when the same run is made again.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watch {
    /// A [`WatchKind`] code.
    pub kind: u32,
    /// The strand: see the kind.
    pub strand: u32,
    /// The event: see the kind.
    pub event: u64,
    /// The address: see the kind.
    pub addr: u64,
    /// The instruction, or 0 for any.
    pub pc: u64,
}

impl Watch {
    /// Nobody else goes on while a strand is in the code between these return addresses, or in another stretch of the part with this number.
    pub fn part(number: u64, (first, last): (u64, u64)) -> Self {
        Watch { kind: WatchKind::Part as u32, event: number, addr: first, pc: last, ..Watch::default() }
    }

    /// Who comes to a return address of `second` waits until somebody has made what is at one of `first`.
    pub fn before<'a>(first: &'a [u64], second: &'a [u64]) -> impl Iterator<Item = Self> + 'a {
        let of = |kind: WatchKind| move |&pc: &u64| Watch { kind: kind as u32, pc, ..Watch::default() };
        first.iter().map(of(WatchKind::First)).chain(second.iter().map(of(WatchKind::Second)))
    }
}

crate::op::codes! {
    /// What a [`Watch`] looks out for.
    WatchKind {
        /// The access or call that `strand` makes when the run's event count is `event`; with it the heap block that `addr` lies in, if that
        /// is not 0.
        Event = 0, "event";
        /// The allocation of the heap block that begins at `addr`; the last one counts.
        Allocation = 1, "allocation";
        /// The freeing of the heap block that begins at `addr`; the last one counts.
        Release = 2, "release";
        /// The creation of `strand`.
        Creation = 3, "creation";
        /// Nothing: nobody else goes on while a strand is in the code whose return addresses go from `addr` to `pc`.
        Part = 4, "part";
        /// Nothing: `pc` is a return address of a place that another waits for.
        First = 5, "first";
        /// Nothing: `pc` is one of the place that waits for it.
        Second = 6, "second";
        /// `strand` comes to `pc` for the `event`-th time; the beginning of the run if `event` is 0. The run stops there, and where all others of this kind were met.
        Step = 7, "step";
    }
}

crate::op::codes! {
    /// Which operations are points.
    PointMode {
        /// Synchronisation and atomics, and plain accesses at instructions known to touch shared, written memory.
        Shared = 0, "shared";
        /// Synchronisation and atomics only.
        Sync = 1, "sync";
        /// Everything the compiler's pass sees.
        All = 2, "all";
    }
}

crate::op::codes! {
    /// What an atomic load may see.
    #[derive(Default)]
    MemoryModel {
        /// The newest store, always: sequential consistency.
        #[default]
        Sc = 0, "sc";
        /// An older one while newer ones are in other strands' store buffers: total store order.
        Tso = 1, "tso";
        /// Any that C11 lets it see, but for what depends on a later load of its own (load buffering).
        C11 = 2, "c11";
    }
}

impl MemoryModel {
    /// What runs have a model of, in words.
    pub const fn words(self) -> &'static str {
        match self {
            MemoryModel::Sc => "sequentially consistent memory",
            MemoryModel::Tso => "total store order",
            MemoryModel::C11 => "C11's memory model",
        }
    }
}

crate::op::codes! {
    /// What goes into the event ring.
    Record {
        /// Nothing: counters, verdict and segments only.
        Nothing = 0, "nothing";
        /// Points, switches, choices, waits, strands.
        Points = 1, "points";
        /// The same, and every plain access that is no point.
        Everything = 2, "everything";
        /// Points, and of each access to memory what was there before and after it, with the functions it is made in.
        Values = 3, "values";
        /// Points, and what was done: accesses, atomic operations, and all that orders strands, where it is made.
        Effects = 4, "effects";
    }
}

/// What the runtime tells while it runs. The runtime maps this page over its own counters, so it is true even when
/// the process is killed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Live {
    /// The run's number.
    pub run: u64,
    /// Hooks and interposed calls.
    pub events: u64,
    /// Points.
    pub points: u64,
    /// Switches from one strand to another.
    pub switches: u64,
    /// Decisions with more than one option.
    pub choices: u64,
    /// Strands created, main included.
    pub strands: u64,
    /// Carriers used.
    pub carriers: u64,
    /// Virtual nanoseconds since the run began.
    pub time_ns: u64,
    /// Segments written to the taken table.
    pub segments: u64,
    /// Segments that did not fit.
    pub segments_lost: u64,
    /// Facts written to the learnt table.
    pub learnt: u64,
    /// Bytes written to the report area.
    pub report_len: u64,
    /// Hash over all events streamed or not: two runs with the same trace have the same.
    pub trace_hash: u64,
    /// Segments followed, when following.
    pub followed: u64,
    /// Address at fault (crash), object (deadlock, free).
    pub verdict_addr: u64,
    /// The instruction.
    pub verdict_pc: u64,
    /// A [`crate::verdict::VerdictKind`] code.
    pub verdict: u32,
    /// The strand.
    pub verdict_strand: u32,
    /// The signal, or the exit code.
    pub verdict_code: i32,
    /// Index of the strand that runs now.
    pub current: u32,
    /// 1 once `main` has been entered.
    pub entered: u32,
    /// 1 once the run has ended by its own will (exit, return, verdict).
    pub ended: u32,
    /// The run's process, written by the fork server; 0 before it is made.
    pub pid: i32,
    /// Different data races the run showed.
    pub races: u32,
    /// Names the run's class, if coverage is told: two runs that differ only in the order of steps that do not concern
    /// each other have the same.
    pub class: u64,
    /// Records of coverage in the list.
    pub told: u64,
    /// Records written to the table of steps.
    pub steps: u64,
    /// Records that did not fit.
    pub steps_lost: u64,
    /// Processor time that earlier runs of the same process have used.
    pub used_before_ns: u64,
}

/// The ring's indices; both only grow.
#[repr(C)]
#[derive(Debug)]
pub struct Ring {
    /// Events written by the runtime.
    pub head: AtomicU64,
    /// Pads to a cache line.
    pub pad: [u64; 7],
    /// Events read by the driver.
    pub tail: AtomicU64,
    /// The runtime sleeps on this word when the ring is full; the driver adds one and wakes it.
    pub space: AtomicU32,
    /// The driver sleeps on this word when the ring is empty; the runtime adds one and wakes it.
    pub data: AtomicU32,
}

const _: () = assert!(size_of::<Plan>() <= PAGE);
const _: () = assert!(size_of::<Live>() <= PAGE);
const _: () = assert!(size_of::<Ring>() <= PAGE);
const _: () = assert!(EVENTS_CAPACITY.is_power_of_two());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_do_not_overlap() {
        macro_rules! ranges {
            ($($area:ident)*) => { [$(($area.offset(), $area.end())),*] };
        }
        let ranges = ranges!(HEADER PLAN LIVE RING REPORT KNOWN LEARNT EVENTS FOLLOW TAKEN WATCHES GUIDE NOTES READS TOLD STEPS RECORDED TASKS BATCH
            BATCH_GUIDES RESULTS PLACES);
        for pair in ranges.windows(2) {
            assert!(pair[0].0 < pair[0].1 && pair[0].1 <= pair[1].0, "{pair:x?}");
        }
        assert!(ranges.iter().all(|(begin, _)| begin.is_multiple_of(PAGE)));
        assert_eq!(ranges[ranges.len() - 1].1, FILE_SIZE);
    }
}
