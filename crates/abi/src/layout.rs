//! The shared memory file: who writes what, and where.
//!
//! One sparse file per job, mapped whole by both sides. The driver writes the [`Plan`] and the replay segments before
//! it sends a command; the runtime writes the rest during the run. Nobody reads the other's part while it may change,
//! except the event ring (single producer, single consumer) and the counters, which are only shown.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// `"THRDBARE"` in memory.
pub const MAGIC: u64 = u64::from_le_bytes(*b"THRDBARE");
/// Grows with every change to this crate's structs.
pub const VERSION: u32 = 9;

const PAGE: usize = 4096;
/// Where the [`Header`] is.
pub const HEADER_OFFSET: usize = 0;
/// Where the [`Plan`] is.
pub const PLAN_OFFSET: usize = PAGE;
/// Where [`Live`] is (one page of its own: the runtime maps it over its own counters).
pub const LIVE_OFFSET: usize = 2 * PAGE;
/// Where the [`Ring`]'s indices are.
pub const RING_OFFSET: usize = 3 * PAGE;
/// Where the report area is.
pub const REPORT_OFFSET: usize = 16 * PAGE;
/// Bytes of the report area.
pub const REPORT_SIZE: usize = 4 << 20;
/// Where the [`crate::fact::Fact`]s are that are known of the program (driver to runtime).
pub const KNOWN_OFFSET: usize = REPORT_OFFSET + REPORT_SIZE;
/// How many facts each of the two tables holds.
pub const FACTS_CAPACITY: usize = 1 << 17;
/// Where the facts are that this run learnt (runtime to driver).
pub const LEARNT_OFFSET: usize = KNOWN_OFFSET + FACTS_CAPACITY * 8;
/// Where the ring's events are.
pub const EVENTS_OFFSET: usize = LEARNT_OFFSET + FACTS_CAPACITY * 8;
/// How many events the ring holds (a power of two).
pub const EVENTS_CAPACITY: usize = 1 << 17;
/// Where the segments to follow are (driver to runtime).
pub const FOLLOW_OFFSET: usize = EVENTS_OFFSET + EVENTS_CAPACITY * 32;
/// How many segments each of the two tables holds.
pub const SEGMENTS_CAPACITY: usize = 1 << 20;
/// Where the segments of this run are (runtime to driver).
pub const TAKEN_OFFSET: usize = FOLLOW_OFFSET + SEGMENTS_CAPACITY * 32;
/// Where the [`Watch`]es are (driver to runtime).
pub const WATCH_OFFSET: usize = TAKEN_OFFSET + SEGMENTS_CAPACITY * 32;
/// How many of them there may be.
pub const WATCHES_CAPACITY: usize = 128;
/// Where the words for the strategy are (driver to runtime). The first word of this and of the next two areas is the
/// number of words that follow it.
pub const GUIDE_OFFSET: usize = (WATCH_OFFSET + WATCHES_CAPACITY * size_of::<Watch>()).next_multiple_of(PAGE);
/// How many words each of the three areas holds, the first one included.
pub const WORDS_CAPACITY: usize = 1 << 15;
/// Where the strategy's notes are (runtime to driver).
pub const NOTES_OFFSET: usize = GUIDE_OFFSET + WORDS_CAPACITY * 8;
/// Where the records of reads-from pairs are (runtime to driver): see `threadbare-strategy`'s `reads`.
pub const READS_OFFSET: usize = NOTES_OFFSET + WORDS_CAPACITY * 8;
/// Where the records of coverage are (runtime to driver): see `threadbare-strategy`'s `classes`. The list grows from run to
/// run of one server; a run begins at [`Plan::told`] and ends at [`Live::told`].
pub const TOLD_OFFSET: usize = READS_OFFSET + WORDS_CAPACITY * 8;
/// How many records, of two words each, the list holds.
pub const TOLD_CAPACITY: usize = 1 << 15;
/// Where the [`crate::step::Step`]s of a run are (runtime to driver).
pub const STEPS_OFFSET: usize = TOLD_OFFSET + TOLD_CAPACITY * 16;
/// How many records it holds.
pub const STEPS_CAPACITY: usize = 1 << 17;
/// Where the [`Recorded`] order of a free run's events is (runtime to driver).
pub const RECORDED_OFFSET: usize =
    (STEPS_OFFSET + STEPS_CAPACITY * size_of::<crate::step::Step>()).next_multiple_of(PAGE);
/// How many events of a free run are recorded: what fits a guide.
pub const RECORDED_CAPACITY: usize = 1 << 15;
/// How many strands of a free run have their paths told.
pub const RECORDED_STRANDS: usize = 1 << 12;
/// Where the [`crate::tasks::Tasks`] of free runs are (both ways).
pub const TASKS_OFFSET: usize = (RECORDED_OFFSET + size_of::<Recorded>()).next_multiple_of(PAGE);
/// Where the [`crate::batch::Batch`] is (both ways).
pub const BATCH_OFFSET: usize = (TASKS_OFFSET + size_of::<crate::tasks::Tasks>()).next_multiple_of(PAGE);
/// Where the words for the strategies of its runs are (driver to runtime).
pub const BATCH_GUIDES_OFFSET: usize =
    (BATCH_OFFSET + size_of::<crate::batch::Batch>()).next_multiple_of(PAGE);
/// Where its runs leave what they tell (runtime to driver): [`crate::batch::Head`]s, each with its lists.
pub const RESULTS_OFFSET: usize = BATCH_GUIDES_OFFSET + crate::batch::GUIDE_WORDS * 8;
/// Where the places of parameters and locals are (driver to runtime): see [`crate::local`].
pub const PLACES_OFFSET: usize = (RESULTS_OFFSET + crate::batch::RESULTS).next_multiple_of(PAGE);
/// The size of the file.
pub const FILE_SIZE: usize = PLACES_OFFSET + crate::local::WORDS * 8;

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
    /// Nobody else goes on while a strand is in the code between these return addresses.
    pub fn part((first, last): (u64, u64)) -> Self {
        Watch { kind: WatchKind::Part as u32, addr: first, pc: last, ..Watch::default() }
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
